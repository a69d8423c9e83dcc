/* System calls that ask about files: stat, access, readlink, getdents64. Task context. */
#include "arch/arch.h"
#include "kernel/fs/file.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/syscall/user.h"

static long sys_put_stat(u64 to, const struct vstat *st)
{
	struct abi_stat s = {
	    .st_dev = st->dev,
	    .st_ino = st->ino,
	    .st_nlink = st->nlink,
	    .st_mode = st->mode,
	    .st_uid = st->uid,
	    .st_gid = st->gid,
	    .st_rdev = st->rdev,
	    .st_size = st->size,
	    .st_blksize = PAGE_SIZE,
	    .st_blocks = (st->size + 511) / 512,
	};

	s.st_atime = s.st_mtime = s.st_ctime = st->mtime_ns / 1000000000;
	s.st_atime_nsec = s.st_mtime_nsec = s.st_ctime_nsec = st->mtime_ns % 1000000000;
	return copy_to_user(to, &s, sizeof(s));
}

static long sys_stat_fd(u64 fd, struct vstat *st)
{
	struct file *f = sys_fd_get((u32)fd);
	long ret;

	if (!f)
		return -EBADF;
	ret = vfs_fstat(f, st);
	file_put(f);
	return ret;
}

static long sys_stat_path(const char *path, u64 st, u64 follow)
{
	return vfs_stat(path, follow, (struct vstat *)st);
}

/* Of the flags it knows AT_SYMLINK_NOFOLLOW and AT_EMPTY_PATH. */
static long sys_stat_at(u64 dfd, u64 uptr, u32 flags, struct vstat *st)
{
	char first;

	if (flags & ABI_AT_EMPTY_PATH) {
		if (copy_from_user(&first, uptr, 1))
			return -EFAULT;
		if (!first && (int)dfd != ABI_AT_FDCWD)
			return sys_stat_fd(dfd, st);
	}
	return sys_with_path(dfd, uptr, sys_stat_path, (u64)st, !(flags & ABI_AT_SYMLINK_NOFOLLOW));
}

long __x64_sys_newstat(const struct regs *r)
{
	struct vstat st;
	long ret = sys_stat_at(ABI_AT_FDCWD, r->rdi, 0, &st);

	return ret ? ret : sys_put_stat(r->rsi, &st);
}

long __x64_sys_newlstat(const struct regs *r)
{
	struct vstat st;
	long ret = sys_stat_at(ABI_AT_FDCWD, r->rdi, ABI_AT_SYMLINK_NOFOLLOW, &st);

	return ret ? ret : sys_put_stat(r->rsi, &st);
}

long __x64_sys_newfstat(const struct regs *r)
{
	struct vstat st;
	long ret = sys_stat_fd(r->rdi, &st);

	return ret ? ret : sys_put_stat(r->rsi, &st);
}

long __x64_sys_newfstatat(const struct regs *r)
{
	u32 flags = r->r10;
	struct vstat st;
	long ret;

	if (flags & ~(ABI_AT_SYMLINK_NOFOLLOW | ABI_AT_EMPTY_PATH | 0x800 /* no automount */))
		return -EINVAL;
	ret = sys_stat_at(r->rdi, r->rsi, flags, &st);
	return ret ? ret : sys_put_stat(r->rdx, &st);
}

#define STATX_BASIC   0x7ffu
#define AT_STATX_SYNC 0x6000u /* how up to date: it always is */

static long sys_put_statx(u64 to, const struct vstat *st)
{
	struct abi_statx_time t = {st->mtime_ns / 1000000000, st->mtime_ns % 1000000000, 0};
	struct abi_statx s = {
	    .stx_mask = STATX_BASIC,
	    .stx_blksize = PAGE_SIZE,
	    .stx_nlink = st->nlink,
	    .stx_uid = st->uid,
	    .stx_gid = st->gid,
	    .stx_mode = st->mode,
	    .stx_ino = st->ino,
	    .stx_size = st->size,
	    .stx_blocks = (st->size + 511) / 512,
	    .stx_atime = t,
	    .stx_ctime = t,
	    .stx_mtime = t,
	    .stx_rdev_major = st->rdev >> 8,
	    .stx_rdev_minor = st->rdev & 0xff,
	    .stx_dev_minor = st->dev,
	};

	return copy_to_user(to, &s, sizeof(s));
}

