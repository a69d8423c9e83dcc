/*
 * Input of a machine through its console: signals for the program, and our standard input as it
 * arrives.
 *
 * With a standard input, the guest's program feed (user/bin/feed.c) reads the console and requests
 * each part, so that we never send more than the guest has room for. A part: its size as two bytes,
 * little-endian, then the bytes; size 0 is the end of the input, FEED_ORDER one byte with the
 * number of a signal. Without one it is a loop of the shell, and a signal is a line with its
 * number.
 */
#pragma once

#include <poll.h>

#include "tools/trapline/lib/util.h"

#define FEED_PART  4096 /* bytes at most */
#define FEED_ORDER 0xffff

struct feed {
	int from, to; /* -1: none */
	bool asked, ended;
	bool fed; /* something went in */
};

/*
 * True if the program can read our standard input: a pipe, a socket, or a terminal whose foreground
 * group we are in.
 */
bool feed_is_wanted(void);
struct pollfd feed_waits(const struct feed *f);
/* Call this when these events came. */
void feed_serve(struct feed *f);
/* Sends a signal to the program. False: it could not be delivered. */
bool feed_order(struct feed *f, int sig);
void feed_end(struct feed *f);
