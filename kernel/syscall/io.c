/*
 * read, write and their kin: bytes between ring 3 and open files. Task context. Data goes through a
 * buffer of the kernel's: files never see an address of ring 3, and what they get cannot change
 * under them. One call of up to IO_CHUNK bytes (IO_WHOLE for a write to a file that asks for it) is
 * one call of the file's, vectors included: who writes an event with writev() writes one event.
 */
/* hot: runs with each event */
#include "arch/arch.h"
#include "kernel/fs/file.h"
#include "kernel/mem/mem.h"
#include "kernel/syscall/user.h"

#define SMALL	  256 /* on the stack */
#define IOV_SMALL 8

static int sys_io_copy(struct user_data *d, void *buf, size_t n, bool to_user)
{
	int err = 0;

	for (size_t done = 0, part; done < n && !err; done += part) {
		if (!d->len)
			user_data_next(d);
		part = MIN(n - done, d->len);
		err = to_user ? copy_to_user(d->base, (char *)buf + done, part)
			      : copy_from_user((char *)buf + done, d->base, part);
		d->base += part;
		d->len -= part;
	}
	return err;
}

int user_data_get_parts(struct user_data *d, void *buf, size_t n)
{
	return sys_io_copy(d, buf, n, false);
}

int user_data_put(struct user_data *d, void *buf, size_t n)
{
	return sys_io_copy(d, buf, n, true);
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
		got = x->write ? kernel_write(x->f, buf, n) : kernel_read(x->f, buf, n);
	if (got > 0)
		x->pos += got;
	return got;
}

/* One call of the file's, of n bytes. */
static ssize chunk(struct transfer *x, struct user_data *d, void *buf, size_t n)
{
	ssize got;

	if (x->write && sys_io_copy(d, buf, n, false))
		return -EFAULT;
	got = file_step(x, buf, n);
	if (got > 0 && !x->write && sys_io_copy(d, buf, got, true))
		return -EFAULT;
	return got;
}

/*
 * A file that can be short of data now and have more later gets one call only: a second one might
 * wait.
 */
static bool goes_on(const struct transfer *x)
{
	if (!x->write && x->f->ops && x->f->ops->waits)
		return false;
	return x->write || (x->f->vnode && (x->f->vnode->mode & S_IFMT) == S_IFREG) ||
	       (x->f->ops && x->f->ops->endless);
}

static size_t sys_io_most(const struct transfer *x)
{
	return x->write && x->f->ops && x->f->ops->whole_writes ? IO_WHOLE : IO_CHUNK;
}

static ssize sys_io_transfer(struct transfer *x, struct user_data *d)
{
	size_t left = MIN(d->total, IO_MAX), size = MIN(left, sys_io_most(x)), done = 0;
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
	return done ? (ssize)done : sys_restartable(got);
}

/*
 * A transfer of at most SMALL bytes is one call of the file's, and needs none of the above. `at`:
 * pread() or pwrite() there; NULL: at the file's position.
 */
static long sys_read_small(struct file *f, u64 to, size_t n, const u64 *at)
{
	u8 buf[SMALL];
	ssize got = at ? vfs_pread(f, buf, n, *at) : kernel_read(f, buf, n);

	if (got > 0 && copy_to_user(to, buf, got))
		return -EFAULT;
	return sys_restartable(got);
}

static long sys_write_small(struct file *f, u64 from, size_t n, const u64 *at)
{
	u8 buf[SMALL];

	if (copy_from_user(buf, from, n))
		return -EFAULT;
	return sys_restartable(at ? vfs_pwrite(f, buf, n, *at) : kernel_write(f, buf, n));
}

static inline bool file_discards(const struct file *f)
{
	return f->ops && f->ops->discards;
}

/* Does the range lie below the end of ring 3? What it holds is found out when it is touched. */
static bool range_ok(u64 base, u64 len)
{
	return len <= USER_END && base <= USER_END - len;
}

static inline __attribute__((always_inline)) long sys_io_range(
    struct file *f, u64 base, u64 count, bool write, const u64 *at)
{
	size_t n = MIN(count, IO_MAX);

