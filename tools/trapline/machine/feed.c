/* See feed.h. */
#include <errno.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tools/trapline/machine/feed.h"

#define NULL_MAJOR 1 /* of /dev/null */
#define NULL_MINOR 3

bool feed_is_wanted(void)
{
	struct pollfd now = {STDIN_FILENO, POLLIN, 0};
	struct stat st;

	if (fstat(STDIN_FILENO, &st) || S_ISDIR(st.st_mode))
		return false;
	/* A pipe that is at its end already: so is the program's input, from the start. */
	if (poll(&now, 1, 0) == 1 && (now.revents & (POLLIN | POLLHUP)) == POLLHUP)
		return false;
	if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(NULL_MAJOR, NULL_MINOR))
		return false;
	/* Reading a terminal in the background would stop us. */
	return !isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) == getpgrp();
}

struct pollfd feed_waits(const struct feed *f)
{
	return (struct pollfd){f->asked && !f->ended ? f->from : -1, POLLIN, 0};
}

/* There is room in the pipe: feed has taken the part before. */
static bool put_part(const struct feed *f, const void *part, size_t n)
{
	return write(f->to, part, n) == (ssize_t)n;
}

void feed_serve(struct feed *f)
{
	uint8_t part[2 + FEED_PART];
	ssize_t got = read(f->from, part + 2, FEED_PART);

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got < 0)
		got = 0;
	part[0] = got & 255;
	part[1] = got >> 8;
	f->asked = false;
	f->fed = true;
	f->ended = !got;
	if (!put_part(f, part, 2 + got)) {
		say_errno("the machine's input");
		f->ended = true;
	}
}

bool feed_order(struct feed *f, int sig)
{
	const uint8_t part[] = {FEED_ORDER & 255, FEED_ORDER >> 8, sig};
	char line[8];

	f->fed = true;
	if (f->from >= 0)
		return put_part(f, part, sizeof(part));
	return put_part(f, line, snprintf(line, sizeof(line), "%d\n", sig));
}

void feed_end(struct feed *f)
{
	if (f->to >= 0)
		close(f->to);
	f->to = -1;
}
