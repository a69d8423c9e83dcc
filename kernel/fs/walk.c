/*
 * The walk along a path. Task context; holds references, no locks: names may change between two
 * steps, as on any Unix.
 */
/* hot: every path of a program goes this way */
#include "kernel/fs/walk.h"
#include "kernel/fs/walk_cache.h"
#include "kernel/fs/file.h"
#include "kernel/fs/cwd.h"
#include "kernel/fs/path.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/task.h"

static inline bool is_type(const struct vnode *v, u32 type)
{
	return (v->mode & S_IFMT) == type;
}

static void walk_to(struct walk *w, struct vnode *v)
{
	vnode_put(w->at);
	w->at = v;
}

/* Gives the trail a buffer of its own, because it differs from the path's text from here on. */
static void walk_trail_begin(struct walk *w)
{
	w->trail = kmalloc(PATH_MAX);
	if (w->trail && w->plain_len) {
		memcpy(w->trail, w->plain, w->plain_len);
		w->trail[w->plain_len] = '\0';
	} else if (w->trail) {
		strscpy(w->trail, "/", PATH_MAX);
	}
	w->plain = NULL;
}

/*
 * Appends the component in `name` to the trail. While a path is absolute and clean, its own text
 * serves as the trail.
 */
static void walk_trail_push(struct walk *w)
{
	if (!w->wants_trail)
		return;
	if (w->plain && w->last == LAST_NAME && w->name_at == w->plain + w->plain_len + 1) {
		w->plain_len += 1 + w->name_len;
		return;
	}
	if (w->plain)
		walk_trail_begin(w);
	if (w->trail && path_push(w->trail, PATH_MAX, w->name, w->name_len))
		w->trail_lost = true;
}

/* Sets the start of the walk: at its beginning, and after a symlink to an absolute path. */
static int walk_home(struct walk *w, bool absolute)
{
	struct vnode *cwd = NULL;

	kfree(w->trail);
	w->trail = NULL;
	w->plain = w->rest;
	w->plain_len = 0;
	if (!absolute) {
		if (w->wants_trail)
			walk_trail_begin(w);
		if (w->wants_trail && !w->trail)
			return -ENOMEM;
		cwd = fs_cwd(w->trail);
	}
	walk_to(w, cwd ? cwd : vnode_get(vfs_root()));
	return 0;
}

static struct vnode *cross_mounts(struct vnode *v)
{
	while (v->mounted) {
		struct vnode *root = vnode_get(v->mounted);
		vnode_put(v);
		v = root;
	}
	return v;
}

/* `name` in `at`, with what is mounted there. */
static int walk_lookup(struct walk *w, const char *name, struct vnode **out)
{
	struct vnode *v;
	int r;

	if (!is_type(w->at, S_IFDIR) || !w->at->ops->lookup)
		return -ENOTDIR;
	r = w->at->ops->lookup(w->at, name, &v);
	if (!r)
		*out = cross_mounts(v);
	return r;
}

/* Puts the target of symlink v in front of the rest. Consumes v. */
static int walk_follow_link(struct walk *w, struct vnode *v)
{
	size_t left = strlen(w->rest);
	char *text;
	long n = -ELOOP;

	if (++w->links <= WALK_MAX_LINKS) {
		text = kmalloc(2 * PATH_MAX);
		n = text ? v->ops->readlink(v, text, PATH_MAX) : -ENOMEM;
		if (n >= 0 && (n == 0 || n + left + 2 > 2 * PATH_MAX))
			n = n ? -ENAMETOOLONG : -ENOENT;
		if (n >= 0) {
			if (w->wants_trail && w->plain)
				walk_trail_begin(w); /* the old text will be gone */
			text[n] = '/';
			memcpy(text + n + (left ? 1 : 0), w->rest, left + 1);
			kfree(w->owned);
			w->owned = text;
			w->rest = text;
		} else {
			kfree(text);
		}
	}
	vnode_put(v);
	if (n < 0)
		return n;
	return w->rest[0] == '/' ? walk_home(w, true) : 0;
}

/*
 * The node of the open file that the symlink *v leads to takes its place. Consumes *v on failure.
 */
static int walk_follow_file(struct walk *w, struct vnode **v)
{
	struct file *f;
	int r = (*v)->ops->follow(*v, &f);

	vnode_put(*v);
	if (r)
		return r;
	file_put(w->opened);
	w->opened = f;
	if (!f->vnode)
		return -ENXIO;
	*v = vnode_get(f->vnode);
	return 0;
}

/* One component that is not the last. */
static int step(struct walk *w)
{
	struct vnode *v;
	int r;

	if (!is_type(w->at, S_IFDIR))
		return -ENOTDIR;
	if (w->last == LAST_DOT)
		return 0;
	if (w->last == LAST_DOTDOT) {
		walk_to(w, vnode_parent(w->at));
		walk_trail_push(w);
		return 0;
	}
	r = walk_lookup(w, w->name, &v);
	if (r)
		return r;
	if (is_type(v, S_IFLNK))
		return walk_follow_link(w, v);
	w->passing |= !w->at->ops->lasting;
	walk_to(w, v);
	walk_trail_push(w);
	return 0;
}

