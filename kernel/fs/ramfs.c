/*
 * ramfs: directories, files, symlinks and devices in memory. Task context.
 *
 * A node's lock protects its contents, and is taken with nothing of this file system held (mm->lock
 * may be: shared mappings). Names are ramfs_names.c's. All memory is charged against half of RAM,
 * so that writing to /tmp ends in ENOSPC and not in a machine without pages.
 */
#include "kernel/fs/ramfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/mem/vm_area.h"

static const struct vnode_ops ramfs_ops;
static const struct file_ops ramfs_file_ops;
static u64 charged;  /* [A] bytes */
static u64 last_ino; /* [A] */

/* Counts the bytes, even when they are too many: the caller gives them back then. */
static bool ramfs_charge(u64 bytes)
{
	return atomic_add(&charged, bytes) <= page_total() * PAGE_SIZE / 2;
}

static void ramfs_uncharge(u64 bytes)
{
	atomic_sub(&charged, bytes);
}

void *ramfs_alloc(size_t size)
{
	void *p = ramfs_charge(size) ? kzalloc(size) : NULL;

	if (!p)
		ramfs_uncharge(size);
	return p;
}

void ramfs_free(void *p, size_t size)
{
	kfree(p);
	ramfs_uncharge(size);
}

static void *ramfs_data_page(bool zero)
{
	u64 pa = ramfs_charge(PAGE_SIZE) ? page_alloc(0, zero) : 0;

	if (!pa)
		ramfs_uncharge(PAGE_SIZE);
	return pa ? phys_to_virt(pa) : NULL;
}

static void ramfs_data_release(void *page)
{
	page_free(virt_to_phys(page), 0);
	ramfs_uncharge(PAGE_SIZE);
}

static const struct ramdata_mem data_mem = {ramfs_data_page, ramfs_data_release};

bool vnode_is_ramfs(const struct vnode *v)
{
	return v->ops == &ramfs_ops;
}

struct rnode *rnode_new(u32 mode)
{
	struct rnode *n = ramfs_alloc(sizeof(*n));

	if (!n)
		return NULL;
	vnode_init(&n->v, &ramfs_ops, mode);
	n->v.dev = DEV_RAMFS;
	n->v.ino = atomic_add(&last_ino, 1);
	mutex_init(&n->lock);
	if ((mode & S_IFMT) == S_IFDIR) {
		list_init(&n->dir.entries);
		return n;
	}
	n->v.nlink = 0; /* names will count */
	if ((mode & S_IFMT) == S_IFREG) {
		n->v.fops = &ramfs_file_ops;
		ramdata_init(&n->data, &data_mem);
	}
	return n;
}

static void ramfs_destroy(struct vnode *v)
{
	struct rnode *n = rnode_of(v);

	if ((v->mode & S_IFMT) == S_IFREG)
		ramdata_destroy(&n->data);
	else if ((v->mode & S_IFMT) == S_IFLNK)
		kfree(n->link);
	ramfs_free(n, sizeof(*n));
}

/* ---- Operations on nodes and files ---- */

static long ramfs_readlink(struct vnode *v, char *buf, size_t size)
{
	size_t n = MIN(v->size, size);

	if ((v->mode & S_IFMT) != S_IFLNK)
		return -EINVAL;
	memcpy(buf, rnode_of(v)->link, n);
	return n;
}

static int ramfs_truncate(struct vnode *v, u64 size)
{
	struct rnode *n = rnode_of(v);
	int r;

	mutex_lock(&n->lock);
	r = ramdata_truncate(&n->data, size);
	v->size = n->data.size;
	v->mtime_ns = vfs_now_ns();
	mutex_unlock(&n->lock);
	return r;
}

static int ramfs_setattr(struct vnode *v, const struct vattr *a)
{
	if (a->set & VATTR_MODE)
		WRITE_ONCE(v->mode, (v->mode & S_IFMT) | (a->mode & 07777));
	if (a->set & VATTR_UID)
		WRITE_ONCE(v->uid, a->uid);
	if (a->set & VATTR_GID)
		WRITE_ONCE(v->gid, a->gid);
	if (a->set & VATTR_MTIME)
		WRITE_ONCE(v->mtime_ns, a->mtime_ns);
	return 0;
}

