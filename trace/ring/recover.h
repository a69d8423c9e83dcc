/*
 * Recovers rings that an earlier boot left in memory: validates their sub-buffers and builds a ring
 * buffer from the valid ones. Task context.
 */
#pragma once

#include "trace/ring/ring.h"

/* The memory as found. Recovery trusts nothing in it; it must not change meanwhile. */
struct rb_image {
	const void *mem;
	size_t size;
	u64 base;			  /* the address of `mem` in the boot that wrote it */
	bool (*known)(void *arg, u16 id); /* true if a record may begin with this id */
	void *arg;
};

/* A valid sub-buffer: all events from byte `from` of its data to `end` are intact. */
struct rb_recovered_page {
	u32 page; /* its number in the image */
	u16 from, end, events, pad;
	u64 stamp; /* time before the first of them */
};

struct rb_recovery {
	u32 good;    /* valid sub-buffers */
	u32 damaged; /* invalid ones: dropped */
	u32 outside; /* pages of the ring that lie outside this memory */
	u64 events;  /* in the good ones */
	u64 overrun; /* events the ring had overwritten */
	u64 last;    /* time of its last event */
};

/* The version of struct rb_ring. Rings of another version cannot be recovered. */
u32 rb_recover_version(void);
/*
 * Writes to `out`, oldest first, up to `room` unread sub-buffers of the ring whose struct begins in
 * page `ring` of the image. `seen` has a byte per page of the image: non-zero pages are in use for
 * something else; the function marks those it finds. False: there is no ring.
 */
bool rb_recover_ring(const struct rb_image *im, u32 ring, u8 *seen, struct rb_recovered_page *out,
    u32 room, struct rb_recovery *sum);
/* Copies a sub-buffer and finishes the copy as ring_buffer_adopt() requires. */
void rb_recover_copy(
    const struct rb_image *im, const struct rb_recovered_page *s, struct ring_buffer_page *to);
/*
 * Replaces the contents of the CPU's ring with these pages, which come from host_page_alloc().
 * `overrun` events were lost before them. Nobody may write or read the ring meanwhile. 0; -ENOMEM:
 * the caller still owns the pages.
 */
int ring_buffer_adopt(
    struct ring_buffer *rb, int cpu, struct ring_buffer_page *const *pages, u32 n, u64 overrun);
