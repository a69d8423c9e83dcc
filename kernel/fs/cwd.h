/*
 * The working directory and umask, shared by tasks that clone() made with CLONE_FS. Task context;
 * the lock makes reading and replacing the directory atomic.
 */
#pragma once

#include "kernel/base/spinlock.h"
#include "kernel/fs/vfs.h"

struct task;

struct fs_struct {
	u32 refs;  /* [A] tasks */
	u32 umask; /* [A] */
	struct spinlock lock;
	struct vnode *cwd; /* [lock] counted; NULL: the root */
	char *path;	   /* [lock] kmalloc'ed, absolute, for getcwd and relative paths */
};

/* Copies `from` for one task; from NULL: the root. NULL: no memory. */
struct fs_struct *fs_copy(struct fs_struct *from);
void fs_put(struct fs_struct *fs); /* NULL is fine */
/* The current task's directory with a reference (NULL: the root); its path in PATH_MAX bytes. */
struct vnode *fs_cwd(char *path);
u32 fs_umask(void);
/*
 * Returns the old umask. Allocates an fs_struct for a task without one; if that fails, the default
 * stays.
 */
u32 fs_set_umask(u32 umask);
int vfs_chdir(const char *path);
int vfs_fchdir(struct file *f);
int vfs_getcwd(char *out); /* PATH_MAX bytes; -ENOENT when the directory is removed */
/* Does this path lead to that directory? After a rename another one may. */
bool vfs_leads_to(const char *path, const struct vnode *dir);
/* The path of a directory now: PATH_MAX bytes; -ENOENT when it is removed, -ENOMEM. */
int vfs_way_to(struct vnode *dir, char *out);
