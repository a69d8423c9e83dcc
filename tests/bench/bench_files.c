/*
 * A user's operations on tracefs: switching many events, reading the trace. Whole operations, once
 * each.
 */
#include "arch/arch.h"
#include "kernel/base/panic.h"
#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "tests/bench/bench.h"
#include "trace/event/snapshot.h"
#include "trace/host_context.h"

#define TRACE_KEY	  struct static_key
#define TRACE_BRANCH(key) static_branch(&(key))
#define TRACE_DEF	  "tests/bench/bench_events.def"
#include "trace/event/tracepoint.h"

#define READ_SIZE 65536

/*
 * Reads the file to its end; returns its lines, 0 when they are not to be counted: looking at every
 * byte costs, too.
 */
u64 bench_read(const char *file, bool count)
{
	char path[128], *buf = kmalloc(READ_SIZE);
	struct file *f;
	u64 lines = 0;
	ssize n;

	fmt_snprintf(path, sizeof(path), "/sys/kernel/tracing/%s", file);
	if (!buf || file_open(path, O_RDONLY, 0, &f))
		panic("bench: cannot read %s", path);
	while ((n = kernel_read(f, buf, READ_SIZE)) > 0)
		for (ssize i = 0; count && i < n; i++)
			lines += buf[i] == '\n';
	file_put(f);
	kfree(buf);
	return lines;
}

static u64 timed_write(const char *path, const char *text)
{
	u64 start = cycles();

	bench_write(path, text);
	return cycles() - start;
}

/* The first time an event is on, its format goes to the memory that outlives a reset. */
static void run_enable_all(const char *name)
{
	u64 events = bench_read("available_events", true);

	bench_write("tracing_on", "0");
	u64 first = timed_write("events/enable", "1");
	u64 off = timed_write("events/enable", "0");
	u64 on = timed_write("events/enable", "1");
	bench_write("events/enable", "0");
	bench_write("tracing_on", "1");
	bench_value("op.enable_all.first", first * 10 / events, "insn/event");
	bench_value(name, on * 10 / events, "insn/event");
	bench_value("op.disable_all", off * 10 / events, "insn/event");
}

/* What reading a line of trace costs. */
static void report_lines(const char *name)
{
	u64 lines = bench_read("trace", true), start = cycles();

	bench_read("trace", false);
	bench_value(name, (cycles() - start) * 10 / lines, "insn/line");
}

/*
 * The marker's lines: what a reader of `trace` pays is the same for every event but for its own
 * text.
 */
void bench_line(const char *name)
{
	bench_write("trace", "");
	for (unsigned i = 0; i < 5000; i++)
		bench_write("trace_marker", "a line of the marker");
	report_lines(name);
}

/* Of function_graph: whole calls, which are two records each. */
static void run_cat_graph(const char *name)
{
	bench_write("set_ftrace_filter", "kernel_write");
	bench_write("current_tracer", "function_graph");
	for (unsigned i = 0; i < 2000; i++)
		bench_write("trace_marker", "a line of the marker");
	bench_write("tracing_on", "0");
	report_lines(name);
	bench_write("current_tracer", "nop");
	bench_write("set_ftrace_filter", "\n");
	bench_write("tracing_on", "1");
}

/* ---- a million records ---- */

#define MILLION 1000000

BENCH_ROUND(million_round, trace_bench_2u64(a, i))

/* Ticks of reading so much of the file at once. */
static u64 timed_read(struct file *f, char *buf, size_t n)
{
	u64 start = cycles();

	if (kernel_read(f, buf, n) <= 0)
		panic("bench: nothing to read");
	return cycles() - start;
}

static struct file *bench_open(const char *path)
{
	struct file *f;

	if (file_open(path, O_RDONLY, 0, &f))
		panic("bench: no %s", path);
	return f;
}

/* The first 4 KiB of `trace`, and all of trace_pipe_raw by pages, per event. */
static void run_million(const char *name)
{
	char *buf = kmalloc(PAGE_SIZE);
	u64 start, bytes = 0;

	if (!buf)
		panic("bench: no memory");
	bench_write("buffer_size_kb", "32768");
	bench_write("trace", "");
	bench_write("events/bench/bench_2u64/enable", "1");
	million_round(MILLION);
	bench_write("events/bench/bench_2u64/enable", "0");
	struct file *f = bench_open("/sys/kernel/tracing/trace");
	bench_value(name, timed_read(f, buf, PAGE_SIZE) * 10, "insn");
	file_put(f);
	f = bench_open("/sys/kernel/tracing/per_cpu/cpu0/trace_pipe_raw");
	for (start = cycles(); bytes < MILLION * 28UL; bytes += PAGE_SIZE)
		timed_read(f, buf, PAGE_SIZE);
	bench_value("op.raw_event", (cycles() - start) * 10 / MILLION, "insn/event");
	file_put(f);
	kfree(buf);
	bench_write("buffer_size_kb", "1408");
}

/* As a trigger takes it: two rings exchanged, of one CPU. */
static void run_snapshot(const char *name)
{
	struct host_context ctx;

	bench_write("snapshot", "1");
	u64 start = cycles();
	for (unsigned i = 0; i < BENCH_N; i++) {
		host_enter(&ctx);
		trace_snapshot_take(trace_global, &ctx);
		host_preempt_enable();
	}
	bench_value(name, (cycles() - start) * 10 / BENCH_N, "insn");
	bench_write("snapshot", "0");
}

static void run_instance(const char *name)
{
	static const char path[] = "/sys/kernel/tracing/instances/bench";
	u64 start = cycles();

	if (vfs_mkdir(path, 0755) || vfs_rmdir(path))
		panic("bench: no instance");
	bench_value(name, (cycles() - start) * 10, "insn");
}

const struct bench bench_files[] = {
    {"op.enable_all", run_enable_all},
    {"op.cat_trace_line", bench_line},
    {"op.cat_graph_line", run_cat_graph},
    {"op.trace_first_4k", run_million},
    {"op.snapshot_take", run_snapshot},
    {"op.instance", run_instance},
    {NULL, NULL},
};
