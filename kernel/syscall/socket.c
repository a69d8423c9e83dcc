/*
 * System calls on sockets: making, naming, connecting, options; message.c has those that send and
 * receive. Task context. Only the family AF_UNIX is here (kernel/fs/socket.h), others are
 * EAFNOSUPPORT.
 */
#include "kernel/syscall/socket.h"
#include "arch/arch.h"
#include "kernel/fs/socket.h"
#include "kernel/lib/string.h"
#include "kernel/syscall/time.h"
#include "kernel/syscall/user.h"

long sys_on_socket(const struct regs *r, long (*call)(struct file *f, const struct regs *r))
{
	struct file *f = sys_fd_get((u32)r->rdi);
	long ret;

	if (!f)
		return -EBADF;
	ret = socket_is(f) ? call(f, r) : -ENOTSOCK;
	file_put(f);
	return ret;
}

/* ---- names ---- */

long sys_get_name(u64 from, s32 len, struct socket_name *name, bool *unspec)
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

long sys_put_name(u64 to, u64 len_ptr, const struct socket_name *name)
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

static long sys_tell_name(struct file *f, bool peer, u64 to, u64 len_ptr)
{
	struct socket_name name;
	long err = socket_get_name(f, peer, &name);

	return err ? err : sys_put_name(to, len_ptr, &name);
}

static long sys_own_name(struct file *f, const struct regs *r)
{
	return sys_tell_name(f, false, r->rsi, r->rdx);
}

long __x64_sys_getsockname(const struct regs *r)
{
	return sys_on_socket(r, sys_own_name);
}

static long sys_peer_name(struct file *f, const struct regs *r)
{
	return sys_tell_name(f, true, r->rsi, r->rdx);
}

long __x64_sys_getpeername(const struct regs *r)
{
	return sys_on_socket(r, sys_peer_name);
}

static long sys_bind(struct file *f, const struct regs *r)
{
	struct socket_name name;
	long err = sys_get_name(r->rsi, r->rdx, &name, NULL);

	return err ? err : socket_bind(f, &name);
}

long __x64_sys_bind(const struct regs *r)
{
	return sys_on_socket(r, sys_bind);
}

/* ---- making and connecting ---- */

#define SOCK_TYPE_MASK 15u
#define SOCK_RAW       3u
#define SOCK_KINDS     11u

/* 0 with *type, or an error: there is no such socket. */
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

static long sys_connect(struct file *f, const struct regs *r)
{
	struct socket_name name;
	bool unspec;
	long err = sys_get_name(r->rsi, r->rdx, &name, &unspec);

	return err ? err : sys_restartable(socket_connect(f, unspec ? NULL : &name));
}

long __x64_sys_connect(const struct regs *r)
{
	return sys_on_socket(r, sys_connect);
}

static long sys_listen(struct file *f, const struct regs *r)
{
	return socket_listen(f, r->rsi);
}

long __x64_sys_listen(const struct regs *r)
{
	return sys_on_socket(r, sys_listen);
}

static long sys_accept_as(struct file *f, const struct regs *r, u32 flags)
{
	struct socket_name name;
	struct file *new;
	long err = sys_restartable(socket_accept(f, flags & O_NONBLOCK, &new));

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

static long sys_accept(struct file *f, const struct regs *r)
{
	return sys_accept_as(f, r, 0);
}

long __x64_sys_accept(const struct regs *r)
{
	return sys_on_socket(r, sys_accept);
}

static long sys_accept4(struct file *f, const struct regs *r)
{
	return sys_accept_as(f, r, r->r10);
}

long __x64_sys_accept4(const struct regs *r)
{
	if ((u32)r->r10 & ~(O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	return sys_on_socket(r, sys_accept4);
}

static long sys_shutdown(struct file *f, const struct regs *r)
{
	if ((u32)r->rsi > 2)
		return -EINVAL;
	socket_shutdown(f, (u32)r->rsi + 1);
	return 0;
}

long __x64_sys_shutdown(const struct regs *r)
{
	return sys_on_socket(r, sys_shutdown);
}

/* ---- options ---- */

#define SEND_ROOM_LEAST 4608u
#define SEND_ROOM_MOST	212992u /* a program may ask for so much, and gets twice that */

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
	case ABI_SO_PASSCRED:
		n = o.pass_cred;
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

static long sys_getsockopt(struct file *f, const struct regs *r)
{
	if ((u32)r->rsi != ABI_SOL_SOCKET)
		return -EOPNOTSUPP;
	return sys_get_option(f, r->rdx, r->r10, r->r8);
}

long __x64_sys_getsockopt(const struct regs *r)
{
	return sys_on_socket(r, sys_getsockopt);
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
	case ABI_SO_PASSCRED:
		o.pass_cred = n != 0;
		break;
	case ABI_SO_REUSEADDR:
	case ABI_SO_KEEPALIVE:
		break; /* they concern networks only, on Linux too */
	default:
		return -ENOPROTOOPT;
	}
	if (!err)
		socket_set_options(f, &o);
	return err;
}

static long sys_setsockopt(struct file *f, const struct regs *r)
{
	if ((u32)r->rsi != ABI_SOL_SOCKET)
		return -EOPNOTSUPP;
	return sys_set_option(f, r->rdx, r->r10, r->r8);
}

long __x64_sys_setsockopt(const struct regs *r)
{
	return sys_on_socket(r, sys_setsockopt);
}
