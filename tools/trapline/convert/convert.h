/*
 * The forms a trace is given besides text: each writes an open trace to its end. Errors of `out`
 * are seen by who closes it.
 */
#pragma once

#include "tools/trapline/trace/trace.h"

void write_json(struct trace *t, FILE *out);
void write_perfetto(struct trace *t, FILE *out);
/*
 * A directory that is not there yet: metadata, and a stream for each CPU. False, said: it could not
 * be written.
 */
bool write_ctf(struct trace *t, const char *directory);
