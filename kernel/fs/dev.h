/* /dev. Task context. */
#pragma once

#include "kernel/fs/vfs.h"

void dev_init(void); /* /dev and what needs no hardware */
/* The node in /dev with this number, with a reference; -ENXIO. */
int dev_find(u64 rdev, struct vnode **out);
/* `name` may be a path below /dev: directories are made. */
int dev_register(const char *name, u32 mode, const struct file_ops *ops, void *priv);
/* .seek of a device that has addresses but no end: from the start, or from where one is. */
s64 dev_seek(struct file *f, s64 off, int whence);
/* .seek of what has no position and may be sought all the same, as on Linux: always 0. */
s64 dev_null_seek(struct file *f, s64 off, int whence);
/* A file whose contents are memory that stays; directories are made. `path` is absolute. */
int vfs_add_static(const char *path, u32 mode, const void *data, u64 size);
