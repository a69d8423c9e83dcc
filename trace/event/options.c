/*
 * The names of the trace options; shows and changes them for trace_options. Task context under
 * host_lock.
 */
#include "trace/event/options.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/tracer.h"

const struct trace_option trace_options[TRACE_OPTION_COUNT] = {
#define OPTION(bit, name, on) {name, on},
#include "trace/event/options.def"
};

u64 trace_options_default(void)
{
	u64 bits = 0;

	for (u32 i = 0; i < TRACE_OPTION_COUNT; i++)
		if (trace_options[i].on)
			bits |= 1UL << i;
	return bits;
}

/* Those of nop, which options/ always has. */
static bool is_of_another_tracer(const struct trace_array *tr, u32 i)
{
	return (i == TRACE_OPTION_TEST_NOP_ACCEPT || i == TRACE_OPTION_TEST_NOP_REFUSE) &&
	       tr->tracer != &trace_tracer_nop;
}

void trace_options_show(struct seq *s, const struct trace_array *tr)
{
	for (u32 i = 0; i < TRACE_OPTION_EVENTHEADER_JSON && !is_of_another_tracer(tr, i); i++)
		seq_printf(s, "%s%s\n", tr->options & 1UL << i ? "" : "no", trace_options[i].name);
}

/* test_nop_refuse is refused even if it is to stay as it is. */
int trace_options_set(struct trace_array *tr, char *text)
{
	char *name = strstrip(text);
	bool on = !str_has_prefix(name, "no");

	if (!on)
		name += 2;
	for (u32 i = 0; i < TRACE_OPTION_COUNT; i++)
		if (!strcmp(name, trace_options[i].name) && !is_of_another_tracer(tr, i) &&
		    i != TRACE_OPTION_TEST_NOP_REFUSE)
			return trace_array_set_option(tr, 1UL << i, on);
	return -EINVAL;
}
