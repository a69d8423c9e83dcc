/*
 * Memory is given back: what writes to the tracer's files make, and then take away, leaves as many
 * blocks of memory as there were before, be it refused or done, whichever allocation fails.
 */
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"

#define EVENT  "events/unit/unit_numbers/"
#define OTHER  "instances/other/"
#define MAKE   "make an instance"
#define DROP   "drop an instance"
#define STEPS  8
#define NO_END 400

/* The last steps of each undo what the others did. */
static const struct {
	const char *path, *text;
} scripts[][STEPS] = {
    {{EVENT "filter", "a == 1 || b == 2"}, {EVENT "filter", "c < 5"}, {EVENT "filter", "0"}},
    {{EVENT "filter", "nosuch == 1"}, {EVENT "filter", "0"}},
    {{EVENT "filter", "(a == 1"}, {"events/unit/filter", "a == 1"}, {"events/unit/filter", "0"}},
    {{EVENT "trigger", "traceoff:3 if a == 1"}, {EVENT "trigger", "traceoff"},
	{EVENT "trigger", "!traceoff"}},
    {{EVENT "trigger", "traceoff:x if a == 1"}, {EVENT "trigger", "traceoff if nosuch == 1"}},
    {{EVENT "trigger", "snapshot"}, {EVENT "trigger", "!snapshot"}, {"snapshot", "0"}},
    {{EVENT "trigger", "enable_event:unit:unit_text"}, {EVENT "trigger", "disable_event:unit:no"},
	{EVENT "trigger", "!enable_event:unit:unit_text"}},
    {{EVENT "trigger", "hist:name=n:keys=a:xx=b if c == 1"}, {EVENT "trigger", "!hist:keys=a:xx=b"},
	{EVENT "trigger", "!hist:name=n:keys=a:xx=b if c == 1"}},
    {{EVENT "trigger", "hist:keys=a,nosuch"},
	{EVENT "trigger", "hist:keys=a:xx=b:onmax($xx).save(no)"},
	{EVENT "trigger", "hist:keys=a:vals=b/0"}, {EVENT "trigger", "hist:keys=a if nosuch == 1"}},
    {{"synthetic_events", "left int aa; char bb[]"}, {"synthetic_events", "left u64 cc"},
	{EVENT "trigger", "hist:keys=a:xx=b:onmax($xx).trace(left,a,nosuch)"},
	{"synthetic_events", "!left"}},
    {{"synthetic_events", "left int aa; nosuch bb"}, {"synthetic_events", "left int aa; int aa"}},
    {{"dynamic_events", "u:gone u32 nn; char[8] ss"}, {"dynamic_events", "u:gone u64 nn"},
	{"dynamic_events", "-:gone"}},
    {{"dynamic_events", "u:gone u32 nn; nosuch ss"}, {"dynamic_events", "nosuch"}},
    {{"dynamic_events", "e:fed unit.unit_numbers aa=$a bb=$b"}, {"events/eprobes/fed/enable", "1"},
	{"events/eprobes/fed/enable", "0"}, {"dynamic_events", "-:fed"}},
    {{"dynamic_events", "e:fed unit.unit_numbers aa=$nosuch"},
	{"dynamic_events", "e:fed unit.nosuch"},
	{"dynamic_events", "e:fed unit.unit_numbers a=$a a=$b"}},
    {{"set_event_pid", "1 100000 100001"}, {"set_event_pid", "100002 x"}, {"set_event_pid", ""}},
    {{"set_event_notrace_pid", "31000"}, {"set_event_notrace_pid", ""}},
    {{"set_ftrace_filter", "first_function:traceoff:2"}, {"set_ftrace_filter", "first_function:no"},
	{"set_ftrace_filter", "!first_function:traceoff:0"}},
    {{"set_graph_function", "first_function"}, {"set_graph_function", "nosuch"},
	{"set_graph_function", ""}},
    {{"snapshot", "1"}, {"buffer_size_kb", "16"}, {"buffer_size_kb", "8"}, {"snapshot", "0"}},
    {{"current_tracer", "function_graph"}, {"current_tracer", "nosuch"}, {"current_tracer", "nop"}},
    {{EVENT "enable", "1"}, {"saved_cmdlines_size", "8"}, {EVENT "enable", "0"},
	{"saved_cmdlines_size", "4096"}},
    {{MAKE, "other"}, {OTHER EVENT "filter", "a == 1"},
	{OTHER EVENT "trigger", "traceoff if a == 2"}, {OTHER "set_event_pid", "100000"},
	{OTHER EVENT "enable", "1"}, {OTHER "snapshot", "1"},
	{OTHER "events/unit/filter", "nosuch == 1"}, {DROP, "other"}},
    {{MAKE, "other"}, {OTHER "set_ftrace_filter", "first_function third_function:mod:ext"},
	{OTHER "set_ftrace_notrace", "f*:mod:ext fourth_one"},
	{OTHER "set_ftrace_filter", "fourth_one:traceoff"}, {DROP, "other"}},
    {{"rv/define", "monitor x cpu; state a; event e unit:unit_numbers if a == 1; edge a e a"},
	{"rv/define", "monitor x cpu; state a; event e unit:unit_numbers; edge a e b"},
	{"rv/monitors/x/enable", "1"}, {"rv/monitors/x/enable", "0"}, {"rv/define", "!x"}},
};

