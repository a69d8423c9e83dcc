/*
 * Writes a trace as text, a line for each record. The caller sees errors of `out` when it closes
 * it.
 */
#pragma once

#include "tools/trapline/trace/trace.h"

void write_text(struct trace *t, FILE *out);
/* Writes the lines without a header. */
void write_records(struct trace *t, FILE *out);
/* Writes one line, of a record or a gap. */
void write_line(FILE *out, const struct trace *t, const struct record *r);
void write_record(FILE *out, const struct trace *t, const struct record *r);
