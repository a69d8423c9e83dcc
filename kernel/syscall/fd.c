/* System calls on descriptors: close, dup, pipe, fcntl. Task context. */
#include "arch/arch.h"
#include "kernel/fs/file.h"
#include "kernel/fs/lock.h"
#include "kernel/fs/pipe.h"
#include "kernel/fs/ramfs.h"
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

long sys_install_new(struct file *f, bool cloexec)
{
	long fd = f ? files_install(current()->files, f, 0, cloexec) : -ENOMEM;

	if (fd < 0)
		file_put(f);
	return fd;
}

long sys_install_pair(struct file *ends[2], u64 to, bool cloexec)
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
	return err ? err : sys_install_pair(ends, to, flags & O_CLOEXEC);
}

long __x64_sys_pipe(const struct regs *r)
{
	return sys_make_pipe(r->rdi, 0);
}

long __x64_sys_pipe2(const struct regs *r)
{
	return sys_make_pipe(r->rdi, r->rsi);
}

/* ---- locks ---- */

/* The bytes that a struct flock means: 0, -EINVAL, -EOVERFLOW. */
static int sys_lock_range(struct file *f, const struct abi_flock *fl, struct lock_range *l)
{
	s64 start = fl->l_start, last;
	struct vstat st;

	if (fl->l_len == INT64_MIN || fl->l_type < LOCK_READ || fl->l_type > LOCK_NONE ||
	    (u16)fl->l_whence > 2)
		return -EINVAL;
	if (fl->l_whence == 1)
		start += f->pos;
	else if (fl->l_whence == 2 && !vfs_fstat(f, &st))
		start += st.size;
	if (__builtin_add_overflow(start, fl->l_len - 1, &last))
		return -EOVERFLOW;
	if (fl->l_len < 0) {
		last = start - 1;
		start += fl->l_len;
	}
	if (start < 0)
		return -EINVAL;
	l->first = start;
	l->last = fl->l_len ? (u64)last : S64_MAX;
	l->type = fl->l_type;
	return 0;
}

static bool sys_may_lock(const struct file *f, int type)
{
	u32 mode = f->flags & O_ACCMODE;

	return type == LOCK_NONE || (type == LOCK_READ ? mode != O_WRONLY : mode != O_RDONLY);
}

static long sys_fcntl_lock(struct file *f, u32 cmd, u64 arg)
{
	bool of_file = cmd >= ABI_F_OFD_GETLK;
	struct lock_range l = {.owner = of_file ? (void *)f : current()->files,
	    .kind = of_file ? LOCK_OPEN_FILE : LOCK_PROCESS,
	    .pid = of_file ? -1 : current()->tgid};
	struct abi_flock fl;
	int r;

	if (copy_from_user(&fl, arg, sizeof(fl)))
		return -EFAULT;
	r = of_file && fl.l_pid ? -EINVAL : sys_lock_range(f, &fl, &l);
	if (r)
		return r;
	if (cmd != ABI_F_GETLK && cmd != ABI_F_OFD_GETLK) {
		if (!sys_may_lock(f, l.type))
			return -EBADF;
		return sys_restartable(
		    lock_set(f, &l, cmd == ABI_F_SETLKW || cmd == ABI_F_OFD_SETLKW));
	}
	if (l.type == LOCK_NONE)
		return -EINVAL;
	lock_test(f, &l);
	fl.l_type = l.type;
	if (l.type != LOCK_NONE) {
		fl.l_whence = 0;
		fl.l_start = l.first;
		fl.l_len = l.last == S64_MAX ? 0 : l.last - l.first + 1;
		fl.l_pid = l.pid;
	}
	return copy_to_user(arg, &fl, sizeof(fl));
}

enum { FLOCK_SHARED = 1, FLOCK_EXCLUSIVE = 2, FLOCK_NOWAIT = 4, FLOCK_UNLOCK = 8 };

long __x64_sys_flock(const struct regs *r)
{
	u32 how = (u32)r->rsi & ~FLOCK_NOWAIT;
	struct lock_range l = {.kind = LOCK_FLOCK, .last = S64_MAX};
	struct file *f;
	long ret;

	if (how != FLOCK_SHARED && how != FLOCK_EXCLUSIVE && how != FLOCK_UNLOCK)
		return -EINVAL;
	f = sys_fd_get((u32)r->rdi);
	if (!f)
		return -EBADF;
	l.owner = f;
	l.type = how == FLOCK_SHARED ? LOCK_READ : how == FLOCK_UNLOCK ? LOCK_NONE : LOCK_WRITE;
	ret = sys_restartable(lock_set(f, &l, !(r->rsi & FLOCK_NOWAIT)));
	file_put(f);
	return ret;
}

/* ---- fcntl ---- */

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
		return f->flags | (f->path ? O_LARGEFILE : 0);
	case ABI_F_SETFL:
		f->flags = (f->flags & ~settable) | (arg & settable);
		return 0;
	case ABI_F_GETLK:
	case ABI_F_SETLK:
	case ABI_F_SETLKW:
	case ABI_F_OFD_GETLK:
	case ABI_F_OFD_SETLK:
	case ABI_F_OFD_SETLKW:
		return sys_fcntl_lock(f, cmd, arg);
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

/* ---- others ---- */

enum { CLOSE_RANGE_UNSHARE = 2, CLOSE_RANGE_CLOEXEC = 4 };

long __x64_sys_close_range(const struct regs *r)
{
	struct files *fs = current()->files;
	u32 last = MIN((u32)r->rsi, FILES_MAX - 1u), flags = r->rdx;

	/* A table of its own is needed only by those who share theirs. */
	if ((flags & ~(CLOSE_RANGE_CLOEXEC | CLOSE_RANGE_UNSHARE)) || (u32)r->rdi > (u32)r->rsi)
		return -EINVAL;
	if ((flags & CLOSE_RANGE_UNSHARE) && fs->refs > 1)
		return -EINVAL;
	for (u32 fd = r->rdi; fd <= last; fd++) {
		if (!(flags & CLOSE_RANGE_CLOEXEC)) {
			files_close(fs, fd);
			continue;
		}
		struct file *f = sys_fd_get(fd);

		if (f)
			files_set_cloexec(fs, fd, true);
		file_put(f);
	}
	return 0;
}

#define MFD_CLOEXEC	  1u
#define MFD_ALLOW_SEALING 2u
#define MFD_NAME_MAX	  249

/* MFD_ALLOW_SEALING is accepted, but there are no seals: F_ADD_SEALS fails. */
long __x64_sys_memfd_create(const struct regs *r)
{
	u32 flags = r->rsi;
	char name[MFD_NAME_MAX + 1];
	struct file *f;
	long n, fd;

	if (flags & ~(MFD_CLOEXEC | MFD_ALLOW_SEALING))
		return -EINVAL;
	n = strncpy_from_user(name, r->rdi, sizeof(name));
	if (n < 0)
		return n == -ENAMETOOLONG ? -EINVAL : n;
	f = ramfs_open_nameless(name);
	fd = f ? files_install(current()->files, f, 0, flags & MFD_CLOEXEC) : -ENOMEM;
	if (fd < 0)
		file_put(f);
	return fd;
}