	if (!f || (write && !file_writable(f)))
		return -EBADF;
	if (!range_ok(base, count))
		return -EFAULT;
	if (write && file_discards(f))
		return n;
	if (n <= SMALL)
		return write ? sys_write_small(f, base, n, at) : sys_read_small(f, base, n, at);
	struct transfer x = {.f = f, .write = write, .at = at, .pos = at ? *at : 0};
	struct user_data d = {.base = base, .len = n, .total = n};
	return sys_io_transfer(&x, &d);
}

static inline bool takes_user(const struct file *f)
{
	return f && f->ops && f->ops->write_user;
}

/* A file that reads the data itself: no reference, no buffer. */
static inline __attribute__((always_inline)) long write_user(
    struct file *f, u64 base, u64 count, u64 pos)
{
	struct user_data d = {.base = base, .len = count, .total = count};

	if (!file_writable(f))
		return -EBADF;
	if (!range_ok(base, count))
		return -EFAULT;
	if (unlikely(count > IO_MAX))
		d.len = d.total = IO_MAX;
	return f->ops->write_user(f, &d, pos);
}

long user_data_check(struct abi_iovec *vec, u64 count)
{
	struct abi_iovec *to = vec;
	size_t total = 0;

	for (const struct abi_iovec *v = vec; v < vec + count; v++) {
		u64 base = v->iov_base, len = v->iov_len;

		if (unlikely(!range_ok(base, len)))
			return (s64)len < 0 ? -EINVAL : -EFAULT;
		total += len;
		if (unlikely(total > IO_MAX)) {
			len -= total - IO_MAX;
			total = IO_MAX;
		}
		*to = (struct abi_iovec){base, len};
		to += !!len;
	}
	return total;
}

static long io_vector_of(struct file *f, const struct regs *r, bool write, struct abi_iovec *vec)
{
	struct transfer x = {.f = f, .write = write};
	long total = copy_from_user(vec, r->rsi, r->rdx * sizeof(*vec));

	if (!total)
		total = user_data_check(vec, r->rdx);
	if (total <= 0)
		return total;
	struct user_data d = {.more = vec, .total = total};
	if (write && file_discards(f))
		return total;
	if (write && takes_user(f))
		return f->ops->write_user(f, &d, f->pos);
	return sys_io_transfer(&x, &d);
}

static long io_vector(struct file *f, const struct regs *r, bool write)
{
	struct abi_iovec small[IOV_SMALL], *vec = small;
	long ret;

	if (write && !file_writable(f))
		return -EBADF;
	if (r->rdx > IOV_MAX)
		return -EINVAL;
	if (r->rdx > IOV_SMALL)
		vec = kmalloc(r->rdx * sizeof(*vec));
	ret = vec ? io_vector_of(f, r, write, vec) : -ENOMEM;
	if (vec != small)
		kfree(vec);
	return ret;
}

/* With Linux's names and arguments, for kprobes. */
static ssize __noinline ksys_read(unsigned int fd, char *buf, size_t count)
{
	struct fd f = sys_fd_borrow(fd);
	long ret = sys_io_range(f.file, (u64)buf, count, false, NULL);

	sys_fd_return(f);
	return ret;
}

static ssize __noinline ksys_write(unsigned int fd, const char *buf, size_t count)
{
	struct fd f = sys_fd_borrow(fd);
	long ret;

	if (takes_user(f.file))
		ret = write_user(f.file, (u64)buf, count, f.file->pos);
	else
		ret = sys_io_range(f.file, (u64)buf, count, true, NULL);
	sys_fd_return(f);
	return ret;
}

long __x64_sys_read(const struct regs *r)
{
	return ksys_read(r->rdi, (char *)r->rsi, r->rdx);
}

long __x64_sys_write(const struct regs *r)
{
	return ksys_write(r->rdi, (const char *)r->rsi, r->rdx);
}

long __x64_sys_pread64(const struct regs *r)
{
	const u64 at = r->r10;
	struct fd f;
	long ret;

	if ((s64)at < 0)
		return -EINVAL;
	f = sys_fd_borrow(r->rdi);
	ret = sys_io_range(f.file, r->rsi, r->rdx, false, &at);
	sys_fd_return(f);
	return ret;
}

