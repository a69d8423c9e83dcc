/*
 * Open files: opening by path, reading, writing, seeking, listing. Task context.
 *
 * A file may be shared (fork, dup). Its count is atomic; its position belongs to who holds
 * pos_lock, which is taken for regular files and directories only: pipes and terminals have no
 * position and may block for ever.
 */
/* hot: runs with each read and write */
#include "kernel/fs/file.h"
#include "kernel/base/refs.h"
#include "kernel/fs/epoll.h"
#include "kernel/fs/lock.h"
#include "kernel/fs/vfs.h"
#include "kernel/fs/cwd.h"
#include "kernel/fs/walk.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/task.h"

struct open_file {
	struct file f;
	struct mutex pos_lock;
	u64 dir_pos;	/* [pos_lock] number of the directory entry ... */
	u64 dir_cookie; /* ... that this cookie of the file system stands for ... */
	u64 dir_before; /* ... and the cookie of the entry before that */
};

static inline struct open_file *open_file_of(struct file *f)
{
	return container_of(f, struct open_file, f);
}

static inline u32 file_type(const struct vnode *v)
{
	return v ? v->mode & S_IFMT : 0;
}

struct file *file_new(const struct file_ops *ops, u32 flags, void *priv)
{
	struct open_file *o = kzalloc(sizeof(*o));

	if (!o)
		return NULL;
	o->f.ops = ops;
	o->f.refs = 1;
	o->f.flags = flags;
	o->f.priv = priv;
	list_init(&o->f.watchers);
	mutex_init(&o->pos_lock);
	return &o->f;
}

struct file *file_get(struct file *f)
{
	atomic_add(&f->refs, 1);
	return f;
}

static void file_free(struct file *f)
{
	vnode_put(f->vnode);
	kfree(f->path);
	kfree(open_file_of(f));
}

void file_put(struct file *f)
{
	if (!f || !ref_drop(&f->refs))
		return;
	epoll_forget(f);
	lock_drop(f->vnode, f);
	if (f->ops && f->ops->release)
		f->ops->release(f);
	file_free(f);
}

unsigned file_poll(struct file *f)
{
	unsigned ready = f->ops && f->ops->poll ? f->ops->poll(f) : 1 | 4;

	return ready | (ready & (1 | 4)) << 6; /* POLLRDNORM, POLLWRNORM */
}

static inline bool readable(const struct file *f)
{
	u32 acc = f->flags & O_ACCMODE;
	return acc == O_RDONLY || acc == O_RDWR;
}

/* The errors of open() that depend on the kind of node. */
static int may_open(const struct vnode *v, u32 flags)
{
	u32 type = file_type(v);

	if (type == S_IFLNK)
		return -ELOOP;
	if (type == S_IFSOCK)
		return -ENXIO; /* it is connected to, not opened */
	if (type == S_IFDIR)
		return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) ? -EISDIR
											: 0;
	return flags & O_DIRECTORY ? -ENOTDIR : 0;
}

int __noinline vfs_open(const struct path *path, struct file *file)
{
	struct vnode *v = path->vnode;
	u32 flags = file->flags;
	int r = 0;

	file->vnode = v;
	file->flags &= ~(O_CREAT | O_EXCL | O_NOCTTY | O_CLOEXEC);
	if (v->ops->open)
		r = v->ops->open(v, file);
	if (!r && file->ops && file->ops->open)
		r = file->ops->open(file, flags);
	file->flags &= ~O_TRUNC;
	return r;
}

/* Opens the node; consumes the reference to it and, on success, `path`. */
static int open_vnode(struct vnode *v, u32 flags, char *path, struct file **out)
{
	struct file *f;
	int r = may_open(v, flags);

	f = r ? NULL : file_new(v->fops, flags, v->priv);
	if (!f) {
		vnode_put(v);
		return r ? r : -ENOMEM;
	}
	r = vfs_open(&(struct path){v, path}, f);
	if (r) {
		file_free(f);
		return r;
	}
	f->path = path;
	*out = f;
	return 0;
}

/* The node that open(O_CREAT) means: the one there, or a new one. *made: it is new. */
static int find_or_create(struct walk *w, u32 flags, u32 mode, struct vnode **out, bool *made)
{
	int r;

	do {
		/* A slash after a name asks for a directory, and open() makes none. */
		if (w->slash && w->last == LAST_NAME)
			return -EISDIR;
		r = walk_final(w, !(flags & (O_EXCL | O_NOFOLLOW)), out);
		if (r)
			return r;
		if (*out) {
			if (!(flags & O_EXCL))
				return 0;
			vnode_put(*out);
			return -EEXIST;
		}
		if (w->slash)
			return -EISDIR;
		if (!w->at->ops->create)
			return -EACCES;
		r = walk_may_change(w);
		if (r)
			return r;
		r = w->at->ops->create(w->at, w->name, mode & 07777 & ~fs_umask(), out);
		*made = !r;
	} while (r == -EEXIST && !(flags & O_EXCL)); /* somebody was faster: take theirs */
	return r;
}

