/* What TAB may complete a line with. Task context: reads directories. */
#pragma once

#include "kernel/shell/state.h"

struct sh_completion {
	struct sh_words
	    found;    /* the candidates, sorted, as they are shown; directories with a slash */
	size_t start; /* where the word begins in the line */
	char *
	    text; /* what may stand there instead: the longest common beginning, with backslashes; a blank
				* behind it when it is the only one and no directory. NULL: nothing to insert */
};

/* The word that ends at line[at]. Memory from sh->tmp. */
void sh_complete(struct shell *sh, const char *line, size_t at, struct sh_completion *c);
