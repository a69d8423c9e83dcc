/*
 * The "newc" cpio format (cpio(5), Linux's buffer-format.rst): a reader for untrusted archives.
 * Pure: any context, allocates nothing.
 */
#pragma once

#include "kernel/lib/types.h"

struct cpio {
	const u8 *data;
	size_t size;
	size_t at; /* of the next header */
};

struct cpio_entry {
	const char *name; /* NUL-terminated in the archive; not normalised */
	const u8 *data;
	size_t size;
	u32 ino, mode, nlink, dev_major, dev_minor;
};

void cpio_init(struct cpio *c, const void *data, size_t size);
/*
 * Reads the next entry: 1; 0 at the end of the archive (further archives may follow after zero
 * bytes); -EINVAL: the archive is truncated, a number is invalid, or a name is empty, too long, or
 * contains "..".
 */
int cpio_next(struct cpio *c, struct cpio_entry *e);
