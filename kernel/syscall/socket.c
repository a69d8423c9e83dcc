/*
 * System calls on sockets. Task context. There are those of AF_UNIX (kernel/fs/socket.h); other
 * families are EAFNOSUPPORT. What ring 3 says is copied once, checked, then done.
 */
#include "kernel/fs/socket.h"
#include "arch/arch.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/syscall/time.h"
#include "kernel/syscall/user.h"

#define IOV_MAX	    1024u /* Linux's UIO_MAXIOV */
#define CONTROL_MAX 4096u /* bytes of control messages */

/* The socket of a descriptor, counted; NULL with -EBADF or -ENOTSOCK. */
static struct file *sys_socket_get(u64 fd, long *err)
{
	struct file *f = sys_fd_get((u32)fd);

	*err = !f ? -EBADF : socket_is(f) ? 0 : -ENOTSOCK;
	if (!*err)
		return f;
	file_put(f);
	return NULL;
}

/* ---- names ---- */

/* *unspec: the family is AF_UNSPEC, and there is no name. NULL: that is an error, too. */
static long sys_get_name(u64 from, s32 len, struct socket_name *name, bool *unspec)
{
	struct abi_sockaddr_un a = {0};

	if (len < (s32)sizeof(a.family) || len > (s32)sizeof(a))
		return -EINVAL;
	if (copy_from_user(&a, from, len))
		return -EFAULT;
	if (unspec)
		*unspec = a.family == ABI_AF_UNSPEC;
	if (unspec && *unspec)
		return 0;
	if (a.family != ABI_AF_UNIX || len == sizeof(a.family))
		return -EINVAL;
	*name = (struct socket_name){.len = len - sizeof(a.family)};
	memcpy(name->path, a.path, name->len);
	if (name->path[0])
		name->len = strlen(name->path) + 1;
	return 0;
}

/* As much as fits, and how long it is in full. */
static long sys_put_name(u64 to, u64 len_ptr, const struct socket_name *name)
{
	u8 a[sizeof(u16) + sizeof(name->path)] = {ABI_AF_UNIX};
	s32 room, len = sizeof(u16) + name->len;

	if (copy_from_user(&room, len_ptr, sizeof(room)))
		return -EFAULT;
	if (room < 0)
		return -EINVAL;
	memcpy(a + sizeof(u16), name->path, name->len);
	if (copy_to_user(to, a, MIN(room, len)) || copy_to_user(len_ptr, &len, sizeof(len)))
		return -EFAULT;
	return 0;
}

static long sys_tell_name(const struct regs *r, bool peer)
{
	struct socket_name name;
	long err;
	struct file *f = sys_socket_get(r->rdi, &err);

	if (!f)
		return err;
	err = socket_get_name(f, peer, &name);
	file_put(f);
	return err ? err : sys_put_name(r->rsi, r->rdx, &name);
}

long __x64_sys_getsockname(const struct regs *r)
{
	return sys_tell_name(r, false);
}

long __x64_sys_getpeername(const struct regs *r)
{
	return sys_tell_name(r, true);
}

long __x64_sys_bind(const struct regs *r)
{
	struct socket_name name;
	long err;
	struct file *f = sys_socket_get(r->rdi, &err);

	if (!f)
		return err;
	err = sys_get_name(r->rsi, r->rdx, &name, NULL);
	if (!err)
		err = socket_bind(f, &name);
	file_put(f);
	return err;
}

/* ---- making and connecting ---- */

#define SOCK_TYPE_MASK 15u
#define SOCK_RAW       3u
#define SOCK_KINDS     11u

/* 0 with *type, or why there is no such socket. */
static long sys_socket_type(u32 family, u32 how, u32 protocol, enum socket_type *type)
{
	u32 kind = how & SOCK_TYPE_MASK;

	if ((how & ~SOCK_TYPE_MASK & ~(O_CLOEXEC | O_NONBLOCK)) || kind >= SOCK_KINDS)
		return -EINVAL;
	if (family != ABI_AF_UNIX)
		return -EAFNOSUPPORT;
	if (protocol && protocol != ABI_AF_UNIX)
		return -EPROTONOSUPPORT;
	*type = kind == SOCK_RAW ? SOCK_DGRAM : kind;
	return *type == SOCK_STREAM || *type == SOCK_DGRAM || *type == SOCK_SEQPACKET
		   ? 0
		   : -ESOCKTNOSUPPORT;
}

