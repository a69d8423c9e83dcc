/* Archives, unpacked into the root. Task context. */
#pragma once

#include "kernel/lib/types.h"

/* Unpacks a "newc" cpio archive into the root. 0 or -EINVAL (what came before stays). */
int cpio_unpack(const void *data, size_t size);
