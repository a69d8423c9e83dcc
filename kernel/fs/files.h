/* A task's open files: descriptor -> file. Used by the task itself only. */
#pragma once

#include "kernel/fs/vfs.h"

#define FILES_MAX 1024

struct files {
	struct file **fd; /* grows up to FILES_MAX */
	u64 *cloexec;	  /* a bit each */
	unsigned size;
};

struct files *files_create(void);
struct files *files_copy(const struct files *from); /* fork: same files, counted */
void files_destroy(struct files *fs);
/* Lowest free descriptor >= min; the reference passes to the table. -EMFILE, -ENOMEM. */
int files_install(struct files *fs, struct file *f, int min, bool cloexec);
/* Exactly `fd` (dup2): what was there is closed. */
int files_install_at(struct files *fs, int fd, struct file *f, bool cloexec);
struct file *files_get(struct files *fs, int fd);   /* with a reference; NULL */
int files_close(struct files *fs, int fd);	    /* -EBADF */
bool files_cloexec(const struct files *fs, int fd); /* fd must be open, here and below */
void files_set_cloexec(struct files *fs, int fd, bool on);
void files_close_exec(struct files *fs);