long __x64_sys_socket(const struct regs *r)
{
	enum socket_type type;
	struct file *f;
	long err = sys_socket_type(r->rdi, r->rsi, r->rdx, &type);

	if (!err)
		err = socket_create(type, r->rsi & O_NONBLOCK, &f);
	return err ? err : sys_install_new(f, r->rsi & O_CLOEXEC);
}

long __x64_sys_socketpair(const struct regs *r)
{
	enum socket_type type;
	struct file *ends[2];
	long err = sys_socket_type(r->rdi, r->rsi, r->rdx, &type);

	if (!err)
		err = socket_pair(type, r->rsi & O_NONBLOCK, ends);
	return err ? err : sys_install_pair(ends, r->r10, r->rsi & O_CLOEXEC);
}

long __x64_sys_connect(const struct regs *r)
{
	struct socket_name name;
	bool unspec;
	long err;
	struct file *f = sys_socket_get(r->rdi, &err);

	if (!f)
		return err;
	err = sys_get_name(r->rsi, r->rdx, &name, &unspec);
	if (!err)
		err = sys_restartable(socket_connect(f, unspec ? NULL : &name));
	file_put(f);
	return err;
}

long __x64_sys_listen(const struct regs *r)
{
	long err;
	struct file *f = sys_socket_get(r->rdi, &err);

	if (!f)
		return err;
	err = socket_listen(f, r->rsi);
	file_put(f);
	return err;
}

static long sys_accept(const struct regs *r, u32 flags)
{
	struct socket_name name;
	struct file *new;
	long err;
	struct file *f = flags & ~(O_CLOEXEC | O_NONBLOCK) ? NULL : sys_socket_get(r->rdi, &err);

	if (!f)
		return flags & ~(O_CLOEXEC | O_NONBLOCK) ? -EINVAL : err;
	err = sys_restartable(socket_accept(f, flags & O_NONBLOCK, &new));
	file_put(f);
	if (err)
		return err;
	if (r->rsi && socket_get_name(new, true, &name))
		err = -ECONNABORTED;
	if (r->rsi && !err)
		err = sys_put_name(r->rsi, r->rdx, &name);
	if (!err)
		return sys_install_new(new, flags & O_CLOEXEC);
	file_put(new);
	return err;
}

long __x64_sys_accept(const struct regs *r)
{
	return sys_accept(r, 0);
}

long __x64_sys_accept4(const struct regs *r)
{
	return sys_accept(r, r->r10);
}

long __x64_sys_shutdown(const struct regs *r)
{
	long err;
	struct file *f = (u32)r->rsi > 2 ? NULL : sys_socket_get(r->rdi, &err);

	if (!f)
		return (u32)r->rsi > 2 ? -EINVAL : err;
	socket_shutdown(f, (u32)r->rsi + 1);
	file_put(f);
	return 0;
}

/* ---- messages: the data and the files of one call ---- */

struct sys_message {
	struct user_data data;
	struct abi_iovec *vec; /* from kmalloc; NULL: there is none */
	struct file **files;   /* each counted; NULL: none */
	unsigned file_count;
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

/* The files of one SCM_RIGHTS. */
static long sys_get_files(struct sys_message *m, const s32 *fd, unsigned count)
{
	if (m->files || count > SOCKET_FILES_MAX)
		return -EINVAL;
	m->files = kmalloc(count * sizeof(*m->files) + 1);
	if (!m->files)
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++) {
		struct file *f = sys_fd_get((u32)fd[i]);

		if (!f)
			return -EBADF;
		m->files[m->file_count++] = f;
	}
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
		if (c.type != ABI_SCM_RIGHTS)
			return -EINVAL;
		if (c.len - sizeof(c) >= sizeof(s32))
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

/* The next of the data, n bytes, as a message of the socket's; the first has the files. */
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
	long err = 0;

	if (flags & ABI_MSG_OOB)
		return -EOPNOTSUPP;
	if (!stream && total > IO_WHOLE)
		return -EMSGSIZE;
	while (!err && (done < total || (!stream && !done))) {
		if (stream)
			n = MIN(total - done, SOCKET_PIECE);
		err = sys_send_piece(f, m, n, to, flags & ABI_MSG_DONTWAIT);
		if (!err)
			done += n;
		if (!stream)
			break;
	}
	if (err == -EPIPE && stream && !done && !(flags & ABI_MSG_NOSIGNAL))
		signal_send(current(), SIGPIPE);
	return done ? (long)done : sys_restartable(err);
}

