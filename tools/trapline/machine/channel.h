/*
 * Output of a machine through a pipe: copied to a file, or split into lines. No function blocks if
 * the caller calls channel_serve() only when poll() reports data.
 */
#pragma once

#include <poll.h>

#include "tools/trapline/lib/util.h"

#define CHANNEL_CHUNK 4096 /* room that a pipe has when poll() reports it writable */
#define CHANNEL_LINE  4096 /* longer ones are cut */

struct channel {
	int from, to;				       /* -1: ended; nobody reads any more */
	void (*take)(void *context, const char *line); /* else `to` */
	void *context;
	/* `to` could not be written (a message was printed); a closed reader is no failure */
	bool failed;
	char data[CHANNEL_CHUNK];
	size_t at, n; /* of data: the bytes still to be copied */
	bool in_line; /* the last byte passed on was not the end of a line */
	char line[CHANNEL_LINE];
	size_t length;
	struct bytes *bytes; /* where the next `bytes_left` go in place of lines */
	uint64_t bytes_left;
};

/* The events that the channel waits for. */
struct pollfd channel_waits(const struct channel *c);
/* Call this when these events came. */
void channel_serve(struct channel *c);
/* For `take`: the next n bytes are not lines, but go to `to`. */
void channel_take_bytes(struct channel *c, struct bytes *to, uint64_t n);
/* True if more data may come, or is still to be copied. */
bool channel_lives(const struct channel *c);
