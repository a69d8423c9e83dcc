/*
 * System calls that change what a file is like, and those that ask for its file system's room. Task
 * context.
 */
#include "arch/arch.h"
#include "kernel/fs/file.h"
#include "kernel/syscall/user.h"

#define NS_PER_SEC 1000000000UL

static long sys_set_fd(u64 fd, const struct vattr *attr)
{
	struct file *f = sys_fd_get((u32)fd);
	long ret;

	if (!f)
		return -EBADF;
	ret = vfs_fsetattr(f, attr);
	file_put(f);
	return ret;
}

/* attr: a struct vattr. */
static long sys_set_path(const char *path, u64 attr, u64 follow)
{
	return vfs_setattr(path, follow, (const struct vattr *)attr);
}

static long set_at(int dfd, u64 path, bool follow, const struct vattr *attr)
{
	return sys_with_path(dfd, path, sys_set_path, (u64)attr, follow);
}

/* ---- mode and owner ---- */

static struct vattr attr_mode(u64 mode)
{
	return (struct vattr){.set = VATTR_MODE, .mode = mode & 07777};
}

long __x64_sys_chmod(const struct regs *r)
{
	struct vattr attr = attr_mode(r->rsi);

	return set_at(ABI_AT_FDCWD, r->rdi, true, &attr);
}

long __x64_sys_fchmod(const struct regs *r)
{
	struct vattr attr = attr_mode(r->rsi);

	return sys_set_fd(r->rdi, &attr);
}

long __x64_sys_fchmodat(const struct regs *r)
{
	struct vattr attr = attr_mode(r->rdx);

	return set_at(r->rdi, r->rsi, true, &attr);
}

/* -1 leaves what is there. */
static struct vattr attr_owner(u32 uid, u32 gid)
{
	struct vattr attr = {.uid = uid, .gid = gid};

	attr.set = (uid != ~0u ? VATTR_UID : 0) | (gid != ~0u ? VATTR_GID : 0);
	return attr;
}

long __x64_sys_chown(const struct regs *r)
{
	struct vattr attr = attr_owner(r->rsi, r->rdx);

	return set_at(ABI_AT_FDCWD, r->rdi, true, &attr);
}

long __x64_sys_lchown(const struct regs *r)
{
	struct vattr attr = attr_owner(r->rsi, r->rdx);

	return set_at(ABI_AT_FDCWD, r->rdi, false, &attr);
}

long __x64_sys_fchown(const struct regs *r)
{
	struct vattr attr = attr_owner(r->rsi, r->rdx);

	return sys_set_fd(r->rdi, &attr);
}

/* Does AT_EMPTY_PATH mean the descriptor itself? 1, 0 or -EFAULT. */
static int is_empty_path(u32 flags, u64 path)
{
	char first;

	if (!(flags & ABI_AT_EMPTY_PATH))
		return 0;
	return copy_from_user(&first, path, 1) ? -EFAULT : !first;
}

long __x64_sys_fchownat(const struct regs *r)
{
	struct vattr attr = attr_owner(r->rdx, r->r10);
	u32 flags = r->r8;
	int empty;

	if (flags & ~(ABI_AT_SYMLINK_NOFOLLOW | ABI_AT_EMPTY_PATH))
		return -EINVAL;
	empty = is_empty_path(flags, r->rsi);
	if (empty)
		return empty < 0 ? empty : sys_set_fd(r->rdi, &attr);
	return set_at(r->rdi, r->rsi, !(flags & ABI_AT_SYMLINK_NOFOLLOW), &attr);
}

/* ---- times ---- */

/*
 * A node has one time: that of its last change. Of the two that are given, of access and of change,
 * it takes the second.
 */
static int get_mtime(u64 times, struct vattr *attr)
{
	struct abi_timespec ts[2];

	*attr = (struct vattr){.set = VATTR_MTIME, .mtime_ns = vfs_now_ns()};
	if (!times)
		return 0;
	if (copy_from_user(ts, times, sizeof(ts)))
		return -EFAULT;
	for (int i = 0; i < 2; i++)
		if (ts[i].tv_nsec != ABI_UTIME_NOW && ts[i].tv_nsec != ABI_UTIME_OMIT &&
		    (u64)ts[i].tv_nsec >= NS_PER_SEC)
			return -EINVAL;
	if (ts[1].tv_nsec == ABI_UTIME_OMIT)
		attr->set = 0;
	else if (ts[1].tv_nsec != ABI_UTIME_NOW)
		attr->mtime_ns = ts[1].tv_sec * NS_PER_SEC + ts[1].tv_nsec;
	return 0;
}

long __x64_sys_utimensat(const struct regs *r)
{
	u32 flags = r->r10;
	struct vattr attr;
	int err = get_mtime(r->rdx, &attr);

	if (err)
		return err;
	if (flags & ~(ABI_AT_SYMLINK_NOFOLLOW | ABI_AT_EMPTY_PATH))
		return -EINVAL;
	err = r->rsi ? is_empty_path(flags, r->rsi) : 1;
	if (err)
		return err < 0 ? err : sys_set_fd(r->rdi, &attr);
	return set_at(r->rdi, r->rsi, !(flags & ABI_AT_SYMLINK_NOFOLLOW), &attr);
}

/* ---- the file system's room ---- */

static long sys_put_statfs(u64 to, const struct vstatfs *st)
{
	struct abi_statfs s = {
	    .f_type = st->type,
	    .f_bsize = PAGE_SIZE,
	    .f_frsize = PAGE_SIZE,
	    .f_blocks = st->blocks,
	    .f_bfree = st->free,
	    .f_bavail = st->free,
	    .f_namelen = NAME_MAX,
	};

	return copy_to_user(to, &s, sizeof(s));
}

static long sys_statfs_path(const char *path, u64 to, u64 none __maybe_unused)
{
	struct vstatfs st;
	long ret = vfs_statfs(path, &st);

	return ret ? ret : sys_put_statfs(to, &st);
}

long __x64_sys_statfs(const struct regs *r)
{
	return sys_with_path(ABI_AT_FDCWD, r->rdi, sys_statfs_path, r->rsi, 0);
}

long __x64_sys_fstatfs(const struct regs *r)
{
	struct file *f = sys_fd_get((u32)r->rdi);
	struct vstatfs st;
	long ret;

	if (!f)
		return -EBADF;
	ret = vfs_fstatfs(f, &st);
	file_put(f);
	return ret ? ret : sys_put_statfs(r->rsi, &st);
}
