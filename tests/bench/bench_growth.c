/*
 * The cost of an event as the number of something grows: growth.WHAT.N. A row that is not flat says
 * what each more of it costs.
 */
#include "arch/arch.h"
#include "kernel/base/panic.h"
#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"
#include "tests/bench/bench.h"
#include "trace/host_lock.h"
#include "trace/user/write.h"

#define TRACE_KEY	  struct static_key
#define TRACE_BRANCH(key) static_branch(&(key))
#define TRACE_DEF	  "tests/bench/bench_events.def"
#include "trace/event/tracepoint.h"

#define EVENT	  "events/bench/bench_2u64/"
#define TEXT_SIZE 131072 /* the names of all functions */

static u64 mask;
BENCH_ROUND(event_round, trace_bench_2u64(a, i))
BENCH_ROUND(key_round, trace_bench_2u64(i &mask, a))

static void report(const char *what, unsigned n, bench_round round, bench_round baseline)
{
	char name[48];

	fmt_snprintf(name, sizeof(name), "%s%u", what, n);
	bench_report(name, round, baseline, BENCH_N);
}

static void report_on(const char *what, unsigned n)
{
	bench_write(EVENT "enable", "1");
	report(what, n, event_round, bench_empty);
	bench_write(EVENT "enable", "0");
}

static void run_records(const char *what)
{
	bench_write("buffer_size_kb", "32768");
	bench_write("trace", "");
	report_on(what, 0);
	bench_write(EVENT "enable", "1");
	event_round(1000000);
	report(what, 1000000, event_round, bench_empty);
	bench_write(EVENT "enable", "0");
	bench_write("buffer_size_kb", "1408");
}

static void run_events(const char *what)
{
	report_on(what, 1);
	bench_write("events/enable", "1");
	report(what, bench_read("set_event", true), event_round, bench_empty);
	bench_write("events/enable", "0");
}

static void run_predicates(const char *what)
{
	for (unsigned n = 1; n <= 16; n *= 4) {
		char text[512];
		int at = 0;

		for (unsigned i = 0; i < n; i++)
			at += fmt_snprintf(
			    text + at, sizeof(text) - at, "%sa != %u", i ? " && " : "", 90000 + i);
		bench_write(EVENT "filter", text);
		report_on(what, n);
		bench_write(EVENT "filter", "0");
	}
}

/* Dropped, because the task is none of those. */
static void run_pids(const char *what)
{
	char *text = kmalloc(PAGE_SIZE);

	if (!text)
		panic("bench: no memory");
	for (unsigned n = 1; n <= 600; n = n * 60 < 600 ? n * 60 : n * 10) {
		int at = 0;

		for (unsigned i = 0; i < n; i++)
			at += fmt_snprintf(text + at, PAGE_SIZE - at, "%u ", 20000 + i);
		bench_write("set_event_pid", text);
		report_on(what, n);
		bench_write("set_event_pid", "");
	}
	kfree(text);
}

static void run_entries(const char *what)
{
	for (unsigned n = 1; n <= 2048; n *= n == 1 ? 64 : 32) {
		mask = n - 1;
		bench_write(EVENT "trigger", "hist:keys=a");
		report(what, n, key_round, bench_empty);
		bench_write(EVENT "trigger", "!hist:keys=a");
	}
}

static void run_instances(const char *what)
{
	char path[64];

	report_on(what, 0);
	for (unsigned n = 1; n <= 4; n++) {
		fmt_snprintf(path, sizeof(path), "/sys/kernel/tracing/instances/growth%u", n);
		if (vfs_mkdir(path, 0755))
			panic("bench: no instance");
		fmt_snprintf(path, sizeof(path), "instances/growth%u/" EVENT "enable", n);
		bench_write(path, "1");
		report_on(what, n);
	}
	for (unsigned n = 1; n <= 4; n++) {
		fmt_snprintf(path, sizeof(path), "instances/growth%u/" EVENT "enable", n);
		bench_write(path, "0");
		fmt_snprintf(path, sizeof(path), "/sys/kernel/tracing/instances/growth%u", n);
		vfs_rmdir(path);
	}
}

/* ---- events of programs ---- */

static struct user_event *user_event;
BENCH_ROUND(user_round, {
	struct {
		struct trace_entry ent;
		u64 a;
	} rec = {.a = a};
	user_event_write(user_event, &rec, sizeof(rec));
})

