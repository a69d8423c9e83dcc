/*
 * Filters: boolean expressions over the fields of a record, as `filter` files and the `if` of triggers take them. The text is
 * compiled once, in task context, to a small program that any context may run.
 */
#pragma once

#include "trace/event/event.h"

/* What a filter reads of a record besides the fixed fields. */
enum {
	TRACE_LOOKS_COMMON = 1, /* the common fields */
	TRACE_LOOKS_BEHIND = 2, /* what follows the fields: strings and masks of variable size */
};

struct trace_filter_error {
	const char *text; /* "Field not found" ...; static */
	u32 pos; /* column of the caret; Linux counts up to two beyond the end of the text */
	int code; /* what a trigger's `if` is refused with: Linux's parser has numbers of its own for some errors */
};

struct filter_insn;
typedef bool (*filter_test)(const struct filter_insn *in, const void *rec, u32 len);
typedef bool (*filter_match)(const struct filter_insn *in, const char *s, u32 len);

/* One instruction: a predicate, and where to go on when it is false, when it is true: another one, or FILTER_FAIL, FILTER_PASS. */
struct filter_insn {
	filter_test test;
	const struct filter_insn *next[2];
	union {
		u64 first;	  /* numbers from here ... */
		u64 mask;	  /* bits of interest */
		const char *text; /* the pattern, NUL-terminated */
	};
	u64 span;	    /* ... to so many above it */
	filter_match match; /* of texts */
	u16 offset;	    /* of the field */
	u16 size;	    /* of a fixed string; 0: the rest of the record */
	u16 text_len;	    /* of the pattern */
	bool same;	    /* of masks: all bits, not any */
	bool negate;	    /* where a fault is no match, whichever way it is asked */
};
#define FILTER_FAIL ((const struct filter_insn *)0)
#define FILTER_PASS ((const struct filter_insn *)1)

/* Never changed once made. */
struct trace_filter {
	const struct filter_insn *start; /* count of them, at least one */
	u16 count;
	u32 fixed; /* bytes at the record's start that it looks at */
	u8 looks;  /* TRACE_LOOKS_* */
	const char *text;
};

/*
 * Compiles `text` (without blanks at its end) for records of `call`. 0; -EINVAL, *err says why; -ENOMEM. Task context.
 * The source of the language: events.txt, section 5.
 */
int trace_filter_create(const struct trace_event_call *call, const char *text,
    struct trace_filter **out, struct trace_filter_error *err);
/* Is this a field that every event has in filters, though no record has it: cpu, comm ...? */
bool trace_filter_virtual_field(const char *name);
/* One that lets all pass and shows `text` with the reason it was refused for. NULL: no memory. */
struct trace_filter *trace_filter_create_refused(
    const char *text, const struct trace_filter_error *err);
/* After host_synchronize(), if writers may have seen it. NULL is fine. */
void trace_filter_free(struct trace_filter *f);

/*
 * Does the record pass? Any context, between host_enter() and host_preempt_enable(). `rec` may hold the fixed
 * part alone unless f->looks has TRACE_LOOKS_BEHIND. The filter trusts nothing in the record: a
 * field that points outside of it does not match.
 */
bool trace_filter_match(const struct trace_filter *f, const void *rec, u32 len);

/* The same, of a record that is as long as its fields: no step is taken to make sure. */
static inline bool trace_filter_run(const struct trace_filter *f, const void *rec, u32 len)
{
	const struct filter_insn *in = f->start;

	/* The program only goes forward (compile.c), so the loop ends. */
	do {
		in = in->next[in->test(in, rec, len)];
	} while (in > FILTER_PASS);
	return in == FILTER_PASS;
}

/* What the file shows. */
const char *trace_filter_text(const struct trace_filter *f);
void trace_filter_error_log(
    struct trace_array *tr, const char *text, const struct trace_filter_error *err);

/*
 * The files `filter` of an event and of a system (events.txt, 5.2 to 5.4). The line is cut up. 0, -EINVAL (it is in the file and
 * in error_log why), -ENOMEM (nothing has changed). host_lock held.
 */
int trace_filter_store(struct trace_event_file *file, char *line);
void trace_filter_show(struct seq *s, const struct trace_event_file *file);
struct trace_system;
int trace_filter_store_system(struct trace_array *tr, struct trace_system *sys, char *line);
void trace_filter_show_system(
    struct seq *s, const struct trace_array *tr, const struct trace_system *sys);
/* A file goes away: writers have left it. host_lock held. */
void trace_filter_drop(struct trace_event_file *file);
/* The same of an array. */
void trace_filter_drop_array(struct trace_array *tr);
