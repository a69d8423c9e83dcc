/*
 * Directories that absolute paths led to, so that the next path into one of them need not be walked
 * from the root. Programs of a tracer open one file of a directory after the other.
 *
 * Only ways that are certain to stay are kept: without symlinks, dots and doubled slashes, through
 * file systems that say so (vnode_ops.lasting). A file system that takes a directory's name away
 * calls walk_cache_clear(), or says of the node that it is gone (vnode_ops.is_alive). Task context.
 */
#pragma once

#include "kernel/fs/vfs.h"

/* The directory that the first n bytes of `path` lead to, with a reference; NULL: not known. */
struct vnode *walk_cache_find(const char *path, size_t n);
/* How often the cache was cleared: read it before the walk whose result is added. */
u64 walk_cache_cleared(void);
/* Remembers that these n bytes lead to `dir`, if the cache was not cleared since `cleared`. */
void walk_cache_add(const char *path, size_t n, struct vnode *dir, u64 cleared);
/* Forgets everything. The caller still holds the lock that a lookup of the name would take. */
void walk_cache_clear(void);
