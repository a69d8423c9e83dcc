/* Archives, unpacked into the root. Task context. */
#pragma once

#include "kernel/lib/types.h"

/* Unpacks a "newc" cpio archive into the root. 0 or -EINVAL (entries before the error stay). */
int cpio_unpack(const void *data, size_t size);
