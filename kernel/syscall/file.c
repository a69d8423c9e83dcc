/* System calls on paths: open, directories, links, names. Task context. */
#include "arch/arch.h"
#include "kernel/lib/string.h"
#include "kernel/syscall/linux_entry.h"
#include "kernel/mem/mem.h"
#include "kernel/syscall/user.h"

#define OPEN_KNOWN                                                                                 \
	(O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_LARGEFILE | \
	    O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static long open_path(const char *path, u32 flags, u32 mode)
{
	struct file *f;
	int err =
	    vfs_open(path, flags & OPEN_KNOWN & ~O_CLOEXEC, mode & 07777 & ~current()->umask, &f);
	int fd;

	if (err)
		return restartable(err);
	fd = files_install(current()->files, f, 0, flags & O_CLOEXEC);
	if (fd < 0)
		file_put(f);
	return fd;
}

long __noinline do_sys_openat2(int dfd, u64 uptr, const struct open_how *how)
{
	struct filename name;
	u32 flags = how->flags;
	const char *path;
	long ret;

	if ((flags & O_CREAT) && (flags & O_DIRECTORY))
		return -EINVAL;
	ret = filename_get(uptr, &name);
	if (ret)
		return ret;
	ret = path_at(dfd, name.name, &path);
	if (!ret) {
		ret = open_path(path, flags, how->mode);
		path_put(path, name.name);
	}
	filename_put(&name);
	return ret;
}

LINUX_ENTRY(long, do_sys_open, int dfd, u64 uptr, u32 flags, u32 mode)
{
	struct open_how how = {.flags = flags, .mode = mode};

	return do_sys_openat2(dfd, uptr, &how);
}

long sys_open(const u64 *a)
{
	return do_sys_open(ABI_AT_FDCWD, a[0], a[1], a[2]);
}

long sys_openat(const u64 *a)
{
	return do_sys_open(a[0], a[1], a[2], a[3]);
}

long sys_creat(const u64 *a)
{
	return do_sys_open(ABI_AT_FDCWD, a[0], O_CREAT | O_WRONLY | O_TRUNC, a[1]);
}

LINUX_ENTRY(long, do_mkdirat, int dfd, struct filename *name, u32 mode)
{
	const char *path;
	long ret = path_at(dfd, name->name, &path);

	if (ret)
		return ret;
	ret = vfs_mkdir(path, mode & 01777 & ~current()->umask);
	path_put(path, name->name);
	return ret;
}

LINUX_ENTRY(long, do_rmdir, int dfd, struct filename *name)
{
	const char *path;
	long ret = path_at(dfd, name->name, &path);

	if (ret)
		return ret;
	ret = vfs_rmdir(path);
	path_put(path, name->name);
	return ret;
}

/* The caller of do_mkdirat(), which return probes there show, under the name of Linux's system call. */
long __noinline __x64_sys_mkdir(int dfd, struct filename *name, u32 mode)
{
	return do_mkdirat(dfd, name, mode);
}

static inline __attribute__((always_inline)) long mkdir_at(int dfd, u64 uptr, u32 mode)
{
	struct filename name;
	long ret = filename_get(uptr, &name);

	if (ret)
		return ret;
	ret = __x64_sys_mkdir(dfd, &name, mode);
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

long sys_mkdir(const u64 *a)
{
	return mkdir_at(ABI_AT_FDCWD, a[0], a[1]);
}

long sys_mkdirat(const u64 *a)
{
	return mkdir_at(a[0], a[1], a[2]);
}

long sys_rmdir(const u64 *a)
{
	return rmdir_at(ABI_AT_FDCWD, a[0]);
}

long __noinline do_unlinkat(int dfd, struct filename *name)
{
	const char *path;
	long ret = path_at(dfd, name->name, &path);

	if (ret)
		return ret;
	ret = vfs_unlink(path);
	path_put(path, name->name);
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

long sys_unlink(const u64 *a)
{
	return sys_unlink_at(ABI_AT_FDCWD, a[0]);
}

long sys_unlinkat(const u64 *a)
{
	if ((u32)a[2] & ~ABI_AT_REMOVEDIR)
		return -EINVAL;
	return (u32)a[2] ? rmdir_at(a[0], a[1]) : sys_unlink_at(a[0], a[1]);
}

/* For calls with two paths, when the first is there: the second one is at `user`. */
static long sys_with_second_path(
    const char *first, u64 user, int (*fn)(const char *first, const char *second))
{
	struct filename second;
	long ret = filename_get(user, &second);

	if (ret)
		return ret;
	ret = fn(first, second.name);
	filename_put(&second);
	return ret;
}

static long sys_rename_to(const char *from, const u64 *a)
{
	return sys_with_second_path(from, a[1], vfs_rename);
}

long sys_rename(const u64 *a)
{
	return with_path(ABI_AT_FDCWD, a[0], sys_rename_to, a);
}

static long sys_symlink_to(const char *target, const u64 *a)
{
	return sys_with_second_path(target, a[1], vfs_symlink);
}

long sys_symlink(const u64 *a)
{
	return with_path(ABI_AT_FDCWD, a[0], sys_symlink_to, a);
}

static long sys_truncate_path(const char *path, const u64 *a)
{
	return vfs_truncate(path, a[1]);
}

long sys_truncate(const u64 *a)
{
	return (s64)a[1] < 0 ? -EINVAL : with_path(ABI_AT_FDCWD, a[0], sys_truncate_path, a);
}

long sys_ftruncate(const u64 *a)
{
	struct file *f;
	long ret;

	if ((s64)a[1] < 0)
		return -EINVAL;
	f = fd_get((u32)a[0]);
	if (!f)
		return -EBADF;
	ret = vfs_ftruncate(f, a[1]);
	file_put(f);
	return ret;
}

static long sys_chdir_path(const char *path, const u64 *a)
{
	(void)a;
	return vfs_chdir(path);
}

long sys_chdir(const u64 *a)
{
	return with_path(ABI_AT_FDCWD, a[0], sys_chdir_path, a);
}

long sys_fchdir(const u64 *a)
{
	struct file *f = fd_get((u32)a[0]);
	long ret;

	if (!f)
		return -EBADF;
	ret = vfs_fchdir(f);
	file_put(f);
	return ret;
}

long sys_getcwd(const u64 *a)
{
	char *cwd = kmalloc(PATH_MAX);
	long ret = cwd ? vfs_getcwd(cwd) : -ENOMEM;

	if (!ret) {
		size_t len = strlen(cwd) + 1;
		ret = a[1] < len ? -ERANGE : copy_to_user(a[0], cwd, len) ? -EFAULT : (long)len;
	}
	kfree(cwd);
	return ret;
}

long sys_umask(const u64 *a)
{
	u32 old = current()->umask;

	current()->umask = a[0] & 0777;
	return old;
}

long sys_sync(const u64 *a)
{
	(void)a;
	return 0;
}
