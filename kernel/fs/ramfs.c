/*
 * ramfs: directories, files, symlinks and devices in memory. Task context.
 *
 * A node's lock protects its contents, and is taken with nothing of this file system held (mm->lock
 * may be: shared mappings). names_lock protects every directory's entries and all link counts; a
 * node's own lock is never taken inside it. All memory is charged against half of RAM, so that
 * writing to /tmp ends in ENOSPC and not in a machine without pages.
 */
#include "kernel/fs/ramfs.h"
#include "kernel/fs/file.h"
#include "kernel/fs/ramdata.h"
#include "kernel/fs/walk_cache.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/mem/vm_area.h"
#include "kernel/task/sync.h"

struct rnode {
	struct vnode v;
	struct mutex lock; /* data */
	union {
		struct ramdata data;
		struct {
			struct list_head entries; /* [names_lock] by seq, ascending */
			u64 next_seq;
			/*
			 * [names_lock] the entry that readdir returned last: the next call goes on
			 * after it; NULL: at the front
			 */
			struct rentry *shown;
		} dir;
		char *link;
	};
};

struct rentry {
	struct list_head node;
	struct rnode *target; /* counted */
	u64 seq; /* never used again in this directory: what a readdir cookie counts by */
	u32 hash;
	struct rnode *dir;
	struct rentry *next; /* [names_lock] in its chain */
	char name[];
};

static inline struct rnode *rnode_of(struct vnode *v)
{
	return container_of(v, struct rnode, v);
}

static inline bool rnode_is_dir(const struct rnode *n)
{
	return (n->v.mode & S_IFMT) == S_IFDIR;
}

static const struct vnode_ops ramfs_ops;
static const struct file_ops ramfs_file_ops;
static u64 charged;  /* [A] bytes */
static u64 last_ino; /* [A] */

#define CHAINS 1024 /* a power of two */

static struct rentry *chains[CHAINS]; /* [names_lock] all entries, by directory and hash */
static struct mutex names_lock = MUTEX_INIT(names_lock);

/* ---- Memory and nodes ---- */

/* Counts the bytes, even when they are too many: the caller gives them back then. */
static bool ramfs_charge(u64 bytes)
{
	return atomic_add(&charged, bytes) <= page_total() * PAGE_SIZE / 2;
}

static void ramfs_uncharge(u64 bytes)
{
	atomic_sub(&charged, bytes);
}

static void *ramfs_alloc(size_t size)
{
	void *p = ramfs_charge(size) ? kzalloc(size) : NULL;

	if (!p)
		ramfs_uncharge(size);
	return p;
}

static void ramfs_free(void *p, size_t size)
{
	kfree(p);
	ramfs_uncharge(size);
}

static void *ramfs_data_page(bool zero)
{
	u64 pa = ramfs_charge(PAGE_SIZE) && !mem_is_low() ? page_alloc(0, zero) : 0;

	if (!pa)
		ramfs_uncharge(PAGE_SIZE);
	return pa ? phys_to_virt(pa) : NULL;
}

/* A private mapping may still show it (ramfs_page()). */
static void ramfs_data_release(void *page)
{
	page_put(virt_to_phys(page));
	ramfs_uncharge(PAGE_SIZE);
}

static const struct ramdata_mem data_mem = {ramfs_data_page, ramfs_data_release};

bool vnode_is_ramfs(const struct vnode *v)
{
	return v->ops == &ramfs_ops;
}

static struct rnode *rnode_new(u32 mode)
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

/* ---- Entries: names_lock held ---- */

static u32 hash_of(const char *name)
{
	u32 h = 2166136261u; /* FNV-1a */

	while (*name)
		h = (h ^ (u8)*name++) * 16777619u;
	return h;
}

/* Where the entries of that directory and hash are. */
static struct rentry **ramfs_chain(const struct rnode *dir, u32 hash)
{
	return &chains[(hash ^ (u64)dir / sizeof(*dir)) % CHAINS];
}

static struct rentry *ramfs_entry_find(struct rnode *dir, const char *name)
{
	u32 hash = hash_of(name);
	struct rentry *e = *ramfs_chain(dir, hash);

	while (e && (e->hash != hash || e->dir != dir || strcmp(e->name, name)))
		e = e->next;
	return e;
}

static size_t entry_size(const char *name)
{
	return sizeof(struct rentry) + strlen(name) + 1;
}

static struct rentry *ramfs_entry_alloc(const char *name)
{
	struct rentry *e = ramfs_alloc(entry_size(name));

	if (e) {
		memcpy(e->name, name, strlen(name) + 1);
		e->hash = hash_of(name);
	}
	return e;
}