long __x64_sys_sendto(const struct regs *r)
{
	struct socket_name name;
	struct sys_message m;
	long ret;
	struct file *f = sys_socket_get(r->rdi, &ret);

	if (!f)
		return ret;
	ret = sys_get_range(&m, r->rsi, r->rdx);
	if (!ret && r->r8)
		ret = sys_get_name(r->r8, r->r9, &name, NULL);
	if (!ret)
		ret = sys_send(f, &m, r->r8 ? &name : NULL, r->r10);
	file_put(f);
	return ret;
}

static long sys_sendmsg(struct file *f, u64 msg, u32 flags)
{
	struct socket_name name;
	struct abi_msghdr h;
	struct sys_message m;
	bool named;
	long ret;

	if (copy_from_user(&h, msg, sizeof(h)))
		return -EFAULT;
	named = h.msg_name && h.msg_namelen;
	ret = sys_get_vector(&m, &h);
	if (!ret && named)
		ret = sys_get_name(h.msg_name, h.msg_namelen, &name, NULL);
	if (!ret)
		ret = sys_get_control(&m, &h);
	if (!ret)
		ret = sys_send(f, &m, named ? &name : NULL, flags);
	sys_message_end(&m);
	return ret;
}

long __x64_sys_sendmsg(const struct regs *r)
{
	long ret;
	struct file *f = sys_socket_get(r->rdi, &ret);

	if (!f)
		return ret;
	ret = sys_sendmsg(f, r->rsi, r->rdx);
	file_put(f);
	return ret;
}

/* ---- receiving ---- */

/* What came beside the data. */
struct sys_received {
	struct socket_name from;
	struct file **files;
	unsigned file_count;
	bool truncated;
};

/*
 * A stream gives what there is, with MSG_WAITALL all that was asked for; files end it. Others give
 * one packet.
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
		};

		n = socket_receive(f, &r);
		if (n < 0)
			break;
		got->from = r.from;
		got->files = r.files;
		got->file_count = r.file_count;
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
	/* The one at the other end of a stream has a name as well. */
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

/* Nobody without a name is named: then the length is 0. */
static long sys_put_sender(u64 to, u64 len_ptr, const struct socket_name *from)
{
	s32 none = 0;

	if (from->len)
		return sys_put_name(to, len_ptr, from);
	return copy_to_user(len_ptr, &none, sizeof(none));
}

long __x64_sys_recvfrom(const struct regs *r)
{
	struct sys_received got;
	struct sys_message m;
	long ret;
	struct file *f = sys_socket_get(r->rdi, &ret);

	if (!f)
		return ret;
	ret = sys_get_range(&m, r->rsi, r->rdx);
	if (!ret) {
		ret = sys_receive(f, &m.data, r->r10, &got);
		if (ret >= 0 && r->r8 && sys_put_sender(r->r8, r->r9, &got.from))
			ret = -EFAULT;
		sys_received_end(&got);
	}
	file_put(f);
	return ret;
}

/*
 * Installs the files that came, as many as ring 3 has room and memory for. Returns how many bytes
 * of control messages that makes.
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

/* The rest of a struct msghdr: who, what came along, how it went. 0 or -EFAULT. */
static long sys_put_header(u64 msg, const struct abi_msghdr *h, struct sys_received *got, u32 flags)
{
	u32 out = flags & ABI_MSG_CMSG_CLOEXEC;
	u64 control_len;

	if (h->msg_name &&
	    sys_put_sender(h->msg_name, msg + offsetof(struct abi_msghdr, msg_namelen), &got->from))
		return -EFAULT;
	control_len = sys_put_files(got, h, &out);
	out |= got->truncated ? ABI_MSG_TRUNC : 0;
	if (copy_to_user(msg + offsetof(struct abi_msghdr, msg_flags), &out, sizeof(out)))
		return -EFAULT;
	return copy_to_user(
	    msg + offsetof(struct abi_msghdr, msg_controllen), &control_len, sizeof(control_len));
}

static long sys_recvmsg(struct file *f, u64 msg, u32 flags)
{
	struct sys_received got = {0};
	struct abi_msghdr h;
	struct sys_message m;
	long ret;

	if (copy_from_user(&h, msg, sizeof(h)))
		return -EFAULT;
	ret = sys_get_vector(&m, &h);
	if (!ret)
		ret = sys_receive(f, &m.data, flags, &got);
	if (ret >= 0 && sys_put_header(msg, &h, &got, flags))
		ret = -EFAULT;
	sys_received_end(&got);
	sys_message_end(&m);
	return ret;
}

long __x64_sys_recvmsg(const struct regs *r)
{
	long ret;
	struct file *f = sys_socket_get(r->rdi, &ret);

	if (!f)
		return ret;
	ret = sys_recvmsg(f, r->rsi, r->rdx);
	file_put(f);
	return ret;
}

