/*
 * System calls that send and receive by sockets: data and files, from and to memory of ring 3. Task
 * context.
 */
#include "arch/arch.h"
#include "kernel/fs/socket.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/syscall/socket.h"
#include "kernel/syscall/user.h"

#define CONTROL_MAX 4096u /* bytes of control messages */

/* ---- the data and the files of one call ---- */

struct sys_message {
	struct user_data data;
	struct abi_iovec *vec; /* from kmalloc, or NULL */
	struct file **files;   /* from kmalloc, or NULL; each file counted */
	unsigned file_count;
	struct socket_cred cred; /* as the sender says; pid 0: it does not */
};

static void sys_message_end(struct sys_message *m)
{
	for (unsigned i = 0; i < m->file_count; i++)
		file_put(m->files[i]);
	kfree(m->files);
	kfree(m->vec);
}

static long sys_get_range(struct sys_message *m, u64 base, u64 len)
{
	if (len > USER_END || base > USER_END - len)
		return -EFAULT;
	len = MIN(len, IO_MAX);
	*m = (struct sys_message){.data = {.base = base, .len = len, .total = len}};
	return 0;
}

static long sys_get_vector(struct sys_message *m, const struct abi_msghdr *h)
{
	long total;

	*m = (struct sys_message){0};
	if (h->msg_iovlen > IOV_MAX)
		return -EMSGSIZE;
	m->vec = kmalloc(h->msg_iovlen * sizeof(*m->vec) + 1);
	if (!m->vec)
		return -ENOMEM;
	total = copy_from_user(m->vec, h->msg_iov, h->msg_iovlen * sizeof(*m->vec));
	if (!total)
		total = user_data_check(m->vec, h->msg_iovlen);
	if (total < 0)
		return total;
	m->data = (struct user_data){.more = m->vec, .total = total};
	return 0;
}

/* The files of one SCM_RIGHTS, after those of others; count is not 0. */
static long sys_get_files(struct sys_message *m, const s32 *fd, unsigned count)
{
	struct file **files;

	if (count > SOCKET_FILES_MAX - m->file_count)
		return -EINVAL;
	files = krealloc(m->files, (m->file_count + count) * sizeof(*files));
	if (!files)
		return -ENOMEM;
	m->files = files;
	for (unsigned i = 0; i < count; i++) {
		struct file *f = sys_fd_get((u32)fd[i]);

		if (!f)
			return -EBADF;
		m->files[m->file_count++] = f;
	}
	return 0;
}

/* The one SCM_CREDENTIALS of n bytes. The sender is root and may name any process there is. */
static long sys_get_cred(struct sys_message *m, const void *from, size_t n)
{
	struct abi_ucred cred;
	struct task *t;

	if (n != sizeof(cred))
		return -EINVAL;
	memcpy(&cred, from, n);
	if (cred.uid == ~0u || cred.gid == ~0u)
		return -EINVAL;
	t = task_find(cred.pid);
	if (!t)
		return -ESRCH;
	task_put(t);
	m->cred = (struct socket_cred){cred.pid, cred.uid, cred.gid};
	return 0;
}

static long sys_parse_control(struct sys_message *m, const u8 *control, size_t len)
{
	struct abi_cmsghdr c;
	long err = 0;

	for (size_t at = 0; !err && at + sizeof(c) <= len; at += ALIGN_UP(c.len, 8)) {
		memcpy(&c, control + at, sizeof(c));
		if (c.len < sizeof(c) || c.len > len - at)
			return -EINVAL;
		if (c.level != ABI_SOL_SOCKET)
			continue;
		if (c.type == ABI_SCM_CREDENTIALS)
			err = sys_get_cred(m, control + at + sizeof(c), c.len - sizeof(c));
		else if (c.type != ABI_SCM_RIGHTS)
			err = -EINVAL;
		else if (c.len - sizeof(c) >= sizeof(s32))
			err = sys_get_files(m, (const s32 *)(control + at + sizeof(c)),
			    (c.len - sizeof(c)) / sizeof(s32));
	}
	return err;
}

static long sys_get_control(struct sys_message *m, const struct abi_msghdr *h)
{
	u8 *control;
	long err;

	if (!h->msg_controllen)
		return 0;
	if (h->msg_controllen > CONTROL_MAX)
		return -ENOBUFS;
	control = kmalloc(h->msg_controllen);
	if (!control)
		return -ENOMEM;
	err = copy_from_user(control, h->msg_control, h->msg_controllen);
	if (!err)
		err = sys_parse_control(m, control, h->msg_controllen);
	kfree(control);
	return err;
}

/* ---- sending ---- */

/* Sends the next n bytes as one message. The first message takes the files along. */
static long sys_send_piece(
    struct file *f, struct sys_message *m, size_t n, const struct socket_name *to, bool nonblock)
{
	struct socket_message *piece = socket_message_new(n);
	long err;

	if (!piece)
		return -ENOMEM;
	piece->files = m->files;
	piece->file_count = m->file_count;
	m->files = NULL;
	m->file_count = 0;
	if (m->cred.pid)
		piece->cred = m->cred;
	err = user_data_get(&m->data, piece->data, n);
	if (!err)
		err = socket_send(f, piece, to, nonblock);
	if (err)
		socket_message_free(piece);
	return err;
}

