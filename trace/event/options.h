/* The trace options as bits, and their names. The table is const; a trace array's own word of bits
 * changes under host_lock. */
#pragma once

#include "kernel/lib/types.h"

enum trace_option_index {
#define OPTION(bit, name, on) TRACE_OPTION_##bit,
#include "trace/event/options.def"
	TRACE_OPTION_COUNT
};

enum {
#define OPTION(bit, name, on) TRACE_OPT_##bit = 1UL << TRACE_OPTION_##bit,
#include "trace/event/options.def"
};

struct trace_option {
	const char *name;
	bool on; /* at start */
};
extern const struct trace_option trace_options[TRACE_OPTION_COUNT];

struct trace_array;
struct seq;
/* What trace_options lists: no option of a tracer that the array does not have. */
void trace_options_show(struct seq *s, const struct trace_array *tr);
/* Sets "name" or clears "noname" of these, with optional blanks around; modifies the text. 0 or
 * -EINVAL. */
int trace_options_set(struct trace_array *tr, char *text);
u64 trace_options_default(void);
