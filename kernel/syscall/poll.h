/* Shared by waiting calls: a temporary signal mask. Task context. */
#pragma once

#include "kernel/lib/types.h"

/* `mask`: where it is in ring 3; 0: it stays. 0, -EFAULT, -EINVAL. */
int sys_mask_begin(u64 mask, u64 size);
/* After a wait that sys_mask_begin() allowed: returns `ret`, with which the call ends. */
long sys_mask_end(u64 mask, long ret);
