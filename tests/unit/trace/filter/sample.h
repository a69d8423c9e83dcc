/*
 * A record with a field of every kind a filter knows, for the cases about filters, the random ones
 * and the fuzzer.
 */
#pragma once

#include "trace/filter/compile.h"

struct filter_sample {
	struct trace_entry ent;
	s8 s8;
	u8 u8;
	s16 s16;
	u16 u16;
	s32 s32;
	u32 u32;
	s64 s64;
	u64 u64;
	char name[8];  /* NUL-padded */
	char tight[4]; /* may have no NUL */
	u32 dyn, rel, mask;
	const char *ptr;
	u64 user;      /* const char * of ring 3 */
	u64 call_site; /* unsigned long */
	s32 numbers[3];
	u8 a, b, c, d, e, f, g, h;
	char room[64]; /* what dyn, rel and mask are in */
};

extern struct trace_event_call filter_sample_call;
/* Without strings and mask of changing lengths. */
extern const struct filter_sample filter_sample_usual;

/* Strings and mask into rec->room, where they fit; the lengths count their NULs. */
void filter_sample_set(struct filter_sample *rec, const char *dyn, u32 dyn_len, const char *rel,
    u32 rel_len, u64 mask);
/* A filter on it; NULL: the case has failed. */
struct trace_filter *filter_sample_compile(const char *text);
/* Does it match? If it does not even compile, the case has failed. */
bool filter_sample_matches(const char *text, const struct filter_sample *rec);
