/*
 * Snapshots: the states of the file, taking one from anywhere, what keeps one from being taken,
 * sizes, lost records.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/file.h"
#include "trace/event/snapshot.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"
#include "trace/tracefs/marker.h"

static bool shows(const char *path, const char *what)
{
	return strstr(trace_get(path, NULL), what);
}

static void fresh(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
}

/* As a trigger does. */
static bool take(void)
{
	struct host_context ctx;

	host_enter(&ctx);
	bool done = trace_snapshot_take(trace_global, &ctx);
	host_preempt_enable();
	return done;
}

/* Which CPU it was written on. */
static unsigned mark(const char *text)
{
	struct host_context ctx;

	host_enter(&ctx);
	EXPECT_EQ(tracing_mark_write(trace_global, text, strlen(text)), strlen(text));
	host_preempt_enable();
	return ctx.cpu;
}

static void states(void)
{
	fresh();
	EXPECT(shows("snapshot", "# * Snapshot is freed *\n"));
	EXPECT_EQ(trace_put("snapshot", "2"), 0);
	EXPECT(shows("snapshot", "# * Snapshot is freed *\n"));
	EXPECT_EQ(trace_put("trace_marker", "one"), 0);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	EXPECT(shows("snapshot", ": one\n"));
	EXPECT(!shows("snapshot", "# * Snapshot"));
	EXPECT(!shows("trace", ": one\n"));
	EXPECT_EQ(trace_put("trace_marker", "two"), 0);
	EXPECT_EQ(trace_put("snapshot", "0x1\n"), -EINVAL);
	EXPECT_EQ(trace_put("snapshot", "01\n"), 0); /* what was there comes back */
	EXPECT(shows("snapshot", ": two\n"));
	EXPECT(shows("trace", ": one\n"));
	EXPECT_EQ(trace_put("trace", ""), 0); /* the main buffer's alone */
	EXPECT(shows("snapshot", ": two\n"));
	EXPECT_EQ(trace_put("snapshot", "12345"), 0);
	EXPECT(shows("snapshot", "# * Snapshot is allocated *\n"));
	EXPECT_EQ(trace_put("snapshot", "x"), -EINVAL);
	EXPECT_EQ(trace_put("snapshot", "-1"), -EINVAL);
	EXPECT_EQ(trace_put("snapshot", "\n"), -EINVAL);
	EXPECT_EQ(trace_put("snapshot", "1 1"), -EINVAL);
	EXPECT_EQ(trace_put("snapshot", "18446744073709551616"), -ERANGE);
	EXPECT(shows("snapshot", "# * Snapshot is allocated *\n"));
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	EXPECT(shows("snapshot", "# * Snapshot is freed *\n"));
}

static void one_cpu(void)
{
	char path[40];

	fresh();
	EXPECT_EQ(trace_put("per_cpu/cpu0/snapshot", "1"), -EINVAL);
	EXPECT_EQ(trace_put("per_cpu/cpu0/snapshot", "0"), -EINVAL);
	EXPECT(shows("per_cpu/cpu0/snapshot",
	    "# * Snapshot is freed *\n#\n# Snapshot commands:\n"
	    "# echo 0 > snapshot : Invalid for per_cpu snapshot file.\n"));
	unsigned cpu = mark("one");
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	fmt_snprintf(path, sizeof(path), "per_cpu/cpu%u/snapshot", cpu);
	EXPECT(shows(path, ": one\n"));
	fmt_snprintf(path, sizeof(path), "per_cpu/cpu%u/snapshot", !cpu);
	if (host_cpu_count() > 1) {
		EXPECT(shows(path, "# * Snapshot is allocated *\n"));
		EXPECT_EQ(trace_put(path, "2"), 0);
		EXPECT(shows("snapshot", ": one\n"));
	}
	fmt_snprintf(path, sizeof(path), "per_cpu/cpu%u/snapshot", cpu);
	EXPECT_EQ(trace_put(path, "2"), 0);
	EXPECT(shows("snapshot", "# * Snapshot is allocated *\n"));
	fresh();
}

static struct tracefs_file *open_file(const char *path)
{
	struct tracefs_file *f = NULL;
	struct tracefs_node node;

	EXPECT_EQ(trace_walk(path, &node), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ, &f), 0);
	return f;
}

