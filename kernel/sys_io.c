/*
 * read, write and their kin: bytes between ring 3 and open files. Task context. Data goes through a buffer of the kernel's:
 * files never see an address of ring 3, and what they get cannot change under them. One call of up to IO_CHUNK bytes is one
 * call of the file's, vectors included: who writes an event with writev() writes one event.
 */
#include "arch/arch.h"
#include "kernel/mem/mem.h"
#include "kernel/sys_user.h"

#define SMALL	  256  /* on the stack */
#define IOV_MAX	  1024 /* Linux's UIO_MAXIOV */
#define IOV_SMALL 8

static int copy_some(struct user_data *d, void *buf, size_t n, bool to_user)
{
	while (n) {
		struct abi_iovec *v = d->vec;
		size_t part = MIN(n, v->iov_len);
		int err = to_user ? copy_to_user(v->iov_base, buf, part)
				  : copy_from_user(buf, v->iov_base, part);

		if (err)
			return err;
		v->iov_base += part;
		v->iov_len -= part;
		if (!v->iov_len) {
			d->vec++;
			d->count--;
		}
		buf = (char *)buf + part;
		n -= part;
	}
	return 0;
}

int user_data_get(struct user_data *d, void *buf, size_t n)
{
	return copy_some(d, buf, n, false);
}

/* One transfer: which file, which way, at a place of its own (pread) or at the file's. */
struct transfer {
	struct file *f;
	bool write, at;
	u64 pos;
};

static ssize file_step(struct transfer *x, void *buf, size_t n)
{
	ssize got;

	if (x->at)
		got = x->write ? vfs_pwrite(x->f, buf, n, x->pos) : vfs_pread(x->f, buf, n, x->pos);
	else
		got = x->write ? vfs_write(x->f, buf, n) : vfs_read(x->f, buf, n);
	if (got > 0)
		x->pos += got;
	return got;
}

/* One call of the file's, of n bytes. */
static ssize chunk(struct transfer *x, struct user_data *d, void *buf, size_t n)
{
	ssize got;

	if (x->write && copy_some(d, buf, n, false))
		return -EFAULT;
	got = file_step(x, buf, n);
	if (got > 0 && !x->write && copy_some(d, buf, got, true))
		return -EFAULT;
	return got;
}

/* A file that can be short of data now and have more later gets one call only: a second one might wait. */
static bool goes_on(const struct transfer *x)
{
	return x->write || (x->f->vnode && (x->f->vnode->mode & S_IFMT) == S_IFREG);
}

static inline bool takes_user(const struct file *f)
{
	return f->ops && f->ops->write_user;
}

static ssize write_user(struct transfer *x, struct user_data *d)
{
	return x->f->ops->write_user(x->f, d, x->at ? x->pos : x->f->pos);
}

static ssize transfer(struct transfer *x, struct user_data *d)
{
	size_t left = MIN(d->total, IO_MAX), size = MIN(left, IO_CHUNK), done = 0;
	u8 small[SMALL];
	void *buf = size <= SMALL ? small : kmalloc(size);
	ssize got;

	if (!buf)
		return -ENOMEM;
	do {
		size_t n = MIN(left, size);

		got = chunk(x, d, buf, n);
		if (got < 0)
			break;
		done += got;
		left -= got;
		if ((size_t)got < n)
			break;
	} while (left && goes_on(x));
	if (buf != small)
		kfree(buf);
	return done ? (ssize)done : restartable(got);
}

/* Does the range lie below the end of ring 3? What it holds is found out when it is touched. */
static bool range_ok(u64 base, u64 len)
{
	return len <= USER_END && base <= USER_END - len;
}