/* Puts the entry into dir; it takes over the reference to target. */
static void ramfs_entry_insert(struct rnode *dir, struct rentry *e, struct rnode *target)
{
	e->target = target;
	e->dir = dir;
	e->seq = dir->dir.next_seq++;
	list_add_tail(&e->node, &dir->dir.entries);
	e->next = *ramfs_chain(dir, e->hash);
	*ramfs_chain(dir, e->hash) = e;
	if (rnode_is_dir(target)) {
		dir->v.nlink++;
		vnode_set_parent(&target->v, &dir->v);
	} else {
		target->v.nlink++;
	}
	dir->v.mtime_ns = vfs_now_ns();
}

/* Takes the entry out and away; the caller gets the reference to the target back. */
static struct rnode *ramfs_entry_remove(struct rnode *dir, struct rentry *e)
{
	struct rentry **at = ramfs_chain(dir, e->hash);
	struct rnode *target = e->target;

	if (dir->dir.shown == e)
		dir->dir.shown = e->node.prev == &dir->dir.entries
				     ? NULL
				     : list_entry(e->node.prev, struct rentry, node);
	list_del(&e->node);
	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	ramfs_free(e, entry_size(e->name));
	if (rnode_is_dir(target)) {
		dir->v.nlink--;
		walk_cache_clear();
	} else {
		target->v.nlink--;
	}
	dir->v.mtime_ns = vfs_now_ns();
	return target;
}

/* The name goes, and with it a link of the target. */
static void ramfs_entry_drop(struct rnode *dir, struct rentry *e)
{
	struct rnode *target = ramfs_entry_remove(dir, e);

	if (rnode_is_dir(target))
		target->v.nlink = 0;
	vnode_put(&target->v);
}

/* May `name` be made in dir? A directory that is removed but still in use takes no names. */
static int may_add(struct rnode *dir, const char *name)
{
	if (dir->v.nlink == 0)
		return -ENOENT;
	return ramfs_entry_find(dir, name) ? -EEXIST : 0;
}

static int ramfs_add(struct vnode *v, const char *name, struct rnode *n)
{
	struct rnode *dir = rnode_of(v);
	struct rentry *e = n ? ramfs_entry_alloc(name) : NULL;
	int r = -ENOSPC;

	mutex_lock(&names_lock);
	if (e)
		r = may_add(dir, name);
	if (!r)
		ramfs_entry_insert(dir, e, n);
	mutex_unlock(&names_lock);
	if (r && e)
		ramfs_free(e, entry_size(name));
	if (r && n)
		vnode_put(&n->v);
	return r;
}

/* ---- Operations on directories ---- */

static int ramfs_lookup(struct vnode *v, const char *name, struct vnode **out)
{
	struct rentry *e;

	mutex_lock(&names_lock);
	e = ramfs_entry_find(rnode_of(v), name);
	if (e)
		*out = vnode_get(&e->target->v);
	mutex_unlock(&names_lock);
	return e ? 0 : -ENOENT;
}

static int ramfs_readdir(struct vnode *v, u64 *cookie, struct dirent *out)
{
	struct rnode *dir = rnode_of(v);
	int found = 0;

	mutex_lock(&names_lock);
	struct rentry *e = *cookie ? dir->dir.shown : NULL;
	struct list_head *at = e ? &e->node : &dir->dir.entries;
	/* Usually no step back, or one: the caller had no room for the last entry. */
	while (at != &dir->dir.entries && list_entry(at, struct rentry, node)->seq >= *cookie)
		at = at->prev;
	while (!found && (at = at->next) != &dir->dir.entries) {
		e = list_entry(at, struct rentry, node);
		if (e->seq < *cookie)
			continue;
		strscpy(out->name, e->name, sizeof(out->name));
		out->ino = e->target->v.ino;
		out->mode = e->target->v.mode & S_IFMT;
		*cookie = e->seq + 1;
		dir->dir.shown = e;
		found = 1;
	}
	mutex_unlock(&names_lock);
	return found;
}

static int ramfs_create(struct vnode *v, const char *name, u32 mode, struct vnode **out)
{
	struct rnode *n = rnode_new(S_IFREG | mode);
	int r;

	if (n)
		vnode_get(&n->v);
	r = ramfs_add(v, name, n);
	if (!r)
		*out = &n->v;
	else if (n)
		vnode_put(&n->v);
	return r;
}

static int ramfs_mkdir(struct vnode *v, const char *name, u32 mode)
{
	return ramfs_add(v, name, rnode_new(S_IFDIR | mode));
}

static int ramfs_symlink(struct vnode *v, const char *name, const char *target)
{
	struct rnode *n = rnode_new(S_IFLNK | 0777);

	if (n) {
		n->link = kstrdup(target);
		n->v.size = strlen(target);
	}
	if (n && !n->link) {
		vnode_put(&n->v);
		n = NULL;
	}
	return ramfs_add(v, name, n);
}

