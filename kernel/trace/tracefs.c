/*
 * tracefs in the file tree: a vnode for each place of trace/tracefs/tracefs.h that somebody uses.
 * Task context; the tracer locks.
 *
 * Mounted twice, each time with a root of its own. No file can be made here but by the tracer:
 * open(O_CREAT) is EACCES, mkdir EPERM outside of instances/, as on Linux.
 *
 * This file keeps a few vnodes after their last user, since programs walk the same paths again and
 * again. A lookup uses a kept vnode while its place is alive (until then no other place gets the
 * name).
 */
#include "kernel/trace/tracefs.h"
#include "kernel/base/panic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/fs/file.h"
#include "kernel/process/mm.h"
#include "kernel/syscall/user.h"
#include "kernel/trace/user_events.h"
#include "trace/host_files.h"
#include "trace/host_lock.h"
#include "trace/tracefs/tracefs.h"

struct tnode {
	struct vnode v;
	struct tracefs_node place;
	u32 hash; /* of the path below the root */
	char name[];
};

#define TRACEFS_KEPT 64 /* a power of two */

static struct tnode *kept[TRACEFS_KEPT]; /* [host_lock] each counted, by path */

static u64 changed_ns; /* [A] when a directory last came: what all of tracefs shows as its time */

static const struct vnode_ops tracefs_vnode_ops;
static const struct file_ops tracefs_file_ops, tracefs_stream_ops, tracefs_waiting_ops;

static inline struct tnode *tnode_of(struct vnode *v)
{
	return container_of(v, struct tnode, v);
}

/* Makes the vnode around t->place, which is filled in. */
static void tracefs_vnode_init(struct tnode *t)
{
	vnode_init(&t->v, &tracefs_vnode_ops, t->place.mode);
	t->v.dev = DEV_TRACEFS;
	t->v.ino = t->place.ino;
	t->v.mtime_ns = atomic_load(&changed_ns);
	t->v.fops = &tracefs_file_ops;
}

/* Makes the vnode of `name` in `dir`. */
static int tnode_create(struct vnode *dir, const char *name, u32 hash, struct tnode **out)
{
	size_t len = strlen(name) + 1;
	struct tnode *t = kmalloc(sizeof(*t) + len);
	int r = t ? tracefs_lookup(&tnode_of(dir)->place, name, &t->place) : -ENOMEM;

	if (r) {
		kfree(t);
		return r;
	}
	tracefs_vnode_init(t);
	vnode_set_parent(&t->v, dir);
	t->hash = hash;
	memcpy(t->name, name, len);
	*out = t;
	return 0;
}

static u32 tnode_hash(struct vnode *dir, const char *name)
{
	u32 hash = tnode_of(dir)->hash;

	for (; *name; name++)
		hash = hash * 31 + (u8)*name;
	return hash * 31 + '/';
}

/* Returns a kept vnode, with a reference; NULL: none of that name is kept. */
static struct tnode *kept_find(struct tnode **slot, const struct vnode *dir, const char *name)
{
	host_lock();
	struct tnode *t = *slot;
	if (t && t->v.parent == dir && !strcmp(t->name, name) && tracefs_is_alive(&t->place)) {
		vnode_get(&t->v);
		WRITE_ONCE(t->v.mtime_ns, atomic_load(&changed_ns));
	} else {
		t = NULL;
	}
	host_unlock();
	return t;
}

static int tracefs_vnode_lookup(struct vnode *dir, const char *name, struct vnode **out)
{
	u32 hash = tnode_hash(dir, name);
	struct tnode **slot = &kept[(hash ^ hash >> 6) % TRACEFS_KEPT], *old;
	struct tnode *t = kept_find(slot, dir, name);

	if (!t) {
		int r = tnode_create(dir, name, hash, &t);
		if (r)
			return r;
		vnode_get(&t->v);
		host_lock();
		old = *slot;
		*slot = t;
		host_unlock();
		if (old)
			vnode_put(&old->v);
	}
	*out = &t->v;
	return 0;
}

static bool tracefs_vnode_is_alive(struct vnode *v)
{
	host_lock();
	bool alive = tracefs_is_alive(&tnode_of(v)->place);
	host_unlock();
	return alive;
}

