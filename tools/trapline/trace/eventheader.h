/* EventHeader events in a trace (docs/eventheader.md). */
#pragma once

#include "tools/trapline/trace/trace.h"
#include "trace/user/eventheader/eventheader.h"

/*
 * Is it one, told by the name and the first field of its event? Then for the kernel's decoder;
 * name: room for the tracepoint's.
 */
bool eventheader_of(const struct record *r, char name[EVENTHEADER_NAME_MAX], struct eh_record *out);
/* The record of an EventHeader event as " TEXT", decoded. False, and nothing: it is none. */
bool put_eventheader(FILE *out, const struct record *r);
