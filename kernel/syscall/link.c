/* System calls that give names: rename, link, symlink, mknod. Task context. */
#include "arch/arch.h"
#include "kernel/fs/cwd.h"
#include "kernel/syscall/user.h"

/* A call on two paths. */
static long sys_with_two_paths(
    int dfd, u64 first, int dfd2, u64 second, int (*fn)(const char *first, const char *second))
{
	struct filename name, name2;
	const char *path = NULL, *path2 = NULL;
	long ret = filename_get(first, &name);

	name2.name = NULL;
	if (!ret)
		ret = filename_get(second, &name2);
	if (!ret)
		ret = sys_path_at(dfd, name.name, &path);
	if (!ret)
		ret = sys_path_at(dfd2, name2.name, &path2);
	if (!ret)
		ret = fn(path, path2);
	if (path2)
		sys_path_put(path2, name2.name);
	if (path)
		sys_path_put(path, name.name);
	filename_put(&name2);
	filename_put(&name);
	return ret;
}

/* ---- rename ---- */

long __x64_sys_rename(const struct regs *r)
{
	return sys_with_two_paths(ABI_AT_FDCWD, r->rdi, ABI_AT_FDCWD, r->rsi, vfs_rename);
}

long __x64_sys_renameat(const struct regs *r)
{
	return sys_with_two_paths(r->rdi, r->rsi, r->rdx, r->r10, vfs_rename);
}

/* Linux's ramfs knows this flag, too; the others swap names or leave holes. */
static int sys_rename_new(const char *from, const char *to)
{
	struct vstat st;

	return vfs_stat(to, false, &st) ? vfs_rename(from, to) : -EEXIST;
}

long __x64_sys_renameat2(const struct regs *r)
{
	u32 flags = r->r8;

	if (flags & ~ABI_RENAME_NOREPLACE)
		return -EINVAL;
	return sys_with_two_paths(
	    r->rdi, r->rsi, r->rdx, r->r10, flags ? sys_rename_new : vfs_rename);
}

/* ---- links ---- */

static int sys_link_paths(const char *from, const char *to)
{
	return vfs_link(from, false, to);
}

static int sys_link_followed(const char *from, const char *to)
{
	return vfs_link(from, true, to);
}

long __x64_sys_link(const struct regs *r)
{
	return sys_with_two_paths(ABI_AT_FDCWD, r->rdi, ABI_AT_FDCWD, r->rsi, sys_link_paths);
}

long __x64_sys_linkat(const struct regs *r)
{
	u32 flags = r->r8;

	if (flags & ~ABI_AT_SYMLINK_FOLLOW)
		return -EINVAL;
	return sys_with_two_paths(
	    r->rdi, r->rsi, r->rdx, r->r10, flags ? sys_link_followed : sys_link_paths);
}

/* The target is a text, relative to where the link lies. */
long __x64_sys_symlink(const struct regs *r)
{
	return sys_with_two_paths(ABI_AT_FDCWD, r->rdi, ABI_AT_FDCWD, r->rsi, vfs_symlink);
}

long __x64_sys_symlinkat(const struct regs *r)
{
	return sys_with_two_paths(ABI_AT_FDCWD, r->rdi, r->rsi, r->rdx, vfs_symlink);
}

/* ---- nodes ---- */

static long sys_mknod_path(const char *path, u64 arg, u64 rdev)
{
	u32 mode = arg;

	if (!(mode & S_IFMT))
		mode |= S_IFREG;
	return vfs_mknod(path, mode & ~fs_umask(), (u32)rdev);
}

long __x64_sys_mknod(const struct regs *r)
{
	return sys_with_path(ABI_AT_FDCWD, r->rdi, sys_mknod_path, r->rsi, r->rdx);
}

long __x64_sys_mknodat(const struct regs *r)
{
	return sys_with_path(r->rdi, r->rsi, sys_mknod_path, r->rdx, r->r10);
}