/* Lets the spare buffer record, and the other be the spare one. */
static void exchange(void)
{
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	EXPECT_EQ(trace_put("trace", ""), 0);
}

/* The first line's time, which is a plain number: "[000] .....  17: ...". */
static u64 first_stamp(void)
{
	const char *at = trace_nth(0), *end;

	for (unsigned words = 2; words; words--) {
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	u64 stamp = parse_digits(at, &end, 10);
	return end > at && *end == ':' ? stamp : 0;
}

/* A new clock empties both buffers, and is that of whichever records then. */
static void new_clock(void)
{
	fresh();
	mark("spare");
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	mark("main");
	EXPECT_EQ(trace_put("trace_clock", "counter"), 0);
	EXPECT(shows("snapshot", "# * Snapshot is allocated *\n"));
	EXPECT_STR(trace_nth(0), "");
	for (unsigned i = 0; i < 2; i++) {
		exchange();
		mark("one");
		u64 stamp = first_stamp();
		EXPECT(stamp && stamp < 1000000);
	}
	EXPECT_EQ(trace_put("trace_clock", "local"), 0);
	fresh();
}

/* True: the oldest record stays when there are more than have room. */
static bool keeps_oldest(void)
{
	static char text[512];

	EXPECT_EQ(trace_put("trace", ""), 0);
	memset(text, 'x', sizeof(text) - 1);
	mark("oldest");
	for (unsigned i = 0; i < 4 * 1024 * 100 / sizeof(text); i++)
		tracing_mark_write(trace_global, text, sizeof(text) - 1);
	return shows("trace", ": oldest");
}

/* Both buffers keep the oldest records or the newest, as the option is, whenever it was set. */
static void overwrite_of_both(void)
{
	for (unsigned later = 0; later < 2; later++)
		for (unsigned keep = 0; keep < 2; keep++) {
			fresh();
			if (later)
				EXPECT_EQ(trace_put("snapshot", "1"), 0);
			if (keep)
				EXPECT_EQ(trace_put("options/overwrite", "0"), 0);
			exchange();
			EXPECT_EQ(keeps_oldest(), keep);
			exchange();
			EXPECT_EQ(keeps_oldest(), keep);
		}
	fresh();
}

/* Who reads `trace` keeps its buffer: nothing is exchanged or resized meanwhile. */
static void busy(void)
{
	char text[8];
	u64 pos = 0;

	fresh();
	EXPECT_EQ(trace_put("trace_marker", "one"), 0);
	struct tracefs_file *f = open_file("trace");
	EXPECT_EQ(trace_put("snapshot", "1"), -EBUSY);
	EXPECT_EQ(trace_put("buffer_size_kb", "50"), -EBUSY);
	EXPECT_EQ(tracefs_read(f, text, sizeof(text), &pos), sizeof(text));
	EXPECT_EQ(trace_put("snapshot", "1"), -EBUSY);
	tracefs_release(f);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);

	/* Who reads the snapshot sees what there was when it began, or comes to the end. */
	EXPECT(mark("two") < host_cpu_count());
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	for (unsigned i = 0; i < 3; i++) {
		static const char *const values[] = {"1", "2", "0"};
		char line[4096] = "";
		ssize n;
		f = open_file("snapshot");
		EXPECT_EQ(trace_put("buffer_size_kb", "50"), -EBUSY);
		for (pos = 0; pos < 20;)
			EXPECT_EQ(tracefs_read(f, line, 1, &pos), 1);
		EXPECT_EQ(trace_put("snapshot", values[i]), 0);
		while ((n = tracefs_read(f, line, sizeof(line), &pos)) > 0)
			;
		EXPECT_EQ(n, 0);
		tracefs_release(f);
		mark("more");
		if (i < 2)
			EXPECT_EQ(trace_put("snapshot", "1"), 0);
	}
	f = open_file("snapshot"); /* there is none, and none comes */
	EXPECT_EQ(trace_put("snapshot", "1"), -EBUSY);
	EXPECT_EQ(trace_put("buffer_size_kb", "50"), 0);
	tracefs_release(f);

	host_lock();
	EXPECT_EQ(trace_snapshot_arm(trace_global), 0);
	host_unlock();
	EXPECT_EQ(trace_put("snapshot", "0"), -EBUSY);
	host_lock();
	trace_snapshot_disarm(trace_global);
	host_unlock();
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
}

