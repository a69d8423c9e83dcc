/* The command line of trapline explore. */
#pragma once

#include "tools/trapline/explore/search.h"

/* What the command line asks for. */
struct exploring {
	struct runs runs; /* all but what runs_begin() and runs_first() set */
	struct search_range range;
	const char *out_name;
};

/* Parses the arguments. -1, or the exit status if there is nothing to run. */
int explore_options(struct exploring *x, int argc, char **argv);
/* After either. */
void explore_options_free(struct exploring *x);
