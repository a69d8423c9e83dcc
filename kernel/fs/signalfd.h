/* Signals that are read and waited for as a file: signalfd(2). Task context. */
#pragma once

#include "kernel/fs/vfs.h"

/* `set`: a bit for each signal. NULL: no memory. */
struct file *signalfd_create(u64 set, u32 flags);
bool signalfd_is(const struct file *f);
void signalfd_set(struct file *f, u64 set);
