/*
 * A compiled filter, and running it: a small program that any context may run. trace/filter/
 * compiles it of a text.
 */
#pragma once

#include "kernel/lib/types.h"

struct trace_array;
struct trace_event_file;
struct trace_system;

/* What a filter reads of a record besides the fixed fields. */
enum {
	TRACE_LOOKS_COMMON = 1, /* the common fields */
	TRACE_LOOKS_BEHIND = 2, /* what follows the fields: strings and masks of variable size */
};

struct filter_insn;
typedef bool (*filter_test)(const struct filter_insn *in, const void *rec, u32 len);
typedef bool (*filter_match)(const struct filter_insn *in, const char *s, u32 len);

/*
 * One instruction: a predicate, and where to go on when it is false, when it is true: another one,
 * or FILTER_FAIL, FILTER_PASS.
 */
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

/* After host_synchronize(), if writers may have seen it. NULL is fine. */
void trace_filter_free(struct trace_filter *f);

/*
 * Does the record pass? Any context, between host_enter() and host_preempt_enable(). `rec` may hold
 * the fixed part alone unless f->looks has TRACE_LOOKS_BEHIND. The filter trusts nothing in the
 * record: a field that points outside of it does not match.
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

/*
 * The last filter that fitted none of the system's events, for the file of that array to show;
 * NULL: none. host_lock held.
 */
void trace_filter_set_refused(
    struct trace_system *sys, struct trace_array *tr, struct trace_filter *refused);
/* A file goes away: writers have left it. host_lock held. */
void trace_filter_drop(struct trace_event_file *file);
/* The same of an array. */
void trace_filter_drop_array(struct trace_array *tr);
