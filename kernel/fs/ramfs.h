/* Between ramfs.c and ramfs_names.c: not for anybody else. */
#pragma once

#include "kernel/fs/fs.h"
#include "kernel/fs/ramdata.h"
#include "kernel/task/sync.h"

struct rnode {
	struct vnode v;
	struct mutex lock; /* data */
	union {
		struct ramdata data;
		struct {
			struct list_head entries; /* [names_lock] by seq, ascending */
			u64 next_seq;
		} dir;
		char *link;
	};
};

struct rentry {
	struct list_head node;
	struct rnode *target; /* counted */
	u64 seq; /* never used again in this directory: what a readdir cookie counts by */
	u32 hash;
	char name[];
};

static inline struct rnode *rnode_of(struct vnode *v)
{
	return container_of(v, struct rnode, v);
}

static inline bool rnode_is_dir(const struct rnode *n)
{
	return (n->v.mode & S_IFMT) == S_IFDIR;
}

/* ramfs.c: zeroed memory that counts; NULL: not within the bound, or none. */
void *ramfs_alloc(size_t size);
void ramfs_free(void *p, size_t size);
struct rnode *rnode_new(u32 mode);

/* ramfs_names.c */
int ramfs_lookup(struct vnode *v, const char *name, struct vnode **out);
int ramfs_readdir(struct vnode *v, u64 *cookie, struct dirent *out);
int ramfs_create(struct vnode *v, const char *name, u32 mode, struct vnode **out);
int ramfs_mkdir(struct vnode *v, const char *name, u32 mode);
int ramfs_unlink(struct vnode *v, const char *name);
int ramfs_rmdir(struct vnode *v, const char *name);
int ramfs_symlink(struct vnode *v, const char *name, const char *target);
int ramfs_rename(struct vnode *from, const char *old_name, struct vnode *to, const char *new_name);
/* Names the node, consuming the caller's reference to it, on failure too; n NULL: -ENOSPC. */
int ramfs_add(struct vnode *dir, const char *name, struct rnode *n);