static void run_user_events(const char *what)
{
	struct user_events_file *file = user_events_open(NULL);
	unsigned have = 0;

	for (unsigned n = 1; file && n <= 1000; n *= 10) {
		for (; have < n; have++) {
			struct user_event *ev;
			char text[32];

			fmt_snprintf(text, sizeof(text), "growth_%u u64 a", have);
			if (user_events_register(file, text, 0, &ev) < 0)
				panic("bench: no event");
			user_event = have ? user_event : ev;
		}
		bench_write("events/user_events/growth_0/enable", "1");
		report(what, n, user_round, bench_empty);
		bench_write("events/user_events/growth_0/enable", "0");
	}
	host_lock();
	user_events_release(file);
	host_unlock();
}

/* ---- probes ---- */

u64 bench_probe_target(u64 a); /* tests/bench/bench_probe.c */
BENCH_ROUND(probe_round, bench_probe_target(a))

/* Adds a line; false: that place is not to be probed. */
static bool add_probe(const char *line)
{
	struct file *f;

	if (file_open("/sys/kernel/tracing/kprobe_events", O_WRONLY | O_APPEND, 0, &f))
		panic("bench: no kprobe_events");
	bool added = kernel_write(f, line, strlen(line)) > 0;
	file_put(f);
	return added;
}

/* The names of the functions that may be probed, a line each; the caller frees it. */
static char *function_names(void)
{
	char *text = kmalloc(TEXT_SIZE);
	struct file *f;
	ssize n, at = 0;

	if (!text || file_open("/sys/kernel/tracing/available_filter_functions", O_RDONLY, 0, &f))
		panic("bench: no functions");
	while ((n = kernel_read(f, text + at, TEXT_SIZE - 1 - at)) > 0)
		at += n;
	file_put(f);
	text[at] = '\0';
	return text;
}

static void report_probes(const char *what, unsigned n)
{
	bench_write("events/growth/enable", "1");
	kprobes_optimize();
	report(what, n, probe_round, bench_empty);
	bench_write("events/growth/enable", "0");
}

/* Probes of the first functions that there are, and of all, on beside the one that is hit. */
static void run_probes(const char *what)
{
	char *text = function_names(), *rest = text, *name, line[128];
	unsigned have = 1;

	kprobes_optimization(true);
	add_probe("p:growth/hit bench_probe_target+1 %di %si");
	report_probes(what, have);
	while ((name = strsep(&rest, "\n")) && *name) {
		fmt_snprintf(line, sizeof(line), "p:growth/g%u %s", have, name);
		have += add_probe(line);
		if (have == 10 || have == 100 || have == 1000)
			report_probes(what, have);
	}
	report_probes(what, have);
	kprobes_optimization(false);
	bench_write("kprobe_events", "\n");
	kfree(text);
}

/* ---- tasks ---- */

static struct wait_queue idle_tasks = {SPINLOCK_INIT, LIST_HEAD_INIT(idle_tasks.waiters)};
static u32 tasks_idle;
static bool tasks_end;

static void idle_task(void *arg __maybe_unused)
{
	atomic_add(&tasks_idle, 1);
	wait_event(&idle_tasks, READ_ONCE(tasks_end));
	atomic_sub(&tasks_idle, 1);
}

static void run_tasks(const char *what)
{
	for (u32 n = 1, have = 1; n <= 1000; n *= 10) { /* this one among them */
		for (; have < n; have++)
			if (!kthread_run(idle_task, NULL, 0, "growth"))
				panic("bench: no task");
		while (atomic_load(&tasks_idle) + 1 < n)
			sleep_ns(1000000, NULL);
		report_on(what, n);
	}
	WRITE_ONCE(tasks_end, true);
	wake_up(&idle_tasks);
	while (atomic_load(&tasks_idle))
		sleep_ns(1000000, NULL);
}

/* ---- CPUs: what this machine has; tests/drive/bench starts others ---- */

static void run_cpus(const char *what)
{
	report_on(what, cpu_count());
}

static void run_lines(const char *what)
{
	char name[48];

	fmt_snprintf(name, sizeof(name), "%s%u", what, cpu_count());
	bench_write("buffer_size_kb", "1408"); /* until then there is room for a few */
	bench_line(name);
}

const struct bench bench_growth[] = {
    {"growth.records.", run_records},
    {"growth.events_on.", run_events},
    {"growth.predicates.", run_predicates},
    {"growth.pids.", run_pids},
    {"growth.hist_entries.", run_entries},
    {"growth.instances.", run_instances},
    {"growth.user_events.", run_user_events},
    {"growth.probes.", run_probes},
    {"growth.tasks.", run_tasks},
    {"growth.cpus.", run_cpus},
    {"growth.line.cpus.", run_lines},
    {NULL, NULL},
};
