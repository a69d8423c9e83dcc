/* A task's table of open files. Only the task itself uses it (its parent before it runs): no locks.
 * Task context. */
#include "kernel/fs/files.h"
#include "kernel/fs/file.h"
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

struct files *files_create(void)
{
	struct files *fs = kzalloc(sizeof(*fs));

	if (fs && files_grow(fs, FILES_FIRST)) {
		kfree(fs);
		fs = NULL;
	}
	return fs;
}

struct files *files_copy(const struct files *from)
{
	struct files *fs = kzalloc(sizeof(*fs));

	if (!fs || files_grow(fs, from->size)) {
		kfree(fs);
		return NULL;
	}
	for (unsigned i = 0; i < from->size; i++) {
		if (from->fd[i])
			fs->fd[i] = file_get(from->fd[i]);
	}
	memcpy(fs->cloexec, from->cloexec, from->size / 8);
	return fs;
}

void files_destroy(struct files *fs)
{
	if (!fs)
		return;
	for (unsigned i = 0; i < fs->size; i++)
		file_put(fs->fd[i]);
	kfree(fs->fd);
	kfree(fs->cloexec);
	kfree(fs);
}

/* Makes room for descriptor fd. */
static int files_reach(struct files *fs, unsigned fd)
{
	unsigned size = fs->size;

	if (fd < size)
		return 0;
	while (size <= fd)
		size *= 2;
	return files_grow(fs, size);
}

int files_install(struct files *fs, struct file *f, int min, bool cloexec)
{
	unsigned fd = min;
	int r;

	while (fd < fs->size && fs->fd[fd])
		fd++;
	if (fd >= FILES_MAX)
		return -EMFILE;
	r = files_reach(fs, fd);
	if (r)
		return r;
	fs->fd[fd] = f;
	files_set_bit(fs->cloexec, fd, cloexec);
	return fd;
}

int files_install_at(struct files *fs, int fd, struct file *f, bool cloexec)
{
	struct file *old;
	int r;

	if (fd < 0 || fd >= FILES_MAX)
		return -EBADF;
	r = files_reach(fs, fd);
	if (r)
		return r;
	old = fs->fd[fd];
	fs->fd[fd] = f;
	files_set_bit(fs->cloexec, fd, cloexec);
	file_put(old);
	return fd;
}

struct file *files_get(struct files *fs, int fd)
{
	if (!fs || fd < 0 || (unsigned)fd >= fs->size || !fs->fd[fd])
		return NULL;
	return file_get(fs->fd[fd]);
}

int files_close(struct files *fs, int fd)
{
	struct file *f;

	if (fd < 0 || (unsigned)fd >= fs->size || !fs->fd[fd])
		return -EBADF;
	f = fs->fd[fd];
	fs->fd[fd] = NULL;
	files_set_bit(fs->cloexec, fd, false);
	file_put(f);
	return 0;
}

bool files_cloexec(const struct files *fs, int fd)
{
	return bit_get(fs->cloexec, fd);
}

void files_set_cloexec(struct files *fs, int fd, bool on)
{
	files_set_bit(fs->cloexec, fd, on);
}

void files_close_exec(struct files *fs)
{
	for (unsigned i = 0; i < fs->size; i++) {
		if (bit_get(fs->cloexec, i))
			files_close(fs, i);
	}
}
