/* Channels. See channel.h. */
#include <errno.h>
#include <unistd.h>

#include "tools/trapline/machine/channel.h"

static bool has_more(const struct channel *c)
{
	return c->at < c->n;
}

/* The end of a line may be "\r\n", and the last line may have none. */
static void end_line(struct channel *c)
{
	while (c->length && c->line[c->length - 1] == '\r')
		c->length--;
	c->line[c->length] = '\0';
	c->take(c->context, c->line);
	c->length = 0;
}

void channel_take_bytes(struct channel *c, struct bytes *to, uint64_t n)
{
	c->bytes = to;
	c->bytes_left = n;
}

static void take_bytes(struct channel *c)
{
	size_t n = c->n - c->at < c->bytes_left ? c->n - c->at : c->bytes_left;

	bytes_put(c->bytes, c->data + c->at, n);
	c->at += n;
	c->bytes_left -= n;
}

static void take_char(struct channel *c, char next)
{
	if (next == '\n' || c->length == CHANNEL_LINE - 1)
		end_line(c);
	if (next != '\n')
		c->line[c->length++] = next;
}

static void take_all(struct channel *c)
{
	while (has_more(c)) {
		if (c->bytes_left)
			take_bytes(c);
		else
			take_char(c, c->data[c->at++]);
	}
}

static void end(struct channel *c)
{
	close(c->from);
	c->from = -1;
	if (c->length)
		end_line(c);
}

static void receive(struct channel *c)
{
	ssize_t got = read(c->from, c->data, sizeof(c->data));

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	c->at = 0;
	c->n = got > 0 ? got : 0;
	if (got <= 0)
		end(c);
	else if (c->take)
		take_all(c);
	else if (c->to < 0)
		c->n = 0; /* nobody wants it any more */
}

/*
 * A reader that has gone is no error: `trapline run ... | head`. What comes from now on is thrown
 * away.
 */
static void pass_on(struct channel *c)
{
	ssize_t put = write(c->to, c->data + c->at, c->n - c->at);

	if (put >= 0) {
		if (put)
			c->in_line = c->data[c->at + put - 1] != '\n';
		c->at += put;
	} else if (errno != EINTR && errno != EAGAIN) {
		c->failed = errno != EPIPE;
		if (c->failed)
			say_errno(c->to == STDOUT_FILENO ? "standard output" : "standard error");
		c->to = -1;
		c->at = c->n;
	}
}

struct pollfd channel_waits(const struct channel *c)
{
	return has_more(c) ? (struct pollfd){c->to, POLLOUT, 0}
			   : (struct pollfd){c->from, POLLIN, 0};
}

void channel_serve(struct channel *c)
{
	if (has_more(c))
		pass_on(c);
	else
		receive(c);
}

bool channel_lives(const struct channel *c)
{
	return c->from >= 0 || has_more(c);
}
