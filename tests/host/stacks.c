/* Stacks in the trace: each frame that the machine finds, in its order, and no other. */
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/ftrace.h"
#include "trace/host_lock.h"
#include "trace/host_symbol.h"

static void frames(void)
{
	static const u64 stack[] = {0x1008, 0x1110, 0x1218, 0x10f0};
	char want[512], name[64];
	struct seq s;

	trace_fresh();
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	EXPECT_EQ(trace_put("options/stacktrace", "1"), 0);
	for (unsigned n = 0; n <= ARRAY_SIZE(stack); n++) {
		seq_init(&s, want, sizeof(want) - 1);
		seq_puts(&s, "<stack trace>\n");
		for (unsigned i = 0; i < n; i++) {
			host_sym_print(name, sizeof(name), stack[i], false);
			seq_printf(&s, " => %s\n", name);
		}
		want[s.len] = '\0';
		machine_stack(stack, n);
		EXPECT_EQ(trace_put("trace", ""), 0);
		trace_unit_numbers(1, 2, 3, 4);
		const char *shown = strstr(trace_get("trace", NULL), "<stack trace>");
		EXPECT_STR(shown ? shown : "", want);
	}
	machine_stack(NULL, 0);
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"stacks.frames", frames},
    {NULL, NULL},
};
const struct ktap_suite suite_stacks = {cases};
