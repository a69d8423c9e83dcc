/*
 * Vnodes, mounts, and the operations on names and attributes: everything by path that
 * leaves no open file behind. Task context.
 *
 * Counts are atomic. Parent pointers change by rename: parent_lock makes reading one and counting
 * it a single step. A mount is made once and stays, so `mounted` needs no lock. The file systems
 * lock their own names and contents.
 */
#include "kernel/fs/vfs.h"
#include "kernel/base/panic.h"
#include "kernel/base/refs.h"
#include "kernel/fs/cwd.h"
#include "kernel/fs/dev.h"
#include "kernel/fs/pipe.h"
#include "kernel/fs/proc.h"
#include "kernel/fs/ramfs.h"
#include "kernel/fs/walk.h"
#include "kernel/fs/walk_cache.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/task.h"

static struct vnode *root;
static struct spinlock parent_lock = SPINLOCK_INIT;

struct vnode *vfs_root(void)
{
	return root;
}

u64 vfs_now_ns(void)
{
	return clock_boot_unix_ns() + clock_ns();
}

struct vnode *vnode_get(struct vnode *v)
{
	atomic_add(&v->refs, 1);
	return v;
}

void vnode_put(struct vnode *v)
{
	while (v && ref_drop(&v->refs)) {
		struct vnode *parent = v->parent == v ? NULL : v->parent;
		if (v->ops->destroy)
			v->ops->destroy(v);
		v = parent;
	}
}

void vnode_init(struct vnode *v, const struct vnode_ops *ops, u32 mode)
{
	*v = (struct vnode){
	    .ops = ops,
	    .refs = 1,
	    .mode = mode,
	    .nlink = (mode & S_IFMT) == S_IFDIR ? 2 : 1,
	    .mtime_ns = vfs_now_ns(),
	};
}

struct vnode *vnode_parent(struct vnode *dir)
{
	spin_lock(&parent_lock);
	while (dir != root && dir->parent && dir->parent->mounted == dir)
		dir = dir->parent;
	dir = vnode_get(dir->parent ? dir->parent : dir);
	spin_unlock(&parent_lock);
	return dir;
}

void vnode_set_parent(struct vnode *dir, struct vnode *parent)
{
	struct vnode *old;

	vnode_get(parent);
	spin_lock(&parent_lock);
	old = dir->parent;
	dir->parent = parent;
	spin_unlock(&parent_lock);
	if (old != dir)
		vnode_put(old);
}

int vfs_mount(const char *path, struct vnode *what)
{
	struct vnode *v;
	int r = vfs_lookup(path, true, &v);

	if (r)
		return r;
	if ((v->mode & S_IFMT) != S_IFDIR) {
		vnode_put(v);
		return -ENOTDIR;
	}
	vnode_set_parent(what, v);
	v->mounted = what; /* keeps the lookup's reference: mounted for good */
	walk_cache_clear();
	return 0;
}

int vfs_lookup(const char *path, bool follow, struct vnode **out)
{
	struct walk w;
	int r = walk_begin(&w, path);

	if (!r)
		r = walk_final(&w, follow, out);
	if (!r && !*out)
		r = -ENOENT;
	walk_end(&w);
	return r;
}

static int vnode_stat(struct vnode *v, struct vstat *st)
{
	if (v->ops->stat)
		return v->ops->stat(v, st);
	*st = (struct vstat){
	    .ino = v->ino,
	    .size = v->size,
	    .mtime_ns = v->mtime_ns,
	    .rdev = v->rdev,
	    .mode = v->mode,
	    .nlink = v->nlink,
	    .uid = v->uid,
	    .gid = v->gid,
	    .dev = v->dev,
	};
	return 0;
}

int vfs_stat(const char *path, bool follow, struct vstat *st)
{
	struct vnode *v;
	int r = vfs_lookup(path, follow, &v);

	if (!r) {
		r = vnode_stat(v, st);
		vnode_put(v);
	}
	return r;
}

