/*
 * The findings of a test kernel that is built to look for one kind of error (`make sanitized`); one
 * of undefined.c, address.c and thread.c is linked into it.
 */
#pragma once

#include "kernel/lib/types.h"

/* The machine is up, and the tests begin. */
void sanitize_begin(void);
/* Prints the places and returns their number. Task context. */
unsigned sanitize_report(void);
/* How many places were noted. Any context. */
unsigned sanitize_count(void);
/*
 * Commits errors of this kernel's kind: are they found, and nothing else? Task context, when all
 * else is done.
 */
bool sanitize_finds_planted(void);
