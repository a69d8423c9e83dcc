/* Paths of ring 3: copied once, joined with the directory they are relative to. Task context. */
#include "kernel/syscall/user.h"

#include "arch/arch.h"
#include "kernel/fs/cwd.h"
#include "kernel/fs/file.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"

struct file *sys_fd_get(u64 fd)
{
	return fd < FILES_MAX ? files_get(current()->files, fd) : NULL;
}

int filename_get(u64 uptr, struct filename *name)
{
	char *buf = name->small;
	long n = strncpy_from_user(buf, uptr, sizeof(name->small));

	name->uptr = (const char *)uptr;
	name->name = NULL;
	if (unlikely(n == -ENAMETOOLONG)) {
		buf = kmalloc(PATH_MAX);
		if (!buf)
			return -ENOMEM;
		n = strncpy_from_user(buf, uptr, PATH_MAX);
	}
	if (n > 0)
		name->name = buf;
	else if (buf != name->small)
		kfree(buf);
	return n > 0 ? 0 : n ? n : -ENOENT;
}

void filename_put(struct filename *name)
{
	if (name->name != name->small)
		kfree(name->name);
}

static int sys_join(const char *dir, const char *name, const char **path)
{
	size_t size = strlen(dir) + strlen(name) + 2;
	char *buf;

	if (size > PATH_MAX)
		return -ENAMETOOLONG;
	buf = kmalloc(size);
	if (!buf)
		return -ENOMEM;
	fmt_snprintf(buf, size, "%s/%s", dir, name);
	*path = buf;
	return 0;
}

/* The path of `name` in an open directory, which may have another path than when it was opened. */
static int sys_path_in(const struct file *dir, const char *name, const char **path)
{
	char *now;
	int err;

	if (vfs_leads_to(dir->path, dir->vnode))
		return sys_join(dir->path, name, path);
	now = kmalloc(PATH_MAX);
	err = now ? vfs_way_to(dir->vnode, now) : -ENOMEM;
	if (!err)
		err = sys_join(now, name, path);
	kfree(now);
	return err;
}

int sys_path_at(int dfd, const char *name, const char **path)
{
	struct file *dir;
	int err;

	*path = name;
	if (name[0] == '/' || dfd == ABI_AT_FDCWD)
		return 0;
	dir = sys_fd_get((u32)dfd);
	if (!dir)
		return -EBADF;
	if (!dir->vnode || (dir->vnode->mode & S_IFMT) != S_IFDIR || !dir->path)
		err = -ENOTDIR;
	else
		err = sys_path_in(dir, name, path);
	file_put(dir);
	return err;
}

void sys_path_put(const char *path, const char *name)
{
	if (path != name)
		kfree(path);
}

long sys_with_path(int dfd, u64 uptr, long (*fn)(const char *path, u64 a, u64 b), u64 a, u64 b)
{
	struct filename name;
	const char *path;
	long ret = filename_get(uptr, &name);

	if (ret)
		return ret;
	ret = sys_path_at(dfd, name.name, &path);
	if (!ret) {
		ret = fn(path, a, b);
		sys_path_put(path, name.name);
	}
	filename_put(&name);
	return ret;
}
