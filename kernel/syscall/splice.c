/*
 * splice, sendfile, copy_file_range: bytes from file to file without a detour through ring 3. Task
 * context. Nothing that was taken from a source is lost: room in a pipe is reserved before it is
 * filled, and what leaves a pipe leaves it when it was written.
 *
 * A file may have an idea of its own of what splice takes (file_ops.splice: of trace_pipe_raw whole
 * sub-buffers); others are read.
 */
#include "arch/arch.h"
#include "kernel/fs/file.h"
#include "kernel/fs/pipe.h"
#include "kernel/fs/vfs.h"
#include "kernel/mem/mem.h"
#include "kernel/syscall/user.h"

enum { SPLICE_F_NONBLOCK = 2, SPLICE_F_ALL = 15 };

/* One call, decoded: what goes where, at places of its own or the files'. */
struct splice {
	struct file *in, *out;
	u64 in_pos, out_pos;
	bool in_at, out_at;
	size_t len;
	bool nonblock;
};

static bool readable(const struct file *f)
{
	return (f->flags & O_ACCMODE) != O_WRONLY;
}

static bool writable(const struct file *f)
{
	return (f->flags & O_ACCMODE) != O_RDONLY;
}

static ssize sys_splice_take(struct splice *s, void *buf, size_t n, bool nonblock)
{
	ssize got =
	    s->in_at ? vfs_pread(s->in, buf, n, s->in_pos) : vfs_splice(s->in, buf, n, nonblock);

	if (got > 0)
		s->in_pos += got;
	return got;
}

/* ---- splice ---- */

/* Into a pipe, as much as one take gives. */
static ssize fill_pipe(struct splice *s)
{
	bool nonblock = s->nonblock || (s->out->flags & O_NONBLOCK);
	ssize room = pipe_reserve(s->out, MIN(s->len, IO_CHUNK), nonblock), got, put;
	void *buf;

	if (room < 0)
		return room;
	buf = kmalloc(room);
	got = buf ? sys_splice_take(s, buf, room, s->nonblock) : -ENOMEM;
	put = pipe_put_reserved(s->out, buf, MAX(got, 0L), room);
	kfree(buf);
	return got < 0 ? got : put;
}

static ssize do_splice(struct splice *s)
{
	if (pipe_is_write_end(s->out))
		return fill_pipe(s);
	return pipe_drain(s->in, s->out, s->len, s->out_at ? &s->out_pos : NULL, s->nonblock);
}

/* Which end may have a place to be given: not that of a pipe. */
static long check_splice(const struct splice *s, bool off_in, bool off_out)
{
	bool from = pipe_is_read_end(s->in), to = pipe_is_write_end(s->out);

	if (!readable(s->in) || !writable(s->out))
		return -EBADF;
	if (!from && !to)
		return -EINVAL;
	if ((from && off_in) || (to && off_out))
		return -ESPIPE;
	if (from && to && s->in->vnode == s->out->vnode)
		return -EINVAL;
	return !to && (s->out->flags & O_APPEND) ? -EINVAL : 0;
}

static long sys_splice_get_offset(u64 ptr, bool *at, u64 *pos)
{
	*at = ptr != 0;
	if (ptr && copy_from_user(pos, ptr, sizeof(*pos)))
		return -EFAULT;
	return ptr && (s64)*pos < 0 ? -EINVAL : 0;
}

static long splice_files(struct splice *s, const struct regs *r)
{
	long ret = check_splice(s, r->rsi, r->r10);

	if (!ret)
		ret = sys_splice_get_offset(r->rsi, &s->in_at, &s->in_pos);
	if (!ret)
		ret = sys_splice_get_offset(r->r10, &s->out_at, &s->out_pos);
	if (ret)
		return ret;
	ret = do_splice(s);
	if (ret > 0 && s->in_at && copy_to_user(r->rsi, &s->in_pos, sizeof(s->in_pos)))
		return -EFAULT;
	if (ret > 0 && s->out_at && copy_to_user(r->r10, &s->out_pos, sizeof(s->out_pos)))
		return -EFAULT;
	return sys_restartable(ret);
}

/* Both files of a call; 0 or -EBADF. */
static long sys_splice_get_files(struct splice *s, u64 in, u64 out)
{
	s->in = sys_fd_get((u32)in);
	s->out = s->in ? sys_fd_get((u32)out) : NULL;
	if (s->out)
		return 0;
	if (s->in)
		file_put(s->in);
	return -EBADF;
}

static void put_files(struct splice *s)
{
	file_put(s->out);
	file_put(s->in);
}

long __x64_sys_splice(const struct regs *r)
{
	struct splice s = {.len = MIN(r->r8, IO_MAX), .nonblock = r->r9 & SPLICE_F_NONBLOCK};
	long ret;

	if (!r->r8)
		return 0;
	if ((u32)r->r9 & ~SPLICE_F_ALL)
		return -EINVAL;
	ret = sys_splice_get_files(&s, r->rdi, r->rdx);
	if (ret)
		return ret;
	ret = splice_files(&s, r);
	put_files(&s);
	return ret;
}

/* ---- sendfile ---- */

static ssize write_all(struct file *f, const char *buf, size_t n)
{
	size_t done = 0;
	ssize put = 0;

	while (done < n && (put = kernel_write(f, buf + done, n - done)) > 0)
		done += put;
	return done ? (ssize)done : put;
}

static bool sys_splice_is(const struct file *f, u32 type)
{
	return f->vnode && (f->vnode->mode & S_IFMT) == type;
}