int vfs_fstat(struct file *f, struct vstat *st)
{
	if (f->vnode)
		return vnode_stat(f->vnode, st);
	*st = (struct vstat){.mode = S_IFIFO | 0600, .nlink = 1};
	return 0;
}

/* What mkdir and symlink share: the last component must be a free name. `dir`: a slash after it is
 * fine. */
static int vfs_walk_new(struct walk *w, const char *path, bool dir)
{
	struct vnode *v = NULL;
	int r = walk_begin(w, path);

	if (r)
		return r;
	if (w->last != LAST_NAME)
		return -EEXIST;
	bool slash = w->slash;
	w->slash = false;
	r = walk_final(w, false, &v);
	if (r)
		return r;
	vnode_put(v);
	return v ? -EEXIST : slash && !dir ? -ENOENT : walk_may_change(w);
}

int vfs_mkdir(const char *path, u32 mode)
{
	struct walk w;
	int r = vfs_walk_new(&w, path, true);

	if (!r)
		r = w.at->ops->mkdir ? w.at->ops->mkdir(w.at, w.name, mode & 01777 & ~fs_umask())
				     : -EPERM;
	walk_end(&w);
	return r;
}

int vfs_symlink(const char *target, const char *path)
{
	struct walk w;
	int r;

	if (!target[0])
		return -ENOENT;
	if (strnlen(target, PATH_MAX) >= PATH_MAX)
		return -ENAMETOOLONG;
	r = vfs_walk_new(&w, path, false);
	if (!r)
		r = w.at->ops->symlink ? w.at->ops->symlink(w.at, w.name, target) : -EPERM;
	walk_end(&w);
	return r;
}

/* Makes another name for v. Hard links do not lead from one file system into another. */
static int link_walked(struct walk *w, struct vnode *v)
{
	if (w->at->dev != v->dev)
		return -EXDEV;
	if ((v->mode & S_IFMT) == S_IFDIR || !w->at->ops->link)
		return -EPERM;
	return w->at->ops->link(w->at, w->name, v);
}

int vfs_link(const char *from, bool follow, const char *to)
{
	struct walk w;
	struct vnode *v;
	int r = vfs_lookup(from, follow, &v);

	if (r)
		return r;
	r = vfs_walk_new(&w, to, false);
	if (!r)
		r = link_walked(&w, v);
	walk_end(&w);
	vnode_put(v);
	return r;
}

static int mknod_walked(struct walk *w, u32 mode, const struct vnode *like)
{
	struct vnode *v;
	int r;

	if (like)
		return w->at->ops->mknod ? w->at->ops->mknod(w->at, w->name, mode, like) : -EPERM;
	r = w->at->ops->create ? w->at->ops->create(w->at, w->name, mode & 07777, &v) : -EPERM;
	if (!r)
		vnode_put(v);
	return r;
}

int vfs_mknod(const char *path, u32 mode, u64 rdev)
{
	static struct vnode no_device = {.refs = 1}, fifo = {.refs = 1, .fops = &pipe_fifo_ops};
	struct vnode *like = NULL;
	struct walk w;
	int r = 0;

	if ((mode & S_IFMT) == S_IFCHR)
		r = dev_find(rdev, &like);
	else if ((mode & S_IFMT) == S_IFSOCK)
		like = vnode_get(&no_device);
	else if ((mode & S_IFMT) == S_IFIFO)
		like = vnode_get(&fifo);
	else if ((mode & S_IFMT) != S_IFREG)
		r = -EPERM;
	if (r)
		return r;
	r = vfs_walk_new(&w, path, false);
	if (!r)
		r = mknod_walked(&w, mode, like);
	walk_end(&w);
	vnode_put(like);
	return r;
}

/*
 * Answers for a file system that removes no names. As on Linux, a name that is missing or of the
 * wrong kind comes before the permission.
 */
static int vfs_refuse_removal(struct walk *w, bool of_dir)
{
	struct vnode *v;
	int r = walk_final(w, false, &v);

	if (r || !v)
		return r ? r : -ENOENT;
	if (((v->mode & S_IFMT) == S_IFDIR) == of_dir)
		r = -EPERM;
	else
		r = of_dir ? -ENOTDIR : -EISDIR;
	vnode_put(v);
	return r;
}

