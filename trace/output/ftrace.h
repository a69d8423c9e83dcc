/* The events ftrace:* as text. Contexts: ftrace.c. */
#pragma once

#include "trace/event/ftrace.h"

void trace_ftrace_register(void);
/*
 * The message alone (options/printk-msg-only); false: the record is none of print, bprint, bputs.
 */
bool trace_ftrace_message(struct trace_out *out, const void *rec, u32 len);
