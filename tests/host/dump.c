/*
 * Dumps onto the consoles while the system lives on: framing, order, that records stay, and when
 * there is none.
 */
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
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

static const struct ktap_case cases[] = {
    {"dump.empty", empty},
    {"dump.lines", lines},
    {"dump.beside_a_reader", beside_a_reader},
    {"dump.stack_and_lost", stack_and_lost},
    {"dump.in_a_reader", in_a_reader},
    {NULL, NULL},
};
const struct ktap_suite suite_dump = {cases};
