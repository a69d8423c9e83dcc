/* The directory in which the paths of a task begin. Task context. */
#pragma once

#include "kernel/fs/vfs.h"

int vfs_chdir(const char *path);
int vfs_fchdir(struct file *f);
int vfs_getcwd(char *out); /* PATH_MAX bytes; -ENOENT when the directory is removed */
