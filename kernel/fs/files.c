/* Tables of open files: see files.h. What is taken out is put when the lock is free again. */
#include "kernel/fs/files.h"
#include "kernel/base/refs.h"
#include "kernel/fs/file.h"
#include "kernel/fs/lock.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"

#define FILES_FIRST 64 /* a multiple of 64: the bits come in words */

static bool bit_get(const u64 *bits, unsigned i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

static void files_set_bit(u64 *bits, unsigned i, bool on)
{
	u64 m = 1UL << (i % 64);
	bits[i / 64] = on ? bits[i / 64] | m : bits[i / 64] & ~m;
}

/* Makes the table larger; the lock is held, or nobody else knows the table. */
static int files_grow(struct files *fs, unsigned size)
{
	struct file **fd = kzalloc(size * sizeof(*fd));
	u64 *cloexec = kzalloc(size / 8);

	if (!fd || !cloexec) {
		kfree(fd);
		kfree(cloexec);
		return -ENOMEM;
	}
	if (fs->size) {
		memcpy(fd, fs->fd, fs->size * sizeof(*fd));
		memcpy(cloexec, fs->cloexec, fs->size / 8);
	}
	kfree(fs->fd);
	kfree(fs->cloexec);
	fs->fd = fd;
	fs->cloexec = cloexec;
	fs->size = size;
	return 0;
}

/* What was a descriptor of the table: POSIX's locks go with the first that is closed. */
static void files_let_go(struct files *fs, struct file *f)
{
	if (!f)
		return;
	lock_drop(f->vnode, fs);
	file_put(f);
}

struct files *files_create(void)
{
	struct files *fs = kzalloc(sizeof(*fs));

	if (!fs)
		return NULL;
	fs->refs = 1;
	if (files_grow(fs, FILES_FIRST)) {
		kfree(fs);
		fs = NULL;
	}
	return fs;
}

struct files *files_copy(struct files *from)
{
	struct files *fs = kzalloc(sizeof(*fs));
	int err;

	if (!fs)
		return NULL;
	fs->refs = 1;
	spin_lock(&from->lock);
	err = files_grow(fs, from->size);
	for (unsigned i = 0; i < from->size && !err; i++) {
		if (from->fd[i])
			fs->fd[i] = file_get(from->fd[i]);
	}
	if (!err)
		memcpy(fs->cloexec, from->cloexec, from->size / 8);
	spin_unlock(&from->lock);
	if (!err)
		return fs;
	kfree(fs);
	return NULL;
}

void files_put(struct files *fs)
{
	if (!fs || !ref_drop(&fs->refs))
		return;
	for (unsigned i = 0; i < fs->size; i++)
		if (fs->fd[i])
			files_let_go(fs, fs->fd[i]);
	kfree(fs->fd);
	kfree(fs->cloexec);
	kfree(fs);
}

/* Makes room for descriptor fd. The lock is held. */
static int files_reach(struct files *fs, unsigned fd)
{
	unsigned size = fs->size;

	if (fd < size)
		return 0;
	while (size <= fd)
		size *= 2;
	return files_grow(fs, size);
}

/* The lock is held. */
static int files_put_in(struct files *fs, unsigned fd, struct file *f, bool cloexec)
{
	int r = files_reach(fs, fd);

	if (r)
		return r;
	fs->fd[fd] = f;
	files_set_bit(fs->cloexec, fd, cloexec);
	return fd;
}

/* The first free descriptor from min on, FILES_MAX or more if there is none. The lock is held. */
static unsigned files_first_free(const struct files *fs, unsigned min)
{
	while (min < fs->size && fs->fd[min])
		min++;
	return min;
}

bool files_have_room(struct files *fs)
{
	bool room;

	if (likely(READ_ONCE(fs->size) < FILES_MAX)) /* the table can grow */
		return true;
	spin_lock(&fs->lock);
	room = files_first_free(fs, 0) < FILES_MAX;
	spin_unlock(&fs->lock);
	return room;
}

int files_install(struct files *fs, struct file *f, int min, bool cloexec)
{
	unsigned fd;
	int r;

	spin_lock(&fs->lock);
	fd = files_first_free(fs, min);
	r = fd < FILES_MAX ? files_put_in(fs, fd, f, cloexec) : -EMFILE;
	spin_unlock(&fs->lock);
	return r;
}

int files_install_at(struct files *fs, int fd, struct file *f, bool cloexec)
{
	struct file *old;
	int r;

	if (fd < 0 || fd >= FILES_MAX)
		return -EBADF;
	spin_lock(&fs->lock);
	old = (unsigned)fd < fs->size ? fs->fd[fd] : NULL;
	r = files_put_in(fs, fd, f, cloexec);
	spin_unlock(&fs->lock);
	if (r >= 0)
		files_let_go(fs, old);
	return r;
}

struct file *files_get(struct files *fs, int fd)
{
	struct file *f = NULL;

	if (!fs || fd < 0)
		return NULL;
	spin_lock(&fs->lock);
	if ((unsigned)fd < fs->size && fs->fd[fd])
		f = file_get(fs->fd[fd]);
	spin_unlock(&fs->lock);
	return f;
}

/* Empties a descriptor and returns its file with the reference; NULL: none. The lock is held. */
static struct file *files_take_out(struct files *fs, unsigned fd)
{
	struct file *f = fd < fs->size ? fs->fd[fd] : NULL;

	if (f) {
		fs->fd[fd] = NULL;
		files_set_bit(fs->cloexec, fd, false);
	}
	return f;
}

int files_close(struct files *fs, int fd)
{
	struct file *f;

	spin_lock(&fs->lock);
	f = fd < 0 ? NULL : files_take_out(fs, fd);
	spin_unlock(&fs->lock);
	if (!f)
		return -EBADF;
	files_let_go(fs, f);
	return 0;
}

bool files_cloexec(struct files *fs, int fd)
{
	bool on;

	spin_lock(&fs->lock);
	on = bit_get(fs->cloexec, fd);
	spin_unlock(&fs->lock);
	return on;
}

void files_set_cloexec(struct files *fs, int fd, bool on)
{
	spin_lock(&fs->lock);
	if (fs->fd[fd])
		files_set_bit(fs->cloexec, fd, on);
	spin_unlock(&fs->lock);
}

void files_close_exec(struct files *fs)
{
	for (unsigned i = 0; i < fs->size; i++) {
		if (bit_get(fs->cloexec, i))
			files_close(fs, i);
	}
}
