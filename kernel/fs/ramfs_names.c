/*
 * The names of ramfs: directories and what can be done to their entries. Task context.
 *
 * names_lock protects every directory's entries and all link counts. A node's own lock is never
 * taken inside it.
 */
#include "kernel/fs/ramfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"

static struct mutex names_lock = MUTEX_INIT(names_lock);

/* ---- Entries: names_lock held ---- */

static u32 hash_of(const char *name)
{
	u32 h = 2166136261u; /* FNV-1a */

	while (*name)
		h = (h ^ (u8)*name++) * 16777619u;
	return h;
}

static struct rentry *ramfs_entry_find(struct rnode *dir, const char *name)
{
	u32 hash = hash_of(name);
	struct rentry *e;

	list_for_each_entry (e, &dir->dir.entries, node) {
		if (e->hash == hash && strcmp(e->name, name) == 0)
			return e;
	}
	return NULL;
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
	e->seq = dir->dir.next_seq++;
	list_add_tail(&e->node, &dir->dir.entries);
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
	struct rnode *target = e->target;

	list_del(&e->node);
	ramfs_free(e, entry_size(e->name));
	if (rnode_is_dir(target))
		dir->v.nlink--;
	else
		target->v.nlink--;
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

int ramfs_add(struct vnode *v, const char *name, struct rnode *n)
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

int ramfs_lookup(struct vnode *v, const char *name, struct vnode **out)
{
	struct rentry *e;

	mutex_lock(&names_lock);
	e = ramfs_entry_find(rnode_of(v), name);
	if (e)
		*out = vnode_get(&e->target->v);
	mutex_unlock(&names_lock);
	return e ? 0 : -ENOENT;
}

int ramfs_readdir(struct vnode *v, u64 *cookie, struct dirent *out)
{
	struct rentry *e;
	int found = 0;

	mutex_lock(&names_lock);
	list_for_each_entry (e, &rnode_of(v)->dir.entries, node) {
		if (e->seq < *cookie)
			continue;
		strscpy(out->name, e->name, sizeof(out->name));
		out->ino = e->target->v.ino;
		out->mode = e->target->v.mode & S_IFMT;
		*cookie = e->seq + 1;
		found = 1;
		break;
	}
	mutex_unlock(&names_lock);
	return found;
}

int ramfs_create(struct vnode *v, const char *name, u32 mode, struct vnode **out)
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

int ramfs_mkdir(struct vnode *v, const char *name, u32 mode)
{
	return ramfs_add(v, name, rnode_new(S_IFDIR | mode));
}

int ramfs_symlink(struct vnode *v, const char *name, const char *target)
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

int ramfs_unlink(struct vnode *v, const char *name)
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

int ramfs_rmdir(struct vnode *v, const char *name)
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

static int may_rename(struct rentry *e, struct rnode *to, const struct rentry *over)
{
	struct rnode *n = e->target;

	if (to->v.nlink == 0)
		return -ENOENT;
	if (n->v.mounted || (over && over->target->v.mounted))
		return -EBUSY;
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
	r = may_rename(e, to, over);
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

int ramfs_rename(struct vnode *from, const char *old_name, struct vnode *to, const char *new_name)
{
	int r;

	mutex_lock(&names_lock);
	r = rename_locked(rnode_of(from), old_name, rnode_of(to), new_name);
	mutex_unlock(&names_lock);
	return r;
}
