/*
 * `trace`, `snapshot` and trace_pipe as files: what an open file holds, lines longer than its room,
 * reads without memory, pauses, and waiting.
 */
#include <pthread.h>
#include <unistd.h>

#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/host/function.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "trace/host_cpus.h"
#include "trace/host_wait.h"

static char text[65536];

static int open_file(const char *path, unsigned how, struct tracefs_file **f)
{
	struct tracefs_node node;

	EXPECT_EQ(trace_walk(path, &node), 0);
	return tracefs_open(&node, TRACEFS_READ | how, f);
}

/* One read of so many bytes. */
static ssize read_once(struct tracefs_file *f, size_t n)
{
	u64 pos = 0;
	ssize got = tracefs_read(f, text, n, &pos);

	text[MAX(got, 0L)] = '\0';
	return got;
}

/* A raw mark of n bytes: a line three times as long. */
static void mark_raw(size_t n)
{
	static char data[16384];

	memset(data, 'r', n);
	data[n] = '\0';
	EXPECT_EQ(trace_put("trace_marker_raw", data), 0);
}

/* Without memory nothing is open, and the next attempt gets it. */
static void open_without_memory(void)
{
	static const char *const paths[] = {"trace", "snapshot", "trace_pipe", "trace.dat",
	    "per_cpu/cpu1/trace_pipe_raw", "per_cpu/cpu1/trace_pipe"};

	trace_fresh();
	EXPECT_EQ(trace_put("current_tracer", "function_graph"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(paths); i++) {
		bool failed = true;

		for (unsigned nth = 1; failed; nth++) {
			struct tracefs_file *f;

			machine_fail_alloc(nth);
			int err = open_file(paths[i], 0, &f);
			failed = !machine_fails_in();
			machine_fail_alloc(0);
			EXPECT(failed ? !err || err == -ENOMEM : !err);
			if (!err)
				tracefs_release(f);
		}
	}
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	trace_fresh();
}

/* A text that could not be made anew has no rest to read, neither of the old one nor of the new. */
static void no_rest_without_memory(void)
{
	struct tracefs_file *f;
	u64 pos = 0, rest = 5;

	trace_fresh();
	EXPECT_EQ(open_file("trace_ledger", 0, &f), 0);
	EXPECT(read_once(f, 4096) > 5);
	machine_fail_alloc(1);
	EXPECT_EQ(tracefs_read(f, text, 4096, &pos), -ENOMEM);
	machine_fail_alloc(0);
	EXPECT_EQ(tracefs_read(f, text, 4096, &rest), 0);
	EXPECT(read_once(f, 4096) > 5);
	tracefs_release(f);
}

/* Each read of `trace` from its start on, without memory for a place in one of the rings. */
static void start_without_memory(void)
{
	struct tracefs_file *f;

	trace_fresh();
	EXPECT_EQ(trace_put("trace_marker", "one"), 0);
	EXPECT_EQ(open_file("trace", 0, &f), 0);
	for (unsigned nth = 1; nth < 20; nth++) {
		machine_fail_alloc(nth);
		ssize n = read_once(f, 4096);
		bool failed = !machine_fails_in();
		machine_fail_alloc(0);
		EXPECT_EQ(n == -ENOMEM, failed);
		EXPECT(failed || strstr(text, ": one\n"));
		if (!failed)
			break;
	}
	tracefs_release(f);
	trace_fresh();
}

static void mark_many(void *text)
{
	for (unsigned i = 0; i < 1000; i++)
		EXPECT_EQ(trace_put("trace_marker", text), 0);
}

/* What a snapshot brings back from before a clearing, of any CPU, counts in neither total. */
static void cleared_and_brought_back(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("buffer_size_kb", "8"), 0);
	for (unsigned cpu = 0; cpu < 3; cpu++)
		host_on_cpu(cpu, mark_many, "from before");
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	EXPECT_EQ(trace_put("trace", ""), 0);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	EXPECT(ring_buffer_entries(trace_global->buffer));
	EXPECT(strstr(trace_get("trace", NULL), "# entries-in-buffer/entries-written: 0/0   #P:"));
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	trace_fresh();
}

