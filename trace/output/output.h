/*
 * A record as a line of text, in all the forms the options ask for. Task context, but for tp_printk
 * and the kernel's last words.
 */
#pragma once

#include "trace/event/event.h"

struct ring_buffer;

struct trace_line {
	const struct trace_array *tr;
	const struct trace_entry *ent;
	u32 len; /* of the record */
	unsigned cpu;
	u64 ts;	      /* ns, or the bare value of a clock that has none */
	u64 next_ts;  /* of the line that follows; the same when none does */
	u64 index;    /* lines before this one */
	bool latency; /* options/latency-format, or the last words */
	u64 since;    /* what its times are counted from; 0: the array's last clearing */
};

/* Appends the line with its newline. out->options are the instance's. */
void trace_print_line(struct trace_out *out, const struct trace_line *line);
/* The time so long before the line's, as the columns have it. */
void trace_print_stamp(struct trace_out *out, u64 before);
/* What the event says, without the columns: "name: text\n". */
void trace_print_event(struct trace_out *out, const struct trace_entry *ent, u32 len);
/* For who makes lines of another form: columns, and names of tasks. */
#define TRACE_LINE_FLAGS 5
char *trace_line_put_flags(char *at, const struct trace_entry *ent);
void trace_line_comm_of(const struct trace_line *line, s32 pid, char comm[16]);
/* How long something took, as a mark; ' ': not long. */
char trace_delay_mark(u64 ns);