int vfs_rmdir(const char *path)
{
	struct walk w;
	int r = walk_begin(&w, path);

	if (!r)
		r = walk_may_change(&w);
	if (!r)
		r = w.last == LAST_DOT	    ? -EINVAL
		    : w.last == LAST_DOTDOT ? -ENOTEMPTY
		    : w.last == LAST_ROOT   ? -EBUSY
		    : w.at->ops->rmdir	    ? w.at->ops->rmdir(w.at, w.name)
					    : vfs_refuse_removal(&w, true);
	walk_end(&w);
	return r;
}

/* unlink("x/"): never removes, but says what x is. */
static int refuse_slash(struct walk *w)
{
	struct vnode *v;
	int r;

	w->slash = false;
	r = walk_final(w, false, &v);
	if (r || !v)
		return r ? r : -ENOENT;
	r = (v->mode & S_IFMT) == S_IFDIR ? -EISDIR : -ENOTDIR;
	vnode_put(v);
	return r;
}

int vfs_unlink(const char *path)
{
	struct walk w;
	int r = walk_begin(&w, path);

	if (!r)
		r = walk_may_change(&w);
	if (!r)
		r = w.last != LAST_NAME ? -EISDIR
		    : w.slash		? refuse_slash(&w)
		    : w.at->ops->unlink ? w.at->ops->unlink(w.at, w.name)
					: vfs_refuse_removal(&w, false);
	walk_end(&w);
	return r;
}

/* A slash after either name of a rename asks for directories. */
static int rename_slashes(struct walk *from)
{
	struct vnode *v;
	int r;

	r = walk_final(from, false, &v);
	if (r || !v)
		return r ? r : -ENOENT;
	r = (v->mode & S_IFMT) == S_IFDIR ? 0 : -ENOTDIR;
	vnode_put(v);
	return r;
}

static bool vnode_is_at_or_below(const struct vnode *dir, const struct vnode *top)
{
	bool found;

	spin_lock(&parent_lock);
	for (;;) {
		found = dir->dev == top->dev && dir->ino == top->ino;
		if (found || !dir->parent || dir->parent == dir)
			break;
		dir = dir->parent;
	}
	spin_unlock(&parent_lock);
	return found;
}

/* The same for a file system that renames nothing: a directory cannot go below itself either. */
static int vfs_refuse_rename(struct walk *from, const struct vnode *to)
{
	struct vnode *v;
	int r = walk_final(from, false, &v);

	if (r || !v)
		return r ? r : -ENOENT;
	r = vnode_is_at_or_below(to, v) ? -EINVAL : -EPERM;
	vnode_put(v);
	return r;
}

static int rename_walked(struct walk *a, struct walk *b)
{
	if (walk_may_change(a) || walk_may_change(b))
		return -EROFS;
	if (a->at->dev != b->at->dev)
		return -EXDEV;
	if (a->last != LAST_NAME || b->last != LAST_NAME)
		return -EBUSY;
	if (a->slash || b->slash) {
		a->slash = false;
		int r = rename_slashes(a);
		if (r)
			return r;
	}
	if (!a->at->ops->rename)
		return vfs_refuse_rename(a, b->at);
	return a->at->ops->rename(a->at, a->name, b->at, b->name);
}

int vfs_rename(const char *from, const char *to)
{
	struct walk a, b = {.at = NULL};
	int r = walk_begin(&a, from);

	if (!r)
		r = walk_begin(&b, to);
	if (!r)
		r = rename_walked(&a, &b);
	walk_end(&a);
	walk_end(&b);
	return r;
}

long vfs_readlink(const char *path, char *buf, size_t size)
{
	struct vnode *v;
	long r = vfs_lookup(path, false, &v);

	if (r)
		return r;
	r = v->ops->readlink ? v->ops->readlink(v, buf, size) : -EINVAL;
	vnode_put(v);
	return r;
}

