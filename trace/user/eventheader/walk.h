/*
 * The walk over an EventHeader record: its state, its step 1 and what step 3 reads of the metadata
 * (eventheader.c has the steps). Pure: any context.
 */
#pragma once

#include "kernel/lib/string.h"
#include "trace/user/eventheader/eventheader.h"
#include "trace/user/eventheader/value.h"

/* What is left to be read of a part of the record. */
struct eh_span {
	const u8 *at, *end;
};

struct eh_walk {
	struct eh_out out;
	const struct eh_record *rec;
	struct eh_name name;
	struct eventheader header;
	bool big;
	const u8 *activity; /* NULL: none */
	u32 activity_len;
	struct eh_span meta, payload;
	bool has_meta;
	u32 steps;
	const char *damage; /* NULL: none */
	u32 damage_at;	    /* byte of the record */
};

struct eh_field {
	const char *name;
	u32 name_len;
	u8 encoding, format;
	bool is_fixed, is_counted;
	u16 tag;
	u32 count; /* of elements, is_fixed */
};

static inline size_t eh_left(const struct eh_span *p)
{
	return p->end - p->at;
}

/* Notes the first thing that is wrong; always false. */
static inline bool eh_damaged(struct eh_walk *w, const char *why, const u8 *at)
{
	if (!w->damage) {
		w->damage = why;
		w->damage_at = at - (const u8 *)w->rec->data;
	}
	return false;
}

static inline u32 eh_take16(const struct eh_walk *w, struct eh_span *p)
{
	u32 v = eh_load(p->at, 2, w->big);

	p->at += 2;
	return v;
}

/* Step 1: the header and its extensions. */
void eh_walk_open(struct eh_walk *w, struct seq *s, const struct eh_record *rec, bool json);

/* ---- descriptions of fields ---- */

/* A name in the metadata, up to its NUL, and after that. NULL: it has no end. */
const char *eh_take_name(struct eh_span *meta, u32 *len);
/* Counts a step of work. False: it is one too many. */
bool eh_step(struct eh_walk *w);
/* The next description. False: damaged. */
bool eh_take_field(struct eh_walk *w, struct eh_field *f);
/* Goes over the descriptions of n fields and of what belongs to them, or over all that are left. */
bool eh_skip_fields(struct eh_walk *w, u32 n);
/*
 * JSON: the number after the name, so that no two in its object are the same: of how many fields
 * with that name from `start` on it is the last. 0: none is needed.
 */
u32 eh_number_name(struct eh_walk *w, const u8 *start, const struct eh_field *f, bool is_top);
