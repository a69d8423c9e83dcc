/* System calls that ask about files: stat, access, readlink, getdents64. Task context. */
#include "arch/arch.h"
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

static long sys_stat_fd(u64 fd, u64 to)
{
	struct file *f = fd_get((u32)fd);
	struct vstat st;
	long ret;

	if (!f)
		return -EBADF;
	ret = vfs_fstat(f, &st);
	file_put(f);
	return ret ? ret : sys_put_stat(to, &st);
}

static long sys_stat_path(const char *path, const u64 *a)
{
	struct vstat st;
	long ret = vfs_stat(path, true, &st);

	return ret ? ret : sys_put_stat(a[0], &st);
}

static long sys_lstat_path(const char *path, const u64 *a)
{
	struct vstat st;
	long ret = vfs_stat(path, false, &st);

	return ret ? ret : sys_put_stat(a[0], &st);
}

long sys_newstat(const u64 *a)
{
	return with_path(ABI_AT_FDCWD, a[0], sys_stat_path, a + 1);
}

long sys_newlstat(const u64 *a)
{
	return with_path(ABI_AT_FDCWD, a[0], sys_lstat_path, a + 1);
}

long sys_newfstat(const u64 *a)
{
	return sys_stat_fd(a[0], a[1]);
}

long sys_newfstatat(const u64 *a)
{
	u32 flags = a[3];
	char first;

	if (flags & ~(ABI_AT_SYMLINK_NOFOLLOW | ABI_AT_EMPTY_PATH | 0x800 /* no automount */))
		return -EINVAL;
	if (flags & ABI_AT_EMPTY_PATH) {
		if (copy_from_user(&first, a[1], 1))
			return -EFAULT;
		if (!first && (int)a[0] != ABI_AT_FDCWD)
			return sys_stat_fd(a[0], a[2]);
	}
	return with_path(
	    a[0], a[1], flags & ABI_AT_SYMLINK_NOFOLLOW ? sys_lstat_path : sys_stat_path, a + 2);
}

static long sys_access_path(const char *path, const u64 *a)
{
	return vfs_access(path, (u32)a[0]);
}

long sys_access(const u64 *a)
{
	return (u32)a[1] & ~7u ? -EINVAL : with_path(ABI_AT_FDCWD, a[0], sys_access_path, a + 1);
}

long sys_faccessat(const u64 *a)
{
	return (u32)a[2] & ~7u ? -EINVAL : with_path(a[0], a[1], sys_access_path, a + 2);
}

long sys_faccessat2(const u64 *a)
{
	if ((u32)a[3] & ~(ABI_AT_EACCESS | ABI_AT_SYMLINK_NOFOLLOW | ABI_AT_EMPTY_PATH))
		return -EINVAL;
	return sys_faccessat(a);
}

/* a: the buffer and its size. */
static long sys_readlink_path(const char *path, const u64 *a)
{
	s32 size = a[1];
	char *buf;
	long n;

	if (size <= 0)
		return -EINVAL;
	buf = kmalloc(PATH_MAX);
	if (!buf)
		return -ENOMEM;
	n = vfs_readlink(path, buf, MIN(size, PATH_MAX));
	if (n > 0 && copy_to_user(a[0], buf, n))
		n = -EFAULT;
	kfree(buf);
	return n;
}

long sys_readlink(const u64 *a)
{
	return with_path(ABI_AT_FDCWD, a[0], sys_readlink_path, a + 1);
}

long sys_readlinkat(const u64 *a)
{
	return with_path(a[0], a[1], sys_readlink_path, a + 2);
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

long sys_getdents64(const u64 *a)
{
	size_t size = MIN((u32)a[2], DIRENT_CHUNK);
	struct file *f = fd_get((u32)a[0]);
	long n;

	if (!f)
		return -EBADF;
	if (!f->vnode || (f->vnode->mode & S_IFMT) != S_IFDIR)
		n = -ENOTDIR;
	else
		n = size < ABI_DIRENT64_NAME + 1 ? -EINVAL : dirents(f, a[1], size);
	file_put(f);
	return n;
}