int ramfs_link(struct vnode *dir, const char *name, struct vnode *v)
{
	return ramfs_add(dir, name, rnode_of(vnode_get(v)));
}

static int ramfs_unlink(struct vnode *v, const char *name)
{
	struct rnode *dir = rnode_of(v);
	struct rentry *e;
	int r = 0;

	mutex_lock(&names_lock);
	e = ramfs_entry_find(dir, name);
	if (!e)
		r = -ENOENT;
	else if (rnode_is_dir(e->target))
		r = -EISDIR;
	else
		ramfs_entry_drop(dir, e);
	mutex_unlock(&names_lock);
	return r;
}

static int ramfs_rmdir(struct vnode *v, const char *name)
{
	struct rnode *dir = rnode_of(v);
	struct rentry *e;
	int r = 0;

	mutex_lock(&names_lock);
	e = ramfs_entry_find(dir, name);
	if (!e)
		r = -ENOENT;
	else if (!rnode_is_dir(e->target))
		r = -ENOTDIR;
	else if (e->target->v.mounted)
		r = -EBUSY;
	else if (!list_empty(&e->target->dir.entries))
		r = -ENOTEMPTY;
	else
		ramfs_entry_drop(dir, e);
	mutex_unlock(&names_lock);
	return r;
}

/* Is `n` the directory `dir` or above it? */
static bool is_above(const struct rnode *n, struct rnode *dir)
{
	for (struct vnode *v = &dir->v;; v = v->parent) {
		if (v == &n->v)
			return true;
		if (!v->parent || v->parent == v || !vnode_is_ramfs(v->parent))
			return false;
	}
}

static int may_rename(
    struct rentry *e, struct rnode *from, struct rnode *to, const struct rentry *over)
{
	struct rnode *n = e->target;

	if (to->v.nlink == 0)
		return -ENOENT;
	if (n->v.mounted || (over && over->target->v.mounted))
		return -EBUSY;
	if (over && rnode_is_dir(over->target) && is_above(over->target, from))
		return -ENOTEMPTY; /* it contains what is renamed */
	if (!rnode_is_dir(n))
		return over && rnode_is_dir(over->target) ? -EISDIR : 0;
	if (is_above(n, to))
		return -EINVAL;
	if (!over)
		return 0;
	if (!rnode_is_dir(over->target))
		return -ENOTDIR;
	return list_empty(&over->target->dir.entries) ? 0 : -ENOTEMPTY;
}

static int rename_locked(
    struct rnode *from, const char *old_name, struct rnode *to, const char *new_name)
{
	struct rentry *e = ramfs_entry_find(from, old_name), *over = ramfs_entry_find(to, new_name),
		      *fresh;
	int r;

	if (!e)
		return -ENOENT;
	if (over && over->target == e->target)
		return 0; /* two names of one node: POSIX leaves both */
	r = may_rename(e, from, to, over);
	if (r)
		return r;
	fresh = ramfs_entry_alloc(new_name);
	if (!fresh)
		return -ENOSPC;
	if (over)
		ramfs_entry_drop(to, over);
	ramfs_entry_insert(to, fresh, ramfs_entry_remove(from, e));
	return 0;
}

static int ramfs_rename(
    struct vnode *from, const char *old_name, struct vnode *to, const char *new_name)
{
	int r;

	mutex_lock(&names_lock);
	r = rename_locked(rnode_of(from), old_name, rnode_of(to), new_name);
	mutex_unlock(&names_lock);
	return r;
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

static u64 ramfs_page(struct vnode *v, u64 index)
{
	struct rnode *n = rnode_of(v);
	void *page;

	mutex_lock(&n->lock);
	page = ramdata_page(&n->data, index);
	if (page)
		page_get(virt_to_phys(page));
	mutex_unlock(&n->lock);
	return page ? virt_to_phys(page) : 0;
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
    .page = ramfs_page,
    .open = ramfs_open,
    .destroy = ramfs_destroy,
    .lasting = true,
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

struct file *ramfs_open_nameless(const char *name)
{
	struct rnode *n = rnode_new(S_IFREG | 0777);
	struct file *f = n ? file_new(&ramfs_file_ops, O_RDWR, NULL) : NULL;
	char path[NAME_MAX + 32];

	if (!f) {
		if (n)
			vnode_put(&n->v);
		return NULL;
	}
	f->vnode = &n->v;
	fmt_snprintf(path, sizeof(path), "/memfd:%s (deleted)", name);
	f->path = kstrdup(path);
	return f;
}
