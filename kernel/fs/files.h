/*
 * Open files: descriptor -> file, shared by the tasks that clone() made with CLONE_FILES. Every
 * change, and every read by another task, takes the lock; a task that has its table alone (refs ==
 * 1) may read without it. Task context.
 */
#pragma once

#include "kernel/base/spinlock.h"

#include "kernel/fs/vfs.h"

#define FILES_MAX 1024

struct files {
	u32 refs; /* [A] tasks */
	struct spinlock lock;
	struct file **fd; /* [lock] grows up to FILES_MAX */
	u64 *cloexec;	  /* [lock] a bit each */
	unsigned size;	  /* [lock] */
};

struct files *files_create(void);
struct files *files_copy(struct files *from); /* fork: same files, counted */
void files_put(struct files *fs);	      /* NULL is fine */
/* Lowest free descriptor >= min; the reference passes to the table. -EMFILE, -ENOMEM. */
int files_install(struct files *fs, struct file *f, int min, bool cloexec);
/* Is a descriptor free? Another thread may take the last one meanwhile. */
bool files_have_room(struct files *fs);
/* Installs at exactly `fd` (dup2) and closes the file that was there. */
int files_install_at(struct files *fs, int fd, struct file *f, bool cloexec);
struct file *files_get(struct files *fs, int fd); /* with a reference; NULL */
int files_close(struct files *fs, int fd);	  /* -EBADF */
/* The close-on-exec flag; meaningless if the descriptor was closed meanwhile. */
bool files_cloexec(struct files *fs, int fd);
void files_set_cloexec(struct files *fs, int fd, bool on);
void files_close_exec(struct files *fs);
