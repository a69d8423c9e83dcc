/*
 * Sockets: see socket.h. Task context. This file makes, names, connects and ends them;
 * socket_data.c sends and receives.
 *
 * Words. A stream or packet socket that is connected has a *peer*. connect() makes the peer, an
 * *embryo*, which waits at the listener until accept() gives it a file. A file in an unread message
 * is *in flight*.
 *
 * A socket is counted by its vnode: by its file, by its peer, by the listener of an embryo. When
 * the file goes, the socket is `closed`; its memory stays until the last peer has dropped it.
 *
 * socket_lock protects everything that changes. Its holder neither sleeps nor puts a file, which
 * may end another socket. Conditions of waits and poll() peek without the lock.
 */
#include "kernel/fs/socket_data.h"
#include "kernel/fs/cwd.h"
#include "kernel/fs/file.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/task.h"

struct mutex socket_lock = MUTEX_INIT(socket_lock);
static struct list_head socket_names = LIST_HEAD_INIT(socket_names); /* [L] those with a name */
static u64 socket_last_ino;					     /* [A] */

static void socket_destroy(struct vnode *v)
{
	kfree(container_of(v, struct socket, v));
}

static struct socket *socket_get(struct socket *s)
{
	vnode_get(&s->v);
	return s;
}

void socket_put(struct socket *s)
{
	if (s)
		vnode_put(&s->v);
}

static struct socket *socket_new(enum socket_type type)
{
	static const struct vnode_ops ops = {.destroy = socket_destroy};
	struct socket *s = kzalloc(sizeof(*s));

	if (!s)
		return NULL;
	vnode_init(&s->v, &ops, S_IFSOCK | 0777);
	s->v.dev = DEV_SOCKET;
	s->v.ino = atomic_add(&socket_last_ino, 1);
	s->type = type;
	s->options.type = type;
	s->options.send_room = s->options.receive_room = SOCKET_ROOM;
	wait_queue_init(&s->changed);
	list_init(&s->named);
	list_init(&s->embryos);
	list_init(&s->node);
	list_init(&s->messages);
	return s;
}

/* ---- ends ---- */

/* What a socket had when it ended, to be freed without the lock. */
struct socket_rest {
	struct list_head messages, embryos;
	struct vnode *bound;
	struct socket *peer;
};

static void socket_splice(struct list_head *from, struct list_head *to)
{
	list_init(to);
	while (!list_empty(from)) {
		struct list_head *first = from->next;

		list_del(first);
		list_add_tail(first, to);
	}
}

/* Locked. */
static void socket_end_locked(struct socket *s, struct socket_rest *rest)
{
	bool unread = !list_empty(&s->messages) || !s->has_file;

	s->closed = true;
	list_del(&s->named);
	list_init(&s->named);
	rest->bound = s->bound;
	rest->peer = s->peer;
	s->bound = NULL;
	s->peer = NULL;
	socket_splice(&s->embryos, &rest->embryos);
	socket_splice(&s->messages, &rest->messages);
	if (rest->peer && s->type != SOCK_DGRAM && unread)
		rest->peer->error = ECONNRESET;
	for (struct list_head *at = rest->messages.next; at != &rest->messages; at = at->next)
		socket_landed(s, list_entry(at, struct socket_message, node));
}

static void socket_end(struct socket *s)
{
	struct socket_rest rest;
	struct socket_message *m, *next_m;
	struct socket *e, *next_e;

	mutex_lock(&socket_lock);
	socket_end_locked(s, &rest);
	mutex_unlock(&socket_lock);
	wake_up(&s->changed);
	if (rest.peer)
		wake_up(&rest.peer->changed);
	list_for_each_entry_safe (m, next_m, &rest.messages, node)
		socket_message_free(m);
	list_for_each_entry_safe (e, next_e, &rest.embryos, node) {
		list_del(&e->node);
		socket_end(e);
		socket_put(e);
	}
	vnode_put(rest.bound);
	socket_put(rest.peer);
}

void socket_release(struct file *f)
{
	socket_end(socket_of(f));
}

/* ---- files of sockets ---- */

/* The file takes over the caller's count; without memory the socket ends. */
static struct file *socket_file(struct socket *s, u32 flags)
{
	struct file *f = file_new(&socket_ops, O_RDWR | flags, s);

	if (!f) {
		socket_end(s);
		socket_put(s);
		return NULL;
	}
	f->vnode = &s->v;
	mutex_lock(&socket_lock);
	s->has_file = true;
	mutex_unlock(&socket_lock);
	return f;
}

int socket_create(enum socket_type type, u32 flags, struct file **out)
{
	struct socket *s = socket_new(type);

	*out = s ? socket_file(s, flags) : NULL;
	return *out ? 0 : -ENOMEM;
}

