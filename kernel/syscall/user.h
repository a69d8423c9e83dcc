/* Shared by the files of system calls: descriptors, paths and buffers of ring 3. Task context. */
#pragma once

#include "arch/arch.h"
#include "kernel/abi/linux.h"
#include "kernel/fs/file.h"
#include "kernel/fs/files.h"
#include "kernel/lib/errno.h"
#include "kernel/syscall/syscall.h"
#include "kernel/task/task.h"

/* The open file of a descriptor, with a reference; NULL: -EBADF. */
struct file *sys_fd_get(u64 fd);

/* Gives a file just made (NULL: -ENOMEM) a descriptor; consumes the file. */
long sys_install_new(struct file *f, bool cloexec);
/*
 * As sys_install_new() for two files; writes their numbers to ring 3. After an error no descriptor
 * stays.
 */
long sys_install_pair(struct file *ends[2], u64 to, bool cloexec);

/*
 * Copies a path of ring 3, once. 0, -EFAULT, -ENAMETOOLONG, -ENOMEM, -ENOENT (empty).
 * filename_put() afterwards.
 */
int filename_get(u64 uptr, struct filename *name);
void filename_put(struct filename *name);
/*
 * A path as vfs_*() take it: `name` itself, or, where it is relative to a directory `dfd` that is
 * not AT_FDCWD, both joined. 0 or -EBADF, -ENOTDIR, -ENAMETOOLONG, -ENOMEM. sys_path_put()
 * afterwards.
 */
int sys_path_at(int dfd, const char *name, const char **path);
void sys_path_put(const char *path, const char *name);

/* A call on one path, most of them: fn(path, a, b) between filename_get() and filename_put(). */
long sys_with_path(int dfd, u64 uptr, long (*fn)(const char *path, u64 a, u64 b), u64 a, u64 b);

/* The open file of a descriptor for the length of a call. file NULL: -EBADF. */
struct fd {
	struct file *file;
	bool counted; /* it has a reference of its own */
};

/*
 * While a task is alone with its table, nobody but itself closes its descriptors: the file is there
 * until the call ends or closes it, without a reference.
 */
static inline struct fd sys_fd_borrow(u64 fd)
{
	const struct files *fs = current()->files;
	struct file *f;

	if (likely(atomic_load_acquire(&fs->refs) == 1))
		return (struct fd){(u32)fd < fs->size ? fs->fd[(u32)fd] : NULL, false};
	f = sys_fd_get((u32)fd);
	return (struct fd){f, f};
}

static inline void sys_fd_return(struct fd fd)
{
	if (unlikely(fd.counted))
		file_put(fd.file);
}

/*
 * Where the data of a call is in ring 3, below USER_END: the rest of one range, then those of a
 * vector. Consumed from the front.
 */
struct user_data {
	u64 base;
	size_t len;
	const struct abi_iovec *more; /* none of them empty */
	size_t total;		      /* in all */
};
/* user_data_get() for any n, in a function. */
int user_data_get_parts(struct user_data *d, void *buf, size_t n);
/* Copies n bytes to where the next ones go: 0 or -EFAULT. */
int user_data_put(struct user_data *d, void *buf, size_t n);
/*
 * Checks a vector that is in the kernel already, and drops empty parts. Returns the bytes in all,
 * or negative errno.
 */
long user_data_check(struct abi_iovec *vec, u64 count);

static inline void user_data_next(struct user_data *d)
{
	d->base = d->more->iov_base;
	d->len = d->more->iov_len;
	d->more++;
}

/* Copies the next n bytes, of which there are so many: 0 or -EFAULT. */
static inline int user_data_get(struct user_data *d, void *buf, size_t n)
{
	if (!d->len && n)
		user_data_next(d);
	if (unlikely(n > d->len))
		return user_data_get_parts(d, buf, n);
	int err = copy_from_user(buf, d->base, n);
	d->base += n;
	d->len -= n;
	return err;
}

/*
 * Ends a call that a signal interrupted. The return to ring 3 settles `how` (ERESTARTSYS,
 * ERESTARTNOHAND), even if the signal that came is gone again.
 */
static inline long sys_interrupted(int how)
{
	atomic_or(&current()->arch.work, TASK_WORK_SIGNAL);
	return -how;
}

/* Inside -EINTR; outside, restarted where the handler allows it. */
static inline long sys_restartable(long ret)
{
	if (ret == -EINTRTIMED)
		return -EINTR;
	return ret == -EINTR ? sys_interrupted(ERESTARTSYS) : ret;
}

/*
 * Most bytes one read or write of a file gets or gives at once: a call up to here is one call of
 * the file's.
 */
#define IO_CHUNK 65536UL
/* The same for a write to a file with `whole_writes`: the most that kmalloc gives. */
#define IO_WHOLE (4UL << 20)
/* Linux's limit for the bytes of one call. */
#define IO_MAX	 0x7ffff000UL
/* Linux's UIO_MAXIOV: the most parts of a vector. */
#define IOV_MAX	 1024u
