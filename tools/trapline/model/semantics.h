/*
 * The meaning of events for the analysis of a trace, found once for each event by its name and
 * fields.
 */
#pragma once

#include "tools/trapline/model/mark.h"
#include "tools/trapline/trace/trace.h"
#include "tools/trapline/lib/words.h"

enum semantics_kind {
	SEMANTICS_OTHER,
	SEMANTICS_SWITCH,
	SEMANTICS_WAKEUP,
	SEMANTICS_IRQ_ENTRY,
	SEMANTICS_IRQ_EXIT,
	SEMANTICS_NMI,
	SEMANTICS_SYSCALL_ENTRY,
	SEMANTICS_SYSCALL_EXIT,
	SEMANTICS_MARK,	      /* made by programs: user events, trace_marker */
	SEMANTICS_CALL_ENTRY, /* of a function of the kernel: function_graph */
	SEMANTICS_CALL_EXIT,
};

struct semantics {
	enum semantics_kind kind;
	/*
	 * The pid woken; of a switch the next one; the interrupt's or the system call's number; a
	 * function call's depth; NULL: there is none.
	 */
	const struct field *number;
	/* previous task's pid; interrupt's name; NMI's duration; function's address */
	const struct field *detail;
	const struct field *state;	       /* in which the previous task was left */
	const struct field *called, *returned; /* times that the exit of a function call has */
	const char *word; /* "local_timer" of local_timer_entry, "read" of sys_enter_read */
	size_t length;
};

void semantics_find(struct semantics *semantics, const struct event *ev);
/* A number from a record; `otherwise` if it has none. */
int64_t semantics_number(
    const struct trace *t, const struct record *r, const struct field *f, int64_t otherwise);
/*
 * The name of the interval that a record begins or ends ("irq 4 serial", "local_timer", "read"), as
 * its number in `words`.
 */
uint32_t semantics_word(struct words *words, const struct semantics *semantics,
    const struct trace *t, const struct record *r);
/* Parses the text or the name of a mark; valid until the next call. */
void semantics_mark(const struct trace *t, const struct record *r, struct mark_parts *mark);
/* A mark as one line: its text, or the event and its fields, cut to the size of `buf`. */
void semantics_mark_text(const struct trace *t, const struct record *r, char *buf, size_t size);
