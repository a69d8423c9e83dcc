/*
 * Instances made and removed, snapshots taken and buffers resized while all events of this kernel
 * are on, on all CPUs: tasks that switch and fault, timers, system calls of the shell's kind, and
 * NMIs. Nothing is lost in silence: each ledger balances, each time.
 */
#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/timer.h"
#include "tests/kernel/fs/tools.h"
#include "tests/kernel/objects.h"
#include "tests/kernel/threads.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/snapshot.h"
#include "trace/host_context.h"

#define TRACING "/sys/kernel/tracing/"
#define ROUNDS	25

static bool running;
static u64 taken;

static void worker(void *arg)
{
	(void)arg;
	while (READ_ONCE(running)) {
		for (unsigned i = 0; i < 50; i++)
			trace_unit_numbers(1, 2, 3, 4);
		sleep_ns(50000, NULL);
		sched_yield_current();
	}
}

/* Takes a snapshot now and then, in the middle of whatever is there. */
static bool in_nmi(struct regs *r)
{
	struct host_context ctx;

	(void)r;
	trace_unit_numbers(5, 6, 7, 8);
	host_enter(&ctx);
	if (trace_snapshot_take(trace_global, &ctx))
		atomic_add(&taken, 1);
	host_preempt_enable();
	trace_unit_numbers(9, 10, 11, 12);
	return true;
}

static void start(struct threads *t)
{
	trace_fresh();
	EXPECT_EQ(trace_put("events/unit/enable", "1"), 0);
	EXPECT_EQ(nmi_handler_add(in_nmi), 0);
	WRITE_ONCE(running, true);
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		thread_start(t, worker, NULL, cpu);
		thread_start(t, worker, NULL, -1);
	}
}

static void stop(struct threads *t)
{
	WRITE_ONCE(running, false);
	threads_join(t);
	nmi_handler_remove(in_nmi);
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	trace_fresh();
}

static void send_nmis(void)
{
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		nmi_send(cpu);
}

static void check_ledger(const char *path)
{
	const char *text = trace_get(path, NULL);

	if (strstr(text, "\nbalanced\n"))
		return;
	EXPECT(!"balanced");
	const char *wrong = strstr(text, "not balanced");
	ktap_note("%s: %s", path, wrong ? wrong : "no verdict");
}

static void removed_while_firing(void)
{
	struct threads t = {0};

	start(&t);
	for (unsigned i = 0; i < ROUNDS; i++) {
		EXPECT_EQ(vfs_mkdir(TRACING "instances/a", 0755), 0);
		EXPECT_EQ(vfs_mkdir(TRACING "instances/b", 0755), 0);
		EXPECT_EQ(vfs_mkdir(TRACING "instances/a", 0755), -EEXIST);
		EXPECT_EQ(write_text(TRACING "instances/a/buffer_size_kb", O_TRUNC, "16"), 0);
		EXPECT_EQ(write_text(TRACING "instances/a/events/enable", O_TRUNC, "1"), 0);
		EXPECT_EQ(write_text(TRACING "instances/b/events/unit/enable", O_TRUNC, "1"), 0);
		send_nmis();
		sleep_ns(300000, NULL);
		check_ledger("instances/a/trace_ledger");
		EXPECT_EQ(vfs_rmdir(i % 2 ? TRACING "instances/b" : TRACING "instances/a"), 0);
		send_nmis();
		EXPECT_EQ(vfs_rmdir(i % 2 ? TRACING "instances/a" : TRACING "instances/b"), 0);
		check_ledger("trace_ledger");
	}
	EXPECT_EQ(vfs_rmdir(TRACING "instances/a"), -ENOENT);
	stop(&t);
}