static long io_range(u64 fd, u64 base, u64 count, struct transfer x)
{
	struct abi_iovec v = {base, MIN(count, IO_MAX)};
	struct user_data d = {&v, 1, v.iov_len};
	long ret = -EFAULT;

	x.f = fd_get((u32)fd);
	if (!x.f)
		return -EBADF;
	if (x.write && !file_writable(x.f))
		ret = -EBADF;
	else if (range_ok(base, count))
		ret = x.write && takes_user(x.f) ? write_user(&x, &d) : transfer(&x, &d);
	file_put(x.f);
	return ret;
}

/* Checks a vector that is in the kernel already; empty parts are dropped. */
static int vector_check(struct user_data *d)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < d->count; i++) {
		struct abi_iovec v = d->vec[i];

		if ((s64)v.iov_len < 0)
			return -EINVAL;
		if (!range_ok(v.iov_base, v.iov_len))
			return -EFAULT;
		v.iov_len = MIN(v.iov_len, IO_MAX - d->total);
		d->total += v.iov_len;
		if (v.iov_len)
			d->vec[kept++] = v;
	}
	d->count = kept;
	return 0;
}

static long io_vector_of(struct file *f, const u64 *a, bool write, struct abi_iovec *vec)
{
	struct transfer x = {.f = f, .write = write};
	struct user_data d = {vec, a[2], 0};
	int err = copy_from_user(vec, a[1], a[2] * sizeof(*vec));

	if (!err)
		err = vector_check(&d);
	if (err)
		return err;
	return write && takes_user(f) && d.total ? write_user(&x, &d) : transfer(&x, &d);
}

static long io_vector(const u64 *a, bool write)
{
	struct abi_iovec small[IOV_SMALL], *vec = small;
	struct file *f = fd_get((u32)a[0]);
	long ret;

	if (!f)
		return -EBADF;
	if (write && !file_writable(f)) {
		ret = -EBADF;
	} else if (a[2] > IOV_MAX) {
		ret = -EINVAL;
	} else {
		if (a[2] > IOV_SMALL)
			vec = kmalloc(a[2] * sizeof(*vec));
		ret = vec ? io_vector_of(f, a, write, vec) : -ENOMEM;
		if (vec != small)
			kfree(vec);
	}
	file_put(f);
	return ret;
}

long sys_read(const u64 *a)
{
	return io_range(a[0], a[1], a[2], (struct transfer){0});
}

long sys_write(const u64 *a)
{
	return io_range(a[0], a[1], a[2], (struct transfer){.write = true});
}

long sys_pread64(const u64 *a)
{
	if ((s64)a[3] < 0)
		return -EINVAL;
	return io_range(a[0], a[1], a[2], (struct transfer){.at = true, .pos = a[3]});
}

long sys_pwrite64(const u64 *a)
{
	if ((s64)a[3] < 0)
		return -EINVAL;
	return io_range(
	    a[0], a[1], a[2], (struct transfer){.write = true, .at = true, .pos = a[3]});
}

long sys_readv(const u64 *a)
{
	return io_vector(a, false);
}

long sys_writev(const u64 *a)
{
	return io_vector(a, true);
}

long sys_lseek(const u64 *a)
{
	struct file *f = fd_get((u32)a[0]);
	long ret;

	if (!f)
		return -EBADF;
	ret = vfs_seek(f, a[1], (u32)a[2]);
	file_put(f);
	return ret;
}

long sys_ioctl(const u64 *a)
{
	struct file *f = fd_get((u32)a[0]);
	long ret = -ENOTTY;

	if (!f)
		return -EBADF;
	if (f->ops && f->ops->ioctl)
		ret = restartable(f->ops->ioctl(f, (u32)a[1], a[2]));
	file_put(f);
	return ret;
}

static long sync_file(u64 fd)
{
	struct file *f = fd_get((u32)fd);

	if (!f)
		return -EBADF;
	file_put(f); /* all files are in memory */
	return 0;
}

long sys_fsync(const u64 *a)
{
	return sync_file(a[0]);
}

long sys_fdatasync(const u64 *a)
{
	return sync_file(a[0]);
}
