/*
 * A sub-buffer as trace-cmd's readers know it: Linux's records of today, `type_len:5
 * time_delta:27`, made of ours. Pure; any context.
 *
 * A record of ours never gets longer: data over 28 bytes loses a word up to 112 bytes, a time stamp
 * one of its three, and what was discarded is left out. Only the times may: in another unit a delta
 * may need a word more. Where that makes a page overflow, the rest comes in the next.
 */
#pragma once

#include "trace/ring/ring.h"

/* The text of header_event for such pages. */
extern const char dat_page_header_event[];

/* A page that is being filled. */
struct dat_page {
	struct ring_buffer_page *page;
	u8 *at, *end;
	u64 time; /* of the last event */
	u32 events;
	u32 keep; /* bytes that are left free */
};

/*
 * The page has `size` bytes. `keep` bytes stay free after the data, unless the first event alone
 * needs them: sizeof(u64) for the number of lost events.
 */
void dat_page_begin(struct dat_page *p, struct ring_buffer_page *page, u32 size, u32 keep);
/* False: it does not fit. `length` is a multiple of 4, the time in the file's unit. */
bool dat_page_put(struct dat_page *p, const void *data, u64 length, u64 time);
/*
 * `time` is the page's if it is empty; `lost` events are missing before it (or RB_LOST_UNKNOWN):
 * the number stands after the data if there is room.
 */
void dat_page_end(struct dat_page *p, u64 time, u64 lost);

struct dat_convert {
	u64 (*time)(const void *arg, u64 stamp); /* to the file's unit */
	const void *arg;
	u64 until; /* what was recorded later is left out */
	u32 size;  /* of a page */
};

/*
 * Fills `out` with the events from `w` on, as many as fit, and moves w past them; returns how
 * many. `lost` as above.
 */
u32 dat_page_convert(
    const struct dat_convert *how, struct rb_page_iter *w, u64 lost, struct ring_buffer_page *out);
