/*
 * A compiled filter is a small program that any context may run. trace/filter/ compiles it from
 * text.
 */
#pragma once

#include "kernel/lib/types.h"

struct trace_array;
struct trace_event_file;
struct trace_system;

struct filter_insn;
typedef bool (*filter_test)(const struct filter_insn *in, const void *rec, u32 len);
typedef bool (*filter_match)(const struct filter_insn *in, const char *s, u32 len);

/*
 * One instruction: a predicate, and the next instruction if it is false and if it is true: another
 * one, FILTER_FAIL or FILTER_PASS.
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
	union {
		struct {
			u16 offset; /* of the field */
			u16 kind;   /* FILTER_* */
		};
		u32 place; /* both: the offset alone if it is a FILTER_NUMBER */
	};
	u16 size;     /* of a fixed string; 0: the rest of the record */
	u16 text_len; /* of the pattern */
	bool same;    /* of masks: all bits, not any */
	bool negate;  /* negates the test, but a fault is no match either way */
};
/* Ranges of frequent numbers among the event's own fields are tested without a call of `test`. */
enum { FILTER_NUMBER, FILTER_TEST, FILTER_NUMBER_S32, FILTER_NUMBER_U32 };
#define FILTER_FAIL ((const struct filter_insn *)0)
#define FILTER_PASS ((const struct filter_insn *)1)

/* Never changed once made. */
struct trace_filter {
	const struct filter_insn *start; /* the first of `count` instructions, at least one */
	u16 count;
	u32 fixed;   /* bytes at the record's start that it reads */
	bool common; /* the common fields are among them */
	const char *text;
};

/* Call after host_synchronize() if writers may have seen it. Accepts NULL. */
void trace_filter_free(struct trace_filter *f);

typedef u64 filter_u64 __aligned(1);
typedef u32 filter_u32 __aligned(1);
typedef s32 filter_s32 __aligned(1);

enum filter_verdict { FILTER_NO, FILTER_YES, FILTER_OPEN };

/*
 * Runs a filter's program from *at on: to its end, or up to the first instruction that is a
 * FILTER_TEST, which is then *at. The record has its fixed part, but for common fields and the
 * __data_loc words of strings. No function is called.
 */
static inline __attribute__((always_inline)) enum filter_verdict trace_filter_run_numbers(
    const struct filter_insn **at, const void *rec)
{
	const struct filter_insn *in = *at;

	/* The program only goes forward (compile.c), so the loop ends. */
	do {
		u32 place = in->place;
		u64 v;
		if (likely(place <= UINT16_MAX)) {
			v = *(const filter_u64 *)((const char *)rec + place);
		} else if (in->kind == FILTER_TEST) {
			*at = in;
			return FILTER_OPEN;
		} else if (in->kind == FILTER_NUMBER_S32) {
			v = (u64)(s64) * (const filter_s32 *)((const char *)rec + in->offset);
		} else {
			v = *(const filter_u32 *)((const char *)rec + in->offset);
		}
		in = in->next[v - in->first <= in->span];
	} while (in > FILTER_PASS);
	return in == FILTER_PASS ? FILTER_YES : FILTER_NO;
}

/* Runs the program from a FILTER_TEST to the end; true if the record passes. */
static inline __attribute__((always_inline)) bool trace_filter_run_tests(
    const struct filter_insn *in, const void *rec, u32 len)
{
	enum filter_verdict verdict;

	do {
		in = in->next[in->test(in, rec, len)];
		if (in <= FILTER_PASS)
			return in == FILTER_PASS;
		verdict = trace_filter_run_numbers(&in, rec);
	} while (verdict == FILTER_OPEN);
	return verdict;
}

/*
 * True if the record passes. Any context, between host_preempt_disable() and host_preempt_enable().
 * The filter trusts nothing in the record: a field that points outside of it does not match.
 */
bool trace_filter_match(const struct trace_filter *f, const void *rec, u32 len);

/*
 * The last filter that fitted none of the system's events, for the file of that array to show;
 * NULL: none. host_lock held.
 */
void trace_filter_set_refused(
    struct trace_system *sys, struct trace_array *tr, struct trace_filter *refused);
/* The file is about to be freed, and no writer uses it. host_lock held. */
void trace_filter_drop(struct trace_event_file *file);
/* The same for an array. */
void trace_filter_drop_array(struct trace_array *tr);
