/*
 * struct socket, for socket.c and socket_data.c. [L] socket_lock, [I] set when it is made, [A]
 * atomic.
 */
#pragma once

#include "arch/arch.h"
#include "kernel/fs/socket.h"
#include "kernel/lib/errno.h"
#include "kernel/task/sync.h"
#include "kernel/task/timer.h"

#define SOCKET_ROOM	   212992u /* bytes that may wait for a reader, Linux's number */
#define SOCKET_BACKLOG_MAX 4096u
#define SOCKET_DEPTH_MAX   4u /* sockets in flight in sockets in flight ... */

struct socket {
	struct vnode v;	       /* for fstat(); its count is the socket's */
	enum socket_type type; /* [I] */
	struct wait_queue changed;
	struct socket_options options; /* [L] */
	struct list_head named;	       /* [L] socket_names */
	struct socket_name name;       /* [L] */
	struct vnode *bound;	       /* [L] the node of a name that is a path, counted */
	struct socket *peer;	       /* [L] counted; only datagram sockets change it again */
	bool was_joined;	       /* [L] it has or had a peer */
	bool has_file;		       /* [L] false: an embryo */
	bool closed;		       /* [L] its file is gone */
	bool read_shut, write_shut;    /* [L] */
	int error;		       /* [A] for the next read() or SO_ERROR */
	unsigned backlog, waiting;     /* [L] of a listener: embryos it may have, and has */
	struct list_head embryos;      /* [L] */
	struct list_head node;	       /* [L] an embryo at its listener */
	struct list_head messages;     /* [L] sent to this socket, not read yet */
	size_t held;		       /* [L] memory they take */
	unsigned in_flight;	       /* [L] how often its file is in messages */
	unsigned carried;	       /* [L] sockets in its own messages ... */
	unsigned depth;		       /* [L] ... and how deep they lie in each other */
};

extern struct mutex socket_lock;
extern const struct file_ops socket_ops;

static inline struct socket *socket_of(const struct file *f)
{
	return f->priv;
}

/* The clock_ns() at which a wait for reading (0) or writing (1) times out. */
static inline u64 socket_deadline(const struct socket *s, int write)
{
	u64 ns = READ_ONCE(s->options.timeout_ns[write]);

	return ns ? clock_ns() + ns : ~0UL;
}

/*
 * As wait_event_until(), but -EAGAIN at the deadline, and without a wait if `nonblock`. A wait that
 * has a deadline is not begun again after a signal: -EINTRTIMED.
 */
#define socket_wait(wq, cond, deadline, nonblock)                                                  \
	({                                                                                         \
		int err_ = (nonblock) ? -EAGAIN : wait_event_until(wq, cond, deadline);            \
		err_ == -ETIMEDOUT		       ? -EAGAIN                                   \
		: err_ == -EINTR && (deadline) != ~0UL ? -EINTRTIMED                               \
						       : err_;                                     \
	})

void socket_put(struct socket *s);
void socket_release(struct file *f);
int socket_lookup(const struct socket_name *name, struct socket **out);
/* A message left the queue of s: the sockets it carries are no longer in flight. Locked. */
void socket_landed(struct socket *s, const struct socket_message *m);