static void taking(void)
{
	fresh();
	u64 missed = trace_global->snapshot_missed;
	EXPECT(!take()); /* there is none */
	host_lock();
	EXPECT_EQ(trace_snapshot_arm(trace_global), 0);
	host_unlock();
	EXPECT_EQ(trace_put("trace_marker", "one"), 0);
	EXPECT(take());
	EXPECT(shows("snapshot", ": one\n"));
	EXPECT_EQ(trace_put("trace_marker", "two"), 0);
	host_lock();
	trace_snapshot_hold(trace_global);
	host_unlock();
	EXPECT(!take());
	host_lock();
	trace_snapshot_release(trace_global);
	host_unlock();
	EXPECT(shows("snapshot", ": one\n"));
	EXPECT(take());
	EXPECT(shows("snapshot", ": two\n"));
	EXPECT_EQ(trace_global->snapshot_missed, missed + 2);
	host_lock();
	trace_snapshot_disarm(trace_global);
	host_unlock();
	fresh();
}

/* A writer that is interrupted between reserve and commit ends in the buffer it began in. */
static void inside_a_writer(void)
{
	struct ring_buffer *main = ring_buffer_alloc(8 * RB_PAGE_DATA, RB_FL_OVERWRITE, NULL);
	struct ring_buffer *spare = ring_buffer_alloc(8 * RB_PAGE_DATA, RB_FL_OVERWRITE, NULL);
	struct host_context ctx;

	host_enter(&ctx);
	EXPECT_EQ(ring_buffer_write(main, 8, "before.."), 0);
	struct ring_buffer_event *ev = ring_buffer_lock_reserve(main, 16);
	memset(ring_buffer_event_data(ev), 0, 16);
	EXPECT_EQ(ring_buffer_swap(main, spare), 0);
	EXPECT_EQ(ring_buffer_write(main, 8, "nested.."), 0);
	EXPECT_EQ(ring_buffer_entries(main), 1);
	EXPECT_EQ(ring_buffer_entries(spare), 1);
	ring_buffer_unlock_commit(main, ev);
	EXPECT_EQ(ring_buffer_entries(main), 1);
	EXPECT_EQ(ring_buffer_entries(spare), 2);
	/* And one that is given up. */
	ev = ring_buffer_lock_reserve(main, 16);
	EXPECT_EQ(ring_buffer_swap(main, spare), 0);
	ring_buffer_discard_commit(main, ev);
	EXPECT_EQ(ring_buffer_entries(main), 2);
	EXPECT_EQ(ring_buffer_entries(spare), 1);
	EXPECT_EQ(ring_buffer_write(main, 8, "after..."), 0);
	EXPECT_EQ(ring_buffer_entries(main), 3);
	host_preempt_enable();
	EXPECT_EQ(ring_buffer_swap(main, main), -EINVAL);
	EXPECT_EQ(ring_buffer_resize(spare, 9 * RB_PAGE_DATA, 0), 0);
	EXPECT_EQ(ring_buffer_swap(main, spare), -EINVAL);
	EXPECT_EQ(ring_buffer_resize(spare, 8 * RB_PAGE_DATA, 0), 0);
	struct ring_buffer_iter *it = ring_buffer_read_start(spare, 0);
	EXPECT_EQ(ring_buffer_swap(main, spare), -EBUSY);
	ring_buffer_read_finish(it);
	EXPECT_EQ(ring_buffer_swap(main, spare), 0);
	ring_buffer_free(main);
	ring_buffer_free(spare);
}

static size_t size_of(struct ring_buffer *rb, int cpu)
{
	return ring_buffer_size(rb, cpu) / RB_PAGE_DATA;
}

static void sizes_follow(void)
{
	int last = host_cpu_count() - 1;

	fresh();
	EXPECT_EQ(trace_put("per_cpu/cpu0/buffer_size_kb", "40"), 0);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	EXPECT_EQ(size_of(trace_global->snapshot, 0), 11);
	EXPECT_EQ(size_of(trace_global->snapshot, last), last ? 26 : 11);
	EXPECT_EQ(trace_put("buffer_size_kb", "20"), 0);
	EXPECT_EQ(size_of(trace_global->snapshot, 0), 6);
	EXPECT_EQ(size_of(trace_global->snapshot, last), 6);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	EXPECT_EQ(trace_put("options/overwrite", "0"), 0);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	int err = 0;
	for (unsigned i = 0; !err && i < 10000; i++)
		err = trace_put("trace_marker", "until it is full");
	EXPECT_EQ(err, -EBADF);
	EXPECT_EQ(trace_put("options/overwrite", "1"), 0);
	EXPECT_EQ(trace_put("trace_clock", "mono"), 0); /* clears both */
	EXPECT(shows("snapshot", "# * Snapshot is allocated *\n"));
	fresh();
}

