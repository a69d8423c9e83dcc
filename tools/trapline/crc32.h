/* CRC-32 as zip, png and ethernet have it (reflected 0xEDB88320). */
#pragma once

#include "kernel/lib/types.h"

/* Of `data` behind what `crc` is of already; 0 to begin. */
u32 crc32_add(u32 crc, const void *data, size_t n);
