/*
 * Hooks: the 5-byte nop at the beginning of every C function of the kernel that can bear one. A
 * function has a hook, or a reason why not: hook_refused(). Any context.
 */
#pragma once

#include "kernel/lib/types.h"

#define HOOK_LEN 5

/* Why the function that begins at addr has no hook; NULL: it has one, or addr is no function's. */
const char *hook_refused(u64 addr);
/* The file /proc/trapline/notrace: a line for each function without a hook. At boot. */
void hook_files_init(void);
