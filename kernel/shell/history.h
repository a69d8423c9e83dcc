/* The lines typed before, newest last, a fixed number of them. Task context; belongs to one editor. */
#pragma once

#include "kernel/lib/types.h"

#define SH_HISTORY_MAX 200

struct sh_history {
	char *line[SH_HISTORY_MAX]; /* line[0] the oldest */
	int count;
};

void sh_history_add(
    struct sh_history *h, const char *line); /* not if it is empty or the same as the last */
void sh_history_free(struct sh_history *h);
/* The newest line before `from` that contains `what`; -1: none. */
int sh_history_find(const struct sh_history *h, int from, const char *what);
