/* Floating point as text. Pure: any context; about 1 KiB of stack. */
#pragma once

#include "kernel/lib/seq.h"

/*
 * Of the bits of a float (n: 4) or a double (8): the shortest decimal that means the same. False:
 * not finite.
 */
bool eh_float_put(struct seq *s, u64 bits, u32 n);