/* Could reading more wait? A terminal has a line now, and maybe another one later. */
static bool may_wait(const struct file *f)
{
	return !sys_splice_is(f, S_IFREG);
}

/* Bytes of the source that the target did not take are the next ones again, where it is a file. */
static void sys_splice_give_back(struct splice *s, size_t n)
{
	s->in_pos -= n;
	if (!s->in_at && sys_splice_is(s->in, S_IFREG))
		vfs_seek(s->in, -(s64)n, 1);
}

/* Ends at the source's end, when it has no more for now, or where the target takes no more. */
static ssize send_file(struct splice *s)
{
	size_t size = MIN(s->len, IO_CHUNK), done = 0;
	char *buf = kmalloc(size);
	ssize got = 0;

	if (!buf)
		return -ENOMEM;
	while (done < s->len) {
		size_t n = MIN(s->len - done, size);
		ssize put;

		got = sys_splice_take(s, buf, n, done || (s->in->flags & O_NONBLOCK));
		if (got <= 0)
			break;
		put = write_all(s->out, buf, got);
		if (put > 0)
			done += put;
		if (put < got) {
			sys_splice_give_back(s, got - MAX(put, 0L));
			got = put;
			break;
		}
		if ((size_t)got < n && may_wait(s->in))
			break;
	}
	kfree(buf);
	return done ? (ssize)done : got;
}

static long send_files(struct splice *s, u64 place)
{
	long ret = sys_splice_get_offset(place, &s->in_at, &s->in_pos);

	if (ret)
		return ret;
	if (!readable(s->in) || !writable(s->out))
		return -EBADF;
	if (s->out->flags & O_APPEND)
		return -EINVAL;
	ret = s->len ? send_file(s) : 0;
	if (ret > 0 && s->in_at && copy_to_user(place, &s->in_pos, sizeof(s->in_pos)))
		return -EFAULT;
	return sys_restartable(ret);
}

long __x64_sys_sendfile64(const struct regs *r)
{
	struct splice s = {.len = MIN(r->r10, IO_MAX)};
	long ret = sys_splice_get_files(&s, r->rsi, r->rdi);

	if (ret)
		return ret;
	ret = send_files(&s, r->rdx);
	put_files(&s);
	return ret;
}

/* ---- copy_file_range ---- */

/* 0 or negative errno; cuts the length to what the source has. */
static long check_copy(struct splice *s)
{
	bool same = s->in->vnode == s->out->vnode;

	if (sys_splice_is(s->in, S_IFDIR) || sys_splice_is(s->out, S_IFDIR))
		return -EISDIR;
	if (!sys_splice_is(s->in, S_IFREG) || !sys_splice_is(s->out, S_IFREG))
		return -EINVAL;
	if (!readable(s->in) || !writable(s->out) || (s->out->flags & O_APPEND))
		return -EBADF;
	if (s->in->vnode->dev != s->out->vnode->dev)
		return -EXDEV;
	if ((s64)s->in_pos < 0 || (s64)s->out_pos < 0)
		return -EINVAL;
	if (s->in_pos + s->len < s->in_pos || s->out_pos + s->len < s->out_pos)
		return -EOVERFLOW;
	s->len = MIN(s->len, s->in->vnode->size - MIN(s->in_pos, s->in->vnode->size));
	if (same && s->out_pos + s->len > s->in_pos && s->out_pos < s->in_pos + s->len)
		return -EINVAL;
	return 0;
}

/* As much as the source has and the target takes. */
static ssize copy_range(struct splice *s)
{
	size_t size = MIN(s->len, IO_CHUNK), done = 0;
	char *buf = kmalloc(size);
	ssize n = buf ? 0 : -ENOMEM;

	while (buf && done < s->len) {
		n = vfs_pread(s->in, buf, MIN(s->len - done, size), s->in_pos + done);
		if (n > 0)
			n = vfs_pwrite(s->out, buf, n, s->out_pos + done);
		if (n <= 0)
			break;
		done += n;
	}
	kfree(buf);
	return done ? (ssize)done : n;
}

/* A place of the call's own, or the file's. */
static long get_place(struct file *f, u64 ptr, u64 *pos)
{
	*pos = READ_ONCE(f->pos);
	return ptr ? copy_from_user(pos, ptr, sizeof(*pos)) : 0;
}

static long put_place(struct file *f, u64 ptr, u64 pos)
{
	if (ptr)
		return copy_to_user(ptr, &pos, sizeof(pos));
	vfs_seek(f, pos, 0);
	return 0;
}

static long copy_files(struct splice *s, const struct regs *r)
{
	long ret = get_place(s->in, r->rsi, &s->in_pos);

	if (!ret)
		ret = get_place(s->out, r->r10, &s->out_pos);
	if (ret)
		return -EFAULT;
	if ((u32)r->r9)
		return -EINVAL;
	ret = check_copy(s);
	if (!ret && s->len)
		ret = copy_range(s);
	if (ret > 0 && (put_place(s->in, r->rsi, s->in_pos + ret) ||
			   put_place(s->out, r->r10, s->out_pos + ret)))
		return -EFAULT;
	return ret;
}

long __x64_sys_copy_file_range(const struct regs *r)
{
	struct splice s = {.len = MIN(r->r8, IO_MAX)};
	long ret = sys_splice_get_files(&s, r->rdi, r->rdx);

	if (ret)
		return ret;
	ret = copy_files(&s, r);
	put_files(&s);
	return ret;
}
