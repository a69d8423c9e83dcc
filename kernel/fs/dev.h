/* /dev. Task context. */
#pragma once

#include "kernel/fs/vfs.h"

void dev_init(void); /* /dev and devices that need no hardware */
/* The node in /dev with this number, with a reference; -ENXIO. */
int dev_find(u64 rdev, struct vnode **out);
/* `name` may be a path below /dev; missing directories are created. */
int dev_register(const char *name, u32 mode, const struct file_ops *ops, void *priv);
/* .seek of a device with addresses but no end: relative to the start or the position. */
s64 dev_seek(struct file *f, s64 off, int whence);
/* .seek of a file without a position that accepts lseek() all the same, as on Linux: always 0. */
s64 dev_null_seek(struct file *f, s64 off, int whence);
/*
 * Adds a file whose contents are memory that stays; creates missing directories. `path` is
 * absolute.
 */
int vfs_add_static(const char *path, u32 mode, const void *data, u64 size);
