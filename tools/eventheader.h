/*
 * Shared by the parts of the program that decodes files of EventHeader events
 * (tools/eventheader*.c).
 */
#pragma once

#include "tools/trapline/lib/util.h"
#include "trace/user/eventheader/eventheader.h"

/* Prints an event as text or as JSON. origin: NULL for none. */
void show(const struct eh_record *rec, const struct eh_origin *origin);

/* ---- eventheader_trace.c: false, said: it is damaged ---- */

/* The EventHeader events of a trace.dat, in order of time. */
bool show_dat(const char *name, struct in in);
/*
 * Those of sub-buffers of the kernel's own format, of page_size bytes each. formats: the text of
 * `format` files, one after the other.
 */
bool show_pages(const char *name, struct in in, struct in formats, uint32_t page_size);
