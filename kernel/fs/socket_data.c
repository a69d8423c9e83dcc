/*
 * The data of sockets: messages that one socket puts into the queue of another, and the files in
 * them. Task context; words and locks: socket.c.
 *
 * A socket whose only files are in its own queue, or in a ring of such queues, would never end. So
 * a message with a socket in it is refused if its receiver is that socket, is in flight itself, or
 * has no file yet: no ring can close. Sockets are nested SOCKET_DEPTH_MAX deep at most, because the
 * end of a socket ends those in its queue by recursion.
 */
#include "kernel/fs/socket_data.h"
#include "kernel/fs/file.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/task.h"

/* Memory of all messages. At most an eighth of all, so that unread messages cannot fill it up. */
static u64 socket_bytes; /* [A] */

struct socket_message *socket_message_new(size_t len)
{
	struct socket_message *m = NULL;

	if (atomic_load_relaxed(&socket_bytes) < page_total() * PAGE_SIZE / 8)
		m = kmalloc(sizeof(*m) + len);
	if (!m)
		return NULL;
	*m = (struct socket_message){.len = len, .cred = SOCKET_NO_CRED};
	atomic_add(&socket_bytes, ksize(m));
	return m;
}

static void socket_put_files(struct file **files, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		file_put(files[i]);
	kfree(files);
}

void socket_message_free(struct socket_message *m)
{
	socket_put_files(m->files, m->file_count);
	socket_put(m->sender);
	atomic_sub(&socket_bytes, ksize(m));
	kfree(m);
}

/* ---- sockets in flight: locked ---- */

void socket_landed(struct socket *s, const struct socket_message *m)
{
	for (unsigned i = 0; i < m->file_count; i++) {
		if (!socket_is(m->files[i]))
			continue;
		socket_of(m->files[i])->in_flight--;
		if (!--s->carried)
			s->depth = 0;
	}
}

static bool socket_may_fly(const struct socket *to, const struct socket_message *m)
{
	for (unsigned i = 0; i < m->file_count; i++) {
		const struct socket *s;

		if (!socket_is(m->files[i]))
			continue;
		s = socket_of(m->files[i]);
		if (s == to || to->in_flight || !to->has_file || s->depth >= SOCKET_DEPTH_MAX)
			return false;
	}
	return true;
}

static void socket_take_off(struct socket *to, const struct socket_message *m)
{
	for (unsigned i = 0; i < m->file_count; i++) {
		struct socket *s;

		if (!socket_is(m->files[i]))
			continue;
		s = socket_of(m->files[i]);
		s->in_flight++;
		to->carried++;
		to->depth = MAX(to->depth, s->depth + 1);
	}
}

/* ---- sending ---- */

static bool socket_has_room(const struct socket *s, const struct socket *to)
{
	return READ_ONCE(to->held) < READ_ONCE(s->options.send_room);
}

/* The socket that a message goes to, counted: the peer, or the one with this name. */
static int socket_target(struct socket *s, const struct socket_name *name, struct socket **out)
{
	int err = 0;

	if (name && s->type == SOCK_DGRAM)
		return socket_lookup(name, out);
	if (name && s->type == SOCK_STREAM)
		return READ_ONCE(s->peer) ? -EISCONN : -EOPNOTSUPP;
	mutex_lock(&socket_lock);
	if (s->peer) {
		*out = s->peer;
		vnode_get(&s->peer->v);
	} else {
		err = s->write_shut ? -EPIPE : -ENOTCONN;
	}
	mutex_unlock(&socket_lock);
	return err;
}

/* Names the sender, unless it did so itself, if an end asks or nobody has accepted one yet. */
static void socket_sign(const struct socket *s, const struct socket *to, struct socket_message *m)
{
	if (!m->cred.pid && (s->options.pass_cred || to->options.pass_cred || !to->has_file))
		m->cred = (struct socket_cred){.pid = current()->tgid};
}

/* Returns 0, 1 if there is no room, or negative errno. Locked. */
static int socket_put_message(struct socket *s, struct socket *to, struct socket_message *m)
{
	if (s->write_shut)
		return -EPIPE;
	if (to->type != s->type)
		return -EPROTOTYPE;
	if (to->closed || to->read_shut)
		return s->type == SOCK_DGRAM && to->closed ? -ECONNREFUSED : -EPIPE;
	if (s->type == SOCK_DGRAM && to->peer && to->peer != s)
		return -EPERM;
	if (!socket_has_room(s, to))
		return 1;
	if (!socket_may_fly(to, m))
		return -ETOOMANYREFS;
	socket_take_off(to, m);
	socket_sign(s, to, m);
	if (s->type == SOCK_DGRAM) {
		vnode_get(&s->v);
		m->sender = s;
	}
	list_add_tail(&m->node, &to->messages);
	to->held += ksize(m);
	return 0;
}

