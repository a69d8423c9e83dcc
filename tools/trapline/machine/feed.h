/*
 * What goes into a machine through its console: signals for the program, and our standard input as
 * it comes.
 *
 * With a standard input the guest's program feed (user/bin/feed.c) reads the console, and asks for
 * each part, so that no more is on its way than the guest has room for. A part: its size as two
 * bytes, little-endian, then the bytes; size 0 is the end of the input, FEED_ORDER one byte with
 * the number of a signal. Without one it is a loop of the shell, and a signal is a line with its
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
 * Is there a standard input that the program could read: a pipe, a socket, a terminal that is ours
 * to read?
 */
bool feed_is_wanted(void);
struct pollfd feed_waits(const struct feed *f);
/* After that came. */
void feed_serve(struct feed *f);
/* The program is to get a signal. False: it could not be passed on. */
bool feed_order(struct feed *f, int sig);
void feed_end(struct feed *f);
