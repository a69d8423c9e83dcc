/* A trace.dat file of what was read out of a machine's memory. */
#pragma once

#include "tools/trapline/live.h"

struct dat_writer {
	unsigned cpus;
	struct filling *filling; /* by CPU: the page that is being filled */
	struct bytes *pages;	 /* by CPU: those that are full */
};

void dat_begin(struct dat_writer *w, const struct live *l);
/* Takes what there is by now; may be called again and again while the machine runs. */
void dat_take(struct dat_writer *w, struct live *l);
/* Writes all that was taken. What fails is seen by who closes `out`. */
void dat_finish(struct dat_writer *w, const struct live *l, FILE *out);
void dat_drop(struct dat_writer *w);
/* All of it at once. */
void dat_write(struct live *l, FILE *out);
