/* Consumers of tracepoints: which events know of them, the switch in the code, coming again. */
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/consumer.h"
#include "trace/event/file.h"
#include "trace/host_lock.h"

#define ON "events/unit/unit_numbers/enable"

static struct trace_event_call *begin(void)
{
	trace_fresh();
	EXPECT_EQ(trace_make_instance("i"), 0);
	return trace_event_find("unit", "unit_numbers");
}

static void end(void)
{
	EXPECT_EQ(trace_drop_instance("i"), 0);
	trace_fresh();
}

/* How many of the two arrays have the event on, and know that it has a consumer. */
static unsigned knowing(struct trace_event_call *call)
{
	unsigned n = 0;

	host_lock();
	for (struct trace_event_file *file = call->live; file; file = file->next_live)
		n += !!(file->way & TRACE_WAY_CONSUMED);
	host_unlock();
	return n;
}

static void change(struct trace_event_call *call, struct trace_consumer *c,
    void (*fn)(struct trace_event_call *, struct trace_consumer *))
{
	host_lock();
	fn(call, c);
	host_unlock();
}

/* Each array that has the event on knows from the first consumer on, until the last has left. */
static void known(void)
{
	struct trace_event_call *call = begin();
	struct trace_consumer a = {0}, b = {0};

	EXPECT_EQ(trace_put(ON, "1"), 0);
	change(call, &a, trace_consumer_add);
	EXPECT_EQ(knowing(call), 1);
	EXPECT_EQ(trace_put("instances/i/" ON, "1"), 0);
	EXPECT_EQ(knowing(call), 2);
	change(call, &b, trace_consumer_add);
	change(call, &a, trace_consumer_remove);
	EXPECT_EQ(knowing(call), 2);
	change(call, &b, trace_consumer_remove);
	EXPECT_EQ(knowing(call), 0);
	EXPECT_EQ(trace_put("instances/i/" ON, "0"), 0);
	EXPECT_EQ(trace_put("instances/i/" ON, "1"), 0);
	EXPECT_EQ(knowing(call), 0);
	end();
}

/* The switch is on for a consumer alone, and off after it. */
static void keys(void)
{
	struct trace_event_call *call = begin();
	struct trace_consumer a = {0};

	EXPECT_EQ(key_unit_numbers.enabled, 0);
	change(call, &a, trace_consumer_add);
	EXPECT_EQ(key_unit_numbers.enabled, 1);
	EXPECT_EQ(trace_put(ON, "1"), 0);
	EXPECT_EQ(trace_put(ON, "0"), 0);
	EXPECT_EQ(key_unit_numbers.enabled, 1);
	change(call, &a, trace_consumer_remove);
	EXPECT_EQ(key_unit_numbers.enabled, 0);
	end();
}

/* One that comes again waits for those that may still be at it. */
static void again(void)
{
	struct trace_event_call *call = begin();
	struct trace_consumer a = {0};
	u64 before = machine_waits();

	change(call, &a, trace_consumer_add);
	EXPECT_EQ(machine_waits(), before);
	change(call, &a, trace_consumer_remove);
	before = machine_waits();
	change(call, &a, trace_consumer_add);
	EXPECT(machine_waits() > before);
	change(call, &a, trace_consumer_remove);
	end();
}

/* Synthetic and other dynamic events are no tracepoints. */
static void tracepoints(void)
{
	trace_fresh();
	EXPECT_EQ(trace_append("synthetic_events", "made int a"), 0);
	EXPECT(!trace_tracepoint_find("made"));
	EXPECT(!trace_tracepoint_find("print"));
	EXPECT(!trace_tracepoint_find("no_such_event"));
	EXPECT_EQ(trace_put("synthetic_events", ""), 0);
}

static const struct ktap_case cases[] = {
    {"consumers.known", known},
    {"consumers.keys", keys},
    {"consumers.again", again},
    {"consumers.tracepoints", tracepoints},
    {NULL, NULL},
};
const struct ktap_suite suite_consumers = {cases};
