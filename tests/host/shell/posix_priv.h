/* What the files posix*.c share: tasks, which are threads, and their files. */
#pragma once

#include "kernel/fs/vfs.h"

#include <pthread.h>
#include <stdatomic.h>

struct host_task {
	struct host_task *next, *parent;
	pthread_t thread;
	int pid, pgid, status, sig;
	bool done;
	_Atomic u64 signals;
	char comm[16];
	char cwd[PATH_MAX];
	struct file *fd[10];
	int (*fn)(void *);
	void *arg;
	char *stack; /* an address near its beginning */
};

/* The task of this thread. */
struct host_task *posix_me(void);
/* A block that counts as kmalloc's: kfree() takes it back. */
void posix_count_one(void);
/* The host's number of an open file. */
int posix_fd(const struct file *f);
/* Where a path of the shell lies on the host, until the next call in this thread; "": nowhere. `second`: in another buffer, for calls
 * with two. */
const char *posix_path(const char *path, bool second);