static void tracefs_vnode_destroy(struct vnode *v)
{
	kfree(tnode_of(v));
}

static int tracefs_vnode_readdir(struct vnode *dir, u64 *cookie, struct dirent *out)
{
	struct tracefs_node place;
	int r = tracefs_readdir(&tnode_of(dir)->place, cookie, &place, out->name);

	if (r != 1)
		return r;
	out->ino = place.ino;
	out->mode = place.mode & S_IFMT;
	return 1;
}

static int tracefs_vnode_mkdir(struct vnode *dir, const char *name, u32 mode)
{
	(void)mode;
	return tracefs_mkdir(&tnode_of(dir)->place, name);
}

static int tracefs_vnode_rmdir(struct vnode *dir, const char *name)
{
	return tracefs_rmdir(&tnode_of(dir)->place, name);
}

/* truncate() has no meaning for control files: Linux takes it and does nothing. */
static int tracefs_vnode_truncate(struct vnode *v, u64 size)
{
	(void)v, (void)size;
	return 0;
}

static int tracefs_vnode_open(struct vnode *v, struct file *f)
{
	u32 acc = f->flags & O_ACCMODE;
	struct tracefs_file *file;
	unsigned how = 0;
	int r;

	if ((v->mode & S_IFMT) == S_IFDIR)
		return 0;
	how |= acc != O_WRONLY ? TRACEFS_READ : 0;
	how |= acc != O_RDONLY ? TRACEFS_WRITE : 0;
	how |= f->flags & O_TRUNC ? TRACEFS_TRUNC : 0;
	how |= f->flags & O_APPEND ? TRACEFS_APPEND : 0;
	how |= f->flags & O_NONBLOCK ? TRACEFS_NONBLOCK : 0;
	r = tracefs_open(&tnode_of(v)->place, how, &file);
	if (r)
		return r;
	f->priv = file;
	if (tracefs_user_events(file)) {
		f->priv = tracefs_user_events(file);
		f->ops = &user_events_file_ops;
	} else if (tracefs_waits(file))
		f->ops = &tracefs_waiting_ops;
	else if (tracefs_is_stream(file))
		f->ops = &tracefs_stream_ops;
	return 0;
}

static ssize tracefs_vnode_read(struct file *f, void *buf, size_t n, u64 *pos)
{
	tracefs_set_nonblock(f->priv, f->flags & O_NONBLOCK);
	return tracefs_read(f->priv, buf, n, pos);
}

static ssize tracefs_vnode_splice(struct file *f, void *buf, size_t n, bool nonblock)
{
	tracefs_set_nonblock(f->priv, f->flags & O_NONBLOCK);
	return tracefs_splice(f->priv, buf, n, &f->pos, nonblock);
}

static ssize tracefs_vnode_write(struct file *f, const void *buf, size_t n, u64 *pos)
{
	return tracefs_write(f->priv, buf, n, pos);
}

#define STREAM_SMALL 256 /* on the stack */

static __noinline ssize tracefs_stream_write_long(struct file *f, struct user_data *d)
{
	size_t n = MIN(d->total, IO_WHOLE);
	u8 *buf = kmalloc(n);
	ssize done = -EFAULT;

	if (!buf)
		return -ENOMEM;
	if (!user_data_get_parts(d, buf, n))
		done = tracefs_write_stream(f->priv, buf, n);
	kfree(buf);
	return done;
}

/* Writes a mark as a whole. The file has no position that would move. */
static ssize tracefs_stream_write_user(struct file *f, struct user_data *d, u64 pos __maybe_unused)
{
	u8 small[STREAM_SMALL];
	size_t n = d->total;

	if (unlikely(n > sizeof(small)))
		return tracefs_stream_write_long(f, d);
	return likely(!user_data_get(d, small, n)) ? tracefs_write_stream(f->priv, small, n)
						   : -EFAULT;
}

static unsigned tracefs_vnode_poll(struct file *f)
{
	if (!f->priv) /* a directory */
		return 1 | 4;
	tracefs_set_nonblock(f->priv, f->flags & O_NONBLOCK);
	return tracefs_poll(f->priv);
}