/* So it is where one CPU alone has more than there is room for. */
static void brought_back_of_one_cpu(void)
{
	for (unsigned cpu = 0; cpu < 3; cpu++) {
		trace_fresh();
		EXPECT_EQ(trace_put("buffer_size_kb", "8"), 0);
		host_on_cpu(cpu, mark_many, "from before");
		EXPECT_EQ(trace_put("snapshot", "1"), 0);
		EXPECT_EQ(trace_put("trace", ""), 0);
		EXPECT_EQ(trace_put("snapshot", "1"), 0);
		EXPECT(strstr(
		    trace_get("trace", NULL), "# entries-in-buffer/entries-written: 0/0   #P:"));
	}
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	trace_fresh();
}

/* Read a second time from its start, the file shows the calls of two tasks as it did at first. */
static void again_from_the_start(void)
{
	static char first[sizeof(text)];
	struct tracefs_file *f;
	u64 slots[2] = {1, 2};

	trace_fresh();
	EXPECT_EQ(trace_put("current_tracer", "function_graph"), 0);
	host_function_enter(0, &slots[0]);
	host_function_enter(2, &slots[1]);
	EXPECT_EQ(trace_put("trace_marker", "inside"), 0);
	host_function_return(&slots[1], 0);
	host_function_return(&slots[0], 0);
	machine_pid(31000);
	host_function_enter(0, &slots[0]);
	machine_pid(-1);
	EXPECT_EQ(open_file("trace", 0, &f), 0);
	EXPECT(read_once(f, sizeof(text) - 1) > 0);
	strscpy(first, text, sizeof(first));
	EXPECT(strstr(first, "/* inside */") && strstr(first, " => "));
	EXPECT(read_once(f, sizeof(text) - 1) > 0);
	EXPECT_STR(text, first);
	tracefs_release(f);
	host_function_return(&slots[0], 0);
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	trace_fresh();
}

/* In `trace`, a line longer than 16 KiB is cut, ends all the same, and the next one is whole. */
static void line_too_long_for_trace(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "16"), 0);
	mark_raw(8000);
	EXPECT_EQ(trace_put("trace_marker", "after"), 0);
	mark_raw(100);
	const char *line = trace_get("trace", NULL);
	while (*line == '#')
		line += strcspn(line, "\n") + 1;
	EXPECT_EQ(strcspn(line, "\n"), 16383);
	line += strcspn(line, "\n");
	EXPECT(strstr(line, ": after\n"));
	EXPECT(str_has_prefix(line + strlen(line) - 7, " 72 72\n"));
	/* The same where marks are comments, which end on their line. */
	EXPECT_EQ(trace_put("trace", ""), 0);
	EXPECT_EQ(trace_put("current_tracer", "function_graph"), 0);
	mark_raw(8000);
	EXPECT_EQ(trace_put("trace_marker", "a comment"), 0);
	EXPECT(strstr(trace_get("trace", NULL), "/* a comment */\n"));
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "4"), 0);
	trace_fresh();
}

/*
 * With sub-buffers larger than pages, trace_pipe has room for lines of 8 KiB. A longer one is
 * replaced, and what follows it is whole.
 */
static void line_too_long_for_pipe(void)
{
	struct tracefs_file *f;

	trace_fresh();
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "16"), 0);
	EXPECT_EQ(open_file("trace_pipe", TRACEFS_NONBLOCK, &f), 0);
	mark_raw(2000);
	mark_raw(4000);
	EXPECT_EQ(trace_put("trace_marker", "short"), 0);
	EXPECT(read_once(f, 16384) > 6000);
	EXPECT(strstr(text, " 72 72\n"));
	EXPECT(read_once(f, 16384) > 0);
	EXPECT(str_has_prefix(text, "[LINE TOO BIG]\n"));
	EXPECT(strstr(text, ": short\n"));
	EXPECT_EQ(read_once(f, 16384), -EAGAIN);
	tracefs_release(f);
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "4"), 0);
	trace_fresh();
}

