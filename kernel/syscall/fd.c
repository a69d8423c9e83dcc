/* System calls on descriptors: close, dup, pipe, fcntl. Task context. */
#include "arch/arch.h"
#include "kernel/fs/file.h"
#include "kernel/fs/pipe.h"
#include "kernel/syscall/user.h"

long __x64_sys_close(const struct regs *r)
{
	return (u32)r->rdi < FILES_MAX ? files_close(current()->files, (u32)r->rdi) : -EBADF;
}

static long sys_dup_from(u32 fd, u64 min, bool cloexec)
{
	struct file *f = sys_fd_get(fd);
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
	struct file *f = sys_fd_get(from);
	int ret;

	if (!f)
		return -EBADF;
	ret = to < FILES_MAX ? files_install_at(current()->files, to, f, cloexec) : -EBADF;
	if (ret < 0)
		file_put(f);
	return ret < 0 ? ret : (long)to;
}

long __x64_sys_dup(const struct regs *r)
{
	return sys_dup_from(r->rdi, 0, false);
}

long __x64_sys_dup2(const struct regs *r)
{
	struct file *f;

	if ((u32)r->rdi != (u32)r->rsi)
		return sys_dup_to(r->rdi, r->rsi, false);
	f = sys_fd_get((u32)r->rdi);
	if (!f)
		return -EBADF;
	file_put(f);
	return (u32)r->rdi;
}

long __x64_sys_dup3(const struct regs *r)
{
	if (((u32)r->rdx & ~O_CLOEXEC) || (u32)r->rdi == (u32)r->rsi)
		return -EINVAL;
	return sys_dup_to(r->rdi, r->rsi, r->rdx & O_CLOEXEC);
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

long __x64_sys_pipe(const struct regs *r)
{
	return sys_make_pipe(r->rdi, 0);
}

long __x64_sys_pipe2(const struct regs *r)
{
	return sys_make_pipe(r->rdi, r->rsi);
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

long __x64_sys_fcntl(const struct regs *r)
{
	struct file *f = sys_fd_get((u32)r->rdi);
	long ret;

	if (!f)
		return -EBADF;
	ret = fcntl_file(f, r->rdi, r->rsi, r->rdx);
	file_put(f);
	return ret;
}
