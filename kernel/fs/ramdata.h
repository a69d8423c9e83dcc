/*
 * The contents of a file in memory: pages, holes, and a base, which is foreign memory (the archive)
 * shown in place and copied page by page on write. Pure except for the two functions that allocate
 * and free pages; the owner locks.
 */
#pragma once

#include "kernel/lib/types.h"

#define RAMDATA_MAX (1UL << 48) /* bytes in a file */

struct ramdata_mem {
	void *(*page)(bool zero); /* PAGE_SIZE bytes, NULL: none left */
	void (*release)(void *page);
};

/*
 * A tree of pages with 512 pointers each; `height` 0: `root` is the only data page. Bytes of a page
 * after `size` are zero.
 */
struct ramdata {
	const struct ramdata_mem *mem;
	void *root;
	unsigned height;
	u64 size;
	/* contents of pages that are not in the tree, up to base_size; then zeros */
	const u8 *base;
	u64 base_size; /* <= size */
	bool pinned;   /* pages are mapped somewhere: truncation clears them but keeps them */
};

void ramdata_init(struct ramdata *d, const struct ramdata_mem *mem);
/* Empties it and shows `size` bytes at `base` instead. */
void ramdata_set_base(struct ramdata *d, const void *base, u64 size);
ssize ramdata_read(const struct ramdata *d, void *buf, size_t n, u64 pos);
/* Returns the bytes written; -ENOSPC if it could write none; -EFBIG. */
ssize ramdata_write(struct ramdata *d, const void *buf, size_t n, u64 pos);
/*
 * Page `index`, allocated if it was a hole or part of the base. NULL: past the end, or no memory.
 */
void *ramdata_page(struct ramdata *d, u64 index);
/* The same for a shared mapping: from then on pages stay in place, until ramdata_destroy(). */
void *ramdata_pin(struct ramdata *d, u64 index);
void ramdata_destroy(struct ramdata *d);	   /* nobody maps it any more */
int ramdata_truncate(struct ramdata *d, u64 size); /* 0 or -EFBIG */
