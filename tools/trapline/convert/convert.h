/*
 * The forms a trace is given: each writes an open trace to its end. Errors of `out` are seen by who
 * closes it.
 */
#pragma once

#include "tools/trapline/trace/trace.h"

void write_text(struct trace *t, FILE *out);
/* Lines alone, without what stands above them. */
void write_records(struct trace *t, FILE *out);
/* One of them, or a gap. */
void write_line(FILE *out, const struct trace *t, const struct record *r);
void write_record(FILE *out, const struct trace *t, const struct record *r);
void write_json(struct trace *t, FILE *out);
void write_perfetto(struct trace *t, FILE *out);
/*
 * A directory that is not there yet: metadata, and a stream for each CPU. False, said: it could not
 * be written.
 */
bool write_ctf(struct trace *t, const char *directory);

/* Whose value this is: counters of a CPU out of its statistics. 0: not said. */
uint64_t stats_number(const struct trace *t, unsigned cpu, const char *name);
/* The ledger out of the statistics; NULL: there is none. */
const char *stats_ledger(const struct trace *t);
/* The record of an EventHeader event as " TEXT", decoded. False, and nothing: it is none. */
bool put_eventheader(FILE *out, const struct record *r);
/* While records are written. */
void convert_progress(const struct trace *t);