/* A read of trace_pipe ends with the line that makes it 4095 bytes or more, however much it may. */
static void one_read_of_a_pipe(void)
{
	struct tracefs_file *f;

	trace_fresh();
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "8"), 0);
	for (unsigned i = 0; i < 200; i++)
		EXPECT_EQ(trace_put("trace_marker", "some text"), 0);
	EXPECT_EQ(open_file("trace_pipe", TRACEFS_NONBLOCK, &f), 0);
	ssize n = read_once(f, 16384);
	EXPECT(n >= 4095 && n < 4095 + 100);
	tracefs_release(f);
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "4"), 0);
	trace_fresh();
}

/* Of each CPU one trace_pipe, as long as it is open. */
static void pipes_of_cpus(void)
{
	struct tracefs_file *zero, *one, *other;

	trace_fresh();
	EXPECT_EQ(open_file("per_cpu/cpu0/trace_pipe", 0, &zero), 0);
	EXPECT_EQ(open_file("per_cpu/cpu1/trace_pipe", 0, &one), 0);
	EXPECT_EQ(open_file("trace_pipe", 0, &other), -EBUSY);
	tracefs_release(zero);
	EXPECT_EQ(open_file("per_cpu/cpu1/trace_pipe", 0, &other), -EBUSY);
	EXPECT_EQ(open_file("trace_pipe", 0, &other), -EBUSY);
	EXPECT_EQ(open_file("per_cpu/cpu0/trace_pipe", 0, &zero), 0);
	tracefs_release(zero);
	tracefs_release(one);
	EXPECT_EQ(open_file("trace_pipe", 0, &other), 0);
	tracefs_release(other);
	trace_fresh();
}

/* options/pause-on-trace counts at the open of `trace`; the file `snapshot` does not pause. */
static void pauses(void)
{
	struct tracefs_file *f, *dat;

	trace_fresh();
	EXPECT_EQ(trace_put("options/pause-on-trace", "1"), 0);
	EXPECT_EQ(open_file("snapshot", 0, &f), 0);
	EXPECT_EQ(open_file("snapshot.dat", 0, &dat), 0);
	EXPECT_EQ(trace_put("trace_marker", "goes on"), 0);
	tracefs_release(dat);
	tracefs_release(f);
	EXPECT_EQ(open_file("trace", 0, &f), 0);
	EXPECT_EQ(open_file("trace.dat", 0, &dat), 0);
	EXPECT_EQ(trace_put("options/pause-on-trace", "0"), 0);
	tracefs_release(f);
	EXPECT_EQ(trace_put("trace_marker", "paused"), -EBADF);
	tracefs_release(dat);
	EXPECT_EQ(trace_put("trace_marker", "on again"), 0);
	EXPECT_EQ(open_file("trace", 0, &f), 0);
	EXPECT_EQ(trace_put("options/pause-on-trace", "1"), 0);
	tracefs_release(f); /* it did not pause */
	EXPECT_EQ(open_file("trace", 0, &f), 0);
	EXPECT_EQ(trace_put("trace_marker", "paused"), -EBADF);
	tracefs_release(f);
	trace_fresh();
}

/* trace.dat is a stream: it goes on wherever the position is, and its position counts bytes. */
static void dat_stream(void)
{
	struct tracefs_file *f;
	u64 pos = 0;

	trace_fresh();
	EXPECT_EQ(open_file("trace.dat", 0, &f), 0);
	EXPECT_EQ(tracefs_read(f, text, 100, &pos), 100);
	EXPECT_EQ(pos, 100);
	EXPECT(!memcmp(text, "\x17\x08\x44tracing", 10));
	pos = 0;
	EXPECT_EQ(tracefs_read(f, text, 100, &pos), 100);
	EXPECT(memcmp(text, "\x17\x08\x44tracing", 10));
	tracefs_release(f);
	trace_fresh();
}

