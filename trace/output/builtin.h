/* The events ftrace:* as text. Contexts: builtin.c. */
#pragma once

#include "trace/event/builtin.h"

void trace_builtin_register(void);
/*
 * The message alone (options/printk-msg-only); false: the record is none of print, bprint, bputs.
 */
bool trace_builtin_message(struct trace_out *out, const void *rec, u32 len);
