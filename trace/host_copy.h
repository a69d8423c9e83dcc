/*
 * Copying from memory that may not be there. Any context; 0 or -EFAULT. Weak: both fail.
 */
#pragma once

#include "kernel/lib/types.h"

int host_copy_kernel(void *dst, const void *src, size_t n);
int host_copy_user(void *dst, u64 src, size_t n);