static long sys_send(struct file *f, struct sys_message *m, const struct socket_name *to, u32 flags)
{
	bool stream = socket_type(f) == SOCK_STREAM;
	size_t total = m->data.total, done = 0, n = total;
	long err;

	if (flags & ABI_MSG_OOB)
		return -EOPNOTSUPP;
	if (!stream && total > IO_WHOLE)
		return -EMSGSIZE;
	if (stream && !total)
		return 0;
	do {
		if (stream)
			n = MIN(total - done, SOCKET_PIECE);
		err = sys_send_piece(f, m, n, to, flags & ABI_MSG_DONTWAIT);
		if (!err)
			done += n;
	} while (stream && !err && done < total);
	if (err == -EPIPE && stream && !done && !(flags & ABI_MSG_NOSIGNAL))
		signal_send(current(), SIGPIPE);
	return done ? (long)done : sys_restartable(err);
}

static long sys_sendto(struct file *f, const struct regs *r)
{
	struct socket_name name;
	struct sys_message m;
	long ret = sys_get_range(&m, r->rsi, r->rdx);

	if (!ret && r->r8)
		ret = sys_get_name(r->r8, r->r9, &name, NULL);
	return ret ? ret : sys_send(f, &m, r->r8 ? &name : NULL, r->r10);
}

long __x64_sys_sendto(const struct regs *r)
{
	return sys_on_socket(r, sys_sendto);
}

static long sys_sendmsg(struct file *f, const struct regs *r)
{
	struct socket_name name;
	struct abi_msghdr h;
	struct sys_message m;
	bool named;
	long ret;

	if (copy_from_user(&h, r->rsi, sizeof(h)))
		return -EFAULT;
	named = h.msg_name && h.msg_namelen;
	ret = sys_get_vector(&m, &h);
	if (!ret && named)
		ret = sys_get_name(h.msg_name, h.msg_namelen, &name, NULL);
	if (!ret)
		ret = sys_get_control(&m, &h);
	if (!ret)
		ret = sys_send(f, &m, named ? &name : NULL, r->rdx);
	sys_message_end(&m);
	return ret;
}

long __x64_sys_sendmsg(const struct regs *r)
{
	return sys_on_socket(r, sys_sendmsg);
}

/* ---- receiving ---- */

/* What a receive found beside the data. */
struct sys_received {
	struct socket_name from;
	struct file **files;
	unsigned file_count;
	bool truncated;
	bool pass_cred;
	struct socket_cred cred;
};

/*
 * A stream gives the bytes that are there, with MSG_WAITALL as many as the caller wants, up to the
 * first files. Other sockets give one packet.
 */
static long sys_receive_into(struct file *f, struct user_data *d, u32 flags, void *buf, size_t size,
    struct sys_received *got)
{
	bool stream = socket_type(f) == SOCK_STREAM;
	size_t done = 0, left = d->total;
	ssize n;

	do {
		bool enough =
		    done && !(flags & ABI_MSG_WAITALL); /* takes more, but asks for none */
		struct socket_read r = {
		    .buf = buf,
		    .n = MIN(left, size),
		    .peek = flags & ABI_MSG_PEEK,
		    .nonblock = enough || (flags & ABI_MSG_DONTWAIT),
		    .keep_error = enough,
		    .same_cred = done && got->pass_cred,
		    .cred = got->cred,
		};

		n = socket_receive(f, &r);
		if (n < 0)
			break;
		got->from = r.from;
		got->files = r.files;
		got->file_count = r.file_count;
		got->pass_cred |= r.pass_cred;
		got->cred = r.cred;
		got->truncated = !stream && r.len > (size_t)n;
		if (user_data_put(d, buf, n))
			return -EFAULT;
		if (!stream)
			return flags & ABI_MSG_TRUNC ? (long)r.len : n;
		done += n;
		left -= n;
	} while (n && left && !got->files && !(flags & ABI_MSG_PEEK));
	return done || n == 0 ? (long)done : sys_restartable(n);
}

static long sys_receive(struct file *f, struct user_data *d, u32 flags, struct sys_received *got)
{
	size_t size = MIN(d->total, IO_CHUNK);
	void *buf;
	long ret;

	*got = (struct sys_received){0};
	if (flags & ABI_MSG_OOB)
		return socket_type(f) == SOCK_STREAM ? -EINVAL : -EOPNOTSUPP;
	if (socket_type(f) != SOCK_STREAM)
		size = MIN(d->total, IO_WHOLE / 8);
	buf = kmalloc(size + 1);
	ret = buf ? sys_receive_into(f, d, flags, buf, size, got) : -ENOMEM;
	kfree(buf);
	/* The peer of a stream is the sender of all its bytes. */
	if (ret >= 0 && socket_type(f) == SOCK_STREAM)
		socket_get_name(f, true, &got->from);
	return ret;
}

