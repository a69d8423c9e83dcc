/* Open files: see vfs.h. Task context. */
#pragma once

#include "kernel/fs/vfs.h"

int file_open(const char *path, u32 flags, u32 mode, struct file **out);
/*
 * Opens the node that file_open() has found, according to file->flags, and takes over the reference
 * to it. Name and arguments are Linux's, for kprobes.
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
/* The events that poll() reports as ready; a file without .poll is always ready. */
unsigned file_poll(struct file *f);
/* A file that is not in any directory. */
struct file *file_new(const struct file_ops *ops, u32 flags, void *priv);

/*
 * Buffers are kernel memory; *pos advances. All reads and writes but those by write_user go through
 * these two.
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