/* Devices in a directory that cannot be changed may be written. */
static bool changes_file(const struct vnode *v, u32 flags)
{
	return file_type(v) == S_IFREG && ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC));
}

/*
 * The path led through a link to an open file. A pipe's end cannot be opened anew, so open() gives
 * the open file itself. 1: *out is it; 0: the caller opens the node anew; -EACCES.
 */
static int file_reopen(const struct walk *w, const struct vnode *v, u32 flags, struct file **out)
{
	struct file *f = w->opened;
	u32 how = flags & O_ACCMODE;

	if (!f)
		return 0;
	if (file_type(v) == S_IFREG)
		return changes_file(v, flags) && !file_writable(f) ? -EACCES : 0;
	if (file_type(v) == S_IFDIR || file_type(v) == S_IFCHR || file_type(v) == S_IFSOCK)
		return 0;
	if ((how != O_WRONLY && !readable(f)) || (how != O_RDONLY && !file_writable(f)))
		return -EACCES;
	*out = file_get(f);
	return 1;
}

int file_open(const char *path, u32 flags, u32 mode, struct file **out)
{
	bool made = false;
	struct vnode *v;
	struct walk w;
	int r = walk_begin_trail(&w, path);

	if (!r && (flags & O_CREAT)) {
		r = find_or_create(&w, flags, mode, &v, &made);
	} else if (!r) {
		r = walk_final(&w, !(flags & O_NOFOLLOW), &v);
		if (!r && !v)
			r = -ENOENT;
	}
	if (!r && changes_file(v, flags)) {
		r = walk_may_change(&w);
		if (r)
			vnode_put(v);
	}
	if (!r) {
		r = file_reopen(&w, v, flags, out);
		if (r)
			vnode_put(v);
	}
	if (!r) {
		char *real = w.opened && w.opened->path ? kstrdup(w.opened->path) : walk_path(&w);
		/* A file just made is opened as it is: there is nothing to cut. */
		r = open_vnode(v, made ? flags & ~(O_CREAT | O_TRUNC) : flags, real, out);
		if (r)
			kfree(real);
	}
	walk_end(&w);
	return r > 0 ? 0 : r;
}

static bool file_has_position(const struct file *f)
{
	return file_type(f->vnode) == S_IFREG || file_type(f->vnode) == S_IFDIR;
}

/* vfs_read() and vfs_write() name their parameters as Linux does: recipes of probes use these. */
ssize __noinline vfs_read(struct file *file, char *buf, size_t count, u64 *pos)
{
	if (!readable(file))
		return -EBADF;
	if (file_type(file->vnode) == S_IFDIR)
		return -EISDIR;
	if (!file->ops || !file->ops->read)
		return -EINVAL;
	return file->ops->read(file, buf, count, pos);
}

ssize __noinline vfs_write(struct file *file, const char *buf, size_t count, u64 *pos)
{
	if (!file_writable(file))
		return -EBADF;
	if (!file->ops || !file->ops->write)
		return -EINVAL;
	return file->ops->write(file, buf, count, pos);
}

ssize kernel_read(struct file *f, void *buf, size_t n)
{
	struct open_file *o = open_file_of(f);
	ssize r;

	if (!file_has_position(f))
		return vfs_read(f, buf, n, &f->pos);
	mutex_lock(&o->pos_lock);
	r = vfs_read(f, buf, n, &f->pos);
	mutex_unlock(&o->pos_lock);
	return r;
}

static ssize file_splice_from(struct file *f, void *buf, size_t n, bool nonblock)
{
	if (!readable(f))
		return -EBADF;
	if (file_type(f->vnode) == S_IFDIR)
		return -EISDIR;
	if (f->ops && f->ops->splice)
		return f->ops->splice(f, buf, n, nonblock);
	return vfs_read(f, buf, n, &f->pos);
}

ssize vfs_splice(struct file *f, void *buf, size_t n, bool nonblock)
{
	struct open_file *o = open_file_of(f);
	ssize r;

	if (!file_has_position(f))
		return file_splice_from(f, buf, n, nonblock);
	mutex_lock(&o->pos_lock);
	r = file_splice_from(f, buf, n, nonblock);
	mutex_unlock(&o->pos_lock);
	return r;
}