static long tracefs_vnode_ioctl(struct file *f, u64 cmd, u64 arg)
{
	(void)arg; /* nothing of it is a pointer */
	if (!f->priv)
		return -ENOTTY;
	tracefs_set_nonblock(f->priv, f->flags & O_NONBLOCK);
	return tracefs_ioctl(f->priv, cmd);
}

static u64 tracefs_page(struct vm_area *a, u64 index)
{
	void *page = tracefs_map_page(a->file->priv, index);

	return page ? virt_to_phys(page) : 0;
}

static void tracefs_vnode_area_again(struct vm_area *a)
{
	tracefs_map_again(a->file->priv);
}

static void tracefs_vnode_area_gone(struct vm_area *a)
{
	tracefs_unmap(a->file->priv);
}

/*
 * To be read, by everybody who maps it: never writable, never executable. As on Linux a ring
 * buffer's pages are not inherited, and who asks for more than to read is told so; of
 * user_events_status everybody gets what there is.
 */
static int tracefs_vnode_mmap(struct file *f, struct vm_area *a)
{
	bool any;
	int err;

	if (!f->priv || !tracefs_can_map(f->priv))
		return -ENODEV;
	any = tracefs_map_any(f->priv);
	if (!any && (!a->shared || (a->prot & (PROT_W | PROT_X))))
		return -EPERM;
	err = tracefs_map(f->priv, a->offset / PAGE_SIZE, (a->end - a->start) / PAGE_SIZE);
	if (err)
		return err;
	a->prot = a->prot ? PROT_R : 0;
	a->max_prot = PROT_R;
	a->page = tracefs_page;
	a->again = tracefs_vnode_area_again;
	a->gone = tracefs_vnode_area_gone;
	a->dont_copy = !any;
	return 0;
}

static void tracefs_vnode_release(struct file *f)
{
	if (f->priv)
		tracefs_release(f->priv);
}

static const struct vnode_ops tracefs_vnode_ops = {
    .lookup = tracefs_vnode_lookup,
    .readdir = tracefs_vnode_readdir,
    .mkdir = tracefs_vnode_mkdir,
    .rmdir = tracefs_vnode_rmdir,
    .truncate = tracefs_vnode_truncate,
    .open = tracefs_vnode_open,
    .destroy = tracefs_vnode_destroy,
    .lasting = true,
    .is_alive = tracefs_vnode_is_alive,
};

/* Operations of both kinds of files. */
#define COMMON_OPS                                                                                 \
	.read = tracefs_vnode_read, .write = tracefs_vnode_write, .splice = tracefs_vnode_splice,  \
	.poll = tracefs_vnode_poll, .ioctl = tracefs_vnode_ioctl, .mmap = tracefs_vnode_mmap,      \
	.no_private_map = true, .whole_writes = true, .release = tracefs_vnode_release
static const struct file_ops tracefs_file_ops = {COMMON_OPS};
static const struct file_ops tracefs_stream_ops = {
    COMMON_OPS, .write_user = tracefs_stream_write_user, .no_position = true};
static const struct file_ops tracefs_waiting_ops = {COMMON_OPS, .no_position = true, .waits = true};

void tracefs_create_dir(const char *name, const char *parent)
{
	(void)name, (void)parent;
	atomic_store(&changed_ns, vfs_now_ns());
}

void host_directory_made(const char *name, const char *parent)
{
	tracefs_create_dir(name, parent);
}

static int tracefs_mount_at(const char *path)
{
	struct tnode *t = kzalloc(sizeof(*t));
	int r;

	if (!t)
		return -ENOMEM;
	tracefs_root(&t->place);
	tracefs_vnode_init(t);
	r = vfs_mkdir(path, 0700);
	return r && r != -EEXIST ? r : vfs_mount(path, &t->v);
}

void tracefs_init(void)
{
	changed_ns = vfs_now_ns();
	vfs_mkdir("/sys/kernel/debug", 0755);
	if (tracefs_mount_at("/sys/kernel/tracing") ||
	    tracefs_mount_at("/sys/kernel/debug/tracing"))
		panic("tracefs cannot be mounted");
}
