/*
 * Sockets of AF_UNIX: streams, packets and datagrams between processes, with open files in them.
 * Task context. Errors are negative errno. Files given are sockets: the caller asks socket_is().
 */
#pragma once

#include "kernel/fs/vfs.h"

enum socket_type { SOCK_STREAM = 1, SOCK_DGRAM = 2, SOCK_SEQPACKET = 5 };

/* len 0: no name. If the first byte is 0, all bytes are the name; else it is a path. */
#define SOCKET_PATH_MAX 108
struct socket_name {
	unsigned len;
	char path[SOCKET_PATH_MAX + 1];
};

/* The sender of a message; pid 0: no socket asked for it when it was sent. */
struct socket_cred {
	int pid;
	u32 uid, gid;
};
#define SOCKET_NO_CRED ((struct socket_cred){0, 65534, 65534}) /* as Linux shows it */

/* Bytes and open files between sockets. The message owns both, and its holder frees it. */
#define SOCKET_FILES_MAX 253
struct socket_message {
	struct list_head node;
	struct socket *sender; /* of a datagram, counted */
	struct socket_cred cred;
	struct file **files;
	unsigned file_count;
	size_t len, taken; /* taken: bytes that a stream has already read */
	u8 data[];
};
/* The most bytes of a stream in one message. */
#define SOCKET_PIECE (16384 - sizeof(struct socket_message))
struct socket_message *socket_message_new(size_t len); /* NULL: no memory */
void socket_message_free(struct socket_message *m);

int socket_create(enum socket_type type, u32 flags, struct file **out);
int socket_pair(enum socket_type type, u32 flags, struct file *out[2]);
bool socket_is(const struct file *f);
enum socket_type socket_type(const struct file *f);
int socket_bind(struct file *f, const struct socket_name *name);
int socket_listen(struct file *f, unsigned backlog);
/* Waits for room if there is none; `name` NULL: a datagram socket has no peer any more. */
int socket_connect(struct file *f, const struct socket_name *name);
int socket_accept(struct file *f, u32 flags, struct file **out);
enum { SOCKET_SHUT_READ = 1, SOCKET_SHUT_WRITE = 2 };
void socket_shutdown(struct file *f, unsigned how);
/* Its own name, or its peer's: -ENOTCONN. */
int socket_get_name(struct file *f, bool peer, struct socket_name *name);

/* Sends a message to the peer, or to the socket named `to`. After 0 the receiver owns it. */
int socket_send(
    struct file *f, struct socket_message *m, const struct socket_name *to, bool nonblock);

struct socket_read {
	void *buf;
	size_t n;
	bool peek, nonblock;
	bool keep_error; /* with nonblock: an error of the socket stays for the next call */
	bool same_cred;	 /* of a stream: only bytes of the sender `cred` */
	/* Filled in by socket_receive(). */
	size_t len;	     /* of a packet in full */
	struct file **files; /* the caller's: it puts them, and frees the array */
	unsigned file_count;
	struct socket_name from; /* of a datagram */
	bool pass_cred; /* the socket reports senders; a stream gives bytes of one sender */
	struct socket_cred cred;
};
ssize socket_receive(struct file *f, struct socket_read *r);

/* The options of getsockopt() and setsockopt(). */
struct socket_options {
	enum socket_type type;
	bool listening;
	bool pass_cred; /* report the sender of received data */
	int peer_pid;
	u32 send_room;	   /* bytes that may wait to be read */
	u32 receive_room;  /* only shown: send_room limits, as on Linux */
	u64 timeout_ns[2]; /* reading, writing; 0: for ever */
};
void socket_get_options(struct file *f, struct socket_options *o);
void socket_set_options(
    struct file *f, const struct socket_options *o); /* rooms, timeouts, pass_cred */
/* Returns the error that the next read would report, and clears it. */
int socket_take_error(struct file *f);