ssize kernel_write(struct file *f, const void *buf, size_t n)
{
	struct open_file *o = open_file_of(f);
	ssize r;

	if (!file_has_position(f) || (f->ops && f->ops->no_position))
		return vfs_write(f, buf, n, &f->pos);
	mutex_lock(&o->pos_lock);
	r = vfs_write(f, buf, n, &f->pos);
	mutex_unlock(&o->pos_lock);
	return r;
}

static int file_check_position(const struct file *f, u64 pos)
{
	if ((s64)pos < 0)
		return -EINVAL;
	if (f->ops && f->ops->no_position)
		return -ESPIPE;
	return file_type(f->vnode) == 0 || file_type(f->vnode) == S_IFIFO ? -ESPIPE : 0;
}

ssize vfs_pread(struct file *f, void *buf, size_t n, u64 pos)
{
	int r = file_check_position(f, pos);
	return r ? r : vfs_read(f, buf, n, &pos);
}

ssize vfs_pwrite(struct file *f, const void *buf, size_t n, u64 pos)
{
	int r = file_check_position(f, pos);
	return r ? r : vfs_write(f, buf, n, &pos);
}

/* lseek() of what has a size. */
static s64 seek_by_size(struct file *f, s64 off, int whence)
{
	s64 size = f->vnode->size, base;

	switch (whence) {
	case 0:
		base = 0;
		break;
	case 1:
		base = f->pos;
		break;
	case 2:
		base = size;
		break;
	case 3: /* SEEK_DATA: everything up to the end counts as data */
	case 4: /* SEEK_HOLE */
		if (off < 0 || off >= size)
			return -ENXIO;
		return f->pos = whence == 3 ? off : size;
	default:
		return -EINVAL;
	}
	if (__builtin_add_overflow(base, off, &off))
		return -EOVERFLOW;
	if (off < 0)
		return -EINVAL;
	return f->pos = off;
}

s64 vfs_seek(struct file *f, s64 off, int whence)
{
	struct open_file *o = open_file_of(f);
	s64 r = -ESPIPE;

	if (f->ops && f->ops->no_position)
		return -ESPIPE;
	if (f->ops && f->ops->seek)
		return f->ops->seek(f, off, whence);
	if (file_has_position(f)) {
		mutex_lock(&o->pos_lock);
		r = seek_by_size(f, off, whence);
		mutex_unlock(&o->pos_lock);
	}
	return r;
}

int vfs_ftruncate(struct file *f, u64 size)
{
	if (!f->vnode || !file_writable(f))
		return -EINVAL;
	return vfs_vnode_truncate(f->vnode, size);
}

static int dot_entry(struct vnode *dir, u64 pos, struct dirent *out)
{
	struct vnode *v = pos ? vnode_parent(dir) : vnode_get(dir);

	strscpy(out->name, pos ? ".." : ".", sizeof(out->name));
	out->ino = v->ino;
	out->mode = S_IFDIR;
	vnode_put(v);
	return 1;
}

/*
 * Entry `pos`, counted from 2. Reading on from the last one, or that one again (it did not fit
 * where it should go), goes by cookie, so changes meanwhile do no harm.
 */
static int real_entry(struct open_file *o, u64 pos, struct dirent *out)
{
	struct vnode *dir = o->f.vnode;
	int r = 1;

	if (pos >= 2 && pos + 1 == o->dir_pos) {
		o->dir_pos--;
		o->dir_cookie = o->dir_before;
	} else if (o->dir_pos < 2 || o->dir_pos > pos) {
		o->dir_pos = 2;
		o->dir_cookie = 0;
	}
	while (r == 1 && o->dir_pos <= pos) {
		o->dir_before = o->dir_cookie;
		r = dir->ops->readdir(dir, &o->dir_cookie, out);
		if (r == 1)
			o->dir_pos++;
	}
	return r;
}

int vfs_readdir(struct file *f, u64 pos, struct dirent *out)
{
	struct open_file *o = open_file_of(f);
	int r;

	if (file_type(f->vnode) != S_IFDIR || !f->vnode->ops->readdir)
		return -ENOTDIR;
	if (pos < 2)
		return dot_entry(f->vnode, pos, out);
	mutex_lock(&o->pos_lock);
	r = real_entry(o, pos, out);
	mutex_unlock(&o->pos_lock);
	return r;
}