static bool socket_may_send(const struct socket *s, const struct socket *to)
{
	return socket_has_room(s, to) || READ_ONCE(to->closed) || READ_ONCE(to->read_shut) ||
	       READ_ONCE(s->write_shut);
}

static int socket_send_to(
    struct socket *s, struct socket *to, struct socket_message *m, bool nonblock)
{
	u64 deadline = socket_deadline(s, 1);
	int err;

	for (;;) {
		mutex_lock(&socket_lock);
		err = socket_put_message(s, to, m);
		mutex_unlock(&socket_lock);
		if (err <= 0)
			break;
		err = socket_wait(&to->changed, socket_may_send(s, to), deadline, nonblock);
		if (err)
			return err;
	}
	if (!err)
		wake_up(&to->changed);
	return err;
}

int socket_send(
    struct file *f, struct socket_message *m, const struct socket_name *name, bool nonblock)
{
	struct socket *s = socket_of(f), *to;
	int err;

	if (s->type != SOCK_STREAM && m->len > s->options.send_room - 32)
		return -EMSGSIZE;
	if (s->type == SOCK_DGRAM && READ_ONCE(s->error))
		return -atomic_xchg(&s->error, 0);
	err = socket_target(s, name, &to);
	if (err)
		return err;
	err = socket_send_to(s, to, m, nonblock || (f->flags & O_NONBLOCK));
	socket_put(to);
	return err;
}

/* A stream's bytes are sent in pieces, a packet as one message. */
static ssize socket_write(struct file *f, const void *buf, size_t n, u64 *pos __maybe_unused)
{
	bool stream = socket_type(f) == SOCK_STREAM;
	size_t done = 0;
	int err;

	if (stream && !n)
		return 0;
	do {
		size_t part = stream ? MIN(n - done, SOCKET_PIECE) : n;
		struct socket_message *m = socket_message_new(part);

		if (!m)
			return done ? (ssize)done : -ENOMEM;
		memcpy(m->data, (const u8 *)buf + done, part);
		err = socket_send(f, m, NULL, false);
		if (err)
			socket_message_free(m);
		else
			done += part;
	} while (stream && !err && done < n);
	if (err == -EPIPE && stream && !done)
		signal_send(current(), SIGPIPE);
	return done ? (ssize)done : err;
}

/* ---- receiving ---- */

/* True if no more bytes can come. */
static bool socket_at_end(const struct socket *s)
{
	const struct socket *peer = READ_ONCE(s->peer);

	if (READ_ONCE(s->read_shut))
		return true;
	return s->type != SOCK_DGRAM && peer &&
	       (READ_ONCE(peer->closed) || READ_ONCE(peer->write_shut));
}

/* Reads from one message, and takes its files; true: nothing of it is left. Locked. */
static bool socket_take_part(
    struct socket *s, struct socket_message *m, struct socket_read *r, size_t at, size_t *done)
{
	size_t part = MIN(r->n - *done, m->len - at);

	memcpy((u8 *)r->buf + *done, m->data + at, part);
	*done += part;
	if (r->peek)
		return false;
	if (m->file_count) {
		socket_landed(s, m);
		r->files = m->files;
		r->file_count = m->file_count;
		m->files = NULL;
		m->file_count = 0;
	}
	m->taken = at + part;
	return s->type != SOCK_STREAM || m->taken == m->len;
}

static void socket_drop(struct socket *s, struct socket_message *m, struct list_head *used)
{
	list_del(&m->node);
	list_add_tail(&m->node, used);
	s->held -= ksize(m);
}

static bool socket_same_cred(const struct socket_cred *a, const struct socket_cred *b)
{
	return a->pid == b->pid && a->uid == b->uid && a->gid == b->gid;
}

/*
 * A stream is read across messages, up to the end of the first that brings files. A reader that is
 * told the sender gets bytes of one sender. Locked.
 */
static size_t socket_take_stream(struct socket *s, struct socket_read *r, struct list_head *used)
{
	struct socket_message *m, *next;
	size_t done = 0;

	r->pass_cred = s->options.pass_cred;
	if (!r->same_cred)
		r->cred = list_first_entry(&s->messages, struct socket_message, node)->cred;
	list_for_each_entry_safe (m, next, &s->messages, node) {
		bool files = m->file_count;

		if (done == r->n || (r->pass_cred && !socket_same_cred(&m->cred, &r->cred)))
			break;
		if (socket_take_part(s, m, r, m->taken, &done))
			socket_drop(s, m, used);
		if (files)
			break;
	}
	return done;
}

static size_t socket_take_packet(struct socket *s, struct socket_read *r, struct list_head *used)
{
	struct socket_message *m = list_first_entry(&s->messages, struct socket_message, node);
	size_t done = 0;

	r->len = m->len;
	r->pass_cred = s->options.pass_cred;
	r->cred = m->cred;
	if (m->sender)
		r->from = m->sender->name;
	if (socket_take_part(s, m, r, 0, &done))
		socket_drop(s, m, used);
	return done;
}

