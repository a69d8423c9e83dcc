/* CRC-32 as zip, png and ethernet have it (reflected 0xEDB88320). Pure; any context. */
#pragma once

#include "kernel/lib/types.h"

/* Of `data` behind what `crc` is of already; 0 to begin. (boot/efi has one of its own, for all at once.) */
u32 crc32_add(u32 crc, const void *data, size_t n);