long __x64_sys_statx(const struct regs *r)
{
	u32 flags = r->rdx;
	struct vstat st;
	long ret;

	if ((u32)r->r10 >> 31 || (flags & AT_STATX_SYNC) == AT_STATX_SYNC)
		return -EINVAL;
	if (flags & ~(ABI_AT_SYMLINK_NOFOLLOW | ABI_AT_EMPTY_PATH | AT_STATX_SYNC | 0x800))
		return -EINVAL;
	ret = sys_stat_at(r->rdi, r->rsi, flags, &st);
	return ret ? ret : sys_put_statx(r->r8, &st);
}

static long sys_access_at(u64 dfd, u64 uptr, u32 mode, u32 flags)
{
	struct vstat st;
	long ret;

	if (mode & ~7u)
		return -EINVAL;
	ret = sys_stat_at(dfd, uptr, flags, &st);
	return ret ? ret : vfs_access(&st, mode);
}

long __x64_sys_access(const struct regs *r)
{
	return sys_access_at(ABI_AT_FDCWD, r->rdi, r->rsi, 0);
}

long __x64_sys_faccessat(const struct regs *r)
{
	return sys_access_at(r->rdi, r->rsi, r->rdx, 0);
}

long __x64_sys_faccessat2(const struct regs *r)
{
	u32 flags = r->r10;

	if (flags & ~(ABI_AT_EACCESS | ABI_AT_SYMLINK_NOFOLLOW | ABI_AT_EMPTY_PATH))
		return -EINVAL;
	return sys_access_at(r->rdi, r->rsi, r->rdx, flags);
}

static long sys_readlink_path(const char *path, u64 to, u64 room)
{
	s32 size = room;
	char *buf;
	long n;

	if (size <= 0)
		return -EINVAL;
	buf = kmalloc(PATH_MAX);
	if (!buf)
		return -ENOMEM;
	n = vfs_readlink(path, buf, MIN(size, PATH_MAX));
	if (n > 0 && copy_to_user(to, buf, n))
		n = -EFAULT;
	kfree(buf);
	return n;
}

long __x64_sys_readlink(const struct regs *r)
{
	return sys_with_path(ABI_AT_FDCWD, r->rdi, sys_readlink_path, r->rsi, r->rdx);
}

long __x64_sys_readlinkat(const struct regs *r)
{
	return sys_with_path(r->rdi, r->rsi, sys_readlink_path, r->rdx, r->r10);
}

/* One entry at `out`, which has room for it; returns its length. */
static unsigned put_dirent(u8 *out, const struct dirent *e, u64 next)
{
	size_t name = strlen(e->name) + 1;
	unsigned len = ALIGN_UP(ABI_DIRENT64_NAME + name, 8UL);
	struct abi_dirent64 d = {
	    .d_ino = e->ino, .d_off = next, .d_reclen = len, .d_type = e->mode >> 12 & 15};

	memset(out, 0, len);
	memcpy(out, &d, ABI_DIRENT64_NAME);
	memcpy(out + ABI_DIRENT64_NAME, e->name, name);
	return len;
}

#define DIRENT_CHUNK 4096UL

/* Entries from f->pos on, as many as fit. */
static long sys_fill_dirents(struct file *f, u8 *buf, size_t size)
{
	size_t used = 0;
	struct dirent e;
	int r;

	for (;;) {
		r = vfs_readdir(f, f->pos, &e);
		if (r <= 0)
			break;
		if (ALIGN_UP(ABI_DIRENT64_NAME + strlen(e.name) + 1, 8UL) > size - used) {
			r = -EINVAL;
			break;
		}
		f->pos++;
		used += put_dirent(buf + used, &e, f->pos);
	}
	return used ? (long)used : r;
}

static long dirents(struct file *f, u64 to, size_t size)
{
	u64 start = f->pos;
	u8 *buf = kmalloc(size);
	long n;

	if (!buf)
		return -ENOMEM;
	n = sys_fill_dirents(f, buf, size);
	if (n > 0 && copy_to_user(to, buf, n)) {
		f->pos = start;
		n = -EFAULT;
	}
	kfree(buf);
	return n;
}

long __x64_sys_getdents64(const struct regs *r)
{
	size_t size = MIN((u32)r->rdx, DIRENT_CHUNK);
	struct file *f = sys_fd_get((u32)r->rdi);
	long n;

	if (!f)
		return -EBADF;
	if (!f->vnode || (f->vnode->mode & S_IFMT) != S_IFDIR)
		n = -ENOTDIR;
	else
		n = size < ABI_DIRENT64_NAME + 1 ? -EINVAL : dirents(f, r->rsi, size);
	file_put(f);
	return n;
}
