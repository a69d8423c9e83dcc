/* Open files: see vfs.h. Task context. */
#pragma once

#include "kernel/fs/vfs.h"

int file_open(const char *path, u32 flags, u32 mode, struct file **out);
/*
 * With Linux's name and arguments, for kprobes: what file_open() has found, in the way that
 * f->flags say. Takes the reference to the node.
 */
struct path {
	struct vnode *vnode;
	const char *name; /* absolute */
};
int vfs_open(const struct path *path, struct file *file);
struct file *file_get(struct file *f);
void file_put(struct file *f); /* last one: release */
static inline bool file_writable(const struct file *f)
{
	u32 acc = f->flags & O_ACCMODE;

	return acc == O_WRONLY || acc == O_RDWR;
}
/* What it is ready for, as poll() says it; a file that cannot tell always is. */
unsigned file_poll(struct file *f);
/* A file that is not in any directory. */
struct file *file_new(const struct file_ops *ops, u32 flags, void *priv);

/*
 * Buffers are the kernel's; *pos moves. All reads and writes go through these two, but those of
 * write_user.
 */
ssize vfs_read(struct file *file, char *buf, size_t count, u64 *pos);
ssize vfs_write(struct file *file, const char *buf, size_t count, u64 *pos);
ssize kernel_read(struct file *f, void *buf, size_t n); /* at f->pos, which moves */
ssize kernel_write(struct file *f, const void *buf, size_t n);
ssize vfs_splice(struct file *f, void *buf, size_t n, bool nonblock);
ssize vfs_pread(struct file *f, void *buf, size_t n, u64 pos);
ssize vfs_pwrite(struct file *f, const void *buf, size_t n, u64 pos);
s64 vfs_seek(struct file *f, s64 off, int whence);
int vfs_readdir(struct file *dir, u64 pos, struct dirent *out); /* with . and ..; 1 or 0 */
int vfs_ftruncate(struct file *f, u64 size);
