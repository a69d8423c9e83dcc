/*
 * Unpacks archives into the root. File contents stay where the archive lies, which must be for
 * ever. Task context, at boot.
 */
#include "kernel/fs/unpack.h"
#include "kernel/base/printk.h"
#include "kernel/fs/cpio.h"
#include "kernel/fs/ramfs.h"
#include "kernel/fs/walk.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"

/* A node with several names: its contents come with only one of them. */
struct hard_link {
	struct hard_link *next;
	u32 ino, dev_major, dev_minor;
	struct vnode *v; /* counted */
};

struct unpack {
	struct hard_link *links;
	const char *last; /* the name before, whose directories are there; NULL: none was */
	unsigned refused; /* entries that could not be made */
};

static struct hard_link *link_find(struct unpack *u, const struct cpio_entry *e)
{
	struct hard_link *l = u->links;

	while (
	    l && (l->ino != e->ino || l->dev_major != e->dev_major || l->dev_minor != e->dev_minor))
		l = l->next;
	return l;
}

static int link_remember(struct unpack *u, const struct cpio_entry *e, struct vnode *v)
{
	struct hard_link *l = kmalloc(sizeof(*l));

	if (!l)
		return -ENOMEM;
	*l = (struct hard_link){u->links, e->ino, e->dev_major, e->dev_minor, vnode_get(v)};
	u->links = l;
	return 0;
}

static void links_forget(struct unpack *u)
{
	while (u->links) {
		struct hard_link *l = u->links;
		u->links = l->next;
		vnode_put(l->v);
		kfree(l);
	}
}

/* Is this name in the directory of the one before? */
static bool is_beside_last(const struct unpack *u, const char *name)
{
	const char *slash = strrchr(name, '/');
	size_t dir = slash ? slash - name + 1 : 0;

	return u->last && !strncmp(u->last, name, dir) && strlen(u->last) > dir;
}

/* Makes the directories above path that are not there. */
static void make_parents(char *path)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		vfs_mkdir(path, 0755); /* one that fails shows when the file itself is made */
		*p = '/';
	}
}

static int add_file(
    struct unpack *u, struct vnode *dir, const char *name, const struct cpio_entry *e)
{
	struct hard_link *l = e->nlink > 1 ? link_find(u, e) : NULL;
	struct vnode *v;
	int r;

	if (l) {
		r = ramfs_link(dir, name, l->v);
		if (!r && e->size)
			ramfs_set_static(l->v, e->data, e->size);
		return r;
	}
	r = ramfs_add_static(dir, name, e->mode & 07777, e->data, e->size, &v);
	if (r)
		return r;
	if (e->nlink > 1)
		r = link_remember(u, e, v);
	vnode_put(v);
	return r;
}

static int cpio_unpack_file(struct unpack *u, const char *path, const struct cpio_entry *e)
{
	struct walk w;
	int r;

	r = walk_begin(&w, path);
	if (!r && (w.last != LAST_NAME || !vnode_is_ramfs(w.at)))
		r = -EPERM;
	if (!r)
		r = add_file(u, w.at, w.name, e);
	walk_end(&w);
	return r;
}

static int cpio_unpack_link(
    struct unpack *u __maybe_unused, const char *path, const struct cpio_entry *e)
{
	char *target = e->size < PATH_MAX ? kstrndup((const char *)e->data, e->size) : NULL;
	int r = target ? vfs_symlink(target, path) : -EINVAL;

	kfree(target);
	return r;
}

/* Takes the place of what is there. */
static int cpio_unpack_replacing(struct unpack *u, const char *path, const struct cpio_entry *e,
    int (*make)(struct unpack *, const char *, const struct cpio_entry *))
{
	int r = make(u, path, e);

	if (r != -EEXIST)
		return r;
	r = vfs_unlink(path);
	return r ? r : make(u, path, e);
}

static int unpack_entry(struct unpack *u, char *path, const struct cpio_entry *e)
{
	int r;

	if (!is_beside_last(u, e->name))
		make_parents(path);
	u->last = e->name;
	switch (e->mode & S_IFMT) {
	case S_IFDIR:
		r = vfs_mkdir(path, e->mode & 07777);
		return r == -EEXIST ? 0 : r;
	case S_IFREG:
		return cpio_unpack_replacing(u, path, e, cpio_unpack_file);
	case S_IFLNK:
		return cpio_unpack_replacing(u, path, e, cpio_unpack_link);
	default:
		return 0; /* devices are /dev's own business */
	}
}

int cpio_unpack(const void *data, size_t size)
{
	char *path = kmalloc(PATH_MAX);
	struct unpack u = {.links = NULL};
	struct cpio_entry e;
	struct cpio c;
	int r = path ? 1 : -ENOMEM;

	cpio_init(&c, data, size);
	while (r == 1) {
		r = cpio_next(&c, &e);
		if (r != 1)
			break;
		path[0] = '/';
		/* A name of the full length does not fit after our slash; a leading slash of its
		 * own does no harm. */
		if (strscpy(path + 1, e.name, PATH_MAX - 1) < 0 || unpack_entry(&u, path, &e))
			u.refused++;
	}
	if (u.refused)
		pr_warn("archive: entries that could not be unpacked: %u", u.refused);
	links_forget(&u);
	kfree(path);
	return r;
}
