/*
 * newlib's file calls, and POSIX's that newlib leaves to the system. Flags and struct stat are
 * translated.
 */
#include "kernel/abi/linux.h"
#include "user/libc/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Macros of newlib's; struct abi_stat has members of these names. */
#undef st_atime
#undef st_mtime
#undef st_ctime

static const struct {
	int newlib, linux_flag;
} open_flags[] = {
    {O_APPEND, 02000},
    {O_CREAT, 0100},
    {O_TRUNC, 01000},
    {O_EXCL, 0200},
    {O_NONBLOCK, 04000},
    {O_NOCTTY, 0400},
    {O_SYNC, 04010000},
    {O_CLOEXEC, 02000000},
    {O_NOFOLLOW, 0400000},
    {O_DIRECTORY, 0200000},
};

static long flags_to_linux(int flags)
{
	long out = flags & O_ACCMODE;

	for (unsigned i = 0; i < sizeof(open_flags) / sizeof(open_flags[0]); i++)
		out |= flags & open_flags[i].newlib ? open_flags[i].linux_flag : 0;
	return out;
}

static int flags_from_linux(long flags)
{
	int out = flags & O_ACCMODE;

	for (unsigned i = 0; i < sizeof(open_flags) / sizeof(open_flags[0]); i++)
		out |= flags & open_flags[i].linux_flag ? open_flags[i].newlib : 0;
	return out;
}

int open(const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	return syscall_result(
	    syscall4(SYS_openat, ABI_AT_FDCWD, (long)path, flags_to_linux(flags), mode));
}

int close(int fd)
{
	return syscall_result(syscall1(SYS_close, fd));
}

_READ_WRITE_RETURN_TYPE read(int fd, void *buf, size_t n)
{
	return syscall_result(syscall3(SYS_read, fd, (long)buf, n));
}

_READ_WRITE_RETURN_TYPE write(int fd, const void *buf, size_t n)
{
	return syscall_result(syscall3(SYS_write, fd, (long)buf, n));
}

ssize_t pread(int fd, void *buf, size_t n, off_t pos)
{
	return syscall_result(syscall4(SYS_pread64, fd, (long)buf, n, pos));
}

ssize_t writev(int fd, const struct iovec *vec, int count)
{
	return syscall_result(syscall3(SYS_writev, fd, (long)vec, count));
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t pos)
{
	return syscall_result(syscall4(SYS_pwrite64, fd, (long)buf, n, pos));
}

off_t lseek(int fd, off_t off, int whence)
{
	return syscall_result(syscall3(SYS_lseek, fd, off, whence));
}

static int stat_result(long r, const struct abi_stat *a, struct stat *st)
{
	if (r < 0)
		return syscall_result(r);
	memset(st, 0, sizeof(*st));
	st->st_dev = a->st_dev;
	st->st_ino = a->st_ino;
	st->st_mode = a->st_mode;
	st->st_nlink = a->st_nlink;
	st->st_uid = a->st_uid;
	st->st_gid = a->st_gid;
	st->st_rdev = a->st_rdev;
	st->st_size = a->st_size;
	st->st_blksize = a->st_blksize;
	st->st_blocks = a->st_blocks;
	st->st_atim = (struct timespec){a->st_atime, a->st_atime_nsec};
	st->st_mtim = (struct timespec){a->st_mtime, a->st_mtime_nsec};
	st->st_ctim = (struct timespec){a->st_ctime, a->st_ctime_nsec};
	return 0;
}

int stat(const char *restrict path, struct stat *restrict st)
{
	struct abi_stat a;
	return stat_result(syscall2(SYS_newstat, (long)path, (long)&a), &a, st);
}

int lstat(const char *restrict path, struct stat *restrict st)
{
	struct abi_stat a;
	return stat_result(syscall2(SYS_newlstat, (long)path, (long)&a), &a, st);
}

int fstat(int fd, struct stat *st)
{
	struct abi_stat a;
	return stat_result(syscall2(SYS_newfstat, fd, (long)&a), &a, st);
}

int isatty(int fd)
{
	char termios[64];
	long r = syscall3(SYS_ioctl, fd, 0x5401 /* TCGETS */, (long)termios);

	return r < 0 ? syscall_result(r) + 1 : 1;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	long arg;

	va_start(ap, request);
	arg = va_arg(ap, long);
	va_end(ap);
	return syscall_result(syscall3(SYS_ioctl, fd, request, arg));
}

int fcntl(int fd, int cmd, ...)
{
	va_list ap;
	long arg, r;

	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	switch (cmd) {
	case F_DUPFD:
	case F_GETFD:
	case F_SETFD:
		return syscall_result(syscall3(SYS_fcntl, fd, cmd, arg));
	case F_GETFL:
		r = syscall_result(syscall3(SYS_fcntl, fd, ABI_F_GETFL, 0));
		return r < 0 ? r : flags_from_linux(r);
	case F_SETFL:
		return syscall_result(syscall3(SYS_fcntl, fd, ABI_F_SETFL, flags_to_linux(arg)));
	default:
		errno = EINVAL;
		return -1;
	}
}

int dup(int fd)
{
	return syscall_result(syscall1(SYS_dup, fd));
}

int dup2(int from, int to)
{
	return syscall_result(syscall2(SYS_dup2, from, to));
}

int pipe(int fd[2])
{
	return syscall_result(syscall1(SYS_pipe, (long)fd));
}

int access(const char *path, int mode)
{
	return syscall_result(syscall2(SYS_access, (long)path, mode));
}

int truncate(const char *path, off_t size)
{
	return syscall_result(syscall2(SYS_truncate, (long)path, size));
}

int ftruncate(int fd, off_t size)
{
	return syscall_result(syscall2(SYS_ftruncate, fd, size));
}

int chmod(const char *path, mode_t mode)
{
	return syscall_result(syscall2(SYS_chmod, (long)path, mode));
}

int mkdir(const char *path, mode_t mode)
{
	return syscall_result(syscall2(SYS_mkdir, (long)path, mode));
}

int rmdir(const char *path)
{
	return syscall_result(syscall1(SYS_rmdir, (long)path));
}

int unlink(const char *path)
{
	return syscall_result(syscall1(SYS_unlink, (long)path));
}

/* There are no hard links but those of the archive. */
int link(const char *from, const char *to)
{
	(void)from, (void)to;
	errno = EPERM;
	return -1;
}

/* newlib's stdio calls this; ISO C's rename() of newlib would use link(). */
int _rename(const char *from, const char *to);
int _rename(const char *from, const char *to)
{
	return syscall_result(syscall2(SYS_rename, (long)from, (long)to));
}

int rename(const char *from, const char *to)
{
	return _rename(from, to);
}

int symlink(const char *target, const char *path)
{
	return syscall_result(syscall2(SYS_symlink, (long)target, (long)path));
}

ssize_t readlink(const char *restrict path, char *restrict buf, size_t n)
{
	return syscall_result(syscall3(SYS_readlink, (long)path, (long)buf, n));
}

int chdir(const char *path)
{
	return syscall_result(syscall1(SYS_chdir, (long)path));
}

char *getcwd(char *buf, size_t size)
{
	return syscall_result(syscall2(SYS_getcwd, (long)buf, size)) < 0 ? NULL : buf;
}
