/* Shared by the printing files of `trapline explain`. */
#pragma once

#include "tools/trapline/explain/explain.h"

#define PARTS_MOST 24 /* lines of parts; the rest is summed up */

struct explained {
	struct trace trace;
	struct timeline timeline;
	struct explanation explanation;
};

const char *explain_time(char buf[32], const struct trace *t, uint64_t time);
/*
 * explain_exact() prints all digits, so that parts can be added up; explain_short() three, for
 * people.
 */
const char *explain_exact(char buf[32], const struct trace *t, uint64_t n);
const char *explain_short(char buf[32], const struct trace *t, uint64_t n);
void explain_part(const struct explanation *e, const struct part *p, bool names, FILE *out);
/* Which parts made B longer, or shorter, than A. */
void explain_difference(const struct explained *a, const struct explained *b);
