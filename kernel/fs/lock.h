/*
 * Advisory locks on ranges of files. Those of fcntl(2) belong to a process (its table of open
 * files) or to an open file, those of flock(2) to an open file. Task context.
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
 * Sets a lock for its owner (LOCK_NONE: removes it). 0; -EAGAIN: another owner has it (not with
 * `wait`); -EDEADLK: that owner waits for us; -EINTR; -ENOLCK: no memory.
 */
int lock_set(struct file *f, const struct lock_range *l, bool wait);
/* Stores the first conflicting lock, or LOCK_NONE, in *l. */
void lock_test(struct file *f, struct lock_range *l);
/* Called when the owner closes the file: removes its locks. */
void lock_drop(struct vnode *v, const void *owner);