static void step(const char *path, const char *text)
{
	if (!strcmp(path, MAKE))
		trace_make_instance(text);
	else if (!strcmp(path, DROP))
		trace_drop_instance(text);
	else if (*text)
		trace_append(path, text);
	else
		trace_put(path, text);
}

/* Then nothing of it is left but errors, which are cleared. */
static void play(unsigned i)
{
	for (unsigned k = 0; k < STEPS && scripts[i][k].path; k++)
		step(scripts[i][k].path, scripts[i][k].text);
	trace_put("error_log", "");
}

/* Things that are made once and kept are there already. Buffers are small. */
static long begin(unsigned i)
{
	trace_fresh();
	trace_global->wanted_size = 2 * RB_PAGE_DATA;
	EXPECT_EQ(trace_put("buffer_size_kb", "8"), 0);
	play(i);
	play(i);
	return machine_blocks();
}

static void end(size_t size)
{
	trace_global->wanted_size = size;
	trace_fresh();
}

static void expect_blocks(unsigned i, long blocks)
{
	if (machine_blocks() != blocks)
		ktap_note("%s: %s", scripts[i][0].path, scripts[i][0].text);
	EXPECT_EQ(machine_blocks(), blocks);
}

static void when_all_goes_well(void)
{
	trace_fresh();
	size_t size = trace_global->wanted_size;
	for (unsigned i = 0; i < ARRAY_SIZE(scripts); i++) {
		long blocks = begin(i);

		for (unsigned again = 0; again < 3; again++)
			play(i);
		expect_blocks(i, blocks);
	}
	end(size);
}

/* A step that undoes may be what fails, so all steps are done once more. */
static void when_memory_runs_out(void)
{
	trace_fresh();
	size_t size = trace_global->wanted_size;
	for (unsigned i = 0; i < ARRAY_SIZE(scripts); i++) {
		long blocks = begin(i);
		bool failed = true;

		for (unsigned nth = 1; failed && nth < NO_END; nth++) {
			machine_fail_alloc(nth);
			play(i);
			failed = !machine_fails_in();
			machine_fail_alloc(0);
			play(i);
			expect_blocks(i, blocks);
		}
		EXPECT(!failed);
	}
	end(size);
}

static const struct ktap_case cases[] = {
    {"given_back.when_all_goes_well", when_all_goes_well},
    {"given_back.when_memory_runs_out", when_memory_runs_out},
    {NULL, NULL},
};
const struct ktap_suite suite_given_back = {cases};
