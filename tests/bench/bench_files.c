/*
 * What a user does with tracefs: switching many events, reading the trace. Whole operations, once
 * each.
 */
#include "kernel/base/panic.h"
#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "tests/bench/bench.h"
#include "trace/event/snapshot.h"
#include "trace/host_context.h"

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

/*
 * The marker's lines: what a reader of `trace` pays is the same for every event but for its own
 * text.
 */
static void run_cat(const char *name)
{
	bench_write("trace", "");
	for (unsigned i = 0; i < 5000; i++)
		bench_write("trace_marker", "a line of the marker");
	u64 lines = bench_read("trace", true), start = cycles();
	bench_read("trace", false);
	bench_value(name, (cycles() - start) * 10 / lines, "insn/line");
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
    {"op.cat_trace_line", run_cat},
    {"op.snapshot_take", run_snapshot},
    {"op.instance", run_instance},
    {NULL, NULL},
};
