/*
 * Conversions of a trace to forms other than text. Each function writes an open trace to its end;
 * the caller sees errors of `out` when it closes it.
 */
#pragma once

#include "tools/trapline/trace/trace.h"

void write_json(struct trace *t, FILE *out);
void write_perfetto(struct trace *t, FILE *out);
/*
 * Writes a new directory: metadata, and a stream for each CPU. False, after a message: it could not
 * be written.
 */
bool write_ctf(struct trace *t, const char *directory);
