/* The inside of expansion, shared by expand.c (words) and param.c (${...}). */
#pragma once

#include "kernel/shell/state.h"
#include "kernel/lib/fmt.h"

struct sh_expander {
	struct shell *sh;
	const char *ifs;
	struct sh_words *fields; /* NULL: one string, no splitting */
	struct sh_buf field;	 /* being built; quoted characters with a backslash */
	bool started;		 /* the field exists even if it is empty */
	bool after_blank;	 /* IFS blanks just ended a field */
	bool quoted;		 /* between double quotes */
	bool in_param;		 /* in the word of ${x:-word}, which is split like a value */
	bool failed;
};

/* A value: split outside quotes. */
void sh_expand_value(struct sh_expander *x, const char *s, size_t n);
void sh_expand_args(struct sh_expander *x, char which);
void sh_expand_raw(struct sh_expander *x, const char *p, const char *end);
int sh_expand_fail(struct sh_expander *x);
/* param.c: $name or ${...} from the dollar at p up to end. */
void sh_expand_param(struct sh_expander *x, const char *p, const char *end);
