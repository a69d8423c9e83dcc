/* A trace as text, a line for each record. Errors of `out` are seen by who closes it. */
#pragma once

#include "tools/trapline/trace/trace.h"

void write_text(struct trace *t, FILE *out);
/* Lines alone, without what stands above them. */
void write_records(struct trace *t, FILE *out);
/* One of them, or a gap. */
void write_line(FILE *out, const struct trace *t, const struct record *r);
void write_record(FILE *out, const struct trace *t, const struct record *r);
