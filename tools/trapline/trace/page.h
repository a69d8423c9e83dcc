/*
 * Reads sub-buffers of a ring, record by record, in both formats: Linux's present one (trace.dat)
 * and the kernel's own (its memory). Pages are untrusted: invalid data ends the walk, with a
 * reason. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE_BYTES  4096 /* of the machine's, and of the smallest sub-buffer; others are ... */
#define PAGE_MOST   (PAGE_BYTES << 7) /* ... powers of two up to this */
#define PAGE_HEADER 16
#define PAGE_ROOM   (PAGE_BYTES - PAGE_HEADER)
/* of the header's second word: the number of bytes used after the header */
#define PAGE_USED   0xfffffUL

enum records { RECORDS_LINUX, RECORDS_OWN };

struct page_walk {
	enum records records;
	const uint8_t *data; /* after the header */
	uint32_t at, end, room;
	uint64_t time;	   /* of the last record */
	uint64_t lost;	   /* events before the page ... */
	bool lost_unknown; /* ... and an unknown number more */
	const uint8_t *record;
	uint32_t length;   /* of its data */
	const char *wrong; /* why it ended early; NULL: it did not */
};

/* True if this is a valid size of a sub-buffer. */
bool page_size_ok(uint64_t size);
/* `page` has `size` bytes. */
void page_begin(struct page_walk *w, enum records records, const uint8_t *page, uint32_t size);
/*
 * Stores the number of events lost before a page of the kernel's format, at most 2^32 - 2, for
 * page_begin(). (The kernel itself does not.)
 */
void page_lost(uint8_t *page, uint64_t lost, bool unknown);
bool page_next(struct page_walk *w);
