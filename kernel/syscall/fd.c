/* System calls on descriptors: close, dup, pipe, fcntl. Task context. */
#include "arch/arch.h"
#include "kernel/syscall/user.h"

long sys_close(const u64 *a)
{
	return (u32)a[0] < FILES_MAX ? files_close(current()->files, (u32)a[0]) : -EBADF;
}

static long sys_dup_from(u32 fd, u64 min, bool cloexec)
{
	struct file *f = fd_get(fd);
	int ret;

	if (!f)
		return -EBADF;
	ret = min < FILES_MAX ? files_install(current()->files, f, min, cloexec) : -EINVAL;
	if (ret < 0)
		file_put(f);
	return ret;
}

static long sys_dup_to(u32 from, u32 to, bool cloexec)
{
	struct file *f = fd_get(from);
	int ret;

	if (!f)
		return -EBADF;
	ret = to < FILES_MAX ? files_install_at(current()->files, to, f, cloexec) : -EBADF;
	if (ret < 0)
		file_put(f);
	return ret < 0 ? ret : (long)to;
}

long sys_dup(const u64 *a)
{
	return sys_dup_from(a[0], 0, false);
}

long sys_dup2(const u64 *a)
{
	struct file *f;

	if ((u32)a[0] != (u32)a[1])
		return sys_dup_to(a[0], a[1], false);
	f = fd_get((u32)a[0]);
	if (!f)
		return -EBADF;
	file_put(f);
	return (u32)a[0];
}

long sys_dup3(const u64 *a)
{
	if (((u32)a[2] & ~O_CLOEXEC) || (u32)a[0] == (u32)a[1])
		return -EINVAL;
	return sys_dup_to(a[0], a[1], a[2] & O_CLOEXEC);
}

/* Both ends into the table, and their numbers to ring 3; on an error nothing stays. */
static long install_pipe(struct file *ends[2], u64 to, bool cloexec)
{
	struct files *fs = current()->files;
	s32 fd[2];

	fd[0] = files_install(fs, ends[0], 0, cloexec);
	if (fd[0] < 0) {
		file_put(ends[0]);
		file_put(ends[1]);
		return fd[0];
	}
	fd[1] = files_install(fs, ends[1], 0, cloexec);
	if (fd[1] < 0) {
		file_put(ends[1]);
		files_close(fs, fd[0]);
		return fd[1];
	}
	if (copy_to_user(to, fd, sizeof(fd)) == 0)
		return 0;
	files_close(fs, fd[0]);
	files_close(fs, fd[1]);
	return -EFAULT;
}

static long sys_make_pipe(u64 to, u32 flags)
{
	struct file *ends[2];
	int err;

	if (flags & ~(O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	err = pipe_create(&ends[0], &ends[1], flags & O_NONBLOCK);
	return err ? err : install_pipe(ends, to, flags & O_CLOEXEC);
}

long sys_pipe(const u64 *a)
{
	return sys_make_pipe(a[0], 0);
}

long sys_pipe2(const u64 *a)
{
	return sys_make_pipe(a[0], a[1]);
}

static long fcntl_file(struct file *f, u32 fd, u32 cmd, u64 arg)
{
	const u32 settable = O_APPEND | O_NONBLOCK;

	switch (cmd) {
	case ABI_F_DUPFD:
		return sys_dup_from(fd, arg, false);
	case ABI_F_DUPFD_CLOEXEC:
		return sys_dup_from(fd, arg, true);
	case ABI_F_GETFD:
		return files_cloexec(current()->files, fd) ? ABI_FD_CLOEXEC : 0;
	case ABI_F_SETFD:
		files_set_cloexec(current()->files, fd, arg & ABI_FD_CLOEXEC);
		return 0;
	case ABI_F_GETFL:
		return f->flags | O_LARGEFILE;
	case ABI_F_SETFL:
		f->flags = (f->flags & ~settable) | (arg & settable);
		return 0;
	default:
		return -EINVAL;
	}
}

long sys_fcntl(const u64 *a)
{
	struct file *f = fd_get((u32)a[0]);
	long ret;

	if (!f)
		return -EBADF;
	ret = fcntl_file(f, a[0], a[1], a[2]);
	file_put(f);
	return ret;
}
