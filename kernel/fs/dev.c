/*
 * /dev: a directory of the root file system where drivers put their devices, and the ones that need
 * no hardware: null, zero, full, random, urandom. Task context; the devices here have no state.
 */
#include "kernel/fs/dev.h"
#include "kernel/fs/ramfs.h"
#include "kernel/fs/walk.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "kernel/base/random.h"

static u64 device_number(const char *name)
{
	static const struct {
		const char *name;
		u32 major, minor;
	} known[] = {
	    {"null", 1, 3},
	    {"mem", 1, 1},
	    {"zero", 1, 5},
	    {"full", 1, 7},
	    {"random", 1, 8},
	    {"urandom", 1, 9},
	    {"tty", 5, 0},
	    {"console", 5, 1},
	};
	static u32 others = 10 << 8; /* Linux's "misc" */
	u32 serial;

	for (unsigned i = 0; i < ARRAY_SIZE(known); i++) {
		if (strcmp(known[i].name, name) == 0)
			return known[i].major << 8 | known[i].minor;
	}
	if (!strncmp(name, "ttyS", 4) && !parse_u32(name + 4, 10, &serial))
		return 4 << 8 | (64 + serial);
	if (!strncmp(name, "hvc", 3) && !parse_u32(name + 3, 10, &serial))
		return 229 << 8 | serial;
	return others++;
}

/*
 * The directory of `path`, made where it is missing; *name is what stands after it. With a
 * reference.
 */
static int dev_parent_of(const char *path, struct vnode **dir, const char **name)
{
	char part[PATH_MAX];

	for (size_t at = 1; path[at]; at++) {
		if (path[at] != '/')
			continue;
		strscpy(part, path, at + 1);
		vfs_mkdir(part, 0755); /* may be there */
		*name = path + at + 1;
	}
	return vfs_lookup(part, true, dir);
}

s64 dev_seek(struct file *f, s64 off, int whence)
{
	s64 from = whence == 1 ? f->pos : 0, to;

	if (whence != 0 && whence != 1)
		return -EINVAL;
	if (__builtin_add_overflow(from, off, &to))
		return -EOVERFLOW;
	if (to < 0)
		return -EINVAL;
	f->pos = to;
	return to;
}

int dev_register(const char *name, u32 mode, const struct file_ops *ops, void *priv)
{
	char path[64];
	const char *last;
	struct vnode *dir;
	int r;

	fmt_snprintf(path, sizeof(path), "/dev/%s", name);
	r = dev_parent_of(path, &dir, &last);
	if (r)
		return r;
	r = ramfs_add_node(dir, last, S_IFCHR | mode, ops, priv, device_number(name));
	vnode_put(dir);
	return r;
}

int dev_find(u64 rdev, struct vnode **out)
{
	struct vnode *dir, *v;
	struct dirent e;
	u64 cookie = 0;
	int r = vfs_lookup("/dev", true, &dir);

	while (!r && dir->ops->readdir(dir, &cookie, &e) == 1) {
		if (dir->ops->lookup(dir, e.name, &v))
			continue;
		if ((v->mode & S_IFMT) == S_IFCHR && v->rdev == rdev) {
			*out = v;
			vnode_put(dir);
			return 0;
		}
		vnode_put(v);
	}
	if (!r)
		vnode_put(dir);
	return -ENXIO;
}

int vfs_add_static(const char *path, u32 mode, const void *data, u64 size)
{
	struct vnode *dir, *v;
	const char *last;
	int r = dev_parent_of(path, &dir, &last);

	if (r)
		return r;
	r = ramfs_add_static(dir, last, mode, data, size, &v);
	vnode_put(dir);
	if (!r)
		vnode_put(v);
	return r;
}

static ssize dev_null_read(struct file *f, void *buf, size_t n, u64 *pos)
{
	(void)f, (void)buf, (void)n, (void)pos;
	return 0;
}

static ssize dev_null_write(struct file *f, const void *buf, size_t n, u64 *pos)
{
	(void)f, (void)buf, (void)pos;
	return n;
}

static ssize dev_zero_read(struct file *f, void *buf, size_t n, u64 *pos)
{
	(void)f, (void)pos;
	memset(buf, 0, n);
	return n;
}

static ssize dev_full_write(struct file *f, const void *buf, size_t n, u64 *pos)
{
	(void)f, (void)buf, (void)n, (void)pos;
	return -ENOSPC;
}

static ssize dev_random_read(struct file *f, void *buf, size_t n, u64 *pos)
{
	(void)f, (void)pos;
	random_bytes(buf, n);
	return n;
}

static ssize dev_random_write(struct file *f, const void *buf, size_t n, u64 *pos)
{
	(void)f, (void)pos;
	random_stir(buf, n);
	return n;
}

s64 dev_null_seek(struct file *f, s64 off, int whence)
{
	(void)f, (void)off, (void)whence;
	return 0;
}

static unsigned dev_always_ready(struct file *f)
{
	(void)f;
	return 1 | 4;
}

void dev_init(void)
{
	static const struct file_ops null_ops = {.read = dev_null_read,
	    .write = dev_null_write,
	    .discards = true,
	    .seek = dev_null_seek,
	    .poll = dev_always_ready};
	static const struct file_ops zero_ops = {.read = dev_zero_read,
	    .write = dev_null_write,
	    .discards = true,
	    .seek = dev_null_seek,
	    .poll = dev_always_ready,
	    .maps_zeros = true,
	    .endless = true};
	static const struct file_ops full_ops = {.read = dev_zero_read,
	    .write = dev_full_write,
	    .seek = dev_null_seek,
	    .poll = dev_always_ready,
	    .endless = true};
	static const struct file_ops random_ops = {.read = dev_random_read,
	    .write = dev_random_write,
	    .seek = dev_null_seek,
	    .poll = dev_always_ready,
	    .endless = true};

	static const char *const links[][2] = {{"/proc/self/fd", "/dev/fd"},
	    {"/proc/self/fd/0", "/dev/stdin"}, {"/proc/self/fd/1", "/dev/stdout"},
	    {"/proc/self/fd/2", "/dev/stderr"}};

	for (unsigned i = 0; i < ARRAY_SIZE(links); i++)
		vfs_symlink(links[i][0], links[i][1]);
	vfs_mkdir("/dev/shm", 0777);
	vfs_setattr("/dev/shm", true, &(struct vattr){.set = VATTR_MODE, .mode = 01777});
	dev_register("null", 0666, &null_ops, NULL);
	dev_register("zero", 0666, &zero_ops, NULL);
	dev_register("full", 0666, &full_ops, NULL);
	dev_register("random", 0666, &random_ops, NULL);
	dev_register("urandom", 0666, &random_ops, NULL);
}