static int ramfs_mknod(struct vnode *dir, const char *name, u32 mode, const struct vnode *like)
{
	return ramfs_add_node(dir, name, mode, like->fops, like->priv, like->rdev);
}

static int ramfs_open(struct vnode *v, struct file *f)
{
	if ((f->flags & O_TRUNC) && (v->mode & S_IFMT) == S_IFREG)
		return ramfs_truncate(v, 0);
	return 0;
}

static ssize ramfs_read(struct file *f, void *buf, size_t n, u64 *pos)
{
	struct rnode *node = rnode_of(f->vnode);
	ssize r;

	mutex_lock(&node->lock);
	r = ramdata_read(&node->data, buf, n, *pos);
	mutex_unlock(&node->lock);
	*pos += r;
	return r;
}

static ssize ramfs_write(struct file *f, const void *buf, size_t n, u64 *pos)
{
	struct rnode *node = rnode_of(f->vnode);
	ssize r;

	mutex_lock(&node->lock);
	if (f->flags & O_APPEND)
		*pos = node->data.size;
	r = ramdata_write(&node->data, buf, n, *pos);
	if (r > 0) {
		*pos += r;
		node->v.size = node->data.size;
		node->v.mtime_ns = vfs_now_ns();
	}
	mutex_unlock(&node->lock);
	return r;
}

/*
 * A shared mapping shows the file's own pages; the area holds the file, and with it the node and
 * its pages.
 */
static u64 ramfs_map_page(struct vm_area *a, u64 index)
{
	struct rnode *n = a->page_arg;
	void *page;

	mutex_lock(&n->lock);
	page = ramdata_pin(&n->data, index);
	mutex_unlock(&n->lock);
	return page ? virt_to_phys(page) : 0;
}

static int ramfs_mmap(struct file *f, struct vm_area *a)
{
	a->page = ramfs_map_page;
	a->page_arg = rnode_of(f->vnode);
	return 0;
}

static const struct vnode_ops ramfs_ops = {
    .lookup = ramfs_lookup,
    .readdir = ramfs_readdir,
    .create = ramfs_create,
    .mkdir = ramfs_mkdir,
    .unlink = ramfs_unlink,
    .rmdir = ramfs_rmdir,
    .rename = ramfs_rename,
    .symlink = ramfs_symlink,
    .link = ramfs_link,
    .mknod = ramfs_mknod,
    .readlink = ramfs_readlink,
    .setattr = ramfs_setattr,
    .truncate = ramfs_truncate,
    .open = ramfs_open,
    .destroy = ramfs_destroy,
};

static const struct file_ops ramfs_file_ops = {
    .read = ramfs_read,
    .write = ramfs_write,
    .mmap = ramfs_mmap,
};

/* ---- For the rest of kernel/fs ---- */

struct vnode *ramfs_create_root(void)
{
	struct rnode *n = rnode_new(S_IFDIR | 0755);

	if (n)
		n->v.parent = &n->v;
	return n ? &n->v : NULL;
}

void ramfs_room(u64 *pages, u64 *left)
{
	u64 used = ALIGN_UP(atomic_load(&charged), PAGE_SIZE) / PAGE_SIZE;

	*pages = page_total() / 2;
	*left = *pages > used ? *pages - used : 0;
}

void ramfs_set_static(struct vnode *v, const void *data, u64 size)
{
	struct rnode *n = rnode_of(v);

	mutex_lock(&n->lock);
	ramdata_set_base(&n->data, data, size);
	v->size = size;
	mutex_unlock(&n->lock);
}

int ramfs_add_static(
    struct vnode *dir, const char *name, u32 mode, const void *data, u64 size, struct vnode **out)
{
	int r = ramfs_create(dir, name, mode, out);

	if (!r)
		ramfs_set_static(*out, data, size);
	return r;
}

int ramfs_add_node(struct vnode *dir, const char *name, u32 mode, const struct file_ops *fops,
    void *priv, u64 rdev)
{
	struct rnode *n = rnode_new(mode);

	if (n) {
		n->v.fops = fops;
		n->v.priv = priv;
		n->v.rdev = rdev;
	}
	return ramfs_add(dir, name, n);
}