/* Locked, or before other tasks can find the sockets. */
static void socket_join(struct socket *a, struct socket *b)
{
	a->peer = socket_get(b);
	b->peer = socket_get(a);
	a->was_joined = b->was_joined = true;
}

int socket_pair(enum socket_type type, u32 flags, struct file *out[2])
{
	int err = socket_create(type, flags, &out[0]);

	if (err)
		return err;
	err = socket_create(type, flags, &out[1]);
	if (err) {
		file_put(out[0]);
		return err;
	}
	socket_join(socket_of(out[0]), socket_of(out[1]));
	for (int i = 0; i < 2; i++)
		socket_of(out[i])->options.peer_pid = current()->tgid;
	return 0;
}

bool socket_is(const struct file *f)
{
	return f->ops == &socket_ops;
}

enum socket_type socket_type(const struct file *f)
{
	return socket_of(f)->type;
}

/* ---- names ---- */

/* The socket with this name, or, if node is not NULL, bound to it; counted. Locked. */
static struct socket *socket_find(const struct socket_name *name, const struct vnode *node)
{
	struct socket *s;

	list_for_each_entry (s, &socket_names, named) {
		if (node ? s->bound == node
			 : !s->bound && s->name.len == name->len &&
			       !memcmp(s->name.path, name->path, name->len))
			return socket_get(s);
	}
	return NULL;
}

/* Finds the socket of a program's name: 0 with *out, -ECONNREFUSED, or an error of the path. */
int socket_lookup(const struct socket_name *name, struct socket **out)
{
	struct vnode *node = NULL;
	int err = name->path[0] ? vfs_lookup(name->path, true, &node) : 0;

	if (err)
		return err;
	mutex_lock(&socket_lock);
	*out = socket_find(name, node);
	mutex_unlock(&socket_lock);
	vnode_put(node);
	return *out ? 0 : -ECONNREFUSED;
}

/* Makes the node of a name that is a path. */
static int socket_make_node(const struct socket_name *name, struct vnode **out)
{
	int err = vfs_mknod(name->path, S_IFSOCK | (0777 & ~fs_umask()), 0);

	if (err == -EEXIST)
		return -EADDRINUSE;
	return err ? err : vfs_lookup(name->path, false, out);
}

int socket_bind(struct file *f, const struct socket_name *name)
{
	struct socket *s = socket_of(f), *other = NULL;
	struct vnode *node = NULL;
	int err = name->path[0] ? socket_make_node(name, &node) : 0;

	if (err)
		return err;
	mutex_lock(&socket_lock);
	if (s->name.len) {
		err = -EINVAL;
	} else if (!node && (other = socket_find(name, NULL))) {
		err = -EADDRINUSE;
	} else {
		s->bound = node;
		s->name = *name;
		list_add_tail(&s->named, &socket_names);
	}
	mutex_unlock(&socket_lock);
	socket_put(other);
	if (err && node) {
		vfs_unlink(name->path);
		vnode_put(node);
	}
	return err;
}

int socket_get_name(struct file *f, bool peer, struct socket_name *name)
{
	struct socket *s = socket_of(f);
	int err = 0;

	mutex_lock(&socket_lock);
	if (peer && !s->peer)
		err = -ENOTCONN;
	else
		*name = peer ? s->peer->name : s->name;
	mutex_unlock(&socket_lock);
	return err;
}

/* ---- connections ---- */

int socket_listen(struct file *f, unsigned backlog)
{
	struct socket *s = socket_of(f);
	int err = 0;

	if (s->type == SOCK_DGRAM)
		return -EOPNOTSUPP;
	mutex_lock(&socket_lock);
	if (!s->name.len || s->peer) {
		err = -EINVAL;
	} else {
		s->options.listening = true;
		s->options.peer_pid = current()->tgid;
		s->backlog = MIN(backlog, SOCKET_BACKLOG_MAX);
	}
	mutex_unlock(&socket_lock);
	wake_up(&s->changed);
	return err;
}

static bool socket_is_full(const struct socket *l)
{
	return READ_ONCE(l->waiting) > READ_ONCE(l->backlog) && !READ_ONCE(l->closed);
}

/* Joins s with an embryo and queues that at the listener: 0, 1 if it is full, errors. Locked. */
static int socket_meet(struct socket *s, struct socket *l, struct socket *embryo)
{
	if (l->type != s->type)
		return -EPROTOTYPE;
	if (l->closed || !l->options.listening || l->read_shut)
		return -ECONNREFUSED;
	if (socket_is_full(l))
		return 1;
	if (s->options.listening || s->was_joined)
		return s->was_joined ? -EISCONN : -EINVAL;
	socket_join(s, embryo);
	embryo->name = l->name;
	embryo->options.peer_pid = current()->tgid;
	s->options.peer_pid = l->options.peer_pid;
	list_add_tail(&socket_get(embryo)->node, &l->embryos);
	l->waiting++;
	return 0;
}

