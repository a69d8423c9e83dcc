/* kernel/fs/vfs.h over POSIX files. Any thread; the root is set before there are several. */
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/sys.h"
#include "tests/host/shell/os.h"
#include "tests/host/shell/posix.h"
#include "tests/host/shell/posix_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char root[PATH_MAX];

void posix_root(const char *dir)
{
	snprintf(root, sizeof(root), "%s", dir);
}

static void root_remove(void)
{
	host_remove_tree(root);
}

void posix_root_make(void)
{
	static const char *const dirs[] = {"", "/bin", "/dev", "/tmp"};
	static const char *const links[][2] = {{"/bin/true", "/bin/true"},
	    {"/bin/sleep", "/bin/sleep"}, {"/dev/null", "/dev/null"}, {"/dev/zero", "/dev/zero"},
	    {"/dev/full", "/dev/full"}};
	char path[PATH_MAX + 16];

	snprintf(root, sizeof(root), "/tmp/shell-root-%d", getpid());
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		snprintf(path, sizeof(path), "%s%s", root, dirs[i]);
		host_mkdir(path, 0755);
	}
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		snprintf(path, sizeof(path), "%s%s", root, links[i][1]);
		host_symlink(links[i][0], path);
	}
	atexit(root_remove);
}

/* Removes . .. and double slashes from an absolute path, in place. */
static void clean(char *path)
{
	char *out = path, *in = path;

	while (*in) {
		char *end;
		size_t n;

		while (*in == '/')
			in++;
		end = strchr(in, '/');
		n = end ? (size_t)(end - in) : strlen(in);
		if (n == 2 && in[0] == '.' && in[1] == '.') {
			while (out > path && *--out != '/')
				;
		} else if (n && !(n == 1 && *in == '.')) {
			*out++ = '/';
			memmove(out, in, n);
			out += n;
		}
		in += n;
	}
	if (out == path)
		*out++ = '/';
	*out = 0;
}

int vfs_absolute(const char *path, char *out)
{
	if (snprintf(out, PATH_MAX, "%s/%s", *path == '/' ? "" : posix_me()->cwd, path) >= PATH_MAX)
		return -ENAMETOOLONG;
	clean(out);
	return 0;
}

/* The host's path of `path`. The buffer is the thread's own; `second`: another one. */
const char *posix_path(const char *path, bool second)
{
	static __thread char real[2][2 * PATH_MAX];
	char absolute[PATH_MAX];

	if (!*path || vfs_absolute(path, absolute))
		return ""; /* ENOENT */
	snprintf(real[second], sizeof(real[second]), "%s%s", root, absolute);
	return real[second];
}

static const struct file_ops
    posix_ops; /* marks the files made here: cases make others of their own */

static struct file *file_of(int fd, u32 flags, const char *path)
{
	struct file *f = calloc(1, sizeof(*f)); /* not counted among what may fail */

	posix_count_one();
	f->refs = 1;
	f->ops = &posix_ops;
	f->flags = flags;
	f->priv = (void *)(long)fd;
	f->path = path ? strdup(path) : NULL;
	return f;
}

int posix_fd(const struct file *f)
{
	return (int)(long)f->priv;
}

struct file *posix_file(int fd)
{
	return file_of(fd, O_RDWR, NULL);
}

int file_open(const char *path, u32 flags, u32 mode, struct file **out)
{
	int fd = host_open(posix_path(path, false), flags, mode);

	if (fd < 0)
		return fd;
	*out = file_of(fd, flags, path);
	return 0;
}

struct file *file_get(struct file *f)
{
	__atomic_add_fetch(&f->refs, 1, __ATOMIC_SEQ_CST);
	return f;
}

void file_put(struct file *f)
{
	if (__atomic_sub_fetch(&f->refs, 1, __ATOMIC_SEQ_CST) || f->ops != &posix_ops)
		return;
	host_close(posix_fd(f));
	free(f->path);
	kfree(f);
}

ssize kernel_read(struct file *f, void *buf, size_t n)
{
	while (!host_ready(posix_fd(f), false, 10))
		if (os_interrupted())
			return -EINTR;
	return host_read(posix_fd(f), buf, n);
}

ssize kernel_write(struct file *f, const void *buf, size_t n)
{
	while (!host_ready(posix_fd(f), true, 10))
		if (os_interrupted())
			return -EINTR;
	return host_write(posix_fd(f), buf, n);
}

ssize vfs_pread(struct file *f, void *buf, size_t n, u64 pos)
{
	return host_pread(posix_fd(f), buf, n, pos);
}

ssize vfs_pwrite(struct file *f, const void *buf, size_t n, u64 pos)
{
	return host_pwrite(posix_fd(f), buf, n, pos);
}

s64 vfs_seek(struct file *f, s64 off, int whence)
{
	return host_seek(posix_fd(f), off, whence);
}

int vfs_stat(const char *path, bool follow, struct vstat *st)
{
	struct host_stat h;
	int e = host_stat(posix_path(path, false), follow, &h);

	*st = (struct vstat){.ino = h.ino,
	    .size = h.size,
	    .mtime_ns = h.mtime_ns,
	    .rdev = h.rdev,
	    .mode = h.mode,
	    .nlink = h.nlink,
	    .uid = h.uid,
	    .gid = h.gid,
	    .dev = h.dev};
	return e;
}

int vfs_mkdir(const char *path, u32 mode)
{
	return host_mkdir(posix_path(path, false), mode);
}

int vfs_rmdir(const char *path)
{
	return host_rmdir(posix_path(path, false));
}

int vfs_unlink(const char *path)
{
	return host_unlink(posix_path(path, false));
}

int vfs_rename(const char *from, const char *to)
{
	return host_rename(posix_path(from, false), posix_path(to, true));
}

int vfs_symlink(const char *target, const char *path)
{
	return host_symlink(target, posix_path(path, false));
}

long vfs_readlink(const char *path, char *buf, size_t size)
{
	return host_readlink(posix_path(path, false), buf, size);
}

int vfs_readdir(struct file *dir, u64 pos, struct dirent *out)
{
	return host_readdir(posix_fd(dir), pos, out->name, &out->ino, &out->mode);
}

int vfs_chdir(const char *path)
{
	char absolute[PATH_MAX];
	struct vstat st;
	int e = vfs_stat(path, true, &st);

	if (!e && (st.mode & S_IFMT) != S_IFDIR)
		e = -ENOTDIR;
	if (!e)
		e = vfs_absolute(path, absolute);
	if (!e)
		snprintf(posix_me()->cwd, PATH_MAX, "%s", absolute);
	return e;
}

int vfs_access(const char *path, u32 mask)
{
	return host_access(posix_path(path, false), mask);
}

int pipe_create(struct file **rd, struct file **wr, u32 flags)
{
	int fd[2], e = host_pipe(fd);

	if (e)
		return e;
	*rd = file_of(fd[0], O_RDONLY | flags, NULL);
	*wr = file_of(fd[1], O_WRONLY | flags, NULL);
	return 0;
}
