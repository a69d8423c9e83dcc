/*
 * Instances made and removed, snapshots taken and buffers resized while all events of this kernel are on, on all CPUs: tasks that switch
 * and fault, timers, system calls of the shell's kind, and NMIs. Nothing is lost in silence: each ledger balances, each time.
 */
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/timer.h"
#include "tests/kernel/threads.h"
#include "tests/unit/trace_tools.h"
#include "trace/snapshot.h"

#define TRACING "/sys/kernel/tracing/"
#define ROUNDS	25

static bool running;
static u64 taken;

/* Through the file system, as ring 3 comes. 0 or the error of open or write. */
static int put(const char *path, const char *text)
{
	struct file *f;
	int r = vfs_open(path, O_WRONLY | O_TRUNC, 0, &f);

	if (r)
		return r;
	ssize n = vfs_write(f, text, strlen(text));
	file_put(f);
	return n < 0 ? (int)n : 0;
}

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
	host_exit();
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
		EXPECT_EQ(put(TRACING "instances/a/buffer_size_kb", "16"), 0);
		EXPECT_EQ(put(TRACING "instances/a/events/enable", "1"), 0);
		EXPECT_EQ(put(TRACING "instances/b/events/unit/enable", "1"), 0);
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
		EXPECT_EQ(put(TRACING "snapshot", "1"), 0);
		send_nmis();
		sleep_ns(200000, NULL);
		EXPECT_EQ(put(TRACING "buffer_size_kb", i % 2 ? "100" : "30"), 0);
		send_nmis();
		check_ledger("trace_ledger");
		EXPECT_EQ(put(TRACING "snapshot", "2"), 0);
		send_nmis();
		EXPECT_EQ(put(TRACING "trace", ""), 0);
		trace_get("trace", NULL); /* reads on while it is exchanged */
		check_ledger("trace_ledger");
		EXPECT_EQ(put(TRACING "snapshot", "0"), 0);
		check_ledger("trace_ledger");
	}
	EXPECT(taken > before);
	ktap_note("%lu snapshots in NMIs, %lu missed", taken - before,
	    trace_global->snapshot_missed - missed);
	EXPECT_EQ(trace_put("events/enable", "0"), 0);
	stop(&t);
}

/* The memory of an instance comes back. */
static void memory_comes_back(void)
{
	EXPECT_EQ(vfs_mkdir(TRACING "instances/a", 0755), 0); /* what is made once for all */
	EXPECT_EQ(vfs_rmdir(TRACING "instances/a"), 0);
	u64 before = settled_free_pages();
	for (unsigned i = 0; i < 5; i++) {
		EXPECT_EQ(vfs_mkdir(TRACING "instances/a", 0755), 0);
		EXPECT_EQ(put(TRACING "instances/a/events/unit/enable", "1"), 0);
		EXPECT_EQ(put(TRACING "instances/a/snapshot", "1"), 0);
		EXPECT_EQ(put(TRACING "instances/a/trace_marker", "x"), 0);
		EXPECT_EQ(vfs_rmdir(TRACING "instances/a"), 0);
	}
	EXPECT_EQ(settled_free_pages(), before);
}

/* Who stands in it, by a path or by an open directory. */
static void stood_in(void)
{
	struct dirent *d = kzalloc(sizeof(*d));
	struct file *dir;

	EXPECT_EQ(vfs_mkdir(TRACING "instances/a", 0755), 0);
	EXPECT_EQ(vfs_open(TRACING "instances/a/events", O_RDONLY | O_DIRECTORY, 0, &dir), 0);
	EXPECT_EQ(vfs_readdir(dir, 0, d), 1);
	EXPECT_EQ(vfs_rmdir(TRACING "instances/a"), 0); /* an open directory keeps nothing */
	EXPECT_EQ(vfs_readdir(dir, 2, d), -ENOENT);
	EXPECT_EQ(vfs_mkdir(TRACING "instances/a", 0755), 0);
	EXPECT_EQ(vfs_readdir(dir, 2, d), -ENOENT);
	file_put(dir);
	EXPECT_EQ(vfs_rmdir(TRACING "instances/a"), 0);
	kfree(d);
}

static const struct ktap_case cases[] = {
    {"kernel_instances.removed_while_firing", removed_while_firing},
    {"kernel_instances.snapshots_while_firing", snapshots_while_firing},
    {"kernel_instances.memory_comes_back", memory_comes_back},
    {"kernel_instances.stood_in", stood_in},
    {NULL, NULL},
};
const struct ktap_suite suite_kernel_instances = {cases};