static int socket_connect_to(struct file *f, struct socket *l, struct socket *embryo)
{
	struct socket *s = socket_of(f);
	u64 deadline = socket_deadline(s, 1);
	int err;

	for (;;) {
		mutex_lock(&socket_lock);
		err = socket_meet(s, l, embryo);
		mutex_unlock(&socket_lock);
		if (err <= 0)
			break;
		err = socket_wait(&l->changed, !socket_is_full(l), deadline, f->flags & O_NONBLOCK);
		if (err)
			return err;
	}
	if (!err) {
		wake_up(&l->changed);
		wake_up(&s->changed);
	}
	return err;
}

/* Sets the peer that a datagram socket sends to. The peer itself may have another. */
static int socket_aim(struct socket *s, struct socket *to)
{
	struct socket *old = NULL;
	int err = 0;

	mutex_lock(&socket_lock);
	if (to && to->type != SOCK_DGRAM) {
		err = -EPROTOTYPE;
	} else if (to && to->peer && to->peer != s) {
		err = -EPERM;
	} else {
		old = s->peer;
		s->peer = to ? socket_get(to) : NULL;
		if (old && old != to && old->peer == s)
			old->error = ECONNRESET;
	}
	mutex_unlock(&socket_lock);
	socket_put(old);
	return err;
}

int socket_connect(struct file *f, const struct socket_name *name)
{
	struct socket *s = socket_of(f), *to, *embryo;
	int err;

	if (!name)
		return s->type == SOCK_DGRAM ? socket_aim(s, NULL) : -EINVAL;
	err = socket_lookup(name, &to);
	if (err)
		return err;
	if (s->type == SOCK_DGRAM) {
		err = socket_aim(s, to);
	} else {
		embryo = socket_new(s->type);
		err = embryo ? socket_connect_to(f, to, embryo) : -ENOMEM;
		socket_put(embryo);
	}
	socket_put(to);
	return err;
}

/* Takes the embryo that has waited longest, with the listener's count of it. */
static int socket_take_embryo(struct socket *l, struct socket **out)
{
	int err = 0;

	mutex_lock(&socket_lock);
	if (!l->options.listening || l->read_shut) {
		err = -EINVAL;
	} else if (list_empty(&l->embryos)) {
		err = -EAGAIN;
	} else {
		*out = list_first_entry(&l->embryos, struct socket, node);
		list_del(&(*out)->node);
		l->waiting--;
		(*out)->options.pass_cred = l->options.pass_cred;
	}
	mutex_unlock(&socket_lock);
	return err;
}

int socket_accept(struct file *f, u32 flags, struct file **out)
{
	struct socket *l = socket_of(f), *embryo;
	u64 deadline = socket_deadline(l, 0);
	int err;

	if (l->type == SOCK_DGRAM)
		return -EOPNOTSUPP;
	while ((err = socket_take_embryo(l, &embryo)) == -EAGAIN) {
		err = socket_wait(&l->changed, !list_empty(&l->embryos) || READ_ONCE(l->read_shut),
		    deadline, f->flags & O_NONBLOCK);
		if (err)
			return err;
	}
	if (err)
		return err;
	wake_up(&l->changed); /* another client may connect */
	*out = socket_file(embryo, flags);
	return *out ? 0 : -ENOMEM;
}

void socket_shutdown(struct file *f, unsigned how)
{
	struct socket *s = socket_of(f);

	mutex_lock(&socket_lock);
	s->read_shut |= !!(how & SOCKET_SHUT_READ);
	s->write_shut |= !!(how & SOCKET_SHUT_WRITE);
	if (s->peer)
		wake_up(&s->peer->changed);
	mutex_unlock(&socket_lock);
	wake_up(&s->changed);
}

/* ---- options ---- */

void socket_get_options(struct file *f, struct socket_options *o)
{
	mutex_lock(&socket_lock);
	*o = socket_of(f)->options;
	mutex_unlock(&socket_lock);
}

void socket_set_options(struct file *f, const struct socket_options *o)
{
	struct socket *s = socket_of(f);

	mutex_lock(&socket_lock);
	s->options.pass_cred = o->pass_cred;
	s->options.send_room = o->send_room;
	s->options.receive_room = o->receive_room;
	memcpy(s->options.timeout_ns, o->timeout_ns, sizeof(o->timeout_ns));
	mutex_unlock(&socket_lock);
}

int socket_take_error(struct file *f)
{
	return atomic_xchg(&socket_of(f)->error, 0);
}
