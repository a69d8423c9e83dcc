/* CRC-32 as zip, png and ethernet have it (reflected 0xEDB88320). Pure; any context. */
#pragma once

#include "kernel/lib/types.h"

/* Of `data` behind what `crc` is of already; 0 to begin. */
u32 crc32(u32 crc, const void *data, size_t n);
