/*
 * Between socket.c and socket_data.c: what a socket is. [L] socket_lock, [I] set when it is made,
 * [A] atomic.
 */
#pragma once

#include "arch/arch.h"
#include "kernel/fs/socket.h"
#include "kernel/task/sync.h"
#include "kernel/task/timer.h"

#define SOCKET_ROOM	   212992u /* bytes that may wait for a reader, Linux's number */
#define SOCKET_BACKLOG_MAX 4096u
#define SOCKET_DEPTH_MAX   4u /* sockets in flight in sockets in flight ... */

struct socket {
	struct vnode v;	       /* what fstat() shows; its count is the socket's */
	enum socket_type type; /* [I] */
	struct wait_queue changed;
	struct socket_options options; /* [L] */
	struct list_head named;	       /* [L] socket_names */
	struct socket_name name;       /* [L] */
	struct vnode *bound;	       /* [L] the node of a name that is a path, counted */
	struct socket *peer;	       /* [L] counted; not changed any more, but of datagrams */
	bool was_joined;	       /* [L] it has or had a peer */
	bool has_file;		       /* [L] false: an embryo */
	bool closed;		       /* [L] its file is gone */
	bool read_shut, write_shut;    /* [L] */
	int error;		       /* [A] for the next that reads, or asks */
	unsigned backlog, waiting;     /* [L] of a listener: embryos it may have, and has */
	struct list_head embryos;      /* [L] */
	struct list_head node;	       /* [L] an embryo at its listener */
	struct list_head messages;     /* [L] to be read here */
	size_t held;		       /* [L] their bytes, with all that is kept of them */
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

/* When a wait for reading (0) or writing (1) ends. */
static inline u64 socket_deadline(const struct socket *s, int write)
{
	u64 ns = READ_ONCE(s->options.timeout_ns[write]);

	return ns ? clock_ns() + ns : ~0UL;
}

void socket_put(struct socket *s);
void socket_release(struct file *f);
int socket_lookup(const struct socket_name *name, struct socket **out);
/* A message left the queue of s: what it carries is in flight no more. Locked. */
void socket_landed(struct socket *s, const struct socket_message *m);
