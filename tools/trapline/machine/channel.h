/*
 * What comes out of a machine through a pipe: passed on to a file of ours, or taken as lines.
 * Nothing here blocks as long as it is served when poll() says so.
 */
#pragma once

#include <poll.h>

#include "tools/trapline/lib/util.h"

#define CHANNEL_CHUNK 4096 /* what a pipe that polls as writable has room for */
#define CHANNEL_LINE  4096 /* longer ones are cut */

struct channel {
	int from, to;				       /* -1: ended; nobody any more */
	void (*take)(void *context, const char *line); /* else `to` */
	void *context;
	bool failed; /* `to` could not be written, said; but that its reader went is no failure */
	char data[CHANNEL_CHUNK];
	size_t at, n; /* of data: what is still to be passed on */
	bool in_line; /* the last byte passed on was not the end of a line */
	char line[CHANNEL_LINE];
	size_t length;
	struct bytes *bytes; /* where the next `bytes_left` go in place of lines */
	uint64_t bytes_left;
};

/* What it waits for. */
struct pollfd channel_waits(const struct channel *c);
/* After that came. */
void channel_serve(struct channel *c);
/* For `take`: the next n bytes are no lines. */
void channel_take_bytes(struct channel *c, struct bytes *to, uint64_t n);
/* Will anything come, or is to be passed on? */
bool channel_lives(const struct channel *c);