/*
 * A snapshot between looking and consuming takes the record away: it is in the snapshot, and was
 * not consumed.
 */
static void under_a_pipe(void)
{
	struct ring_buffer_event *ev;
	struct host_context ctx;
	u64 ts, lost;

	fresh();
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	host_enter(&ctx);
	mark("one");
	ev = ring_buffer_peek(trace_global->buffer, ctx.cpu, &ts, &lost);
	EXPECT(ev);
	EXPECT(trace_snapshot_take(trace_global, &ctx));
	EXPECT(!ring_buffer_consume_peeked(trace_global->buffer, ctx.cpu, ev));
	EXPECT(trace_snapshot_take(trace_global, &ctx));
	EXPECT(ring_buffer_consume_peeked(trace_global->buffer, ctx.cpu, ev));
	EXPECT(!ring_buffer_consume_peeked(trace_global->buffer, ctx.cpu, ev));
	host_preempt_enable();
	EXPECT_EQ(ring_buffer_entries(trace_global->buffer), 0);
	fresh();
}

/* ---- a snapshot while trace_pipe makes the line ---- */

static const struct trace_event_field no_fields[] = {{.name = NULL}};

static const struct trace_event_field *fieldless(const struct trace_event_call *call __maybe_unused)
{
	return no_fields;
}

static void print_and_take(
    struct trace_out *out, const void *rec __maybe_unused, u32 len __maybe_unused)
{
	seq_puts(out->seq, "seen");
	EXPECT(take());
}

/* The record is in the snapshot then, and its line is not given out of trace_pipe. */
static void under_a_line(void)
{
	static const struct trace_event_class class = {
	    .system = "snap", .fields = fieldless, .print = print_and_take};
	static struct trace_event_call call;

	fresh();
	call = (struct trace_event_call){.class = &class, .name = "snap"};
	host_lock();
	EXPECT_EQ(trace_event_register(&call), 0);
	host_unlock();
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	EXPECT_EQ(trace_put("events/snap/snap/inject", "\n"), 0);
	EXPECT_EQ(trace_put("tracing_on", "0"), 0); /* the pipe ends */
	EXPECT_STR(trace_get("trace_pipe", NULL), "");
	EXPECT_EQ(ring_buffer_entries(trace_global->buffer), 0);
	EXPECT_EQ(ring_buffer_entries(trace_global->snapshot), 1);
	host_lock();
	EXPECT_EQ(trace_event_unregister(&call), 0);
	host_unlock();
	fresh();
}

/* A snapshot that cannot be taken costs no shot, and is counted as missed. */
static void shots(void)
{
	fresh();
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/trigger", "snapshot:2"), 0);
	struct ring_buffer_iter *it = ring_buffer_read_start(trace_global->buffer, 0);
	trace_unit_numbers(1, 2, 3, 4);
	EXPECT(strstr(trace_get("events/unit/unit_numbers/trigger", NULL), "snapshot:count=2\n"));
	ring_buffer_read_finish(it);
	trace_unit_numbers(1, 2, 3, 4);
	EXPECT(strstr(trace_get("events/unit/unit_numbers/trigger", NULL), "snapshot:count=1\n"));
	EXPECT_EQ(trace_append("events/unit/unit_numbers/trigger", "!snapshot"), 0);
	fresh();
}

static const struct ktap_case cases[] = {
    {"snapshot.states", states},
    {"snapshot.one_cpu", one_cpu},
    {"snapshot.new_clock", new_clock},
    {"snapshot.overwrite_of_both", overwrite_of_both},
    {"snapshot.busy", busy},
    {"snapshot.taking", taking},
    {"snapshot.inside_a_writer", inside_a_writer},
    {"snapshot.sizes_follow", sizes_follow},
    {"snapshot.under_a_pipe", under_a_pipe},
    {"snapshot.under_a_line", under_a_line},
    {"snapshot.shots", shots},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_snapshot = {cases};
