/* EventHeader events in a trace (docs/eventheader.md). */
#pragma once

#include "tools/trapline/trace/trace.h"
#include "trace/user/eventheader/eventheader.h"

/*
 * True if the name and the first field of the event show that the record is one; then fills *out
 * for the kernel's decoder. name: room for the tracepoint's name.
 */
bool eventheader_of(const struct record *r, char name[EVENTHEADER_NAME_MAX], struct eh_record *out);
/*
 * Prints the decoded record of an EventHeader event as " TEXT". Otherwise prints nothing and
 * returns false.
 */
bool put_eventheader(FILE *out, const struct record *r);
