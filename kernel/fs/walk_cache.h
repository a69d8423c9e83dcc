/*
 * A cache of the directories that absolute paths led to, so that the next path into one of them
 * need not be walked from the root. Users of a tracer open one file of a directory after another.
 *
 * The cache holds only paths that stay valid: without symlinks, dots and double slashes, through
 * file systems that set vnode_ops.lasting. A file system that removes or renames a directory calls
 * walk_cache_clear(), or returns false from vnode_ops.is_alive. Task context.
 */
#pragma once

#include "kernel/fs/vfs.h"

/* The directory that the first n bytes of `path` lead to, with a reference; NULL: not cached. */
struct vnode *walk_cache_find(const char *path, size_t n);
/* How often the cache was cleared: read it before the walk whose result is added. */
u64 walk_cache_cleared(void);
/* Remembers that these n bytes lead to `dir`, if the cache was not cleared since `cleared`. */
void walk_cache_add(const char *path, size_t n, struct vnode *dir, u64 cleared);
/* Forgets everything. The caller still holds the lock that a lookup of the name would take. */
void walk_cache_clear(void);
