/*
 * Dumps onto the consoles while the system lives on: framing, order, that records stay, and when
 * there is none.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"
#include "trace/output/dump.h"

#define RULE "---------------------------------\n"

static bool dump(void)
{
	host_lock();
	bool done = trace_dump_now();
	host_unlock();
	return done;
}

static void mark(void *text)
{
	EXPECT_EQ(trace_put("trace_marker", text), 0);
}

static void empty(void)
{
	trace_fresh();
	machine_said();
	EXPECT(dump());
	EXPECT_STR(machine_said(), "Dumping ftrace buffer:\n   (ftrace buffer empty)\n");
	EXPECT_STR(trace_get("tracing_on", NULL), "0\n");
	trace_fresh();
}

static void expect_in_order(const char *said, const char *const *expected, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const char *found = strstr(said, expected[i]);
		EXPECT(found);
		if (found)
			said = found + strlen(expected[i]);
	}
	EXPECT_STR(said, "");
}

/*
 * The lines of all CPUs by their times, in the format of latencies. They stay: a second dump has
 * them too, and so has every reader.
 */
static void lines(void)
{
	static const char *const expected[] = {"Dumping ftrace buffer:\n" RULE, " 0....", ": one\n",
	    " 2....", ": two\n", " 0....", ": three\n" RULE};

	trace_fresh();
	EXPECT_EQ(trace_dump_prepare(), 0); /* for CPUs that have no place in a ring yet: none */
	mark("one");
	machine_run(2, mark, "two");
	machine_join(2);
	mark("three");
	machine_said();
	for (unsigned i = 0; i < 2; i++) {
		EXPECT(dump());
		expect_in_order(machine_said(), expected, ARRAY_SIZE(expected));
	}
	EXPECT(strstr(trace_nth_event(0), ": one"));
	EXPECT(strstr(trace_nth_event(2), ": three"));
	EXPECT(strstr(trace_get("trace_pipe", NULL), ": one"));
	trace_fresh();
}

/* A dump begins after what a consuming reader took, and takes nothing from it. */
static void beside_a_reader(void)
{
	u64 ts, lost;

	trace_fresh();
	mark("taken");
	mark("left");
	EXPECT(ring_buffer_consume(trace_global->buffer, 0, &ts, &lost));
	machine_said();
	EXPECT(dump());
	const char *said = machine_said();
	EXPECT(!strstr(said, ": taken") && strstr(said, ": left\n" RULE));
	EXPECT(ring_buffer_consume(trace_global->buffer, 0, &ts, &lost));
	EXPECT(!ring_buffer_consume(trace_global->buffer, 0, &ts, &lost));
	trace_fresh();
}

/* Several lines of one record are lines of their own; what was lost is told before the first. */
static void stack_and_lost(void)
{
	char head[128];

	trace_fresh();
	EXPECT_EQ(trace_put("buffer_size_kb", "8"), 0);
	for (unsigned i = 0; i < 600; i++)
		mark("many of the same");
	machine_said();
	fmt_snprintf(head, sizeof(head),
	    "Dumping ftrace buffer:\n" RULE "CPU:0 [LOST %lu EVENTS]\n",
	    ring_buffer_overruns(trace_global->buffer));
	EXPECT(dump());
	EXPECT(strstr(machine_said(), head));
	trace_fresh();
	EXPECT_EQ(trace_put("trace_marker", "first\nsecond\n"), 0);
	machine_said();
	EXPECT(dump());
	EXPECT(strstr(machine_said(), ": first\nsecond\n" RULE));
	trace_fresh();
}

/* From an interrupt that came upon a reader, it is not for now: the reader would be waited for. */
static void in_a_reader(void)
{
	trace_fresh();
	mark("kept");
	machine_said();
	ring_buffer_lock(trace_global->buffer);
	EXPECT(!trace_dump_now());
	ring_buffer_unlock(trace_global->buffer);
	EXPECT_STR(machine_said(), "");
	EXPECT(strstr(trace_nth_event(0), "kept"));
	EXPECT_STR(trace_get("tracing_on", NULL), "1\n");
	trace_fresh();
}