/* While raw files are open, the tracer stays. */
static void raw_holds_the_tracer(void)
{
	struct tracefs_file *f, *g;

	trace_fresh();
	EXPECT_EQ(open_file("per_cpu/cpu0/trace_pipe_raw", 0, &f), 0);
	EXPECT_EQ(open_file("per_cpu/cpu0/trace_pipe_raw", 0, &g), 0);
	EXPECT_EQ(trace_put("current_tracer", "function"), -EBUSY);
	tracefs_release(f);
	EXPECT_EQ(trace_put("current_tracer", "function"), -EBUSY);
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0); /* it has that one */
	tracefs_release(g);
	EXPECT_EQ(trace_put("current_tracer", "function"), 0);
	EXPECT_EQ(open_file("trace_pipe", 0, &f), 0);
	EXPECT_EQ(trace_put("current_tracer", "nop"), -EBUSY);
	tracefs_release(f);
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	trace_fresh();
}

/* ---- waiting ---- */

struct waiter {
	struct tracefs_file *f;
	ssize got;
	u32 done;
};

static void *wait_for_a_line(void *arg)
{
	struct waiter *w = arg;

	w->got = read_once(w->f, 4096);
	atomic_store(&w->done, 1U);
	return NULL;
}

static bool comes_true(const u32 *word)
{
	for (unsigned i = 0; i < 20000 && !atomic_load(word); i++)
		usleep(100);
	return atomic_load(word);
}

/* With recording off, a reader that has read nothing yet waits; one that has, is at the end. */
static void waits_while_off(void)
{
	struct waiter w = {.f = NULL};
	pthread_t thread;

	trace_fresh();
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	EXPECT_EQ(open_file("trace_pipe", 0, &w.f), 0);
	EXPECT_EQ(pthread_create(&thread, NULL, wait_for_a_line, &w), 0);
	EXPECT(comes_true(&trace_global->readers));
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	EXPECT_EQ(trace_put("trace_marker", "at last"), 0);
	host_wake(trace_global->waiters); /* this thread sends no deferred wake-ups */
	EXPECT(comes_true(&w.done));
	pthread_join(thread, NULL);
	EXPECT(strstr(text, ": at last\n"));
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	EXPECT_EQ(read_once(w.f, 4096), 0);
	tracefs_release(w.f);
	trace_fresh();
}

/* ---- the header's numbers ---- */

static void expect_written(u64 in_buffer, u64 written)
{
	char wanted[80];

	fmt_snprintf(wanted, sizeof(wanted), "entries-in-buffer/entries-written: %lu/%lu ",
	    in_buffer, written);
	const char *at = strstr(trace_get("trace", NULL), "entries-in-buffer");
	EXPECT(at && str_has_prefix(at, wanted));
	if (at && !str_has_prefix(at, wanted))
		ktap_note("%.60s is not %s", at, wanted);
}

/* What was overwritten was written, too; what a snapshot brings back from before, was not. */
static void totals(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("buffer_size_kb", "8"), 0);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	for (unsigned i = 0; i < 1200; i++)
		EXPECT_EQ(trace_put("trace_marker_raw", "1234"), 0);
	u64 there = ring_buffer_entries(trace_global->buffer);
	EXPECT(there < 1200);
	expect_written(there, 1200);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	EXPECT_EQ(trace_put("trace", ""), 0);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	EXPECT_EQ(ring_buffer_entries(trace_global->buffer), there);
	expect_written(0, 0);
	EXPECT_EQ(trace_put("trace_marker_raw", "5678"), 0);
	EXPECT_STR(trace_nth(1), "");
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	trace_fresh();
}

static void mark_there(void *arg)
{
	for (unsigned i = 0; i < *(unsigned *)arg; i++)
		EXPECT_EQ(trace_put("trace_marker_raw", "1234"), 0);
}

static unsigned count(const char *of)
{
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, of)); at++)
		n++;
	return n;
}

/*
 * Of a buffer that has overrun, the first line of each CPU has a line before it, but for the first
 * of all; not if the option is off, and not in a buffer that has not.
 */
