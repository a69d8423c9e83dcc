/*
 * Rings that another run of this program left in memory: what of them can be believed, and a ring
 * buffer made of that. Task context.
 */
#pragma once

#include "trace/ring/ring.h"

/* The memory, as it was found. Nothing in it is trusted; it must not change meanwhile. */
struct rb_image {
	const void *mem;
	size_t size;
	u64 base;			  /* the address it had when it was written */
	bool (*known)(void *arg, u16 id); /* may a record begin with that? */
	void *arg;
};

/* A sub-buffer whose events were all found whole, from byte `from` of its data to `end`. */
struct rb_recovered_page {
	u32 page; /* its number in the image */
	u16 from, end, events, pad;
	u64 stamp; /* time before the first of them */
};

struct rb_recovery {
	u32 good;    /* sub-buffers found whole */
	u32 damaged; /* not so: dropped */
	u32 outside; /* of the ring, but not in this memory */
	u64 events;  /* in the good ones */
	u64 overrun; /* events the ring had overwritten */
	u64 last;    /* time of its last event */
};

/* Which struct rb_ring this is: an image with another has rings of another version. */
u32 rb_recover_version(void);
/*
 * The unread sub-buffers of the ring whose struct begins in page `ring` of the image, oldest first.
 * `seen`: a byte per page of the image, not 0 for pages that are something else; those found here
 * are marked. At most `room` are written to `out`. False: it is no ring.
 */
bool rb_recover_ring(const struct rb_image *im, u32 ring, u8 *seen, struct rb_recovered_page *out,
    u32 room, struct rb_recovery *sum);
/* A copy that stands for itself, finished as ring_buffer_adopt() wants it. */
void rb_recover_copy(
    const struct rb_image *im, const struct rb_recovered_page *s, struct ring_buffer_page *to);
/*
 * Makes these pages, from host_page_alloc(), all that the CPU's ring holds; `overwritten` events
 * were lost before them. Nobody writes or reads there. 0, -ENOMEM: then the pages are still the
 * caller's.
 */
int ring_buffer_adopt(
    struct ring_buffer *rb, int cpu, struct ring_buffer_page *const *pages, u32 n, u64 overrun);
