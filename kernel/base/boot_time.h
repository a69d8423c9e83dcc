/* Where the time of this boot begins. Pure. */
#pragma once

#include "kernel/lib/types.h"

/*
 * The TSC counts from the reset, 0. If it has come further, some minutes, it was set or never
 * stopped: no word about the reset.
 */
#define TSC_FRESH (1UL << 40)

/*
 * The first time there is, of a boot that this kernel was entered in at entry_tsc: the reset's, or
 * else that one.
 */
static inline u64 boot_first_tsc(u64 entry_tsc)
{
	return entry_tsc < TSC_FRESH ? 0 : entry_tsc;
}