static void snapshots_while_firing(void)
{
	struct threads t = {0};

	start(&t);
	u64 before = taken, missed = trace_global->snapshot_missed;
	EXPECT_EQ(trace_put("events/enable", "1"), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		EXPECT_EQ(write_text(TRACING "snapshot", O_TRUNC, "1"), 0);
		send_nmis();
		sleep_ns(200000, NULL);
		EXPECT_EQ(write_text(TRACING "buffer_size_kb", O_TRUNC, i % 2 ? "100" : "30"), 0);
		send_nmis();
		check_ledger("trace_ledger");
		EXPECT_EQ(write_text(TRACING "snapshot", O_TRUNC, "2"), 0);
		send_nmis();
		EXPECT_EQ(write_text(TRACING "trace", O_TRUNC, ""), 0);
		trace_get("trace", NULL); /* reads on while it is exchanged */
		check_ledger("trace_ledger");
		EXPECT_EQ(write_text(TRACING "snapshot", O_TRUNC, "0"), 0);
		check_ledger("trace_ledger");
	}
	EXPECT(taken > before);
	ktap_note("%lu snapshots in NMIs, %lu missed", taken - before,
	    trace_global->snapshot_missed - missed);
	EXPECT_EQ(trace_put("events/enable", "0"), 0);
	stop(&t);
}

static void come_and_go(void)
{
	EXPECT_EQ(vfs_mkdir(TRACING "instances/a", 0755), 0);
	EXPECT_EQ(write_text(TRACING "instances/a/events/unit/enable", O_TRUNC, "1"), 0);
	EXPECT_EQ(write_text(TRACING "instances/a/snapshot", O_TRUNC, "1"), 0);
	EXPECT_EQ(write_text(TRACING "instances/a/trace_marker", O_TRUNC, "x"), 0);
	EXPECT_EQ(vfs_rmdir(TRACING "instances/a"), 0);
}

/* The memory of an instance comes back. */
static void memory_comes_back(void)
{
	trace_fresh();
	come_and_go(); /* what is made once for all, or kept by path */
	EXPECT(leaves_nothing(come_and_go));
}

static void stood_in(void)
{
	struct dirent *d = kzalloc(sizeof(*d));
	struct file *dir;

	EXPECT_EQ(vfs_mkdir(TRACING "instances/a", 0755), 0);
	EXPECT_EQ(file_open(TRACING "instances/a/events", O_RDONLY | O_DIRECTORY, 0, &dir), 0);
	EXPECT_EQ(vfs_readdir(dir, 0, d), 1);
	EXPECT_EQ(vfs_rmdir(TRACING "instances/a"), 0); /* an open directory keeps nothing */
	EXPECT_EQ(vfs_readdir(dir, 2, d), -ENOENT);
	EXPECT_EQ(vfs_mkdir(TRACING "instances/a", 0755), 0);
	EXPECT_EQ(vfs_readdir(dir, 2, d), -ENOENT);
	file_put(dir);
	EXPECT_EQ(vfs_rmdir(TRACING "instances/a"), 0);
	kfree(d);
}

/* All of tracefs shows when its last directory came, what was looked at before as well. */
static void time_of_the_last(void)
{
	struct vstat before, after;

	EXPECT_EQ(vfs_stat(TRACING "tracing_on", true, &before), 0);
	EXPECT_EQ(vfs_mkdir(TRACING "instances/a", 0755), 0);
	EXPECT_EQ(vfs_stat(TRACING "tracing_on", true, &after), 0);
	EXPECT(after.mtime_ns > before.mtime_ns);
	EXPECT_EQ(vfs_rmdir(TRACING "instances/a"), 0);
}

/* ---- everybody at once ---- */

#define TURNS	  50
#define SLACK	  16 /* pages of small objects; an instance takes hundreds */
#define DIRECTORY "instances/b/events/synthetic/torn_ev"

static const char *const places[] = {"trace", "tracing_on", "events/enable",
    "events/unit/unit_text/enable", "set_event", "snapshot", "per_cpu/cpu0/stats", "trace_ledger",
    "options/raw", "events/synthetic/torn_ev/enable", "events/synthetic/torn_ev/filter",
    "events/synthetic/torn_ev/format", "events/synthetic/torn_ev/trigger",
    "events/synthetic/torn_ev/hist", "events/synthetic/enable", "error_log"};

static u64 done, gone; /* [A] what went well, what was told that its object is no more */

