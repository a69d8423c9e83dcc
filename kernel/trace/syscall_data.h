/*
 * The paths and buffers that arguments of system calls point at. The events sys_enter_* keep them
 * while an instance has a syscall_user_buf_size above 0. Task context unless stated otherwise.
 */
#pragma once

#include "trace/event/array.h"
#include "trace/event/event.h"

struct regs;

#define SYSCALL_DATA_ARGS 2 /* arguments of one call that are kept, at most */

/* Which they are. A string ends with its NUL; a buffer is as long as the next argument says. */
struct syscall_data {
	u8 count;
	u8 arg[SYSCALL_DATA_ARGS];
	bool is_buffer; /* the only one */
	u8 args;	/* all of the call */
	const struct trace_event_field
	    *fields; /* with a __data_loc for each, after all arguments */
};

/* At boot: `fields` are those of the event sys_enter_* of the call, without what is kept. */
void trace_sys_data_add(u32 nr, const struct trace_event_field *fields);
/* Of a call by its number; NULL: it has none. Any context. */
const struct syscall_data *trace_sys_data(u64 nr);
/*
 * Records the call for all instances that want it, each with as much as it asks for. Before the
 * call's handler: reading may sleep in a page fault.
 */
void trace_sys_data_record(
    struct trace_event_call *call, const struct syscall_data *d, const struct regs *regs, u32 nr);
/*
 * What stands between the brackets of a line, as Linux 6.19 has it; `args`: the call's arguments.
 * The record is long enough for its number. Contexts as trace/output/output.h has them.
 */
void trace_sys_data_print(
    struct trace_out *out, const struct trace_event_field *args, const void *data, u32 len);
/* Of `format`, after "print fmt: ". */
void trace_sys_data_show_fmt(struct seq *s, const struct syscall_data *d);