/* All tasks are root, who may do everything but run what nobody may run. */
int vfs_access(const struct vstat *st, u32 mask)
{
	return (mask & 1) && (st->mode & S_IFMT) != S_IFDIR && !(st->mode & 0111) ? -EACCES : 0;
}

int vfs_vnode_truncate(struct vnode *v, u64 size)
{
	if ((v->mode & S_IFMT) == S_IFDIR)
		return -EISDIR;
	if ((v->mode & S_IFMT) != S_IFREG || (s64)size < 0)
		return -EINVAL;
	return v->ops->truncate ? v->ops->truncate(v, size) : -EINVAL;
}

int vfs_truncate(const char *path, u64 size)
{
	struct vnode *v = NULL;
	struct walk w;
	int r = walk_begin(&w, path);

	if (!r)
		r = walk_final(&w, true, &v);
	if (!r)
		r = v ? walk_may_change(&w) : -ENOENT;
	if (!r)
		r = vfs_vnode_truncate(v, size);
	vnode_put(v);
	walk_end(&w);
	return r;
}

int vfs_set_readonly(const char *path)
{
	struct vnode *v;
	int r = vfs_lookup(path, true, &v);

	if (r)
		return r;
	if ((v->mode & S_IFMT) == S_IFDIR)
		WRITE_ONCE(v->readonly, true); /* our reference keeps the directory */
	else
		r = -ENOTDIR;
	if (r)
		vnode_put(v);
	return r;
}

/* ---- Attributes, and the room of a file system ---- */

/* Under no lock: each field is one word, and of two callers that set it the later one wins. */
static int vnode_setattr(struct vnode *v, const struct vattr *a)
{
	return v->ops->setattr ? v->ops->setattr(v, a) : -EPERM;
}

int vfs_setattr(const char *path, bool follow, const struct vattr *a)
{
	struct vnode *v = NULL;
	struct walk w;
	int r = walk_begin(&w, path);

	if (!r)
		r = walk_final(&w, follow, &v);
	if (!r)
		r = v ? walk_may_change(&w) : -ENOENT;
	if (!r)
		r = vnode_setattr(v, a);
	vnode_put(v);
	walk_end(&w);
	return r;
}

/* A file that still has its name is changed by it: that knows of directories that are read only. */
int vfs_fsetattr(struct file *f, const struct vattr *a)
{
	struct vnode *named = NULL;
	bool same;

	if (!f->vnode)
		return -EPERM;
	same = f->path && !vfs_lookup(f->path, true, &named) && named == f->vnode;
	vnode_put(named);
	return same ? vfs_setattr(f->path, true, a) : vnode_setattr(f->vnode, a);
}

static void vnode_statfs(const struct vnode *v, struct vstatfs *st)
{
	/* Numbers by which programs know a file system: Linux's. */
	static const u64 magic[] = {
	    [DEV_RAMFS] = 0x858458f6, [DEV_PROC] = 0x9fa0, [DEV_TRACEFS] = 0x74726163};

	*st = (struct vstatfs){.type = v->dev < ARRAY_SIZE(magic) ? magic[v->dev] : 0};
	if (v->dev == DEV_RAMFS)
		ramfs_room(&st->blocks, &st->free);
}

int vfs_statfs(const char *path, struct vstatfs *st)
{
	struct vnode *v;
	int r = vfs_lookup(path, true, &v);

	if (!r) {
		vnode_statfs(v, st);
		vnode_put(v);
	}
	return r;
}

int vfs_fstatfs(struct file *f, struct vstatfs *st)
{
	static const struct vnode none;

	vnode_statfs(f->vnode ? f->vnode : &none, st);
	return 0;
}

void vfs_init(void)
{
	static const char *const dirs[] = {"/bin", "/dev", "/proc", "/sys", "/sys/kernel", "/tmp"};

	root = ramfs_create_root();
	if (!root)
		panic("no memory for the root file system");
	for (unsigned i = 0; i < ARRAY_SIZE(dirs); i++)
		vfs_mkdir(dirs[i], 0755);
	dev_init();
	proc_init();
}
