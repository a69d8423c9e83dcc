/* Sets of files that are waited for together: epoll(7). Task context. */
#pragma once

#include "kernel/fs/vfs.h"

/* Linux's bits, beside those of poll(). */
enum {
	EPOLL_EXCLUSIVE = 1 << 28,
	EPOLL_WAKEUP = 1 << 29,
	EPOLL_ONESHOT = 1 << 30,
};
#define EPOLL_EDGE (1u << 31)
enum { EPOLL_ADD = 1, EPOLL_DEL, EPOLL_MOD };

struct epoll_event {
	u32 events;
	u64 data;
};

struct file *epoll_create(void); /* NULL: no memory */
bool epoll_is(const struct file *f);
/*
 * Adds f, known as `fd`, to the set `ep`, takes it out, or waits for other events of it. 0, -EPERM
 * (f cannot be waited for), -EINVAL, -EEXIST, -ENOENT, -ELOOP (a set in itself, or too deep),
 * -ENOMEM.
 */
int epoll_control(struct file *ep, u32 op, u32 fd, struct file *f, const struct epoll_event *event);
/* Up to `max` events of files that are ready: how many, 0 at the deadline, -EINTR. */
long epoll_wait(struct file *ep, struct epoll_event *events, unsigned max, u64 deadline);
/* For file_put(): the last reference to f goes; no set has it any more. */
void epoll_forget(struct file *f);
