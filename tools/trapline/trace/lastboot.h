/*
 * lastboot.bin, the flight recorder's memory as the loader saved it (trace/persist/kept_read.h):
 * the trace of the boot that died. Nothing in the file is trusted.
 */
#pragma once

#include "tools/trapline/lib/util.h"

/* True if the file is one. Prints no message. */
bool lastboot_is_in(const char *file);
/*
 * Writes its trace to `out` as trace.dat. False, after a message: it cannot be read. *damaged:
 * parts were dropped, also after a message.
 */
bool lastboot_write(const char *file, FILE *out, bool *damaged);
