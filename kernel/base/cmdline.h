/* The kernel command line: words "name" and "name=value", quotes as Linux. Read-only after boot. */
#pragma once

#include "kernel/lib/types.h"

void cmdline_init(const char *line);
const char *cmdline(void); /* as given */
/* Value of the last `name=`; "" for a bare word; NULL: not there. */
const char *cmdline_get(const char *name);
bool cmdline_flag(
    const char *name); /* there, as a word or with a value that is neither 0 nor off */
u64 cmdline_u64(const char *name, u64 otherwise); /* suffixes k m g */
/* Each occurrence in order: index from 0; NULL at the end. */
const char *cmdline_nth(const char *name, unsigned index);
