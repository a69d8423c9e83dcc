/*
 * Path lookup, component by component, for vfs.c and file.c. Task context.
 *
 * Words: `at` is the directory that the walk has reached; `name` the last component, not looked up
 * yet; `trail` the real path from the root to `at`, without symlinks (as getcwd shows it).
 */
#pragma once

#include "kernel/fs/vfs.h"

#define WALK_MAX_LINKS 40

enum walk_last {
	LAST_NAME,   /* an ordinary component in `name` */
	LAST_ROOT,   /* none: the path is "/" */
	LAST_DOT,    /* "." */
	LAST_DOTDOT, /* ".." */
};

struct walk {
	struct vnode *at; /* counted */
	const char *rest; /* text still to walk */
	char *owned;	  /* the buffer into which `rest` points after a symlink */
	bool wants_trail;
	const char *plain;   /* the trail is the path's own text so far ... */
	size_t plain_len;    /* ... of this length; plain NULL: it is not, see `trail` */
	char *trail;	     /* PATH_MAX bytes; NULL with `plain`, or if there was no memory */
	bool trail_lost;     /* it grew too long for PATH_MAX */
	unsigned links;	     /* symlinks followed */
	bool passing;	     /* a directory was passed whose names may change unnoticed */
	struct file *opened; /* the last file that vnode_ops.follow returned; counted */
	enum walk_last last;
	bool slash;	     /* slashes follow the last component */
	const char *name_at; /* where `name` comes from */
	size_t name_len;
	char name[NAME_MAX + 1]; /* last: walk_begin() does not clear it */
};

/*
 * Walks up to the last component of `path`: fills w->at, w->name, w->last, w->slash. 0 or -ENOENT,
 * -ENOTDIR, -ENAMETOOLONG, -ELOOP, -ENOMEM. walk_end() in any case.
 */
int walk_begin(struct walk *w, const char *path);
/* As walk_begin(); walk_path() can then give the real path. */
int walk_begin_trail(struct walk *w, const char *path);
/*
 * Looks up the last component, and follows symlinks if `follow` is set or slashes follow it. 0 with
 * a reference in *out; *out NULL: `at` has no such name (the caller may create it).
 */
int walk_final(struct walk *w, bool follow, struct vnode **out);
/* 0 if `at` may be changed, else -EROFS. */
int walk_may_change(const struct walk *w);
/*
 * Returns the real path of the vnode that walk_final() found, from kmalloc; NULL if it has none.
 * Call it once, after walk_begin_trail().
 */
char *walk_path(struct walk *w);
void walk_end(struct walk *w);