static void sys_received_end(struct sys_received *got)
{
	for (unsigned i = 0; i < got->file_count; i++)
		file_put(got->files[i]);
	kfree(got->files);
}

/* A sender without a name has the length 0. */
static long sys_put_sender(u64 to, u64 len_ptr, const struct socket_name *from)
{
	s32 none = 0;

	if (from->len)
		return sys_put_name(to, len_ptr, from);
	return copy_to_user(len_ptr, &none, sizeof(none));
}

static long sys_recvfrom(struct file *f, const struct regs *r)
{
	struct sys_received got;
	struct sys_message m;
	long ret = sys_get_range(&m, r->rsi, r->rdx);

	if (ret)
		return ret;
	ret = sys_receive(f, &m.data, r->r10, &got);
	if (ret >= 0 && r->r8 && sys_put_sender(r->r8, r->r9, &got.from))
		ret = -EFAULT;
	sys_received_end(&got);
	return ret;
}

long __x64_sys_recvfrom(const struct regs *r)
{
	return sys_on_socket(r, sys_recvfrom);
}

/* Bytes of the control message that names the sender; of one that is cut off, all the room. */
static u64 sys_put_cred(const struct sys_received *got, const struct abi_msghdr *h, u32 *flags)
{
	struct {
		struct abi_cmsghdr c;
		struct abi_ucred cred;
	} out = {{.level = ABI_SOL_SOCKET, .type = ABI_SCM_CREDENTIALS},
	    {got->cred.pid, got->cred.uid, got->cred.gid}};
	u64 room = h->msg_control ? h->msg_controllen : 0,
	    len = MIN(room, sizeof(out.c) + sizeof(out.cred));

	if (!got->pass_cred)
		return 0;
	if (len < sizeof(out.c) + sizeof(out.cred))
		*flags |= ABI_MSG_CTRUNC;
	if (len < sizeof(out.c))
		return 0;
	out.c.len = len;
	return copy_to_user(h->msg_control, &out, len) ? 0 : MIN(room, sizeof(out));
}

/*
 * Installs the received files, as many as ring 3 has room and memory for. Returns the size of their
 * control messages in bytes.
 */
static u64 sys_put_files(struct sys_received *got, const struct abi_msghdr *h, u32 *flags)
{
	struct abi_cmsghdr c = {.level = ABI_SOL_SOCKET, .type = ABI_SCM_RIGHTS};
	u64 room = h->msg_control ? h->msg_controllen : 0, most;
	struct files *table = current()->files;
	unsigned n;

	most = room > sizeof(c) ? (room - sizeof(c)) / sizeof(s32) : 0;
	for (n = 0; n < got->file_count && n < most; n++) {
		u64 to = h->msg_control + sizeof(c) + n * sizeof(s32);
		s32 fd = files_install(table, got->files[n], 0, *flags & ABI_MSG_CMSG_CLOEXEC);

		if (fd < 0)
			break;
		got->files[n] = NULL; /* now the table's */
		if (copy_to_user(to, &fd, sizeof(fd))) {
			files_close(table, fd);
			break;
		}
	}
	if (n < got->file_count)
		*flags |= ABI_MSG_CTRUNC;
	c.len = sizeof(c) + n * sizeof(s32);
	if (!n || copy_to_user(h->msg_control, &c, sizeof(c)))
		return 0;
	return MIN(ALIGN_UP(c.len, 8), room);
}

/* Fills in the sender, the control messages and the flags of a struct msghdr: 0 or -EFAULT. */
static long sys_put_header(u64 msg, const struct abi_msghdr *h, struct sys_received *got, u32 flags)
{
	u32 out = flags & ABI_MSG_CMSG_CLOEXEC;
	struct abi_msghdr rest = *h;
	u64 control_len;

	if (h->msg_name &&
	    sys_put_sender(h->msg_name, msg + offsetof(struct abi_msghdr, msg_namelen), &got->from))
		return -EFAULT;
	control_len = sys_put_cred(got, h, &out);
	rest.msg_control += control_len;
	rest.msg_controllen -= control_len;
	control_len += sys_put_files(got, &rest, &out);
	out |= got->truncated ? ABI_MSG_TRUNC : 0;
	if (copy_to_user(msg + offsetof(struct abi_msghdr, msg_flags), &out, sizeof(out)))
		return -EFAULT;
	return copy_to_user(
	    msg + offsetof(struct abi_msghdr, msg_controllen), &control_len, sizeof(control_len));
}

static long sys_recvmsg(struct file *f, const struct regs *r)
{
	struct sys_received got = {0};
	struct abi_msghdr h;
	struct sys_message m;
	long ret;

	if (copy_from_user(&h, r->rsi, sizeof(h)))
		return -EFAULT;
	ret = sys_get_vector(&m, &h);
	if (!ret)
		ret = sys_receive(f, &m.data, r->rdx, &got);
	if (ret >= 0 && sys_put_header(r->rsi, &h, &got, r->rdx))
		ret = -EFAULT;
	sys_received_end(&got);
	sys_message_end(&m);
	return ret;
}

long __x64_sys_recvmsg(const struct regs *r)
{
	return sys_on_socket(r, sys_recvmsg);
}