/* ---- options ---- */

#define SEND_ROOM_LEAST 4608u
#define SEND_ROOM_MOST	212992u /* what may be asked for; half of what is given */

static long sys_put_option(u64 to, u64 len_ptr, const void *value, s32 size)
{
	s32 len;

	if (copy_from_user(&len, len_ptr, sizeof(len)))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	len = MIN(len, size);
	return copy_to_user(to, value, len) || copy_to_user(len_ptr, &len, sizeof(len)) ? -EFAULT
											: 0;
}

static long sys_get_option(struct file *f, u32 option, u64 to, u64 len)
{
	struct socket_options o;
	struct abi_timeval tv;
	struct abi_ucred cred = {0};
	s32 n;

	socket_get_options(f, &o);
	switch (option) {
	case ABI_SO_TYPE:
		n = o.type;
		break;
	case ABI_SO_ERROR:
		n = socket_take_error(f);
		break;
	case ABI_SO_SNDBUF:
		n = o.send_room;
		break;
	case ABI_SO_RCVBUF:
		n = o.receive_room;
		break;
	case ABI_SO_ACCEPTCONN:
		n = o.listening;
		break;
	case ABI_SO_DOMAIN:
		n = ABI_AF_UNIX;
		break;
	case ABI_SO_PROTOCOL:
		n = 0;
		break;
	case ABI_SO_PEERCRED:
		cred.pid = o.peer_pid;
		cred.uid = cred.gid = o.peer_pid ? 0 : ~0u;
		return sys_put_option(to, len, &cred, sizeof(cred));
	case ABI_SO_RCVTIMEO:
	case ABI_SO_SNDTIMEO:
		tv = sys_timeval(o.timeout_ns[option - ABI_SO_RCVTIMEO]);
		return sys_put_option(to, len, &tv, sizeof(tv));
	default:
		return -ENOPROTOOPT;
	}
	return sys_put_option(to, len, &n, sizeof(n));
}

long __x64_sys_getsockopt(const struct regs *r)
{
	long ret;
	struct file *f = sys_socket_get(r->rdi, &ret);

	if (!f)
		return ret;
	ret =
	    (u32)r->rsi == ABI_SOL_SOCKET ? sys_get_option(f, r->rdx, r->r10, r->r8) : -EOPNOTSUPP;
	file_put(f);
	return ret;
}

static long sys_set_timeout(u64 from, s32 len, u64 *ns)
{
	struct abi_timeval tv;
	struct abi_timespec ts;

	if (len < (s32)sizeof(tv))
		return -EINVAL;
	if (copy_from_user(&tv, from, sizeof(tv)))
		return -EFAULT;
	ts = (struct abi_timespec){MAX(tv.tv_sec, 0L), tv.tv_usec * 1000};
	return (u64)tv.tv_usec >= 1000000 ? -EDOM : sys_timespec_ns(&ts, ns);
}

static long sys_set_option(struct file *f, u32 option, u64 from, s32 len)
{
	struct socket_options o;
	long err = 0;
	u32 n;

	if (len < (s32)sizeof(n))
		return -EINVAL;
	if (copy_from_user(&n, from, sizeof(n)))
		return -EFAULT;
	socket_get_options(f, &o);
	switch (option) {
	case ABI_SO_SNDBUF:
		o.send_room = MAX(MIN(n, SEND_ROOM_MOST) * 2, SEND_ROOM_LEAST);
		break;
	case ABI_SO_RCVBUF:
		o.receive_room = MIN(n, SEND_ROOM_MOST) * 2;
		break;
	case ABI_SO_RCVTIMEO:
	case ABI_SO_SNDTIMEO:
		err = sys_set_timeout(from, len, &o.timeout_ns[option - ABI_SO_RCVTIMEO]);
		break;
	case ABI_SO_REUSEADDR:
	case ABI_SO_KEEPALIVE:
		break; /* of a network alone, on Linux too */
	default:
		return -ENOPROTOOPT;
	}
	if (!err)
		socket_set_options(f, &o);
	return err;
}

long __x64_sys_setsockopt(const struct regs *r)
{
	long ret;
	struct file *f = sys_socket_get(r->rdi, &ret);

	if (!f)
		return ret;
	ret =
	    (u32)r->rsi == ABI_SOL_SOCKET ? sys_set_option(f, r->rdx, r->r10, r->r8) : -EOPNOTSUPP;
	file_put(f);
	return ret;
}