/* ---- when a key asks for it, and when the kernel dies ---- */

static void mark_there(void *text)
{
	mark(text);
}

static void lock_there(void *unused __maybe_unused)
{
	ring_buffer_lock(trace_global->buffer);
}

static void unlock_there(void *unused __maybe_unused)
{
	ring_buffer_unlock(trace_global->buffer);
}

static void ask_there(void *mode)
{
	trace_dump_soon(*(int *)mode);
}

/* Recording is off at once, even if the dump has to wait; one CPU's lines, or those of all. */
static void soon(void)
{
	int all = TRACE_DUMP_ALL, own = TRACE_DUMP_ORIG, bad = 7;

	trace_fresh();
	host_on_cpu(1, mark_there, "of one");
	host_on_cpu(2, mark_there, "of two");
	machine_said();
	host_on_cpu(2, ask_there, &own);
	const char *said = machine_said();
	EXPECT(strstr(said, ": of two\n" RULE) && !strstr(said, "of one"));
	host_on_cpu(0, ask_there, &own);
	EXPECT_STR(machine_said(), "Dumping ftrace buffer:\n   (ftrace buffer empty)\n");
	ask_there(&bad);
	said = machine_said();
	EXPECT(str_has_prefix(said, "Bad dumping mode, switching to all CPUs dump\nDumping "));
	EXPECT(strstr(said, ": of one\n") && strstr(said, ": of two\n" RULE));
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	host_lock();
	ask_there(&all);
	EXPECT(!trace_array_is_on(trace_global));
	host_unlock();
	machine_said();
	trace_fresh();
}

/* A dying kernel dumps once, whoever reads, and records no more. In a process of its own. */
static void last_words(void)
{
	pid_t child;
	int status;

	trace_fresh();
	mark("the last mark");
	host_on_cpu(2, lock_there, NULL); /* a reader, which is not in the child */
	child = fork();
	if (!child) {
		unsigned wrong = 0;

		alarm(20);
		machine_said();
		trace_dump_last(TRACE_DUMP_NONE);
		wrong += *machine_said() != '\0';
		trace_dump_last(TRACE_DUMP_ALL);
		wrong += !strstr(machine_said(), ": the last mark\n" RULE);
		wrong += ring_buffer_record_is_set_on(trace_global->buffer);
		trace_dump_last(TRACE_DUMP_ALL);
		wrong += *machine_said() != '\0';
		_exit(wrong);
	}
	host_on_cpu(2, unlock_there, NULL);
	EXPECT_EQ(waitpid(child, &status, 0), child);
	EXPECT_EQ(status, 0);
	trace_fresh();
}

/* What a console shows of a record that is as large as sub-buffers have become. */
static void large_records(void)
{
	static char text[4096 + 1];

	trace_fresh();
	trace_dump_exit(); /* other cases may have made as much room */
	EXPECT_EQ(trace_dump_prepare(), 0);
	memset(text, 'm', 3500);
	for (unsigned nth = 1; nth < 100; nth++) {
		machine_fail_alloc(nth);
		int err = trace_put("buffer_subbuf_size_kb", "256");
		bool failed = !machine_fails_in();
		machine_fail_alloc(0);
		EXPECT_EQ(err, failed ? -ENOMEM : 0);
		EXPECT_STR(trace_get("buffer_subbuf_size_kb", NULL), failed ? "4\n" : "256\n");
		if (!failed)
			break;
	}
	for (unsigned i = 0; i < 4; i++)
		mark(text);
	machine_said();
	EXPECT(dump());
	const char *said = machine_said();
	EXPECT(strstr(said, text));
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "8"), 0);
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "4"), 0);
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"dump.empty", empty},
    {"dump.lines", lines},
    {"dump.beside_a_reader", beside_a_reader},
    {"dump.stack_and_lost", stack_and_lost},
    {"dump.in_a_reader", in_a_reader},
    {"dump.soon", soon},
    {"dump.last_words", last_words},
    {"dump.large_records", large_records},
    {NULL, NULL},
};
const struct ktap_suite suite_dump = {cases};
