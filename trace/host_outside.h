/*
 * Facts for a reader outside the machine, which sees only its memory: trace/export/. Task context.
 * Weak: nothing is known, all 0.
 */
#pragma once

#include "kernel/lib/types.h"

/*
 * Addresses from *direct on are physical ones plus that, those from *image on physical ones plus
 * *image less *offset. RAM ends at physical *ram_end.
 */
void host_address_map(u64 *direct, u64 *image, u64 *offset, u64 *ram_end);
/*
 * Where the table of host_sym_nth() lies: how many there are, the first one's address, then the
 * addresses of u32s: each one's distance from the first, and where its name is after the third
 * address, which is that of the names; and the address of u32s with a bit for each, set for those
 * that are not static.
 */
void host_sym_place(u64 place[6]);