static inline const char *skip_slashes(const char *s)
{
	while (*s == '/')
		s++;
	return s;
}

/* Takes the next component off the rest into name and last. */
static int next_name(struct walk *w)
{
	const char *from = skip_slashes(w->rest);
	size_t len = 0;

	while (from[len] && from[len] != '/')
		len++;
	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(w->name, from, len);
	w->name[len] = '\0';
	w->name_at = from;
	w->name_len = len;
	w->rest = from + len;
	w->slash = w->rest[0] == '/';
	w->last = len == 0		     ? LAST_ROOT
		  : str_equal(w->name, ".")  ? LAST_DOT
		  : str_equal(w->name, "..") ? LAST_DOTDOT
					     : LAST_NAME;
	return 0;
}

/* Goes on until `name` is the last component. */
static int walk_on(struct walk *w)
{
	for (;;) {
		int r = next_name(w);
		if (r)
			return r;
		if (!*skip_slashes(w->rest))
			return is_type(w->at, S_IFDIR) ? 0 : -ENOTDIR;
		r = step(w);
		if (r)
			return r;
	}
}

/*
 * The length of the part of an absolute path that leads to the directory of its last component; 0:
 * that is the root, or the walk must look up the directory itself ("." and "..", a slash at the
 * end).
 */
static size_t walk_dir_len(const char *path, size_t len)
{
	const char *last = path + len;

	while (last[-1] != '/')
		last--;
	return last == path + len || *last == '.' ? 0 : last - 1 - path;
}

/* Starts the walk at a cached directory, if the path's beginning leads to one. */
static bool walk_jump(struct walk *w, const char *path, size_t n)
{
	struct vnode *dir = walk_cache_find(path, n);

	if (!dir)
		return false;
	w->at = dir;
	w->plain = path;
	w->plain_len = n;
	w->rest = path + n;
	return true;
}

static int walk_start(struct walk *w, const char *path, bool trail)
{
	size_t len = strnlen(path, PATH_MAX), n;
	u64 cleared;
	int r;

	memset(w, 0, offsetof(struct walk, name));
	w->rest = path;
	if (!len)
		return -ENOENT;
	if (len >= PATH_MAX)
		return -ENAMETOOLONG;
	w->wants_trail = trail;
	n = path[0] == '/' ? walk_dir_len(path, len) : 0;
	if (n && walk_jump(w, path, n))
		return walk_on(w);
	cleared = walk_cache_cleared();
	r = walk_home(w, path[0] == '/');
	if (!r)
		r = walk_on(w);
	if (!r && n && !w->links && !w->passing)
		walk_cache_add(path, n, w->at, cleared);
	return r;
}

int walk_begin(struct walk *w, const char *path)
{
	return walk_start(w, path, false);
}

int walk_begin_trail(struct walk *w, const char *path)
{
	return walk_start(w, path, true);
}

int walk_final(struct walk *w, bool follow, struct vnode **out)
{
	struct vnode *v;
	int r;

	*out = NULL;
	for (;;) {
		if (w->last != LAST_NAME) {
			*out = w->last == LAST_DOTDOT ? vnode_parent(w->at) : vnode_get(w->at);
			return 0;
		}
		r = walk_lookup(w, w->name, &v);
		if (r)
			return r == -ENOENT ? 0 : r;
		if (!is_type(v, S_IFLNK) || !(follow || w->slash))
			break;
		if (v->ops->follow) {
			r = walk_follow_file(w, &v);
			if (r)
				return r;
			break;
		}
		r = walk_follow_link(w, v);
		if (!r)
			r = walk_on(w);
		if (r)
			return r;
	}
	if (w->slash && !is_type(v, S_IFDIR)) {
		vnode_put(v);
		return -ENOTDIR;
	}
	*out = v;
	return 0;
}

int walk_may_change(const struct walk *w)
{
	const struct vnode *v = w->at;

	while (!READ_ONCE(v->readonly) && v->parent && v->parent != v)
		v = v->parent;
	return READ_ONCE(v->readonly) ? -EROFS : 0;
}

char *walk_path(struct walk *w)
{
	if (w->last == LAST_NAME || w->last == LAST_DOTDOT)
		walk_trail_push(w);
	if (w->trail_lost)
		return NULL;
	if (!w->plain)
		return kstrdup(w->trail);
	return w->plain_len ? kstrndup(w->plain, w->plain_len) : kstrdup("/");
}

void walk_end(struct walk *w)
{
	vnode_put(w->at);
	file_put(w->opened);
	kfree(w->owned);
	kfree(w->trail);
}
