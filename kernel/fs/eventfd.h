/* A counter that is read, written and waited for as a file: eventfd(2). Task context. */
#pragma once

#include "kernel/fs/vfs.h"

/* `semaphore`: a read subtracts one. NULL: no memory. */
struct file *eventfd_create(u32 count, bool semaphore, u32 flags);
