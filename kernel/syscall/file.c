/* System calls on paths: open, directories, sizes, where one is. Task context. */
#include "arch/arch.h"
#include "kernel/fs/cwd.h"
#include "kernel/fs/file.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/syscall/user.h"

#define OPEN_KNOWN                                                                                 \
	(O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_LARGEFILE | \
	    O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static long open_path(const char *path, u32 flags, u32 mode)
{
	struct file *f;
	int err = file_open(path, flags & OPEN_KNOWN & ~O_CLOEXEC, mode & 07777 & ~fs_umask(), &f);
	int fd;

	if (err)
		return sys_restartable(err);
	fd = files_install(current()->files, f, 0, flags & O_CLOEXEC);
	if (fd < 0)
		file_put(f);
	return fd;
}

long __noinline do_sys_openat2(int dfd, const char *filename, const struct open_how *how)
{
	struct filename name;
	u32 flags = how->flags;
	const char *path;
	long ret;

	if ((flags & O_CREAT) && (flags & O_DIRECTORY))
		return -EINVAL;
	ret = filename_get((u64)filename, &name);
	if (ret)
		return ret;
	/* Without a free descriptor the file is neither created nor truncated. */
	ret = files_have_room(current()->files) ? sys_path_at(dfd, name.name, &path) : -EMFILE;
	if (!ret) {
		ret = open_path(path, flags, how->mode);
		sys_path_put(path, name.name);
	}
	filename_put(&name);
	return ret;
}

long __noinline do_sys_open(int dfd, const char *filename, int flags, umode_t mode)
{
	struct open_how how = {.flags = flags, .mode = mode};

	return do_sys_openat2(dfd, filename, &how);
}

long __x64_sys_open(const struct regs *r)
{
	return do_sys_open(ABI_AT_FDCWD, (const char *)r->rdi, r->rsi, r->rdx);
}

long __x64_sys_openat(const struct regs *r)
{
	return do_sys_open(r->rdi, (const char *)r->rsi, r->rdx, r->r10);
}

long __x64_sys_creat(const struct regs *r)
{
	return do_sys_open(
	    ABI_AT_FDCWD, (const char *)r->rdi, O_CREAT | O_WRONLY | O_TRUNC, r->rsi);
}

int __noinline do_mkdirat(int dfd, struct filename *name, umode_t mode)
{
	const char *path;
	long ret = sys_path_at(dfd, name->name, &path);

	if (ret)
		return ret;
	ret = vfs_mkdir(path, mode & 01777 & ~fs_umask());
	sys_path_put(path, name->name);
	return ret;
}

int __noinline do_rmdir(int dfd, struct filename *name)
{
	const char *path;
	long ret = sys_path_at(dfd, name->name, &path);

	if (ret)
		return ret;
	ret = vfs_rmdir(path);
	sys_path_put(path, name->name);
	return ret;
}

static inline __attribute__((always_inline)) long mkdir_at(int dfd, u64 uptr, u32 mode)
{
	struct filename name;
	long ret = filename_get(uptr, &name);

	if (ret)
		return ret;
	ret = do_mkdirat(dfd, &name, mode);
	filename_put(&name);
	return ret;
}

static inline __attribute__((always_inline)) long rmdir_at(int dfd, u64 uptr)
{
	struct filename name;
	long ret = filename_get(uptr, &name);

	if (ret)
		return ret;
	ret = do_rmdir(dfd, &name);
	filename_put(&name);
	return ret;
}

long __x64_sys_mkdir(const struct regs *r)
{
	return mkdir_at(ABI_AT_FDCWD, r->rdi, r->rsi);
}

long __x64_sys_mkdirat(const struct regs *r)
{
	return mkdir_at(r->rdi, r->rsi, r->rdx);
}

long __x64_sys_rmdir(const struct regs *r)
{
	return rmdir_at(ABI_AT_FDCWD, r->rdi);
}

int __noinline do_unlinkat(int dfd, struct filename *name)
{
	const char *path;
	long ret = sys_path_at(dfd, name->name, &path);

	if (ret)
		return ret;
	ret = vfs_unlink(path);
	sys_path_put(path, name->name);
	return ret;
}

static long sys_unlink_at(int dfd, u64 uptr)
{
	struct filename name;
	long ret = filename_get(uptr, &name);

	if (ret)
		return ret;
	ret = do_unlinkat(dfd, &name);
	filename_put(&name);
	return ret;
}

long __x64_sys_unlink(const struct regs *r)
{
	return sys_unlink_at(ABI_AT_FDCWD, r->rdi);
}

long __x64_sys_unlinkat(const struct regs *r)
{
	if ((u32)r->rdx & ~ABI_AT_REMOVEDIR)
		return -EINVAL;
	return (u32)r->rdx ? rmdir_at(r->rdi, r->rsi) : sys_unlink_at(r->rdi, r->rsi);
}

static long sys_truncate_path(const char *path, u64 size, u64 none __maybe_unused)
{
	return vfs_truncate(path, size);
}

long __x64_sys_truncate(const struct regs *r)
{
	return (s64)r->rsi < 0 ? -EINVAL
			       : sys_with_path(ABI_AT_FDCWD, r->rdi, sys_truncate_path, r->rsi, 0);
}

long __x64_sys_ftruncate(const struct regs *r)
{
	struct file *f;
	long ret;

	if ((s64)r->rsi < 0)
		return -EINVAL;
	f = sys_fd_get((u32)r->rdi);
	if (!f)
		return -EBADF;
	ret = vfs_ftruncate(f, r->rsi);
	file_put(f);
	return ret;
}

static long sys_chdir_path(const char *path, u64 a __maybe_unused, u64 b __maybe_unused)
{
	return vfs_chdir(path);
}

long __x64_sys_chdir(const struct regs *r)
{
	return sys_with_path(ABI_AT_FDCWD, r->rdi, sys_chdir_path, 0, 0);
}

long __x64_sys_fchdir(const struct regs *r)
{
	struct file *f = sys_fd_get((u32)r->rdi);
	long ret;

	if (!f)
		return -EBADF;
	ret = vfs_fchdir(f);
	file_put(f);
	return ret;
}

long __x64_sys_getcwd(const struct regs *r)
{
	char *cwd = kmalloc(PATH_MAX);
	long ret = cwd ? vfs_getcwd(cwd) : -ENOMEM;

	if (!ret) {
		size_t len = strlen(cwd) + 1;
		ret = r->rsi < len ? -ERANGE : copy_to_user(r->rdi, cwd, len) ? -EFAULT : (long)len;
	}
	kfree(cwd);
	return ret;
}

long __x64_sys_umask(const struct regs *r)
{
	return fs_set_umask(r->rdi & 0777);
}

long __x64_sys_sync(const struct regs *r)
{
	(void)r;
	return 0;
}

enum { FALLOC_KEEP_SIZE = 1, FALLOC_PUNCH_HOLE = 2 };

/* Bytes of the file that become zeros, up to its end. */
static long sys_write_zeros(struct file *f, u64 at, u64 end)
{
	static const u8 zeros[512];
	ssize n = 1;

	for (; at < end && n > 0; at += n)
		n = vfs_pwrite(f, zeros, MIN(end - at, sizeof(zeros)), at);
	return n < 0 ? n : 0;
}

/* Room is not set aside: a later write may find none. */
static long sys_fallocate_file(struct file *f, u32 mode, u64 at, u64 len)
{
	u64 end = at + len, size;

	if (!file_writable(f))
		return -EBADF;
	if (!f->vnode || (f->vnode->mode & S_IFMT) != S_IFREG)
		return f->vnode && (f->vnode->mode & S_IFMT) == S_IFIFO ? -ESPIPE : -ENODEV;
	size = f->vnode->size;
	if (mode & FALLOC_PUNCH_HOLE)
		return sys_write_zeros(f, at, MIN(end, size));
	return (mode & FALLOC_KEEP_SIZE) || end <= size ? 0 : vfs_ftruncate(f, end);
}

long __x64_sys_fallocate(const struct regs *r)
{
	u32 mode = r->rsi;
	struct file *f;
	long ret;

	if ((s64)r->rdx < 0 || (s64)r->r10 <= 0)
		return -EINVAL;
	f = sys_fd_get((u32)r->rdi);
	if (!f)
		return -EBADF;
	if ((mode & ~(FALLOC_KEEP_SIZE | FALLOC_PUNCH_HOLE)) || mode == FALLOC_PUNCH_HOLE)
		ret = -EOPNOTSUPP;
	else if ((s64)(r->rdx + r->r10) < 0)
		ret = -EFBIG;
	else
		ret = sys_fallocate_file(f, mode, r->rdx, r->r10);
	file_put(f);
	return ret;
}

/* Files are in memory: no advice makes a difference. */
long __x64_sys_fadvise64(const struct regs *r)
{
	struct file *f = sys_fd_get((u32)r->rdi);
	bool pipe = f && f->vnode && (f->vnode->mode & S_IFMT) == S_IFIFO;

	if (!f)
		return -EBADF;
	file_put(f);
	return pipe ? -ESPIPE : (u32)r->r10 > 5 || (s64)r->rdx < 0 ? -EINVAL : 0;
}
