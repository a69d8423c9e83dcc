/*
 * Locks of parts of files, which bind only those who ask: fcntl(2)'s, of a process (its table of
 * open files) or of an open file, and flock(2)'s, of an open file. Task context.
 */
#pragma once

#include "kernel/fs/vfs.h"

/* Linux's numbers, as struct flock has them. */
enum { LOCK_READ, LOCK_WRITE, LOCK_NONE };
enum lock_kind { LOCK_PROCESS, LOCK_OPEN_FILE, LOCK_FLOCK };

struct lock_range {
	const void *owner; /* a struct files or a struct file */
	enum lock_kind kind;
	int type; /* LOCK_READ ... */
	u64 first, last;
	int pid; /* of the owner, as F_GETLK shows it */
};

/*
 * Sets it for its owner (LOCK_NONE: takes it away). 0, -EAGAIN (somebody has it; not with `wait`),
 * -EDEADLK (and waits for us), -EINTR, -ENOLCK (no memory).
 */
int lock_set(struct file *f, const struct lock_range *l, bool wait);
/* The first lock that is in its way, or LOCK_NONE, into *l. */
void lock_test(struct file *f, struct lock_range *l);
/* The owner closed the file, and has none any more. */
void lock_drop(struct vnode *v, const void *owner);
