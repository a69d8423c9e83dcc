/* Sets of files to wait for together: epoll(7). Task context. */
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

/* Where events go. take() gets number n; false: it cannot, and the file stays ready with it. */
struct epoll_sink {
	bool (*take)(struct epoll_sink *s, unsigned n, const struct epoll_event *e);
};

struct file *epoll_create(void); /* NULL: no memory */
bool epoll_is(const struct file *f);
/*
 * Adds f, known as `fd`, to the set `ep`, removes it, or changes its events. 0, -EPERM (f does not
 * support waiting), -EINVAL, -EEXIST, -ENOENT, -ELOOP (a set contains itself, or nests too deep),
 * -ENOMEM.
 */
int epoll_control(struct file *ep, u32 op, u32 fd, struct file *f, const struct epoll_event *event);
/*
 * Returns the number of events of ready files that the sink took, up to `max`; 0 at the deadline;
 * -EFAULT: it did not take the first; -EINTR.
 */
long epoll_wait(struct file *ep, struct epoll_sink *to, unsigned max, u64 deadline);
/* For file_put(), when the last reference to f goes: removes f from all sets. */
void epoll_forget(struct file *f);
