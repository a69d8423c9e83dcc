/* Writes a trace.dat file of records read from a machine's memory, with formats and names. */
#pragma once

#include "tools/trapline/trace/live.h"

struct dat_writer {
	unsigned cpus;
	uint32_t page_size;	 /* of the file's pages: as large as the largest sub-buffer seen */
	struct filling *filling; /* by CPU: the page that is being filled */
	struct bytes *pages;	 /* by CPU: the full ones */
};

/* The contents of the header besides formats, names and clock, which come from the trace. */
struct dat_about {
	const struct trace *trace;
	struct bytes symbols, ledger; /* texts; no ledger: there is none */
	const uint64_t *seen, *lost;  /* by CPU: records, and those overwritten before */
	uint64_t unix_ns;
	const struct bytes *origin; /* its origin (origin.h); NULL: not known */
};

void dat_begin(struct dat_writer *w, unsigned cpus);
/* Takes the present records; may be called repeatedly while the machine runs. */
void dat_take(struct dat_writer *w, struct live *l);
/* The same for a trace that no longer changes. */
void dat_take_trace(struct dat_writer *w, struct trace *t);
/* Writes all records taken. The caller sees errors when it closes `out`. */
void dat_finish(struct dat_writer *w, const struct live *l, const struct bytes *origin, FILE *out);
void dat_finish_trace(struct dat_writer *w, const struct dat_about *about, FILE *out);
void dat_drop(struct dat_writer *w);
/* All of it at once. */
void dat_write(struct live *l, FILE *out);
