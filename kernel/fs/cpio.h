/*
 * The "newc" cpio format (cpio(5), Linux's buffer-format.rst): a reader that trusts nothing. Pure:
 * any context, no memory of its own.
 */
#pragma once

#include "kernel/lib/types.h"

struct cpio {
	const u8 *data;
	size_t size;
	size_t at; /* of the next header */
};

struct cpio_entry {
	const char *name; /* ends with NUL inside the archive; cleaned of nothing */
	const u8 *data;
	size_t size;
	u32 ino, mode, nlink, dev_major, dev_minor;
};

void cpio_init(struct cpio *c, const void *data, size_t size);
/*
 * The next entry: 1; 0 at the end of the archive (it reads on through archives that follow after
 * zero bytes); -EINVAL when it is cut off, a number is none, or a name is empty, too long, or has
 * a ".." in it.
 */
int cpio_next(struct cpio *c, struct cpio_entry *e);
