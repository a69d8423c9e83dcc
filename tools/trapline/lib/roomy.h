/*
 * Arrays that grow with a trace. A large one lies in a file without a name, below $TMPDIR: the
 * system can write it out, so that a trace may be larger than the memory of the computer. Where no
 * such file can be made it lies in memory like any other.
 */
#pragma once

#include <stddef.h>

/* Room for one more after `count`; items NULL: the first. Ends the program if there is none. */
void *roomy_more(void *items, size_t count, size_t size);
void roomy_free(void *items); /* may be NULL */