long __x64_sys_pwrite64(const struct regs *r)
{
	const u64 at = r->r10;
	struct fd f;
	long ret;

	if ((s64)at < 0)
		return -EINVAL;
	f = sys_fd_borrow(r->rdi);
	if (takes_user(f.file))
		ret = f.file->ops->no_position ? -ESPIPE : write_user(f.file, r->rsi, r->rdx, at);
	else
		ret = sys_io_range(f.file, r->rsi, r->rdx, true, &at);
	sys_fd_return(f);
	return ret;
}

/*
 * What a vector in the kernel has in all, if it is as most are: small, no part empty, none bad. 0:
 * to be looked at closely.
 */
static inline size_t plain_total(const struct abi_iovec *vec, u64 count)
{
	size_t total = 0;

	for (const struct abi_iovec *v = vec; v < vec + count; v++) {
		if (unlikely(v->iov_len - 1 >= USER_END || v->iov_base > USER_END - v->iov_len))
			return 0;
		total += v->iov_len;
	}
	return total <= IO_MAX ? total : 0;
}

/* A few parts for a file that reads the data itself. */
static long writev_user(struct file *f, u64 addr, u64 count)
{
	struct abi_iovec vec[IOV_SMALL];

	if (unlikely(copy_from_user(vec, addr, count * sizeof(*vec))))
		return -EFAULT;
	struct user_data d = {vec->iov_base, vec->iov_len, vec + 1, plain_total(vec, count)};
	if (unlikely(!d.total)) {
		long total = user_data_check(vec, count);

		if (total <= 0)
			return total;
		d = (struct user_data){.more = vec, .total = total};
	}
	return f->ops->write_user(f, &d, f->pos);
}

static long sys_io_vector(const struct regs *r, bool write)
{
	struct file *f = sys_fd_get((u32)r->rdi);
	long ret = f ? io_vector(f, r, write) : -EBADF;

	if (f)
		file_put(f);
	return ret;
}

long __x64_sys_readv(const struct regs *r)
{
	return sys_io_vector(r, false);
}

long __x64_sys_writev(const struct regs *r)
{
	struct fd f = sys_fd_borrow(r->rdi);
	long ret;

	if (takes_user(f.file) && file_writable(f.file) && r->rdx - 1 < IOV_SMALL)
		ret = writev_user(f.file, r->rsi, r->rdx);
	else
		ret = sys_io_vector(r, true);
	sys_fd_return(f);
	return ret;
}

long __x64_sys_lseek(const struct regs *r)
{
	struct file *f = sys_fd_get((u32)r->rdi);
	long ret;

	if (!f)
		return -EBADF;
	ret = vfs_seek(f, r->rsi, (u32)r->rdx);
	file_put(f);
	return ret;
}

enum { FIONCLEX = 0x5450, FIOCLEX, FIONBIO = 0x5421 };

/* The requests that work on every file; false: it is none of them. */
static bool sys_ioctl_any(struct file *f, const struct regs *r, long *ret)
{
	s32 on;

	switch ((u32)r->rsi) {
	case FIOCLEX:
	case FIONCLEX:
		files_set_cloexec(current()->files, r->rdi, (u32)r->rsi == FIOCLEX);
		*ret = 0;
		return true;
	case FIONBIO:
		*ret = copy_from_user(&on, r->rdx, sizeof(on));
		if (!*ret)
			f->flags = (f->flags & ~O_NONBLOCK) | (on ? O_NONBLOCK : 0);
		return true;
	default:
		return false;
	}
}

long __x64_sys_ioctl(const struct regs *r)
{
	struct file *f = sys_fd_get((u32)r->rdi);
	long ret = -ENOTTY;

	if (!f)
		return -EBADF;
	if (!sys_ioctl_any(f, r, &ret) && f->ops && f->ops->ioctl)
		ret = sys_restartable(f->ops->ioctl(f, (u32)r->rsi, r->rdx));
	file_put(f);
	return ret;
}

static long sys_sync_file(u64 fd)
{
	struct file *f = sys_fd_get((u32)fd);
	u32 type;

	if (!f)
		return -EBADF;
	type = f->vnode ? f->vnode->mode & S_IFMT : 0;
	file_put(f);
	return type == S_IFREG || type == S_IFDIR ? 0 : -EINVAL; /* all files are in memory */
}

long __x64_sys_fsync(const struct regs *r)
{
	return sys_sync_file(r->rdi);
}

long __x64_sys_fdatasync(const struct regs *r)
{
	return sys_sync_file(r->rdi);
}