static void where_cpus_begin(void)
{
	unsigned many = 1200, some = 3;

	trace_fresh();
	EXPECT_EQ(trace_put("buffer_size_kb", "8"), 0);
	host_on_cpu(1, mark_there, &some);
	host_on_cpu(2, mark_there, &some);
	strscpy(text, trace_get("trace", NULL), sizeof(text));
	EXPECT_EQ(count("buffer started"), 0);
	host_on_cpu(0, mark_there, &many);
	for (unsigned again = 0; again < 2; again++) {
		strscpy(text, trace_get("trace", NULL), sizeof(text));
		EXPECT_EQ(count("buffer started"), 2);
		EXPECT_EQ(count("##### CPU 1 buffer started ####\n"), 0);
		EXPECT_EQ(count("##### CPU 2 buffer started ####\n"), 1);
		EXPECT_EQ(count("##### CPU 0 buffer started ####\n"), 1);
	}
	/* A file that is read again from its start says it again. */
	static char before[sizeof(text)];
	struct tracefs_file *f;
	EXPECT_EQ(open_file("trace", 0, &f), 0);
	EXPECT(read_once(f, 16384) > 0);
	strscpy(before, text, sizeof(before));
	EXPECT(read_once(f, 16384) > 0);
	EXPECT_STR(text, before);
	tracefs_release(f);
	EXPECT_EQ(trace_put("options/annotate", "0"), 0);
	strscpy(text, trace_get("trace", NULL), sizeof(text));
	EXPECT_EQ(count("buffer started"), 0);
	trace_fresh();
}

static u64 now;

static u64 clock_of_ours(void)
{
	return now;
}

static void mark_at(void *time)
{
	now = *(u64 *)time;
	EXPECT_EQ(trace_put("trace_marker_raw", "1234"), 0);
}

/*
 * The verbose latency format numbers lines, and each has the time until the next one, be that
 * another CPU's. The clock counts hundredths of a second.
 */
static void times_until_the_next(void)
{
	static const u64 ms[] = {50, 200, 1000}; /* on CPUs 0, 1, 0 */

	trace_fresh();
	machine_clock(clock_of_ours);
	now = 0;
	EXPECT_EQ(trace_put("trace_clock", "uptime"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(ms); i++) {
		u64 ns = ms[i] * 1000000;
		host_on_cpu(i % 2, mark_at, &ns);
	}
	EXPECT_EQ(trace_put("options/latency-format", "1"), 0);
	EXPECT_EQ(trace_put("options/verbose", "1"), 0);
	for (unsigned again = 0; again < 2; again++) {
		strscpy(text, trace_get("trace", NULL), sizeof(text));
		EXPECT_EQ(count(" 00000000 [0000000000000005] 5 (+15): #"), 1);
		EXPECT_EQ(count(" 00000001 [0000000000000014] 20 (+80): #"), 1);
		EXPECT_EQ(count(" 00000002 [0000000000000064] 100 (+0): #"), 1);
	}
	machine_clock(NULL);
	EXPECT_EQ(trace_put("trace_clock", "local"), 0);
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"reading.open_without_memory", open_without_memory},
    {"reading.start_without_memory", start_without_memory},
    {"reading.no_rest_without_memory", no_rest_without_memory},
    {"reading.line_too_long_for_trace", line_too_long_for_trace},
    {"reading.line_too_long_for_pipe", line_too_long_for_pipe},
    {"reading.one_read_of_a_pipe", one_read_of_a_pipe},
    {"reading.pipes_of_cpus", pipes_of_cpus},
    {"reading.pauses", pauses},
    {"reading.dat_stream", dat_stream},
    {"reading.raw_holds_the_tracer", raw_holds_the_tracer},
    {"reading.waits_while_off", waits_while_off},
    {"reading.cleared_and_brought_back", cleared_and_brought_back},
    {"reading.brought_back_of_one_cpu", brought_back_of_one_cpu},
    {"reading.again_from_the_start", again_from_the_start},
    {"reading.totals", totals},
    {"reading.where_cpus_begin", where_cpus_begin},
    {"reading.times_until_the_next", times_until_the_next},
    {NULL, NULL},
};
const struct ktap_suite suite_reading = {cases};
