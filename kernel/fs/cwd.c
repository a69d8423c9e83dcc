/*
 * Where a task is: its working directory as a vnode, and the way there as text. Task context; both
 * belong to the task alone.
 *
 * The text is kept beside the vnode and is right until somebody renames a directory on the way. So
 * it is checked before it is shown, and where it fails the way is looked for from below, as Unix
 * always did.
 */
#include "kernel/fs/cwd.h"
#include "kernel/fs/path.h"
#include "kernel/fs/walk.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/task.h"

/* Takes over the reference and the text. */
static void set_cwd(struct vnode *v, char *text)
{
	struct task *t = current();

	vnode_put(t->cwd);
	kfree(t->cwd_path);
	t->cwd = v;
	t->cwd_path = text;
}

int vfs_chdir(const char *path)
{
	struct vnode *v;
	struct walk w;
	char *text = NULL;
	int r = walk_begin(&w, path);

	if (!r)
		r = walk_final(&w, true, &v);
	if (!r && !v)
		r = -ENOENT;
	if (!r && (v->mode & S_IFMT) != S_IFDIR) {
		vnode_put(v);
		r = -ENOTDIR;
	}
	if (!r) {
		text = walk_path(&w);
		if (!text) {
			r = w.trail_lost ? -ENAMETOOLONG : -ENOMEM;
			vnode_put(v);
		}
	}
	walk_end(&w);
	if (r)
		return r;
	set_cwd(v, text);
	return 0;
}

int vfs_fchdir(struct file *f)
{
	char *text;

	if (!f->vnode || (f->vnode->mode & S_IFMT) != S_IFDIR)
		return -ENOTDIR;
	text = kstrdup(f->path ? f->path : "/");
	if (!text)
		return -ENOMEM;
	set_cwd(vnode_get(f->vnode), text);
	return 0;
}

/* Does this path lead to that directory? */
static bool leads_to(const char *path, const struct vnode *dir)
{
	struct vstat st;

	return vfs_stat(path, true, &st) == 0 && st.ino == dir->ino && st.dev == dir->dev;
}

/* What a mount hides under `dir`, if it is the root of one; borrowed, as mounts are for ever. */
static struct vnode *below_mounts(struct vnode *dir)
{
	while (dir != vfs_root() && dir->parent && dir->parent->mounted == dir)
		dir = dir->parent;
	return dir;
}

/* The name `dir` has in `parent`. */
static int find_name(struct vnode *parent, const struct vnode *dir, struct dirent *d)
{
	u64 cookie = 0;
	int r;

	while ((r = parent->ops->readdir(parent, &cookie, d)) == 1) {
		if (d->ino == dir->ino && d->mode == S_IFDIR)
			return 0;
	}
	return r < 0 ? r : -ENOENT;
}

/* Writes "/name" in front of what stands at buf + *at. */
static int vfs_prepend_name(char *buf, size_t *at, const char *name)
{
	size_t len = strlen(name);

	if (len + 1 > *at)
		return -ENAMETOOLONG;
	*at -= len + 1;
	buf[*at] = '/';
	memcpy(buf + *at + 1, name, len);
	return 0;
}

/*
 * The way to `dir`, from its end to its beginning; buf has PATH_MAX bytes, d is room for one name.
 */
static int way_up(struct vnode *dir, char *buf, struct dirent *d)
{
	size_t at = PATH_MAX - 1;
	int r = 0;

	buf[at] = '\0';
	vnode_get(dir);
	while (!r && dir != vfs_root()) {
		struct vnode *parent = vnode_parent(dir);
		r = find_name(parent, below_mounts(dir), d);
		if (!r)
			r = vfs_prepend_name(buf, &at, d->name);
		vnode_put(dir);
		dir = parent;
	}
	vnode_put(dir);
	if (!r && !buf[at])
		r = vfs_prepend_name(buf, &at, "");
	memmove(buf, buf + at, PATH_MAX - at);
	return r;
}

int vfs_getcwd(char *out)
{
	struct task *t = current();
	struct dirent *d;
	int r;

	if (!t->cwd || leads_to(t->cwd_path, t->cwd)) {
		strscpy(out, t->cwd ? t->cwd_path : "/", PATH_MAX);
		return 0;
	}
	d = kmalloc(sizeof(*d));
	if (!d)
		return -ENOMEM;
	r = way_up(t->cwd, out, d);
	kfree(d);
	if (!r) {
		char *text = kstrdup(out);
		if (text) {
			kfree(t->cwd_path);
			t->cwd_path = text;
		}
	}
	return r;
}
