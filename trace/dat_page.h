/*
 * A sub-buffer as trace-cmd's readers know it: Linux's records of today, `type_len:5 time_delta:27`, made of ours (contract C3). Pure;
 * any context.
 *
 * A record of ours never gets longer: data over 28 bytes loses a word up to 112 bytes, a time stamp one of its three, and what was
 * discarded is left out. Only the times may: in another unit a delta may need a word more. Where that makes a page overflow, the
 * rest comes in the next.
 */
#pragma once

#include "trace/ring_buffer.h"

/* The text of header_event for such pages. */
extern const char dat_page_header_event[];

struct dat_convert {
	u64 (*time)(const void *arg, u64 stamp); /* to the file's unit */
	const void *arg;
	u64 until; /* what was recorded later is left out */
};

/*
 * Fills `out` with the events from `w` on, as many as fit, and moves w on behind them; returns how many. `lost` were lost before the
 * first one (or RB_LOST_UNKNOWN): said in the header, and the number behind the data if there is room.
 */
u32 dat_page_convert(
    const struct dat_convert *how, struct rb_walk *w, u64 lost, struct ring_buffer_page *out);
