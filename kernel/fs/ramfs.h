/* The file system in memory, for the rest of kernel/fs. Task context. */
#pragma once

#include "kernel/fs/vfs.h"

struct vnode *ramfs_create_root(void); /* NULL: no memory */
/*
 * Adds a file whose contents are memory that stays: shown in place, copied page by page on write.
 */
int ramfs_add_static(
    struct vnode *dir, const char *name, u32 mode, const void *data, u64 size, struct vnode **out);
/* Gives a file made by ramfs_add_static() other contents. */
void ramfs_set_static(struct vnode *v, const void *data, u64 size);
/* Another name for a node that is not a directory. */
int ramfs_link(struct vnode *dir, const char *name, struct vnode *v);
/* A node with functions of its own (devices). */
int ramfs_add_node(struct vnode *dir, const char *name, u32 mode, const struct file_ops *fops,
    void *priv, u64 rdev);
/* Opens a new file that is in no directory; `name` is for /proc only. NULL: no memory. */
struct file *ramfs_open_nameless(const char *name);
bool vnode_is_ramfs(const struct vnode *v);
/* The number of pages that files and names may use in total, and the number left. */
void ramfs_room(u64 *pages, u64 *left);
