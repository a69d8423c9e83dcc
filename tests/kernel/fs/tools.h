/* Shared by cases that use files. Task context. */
#pragma once

#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"

/* Opens with these flags and closes: 0 or the error. */
static inline int open_result(const char *path, u32 flags)
{
	struct file *f;
	int r = file_open(path, flags, 0644, &f);

	if (!r)
		file_put(f);
	return r;
}

static inline int touch(const char *path)
{
	return open_result(path, O_WRONLY | O_CREAT | O_EXCL);
}

static inline bool is_there(const char *path)
{
	struct vstat st;

	return vfs_stat(path, false, &st) == 0;
}

/*
 * Writes the text in one call, through the file tree, as ring 3 does. `flags`: of open, without
 * O_WRONLY. 0, or the error of open or write.
 */
int write_text(const char *path, u32 flags, const char *text);