/* 0 at the end, else -EAGAIN. The end of a stream has a sender, too: no process. */
static ssize socket_read_end(const struct socket *s, struct socket_read *r)
{
	if (!socket_at_end(s))
		return -EAGAIN;
	if (s->type == SOCK_STREAM && !r->same_cred) {
		r->pass_cred = s->options.pass_cred;
		r->cred = (struct socket_cred){0};
	}
	return 0;
}

/* Reads without waiting: bytes, 0 at the end, -EAGAIN if there are none yet. */
static ssize socket_take(struct socket *s, struct socket_read *r)
{
	struct list_head used = LIST_HEAD_INIT(used);
	struct socket_message *m, *next;
	ssize got;

	mutex_lock(&socket_lock);
	if (!list_empty(&s->messages))
		got = s->type == SOCK_STREAM ? socket_take_stream(s, r, &used)
					     : socket_take_packet(s, r, &used);
	else if (s->type != SOCK_DGRAM && !s->peer)
		got = s->type == SOCK_STREAM ? -EINVAL : -ENOTCONN;
	else if (READ_ONCE(s->error) && !r->keep_error)
		got = -atomic_xchg(&s->error, 0);
	else
		got = socket_read_end(s, r);
	if (!list_empty(&used) && s->peer)
		wake_up(&s->peer->changed);
	mutex_unlock(&socket_lock);
	if (!list_empty(&used))
		wake_up(&s->changed); /* senders may wait for room */
	list_for_each_entry_safe (m, next, &used, node)
		socket_message_free(m);
	return got;
}

static bool socket_readable(const struct socket *s)
{
	return !list_empty(&s->messages) || socket_at_end(s) || READ_ONCE(s->error);
}

ssize socket_receive(struct file *f, struct socket_read *r)
{
	struct socket *s = socket_of(f);
	bool nonblock = r->nonblock || (f->flags & O_NONBLOCK);
	u64 deadline = socket_deadline(s, 0);
	ssize got;
	int err;

	while ((got = socket_take(s, r)) == -EAGAIN) {
		err = socket_wait(&s->changed, socket_readable(s), deadline, nonblock);
		if (err)
			return err;
	}
	return got;
}

/* read() has no place for files: it drops them. */
static ssize socket_read(struct file *f, void *buf, size_t n, u64 *pos __maybe_unused)
{
	struct socket_read r = {.buf = buf, .n = n};
	ssize got = n ? socket_receive(f, &r) : 0;

	socket_put_files(r.files, r.file_count);
	return got;
}

/* ---- readiness ---- */

enum { READY_IN = 1, READY_OUT = 4, READY_ERR = 8, READY_HUP = 16, READY_RDHUP = 0x2000 };

static unsigned socket_poll(struct file *f)
{
	const struct socket *s = socket_of(f), *peer;
	bool gone, end = socket_at_end(s);
	unsigned ready = 0;

	if (READ_ONCE(s->options.listening))
		return list_empty(&s->embryos) ? 0 : READY_IN;
	if (READ_ONCE(s->error))
		ready |= READY_ERR;
	if (socket_readable(s))
		ready |= READY_IN;
	if (s->type == SOCK_DGRAM)
		return ready | READY_OUT;
	peer = READ_ONCE(s->peer);
	if (!peer)
		return ready | READY_OUT | READY_HUP;
	gone = READ_ONCE(peer->closed) || READ_ONCE(peer->read_shut);
	if (end)
		ready |= READY_RDHUP;
	if (end && (gone || READ_ONCE(s->write_shut)))
		ready |= READY_HUP;
	return ready | (gone || socket_has_room(s, peer) ? READY_OUT : 0);
}

static void socket_queues(struct file *f, struct wait_queue *queue[2])
{
	queue[0] = &socket_of(f)->changed;
}

/* FIONREAD: the bytes that can be read; of datagrams, those of the first. */
static long socket_ioctl(struct file *f, u64 cmd, u64 arg)
{
	struct socket *s = socket_of(f);
	struct socket_message *m;
	s32 n = 0;

	if (cmd != FIONREAD)
		return -ENOTTY;
	mutex_lock(&socket_lock);
	list_for_each_entry (m, &s->messages, node)
		if (s->type != SOCK_DGRAM || !n)
			n += m->len - m->taken;
	mutex_unlock(&socket_lock);
	return copy_to_user(arg, &n, sizeof(n));
}

const struct file_ops socket_ops = {
    .read = socket_read,
    .write = socket_write,
    .ioctl = socket_ioctl,
    .poll = socket_poll,
    .poll_queues = socket_queues,
    .release = socket_release,
    .whole_writes = true,
    .no_position = true,
};
