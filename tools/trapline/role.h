/* What the events of a trace mean to who looks at it as a whole: found once for each event, by its name and fields. */
#pragma once

#include "tools/trapline/trace.h"
#include "tools/trapline/words.h"

enum role_kind {
	ROLE_OTHER,
	ROLE_SWITCH,
	ROLE_WAKEUP,
	ROLE_IRQ_ENTRY,
	ROLE_IRQ_EXIT,
	ROLE_NMI,
	ROLE_CALL_ENTRY,
	ROLE_CALL_EXIT,
	ROLE_MARK, /* made by programs: user events, trace_marker */
};

struct role {
	enum role_kind kind;
	/* The pid woken; of a switch the next one; the interrupt's or the call's number; NULL: there is none. */
	const struct field *number;
	const struct field *detail; /* previous task's pid; interrupt's name; NMI's duration */
	const char *word; /* "local_timer" of local_timer_entry, "read" of sys_enter_read */
	size_t length;
};

void role_find(struct role *role, const struct event *ev);
/* A number out of a record; `otherwise` if it has none. */
int64_t role_number(
    const struct trace *t, const struct record *r, const struct field *f, int64_t otherwise);
/* What the span that a record begins or ends is called: "irq 4 serial", "local_timer", "read". Its number among `words`. */
uint32_t role_word(
    struct words *words, const struct role *role, const struct trace *t, const struct record *r);