/* What may become of anything done to what others make and remove. */
static bool is_expected(s64 r)
{
	if (r >= 0)
		atomic_add(&done, 1);
	if (r == -ENODEV)
		atomic_add(&gone, 1);
	return r >= 0 || r == -ENOENT || r == -EEXIST || r == -EBUSY || r == -ENODEV ||
	       r == -EINVAL || r == -ENOMEM;
}

static void use_file(u64 random)
{
	char path[100], text[64];
	struct file *f;

	fmt_snprintf(path, sizeof(path), TRACING "instances/%c/%s", random & 1 ? 'a' : 'b',
	    places[(random >> 1) % ARRAY_SIZE(places)]);
	int r = file_open(path, random & 256 ? O_RDONLY : O_WRONLY, 0, &f);
	EXPECT(is_expected(r));
	if (r)
		return;
	sched_yield_current();
	EXPECT(is_expected(
	    random & 256 ? kernel_read(f, text, sizeof(text)) : kernel_write(f, "1", 1)));
	sched_yield_current();
	EXPECT(is_expected(
	    random & 256 ? kernel_read(f, text, sizeof(text)) : kernel_write(f, "0", 1)));
	file_put(f);
}

static void use_directory(void)
{
	struct dirent *d = kzalloc(sizeof(*d));
	struct file *dir;

	if (!file_open(TRACING DIRECTORY, O_RDONLY | O_DIRECTORY, 0, &dir)) {
		for (u64 pos = 0; vfs_readdir(dir, pos, d) == 1; pos++)
			sched_yield_current();
		file_put(dir);
	}
	kfree(d);
}

static void tearer(void *arg)
{
	u64 random = (u64)arg * 0x9e3779b97f4a7c15UL;

	for (unsigned i = 0; i < TURNS; i++) {
		random = random * 6364136223846793005UL + 1442695040888963407UL;
		u64 r = random >> 33;

		switch (r % 12) {
		case 0:
			EXPECT(is_expected(vfs_mkdir(TRACING "instances/a", 0755)));
			break;
		case 1:
			EXPECT(is_expected(vfs_mkdir(TRACING "instances/b", 0755)));
			break;
		case 2:
			EXPECT(is_expected(
			    vfs_rmdir(r & 4096 ? TRACING "instances/a" : TRACING "instances/b")));
			break;
		case 3:
			EXPECT(is_expected(
			    write_text(TRACING "dynamic_events", O_TRUNC, "s:torn_ev int a")));
			break;
		case 4:
			EXPECT(is_expected(
			    write_text(TRACING "dynamic_events", O_TRUNC, "-:torn_ev")));
			break;
		case 5:
			use_directory();
			break;
		default:
			use_file(r / 12);
		}
		trace_unit_text("torn", "a", "b");
	}
}

/* Until nobody has it any more. */
static void clean_up(void)
{
	vfs_rmdir(TRACING "instances/a");
	vfs_rmdir(TRACING "instances/b");
	trace_append("dynamic_events", "-:torn_ev");
	trace_fresh();
}

static void torn(void)
{
	struct threads t = {0};
	u64 before = 0;

	for (unsigned round = 0; round < 4; round++) { /* the first two make what stays */
		trace_fresh();
		for (unsigned i = 0; i < 6; i++)
			thread_start(&t, tearer, (void *)(u64)(1 + i), -1);
		threads_join(&t);
		clean_up();
		EXPECT_EQ(vfs_rmdir(TRACING "instances/a"), -ENOENT);
		check_ledger("trace_ledger");
		if (round == 1)
			before = settled_free_pages();
	}
	EXPECT(settled_free_pages() + SLACK >= before);
	EXPECT(done > 0);
	ktap_note("%lu calls did something, %lu found their event removed", done, gone);
}

static const struct ktap_case cases[] = {
    {"kernel_instances.removed_while_firing", removed_while_firing},
    {"kernel_instances.snapshots_while_firing", snapshots_while_firing},
    {"kernel_instances.memory_comes_back", memory_comes_back},
    {"kernel_instances.stood_in", stood_in},
    {"kernel_instances.time_of_the_last", time_of_the_last},
    {"kernel_instances.torn", torn},
    {NULL, NULL},
};
const struct ktap_suite suite_kernel_instances = {cases};
