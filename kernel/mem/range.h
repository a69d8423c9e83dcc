/* Sets of physical ranges, for boot: what the firmware calls usable, less what is in use. Pure. */
#pragma once

#include "boot/boot_info.h"
#include "kernel/lib/types.h"

#define RANGE_MAX (BOOT_MAX_RANGES * 2 + 8)

/* Half-open, sorted, not overlapping, not touching. */
struct range_set {
	unsigned count;
	struct {
		u64 start, end;
	} r[RANGE_MAX];
};

/* Both ignore empty ranges and cut those that wrap. A set that is full drops what is smallest to
 * lose: nothing is added. */
void range_add(struct range_set *set, u64 start, u64 end);
/* Is all of [start, end) in the set? */
bool range_holds(const struct range_set *set, u64 start, u64 end);
void range_remove(struct range_set *set, u64 start, u64 end);
/*
 * The whole pages below `limit` that the map calls usable and nothing else calls otherwise (the map
 * may be unsorted and overlap; reserved wins), without the first MiB, the kernel's image and the
 * initrd.
 */
void range_set_from_boot(struct range_set *set, const struct boot_info *bi, u64 limit);
/*
 * The highest page below 640 KiB that is all usable RAM, by the same rules, and not in use by
 * kernel or initrd; 0: none. Page 0 is never one. What range_set_from_boot() gives has none of
 * them, so it stays its taker's.
 */
u64 range_low_page(const struct boot_info *bi);
