/*
 * What a node is like and where it lies: mode, owner, time, and the room of its file system. Task
 * context. A change is made under no lock: each field is one word, and two that change it at once
 * are two that differ about it.
 */
#include "kernel/fs/vfs.h"
#include "kernel/fs/fs.h"
#include "kernel/fs/walk.h"
#include "kernel/lib/errno.h"
#include "kernel/mem/mem.h"

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
