/*
 * Where a task is: its working directory as a vnode, and the way there as text. Task context.
 *
 * The text is kept beside the vnode and is right until somebody renames a directory on the way. So
 * it is checked before it is shown, and where it fails the way is looked for from below, as Unix
 * always did.
 */
#include "kernel/fs/cwd.h"
#include "kernel/base/refs.h"
#include "kernel/fs/path.h"
#include "kernel/fs/walk.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/task.h"

#define UMASK_DEFAULT 022

static struct vnode *fs_get_cwd(struct fs_struct *fs, char *path)
{
	struct vnode *v;

	spin_lock(&fs->lock);
	v = fs->cwd ? vnode_get(fs->cwd) : NULL;
	if (path)
		strscpy(path, fs->path ? fs->path : "/", PATH_MAX);
	spin_unlock(&fs->lock);
	return v;
}

struct fs_struct *fs_copy(struct fs_struct *from)
{
	struct fs_struct *fs = kzalloc(sizeof(*fs));
	bool ok = fs;

	if (!fs)
		return NULL;
	fs->refs = 1;
	fs->umask = UMASK_DEFAULT;
	if (!from)
		return fs;
	fs->umask = READ_ONCE(from->umask);
	spin_lock(&from->lock);
	if (from->path) {
		fs->path = kstrdup(from->path);
		ok = fs->path;
	}
	if (ok && from->cwd)
		fs->cwd = vnode_get(from->cwd);
	spin_unlock(&from->lock);
	if (ok)
		return fs;
	kfree(fs);
	return NULL;
}

void fs_put(struct fs_struct *fs)
{
	if (!fs || !ref_drop(&fs->refs))
		return;
	vnode_put(fs->cwd);
	kfree(fs->path);
	kfree(fs);
}

struct vnode *fs_cwd(char *path)
{
	if (current()->fs)
		return fs_get_cwd(current()->fs, path);
	if (path)
		strscpy(path, "/", PATH_MAX);
	return NULL;
}

u32 fs_umask(void)
{
	return current()->fs ? READ_ONCE(current()->fs->umask) : UMASK_DEFAULT;
}

/* Kernel threads have none until they need one. */
static struct fs_struct *fs_of_current(void)
{
	if (!current()->fs)
		current()->fs = fs_copy(NULL);
	return current()->fs;
}

u32 fs_set_umask(u32 umask)
{
	struct fs_struct *fs = fs_of_current();

	return fs ? atomic_xchg(&fs->umask, umask) : UMASK_DEFAULT;
}

/* Takes over the reference and the text. */
static int fs_set_cwd(struct vnode *v, char *text)
{
	struct fs_struct *fs = fs_of_current();

	if (fs) {
		spin_lock(&fs->lock);
		struct vnode *old = fs->cwd;
		char *old_text = fs->path;
		fs->cwd = v;
		fs->path = text;
		spin_unlock(&fs->lock);
		v = old;
		text = old_text;
	}
	vnode_put(v);
	kfree(text);
	return fs ? 0 : -ENOMEM;
}

int vfs_chdir(const char *path)
{
	struct vnode *v;
	struct walk w;
	char *text = NULL;
	int r = walk_begin_trail(&w, path);

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
	return fs_set_cwd(v, text);
}

int vfs_fchdir(struct file *f)
{
	char *text;

	if (!f->vnode || (f->vnode->mode & S_IFMT) != S_IFDIR)
		return -ENOTDIR;
	text = kstrdup(f->path ? f->path : "/");
	if (!text)
		return -ENOMEM;
	return fs_set_cwd(vnode_get(f->vnode), text);
}

bool vfs_leads_to(const char *path, const struct vnode *dir)
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

int vfs_way_to(struct vnode *dir, char *out)
{
	struct dirent *d = kmalloc(sizeof(*d));
	int r = d ? way_up(dir, out, d) : -ENOMEM;

	kfree(d);
	return r;
}

int vfs_getcwd(char *out)
{
	struct vnode *cwd = fs_cwd(out);
	int r = 0;

	if (!cwd || vfs_leads_to(out, cwd)) {
		vnode_put(cwd);
		return 0;
	}
	r = vfs_way_to(cwd, out);
	if (!r) {
		char *text = kstrdup(out);
		if (text)
			r = fs_set_cwd(vnode_get(cwd), text);
	}
	vnode_put(cwd);
	return r;
}
