/* tools/trapline/machine/channel.c: lines out of pieces; output that is passed on, or cannot be. */
#include "tests/trapline/trapline_unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/trapline/machine/channel.h"

static struct bytes lines;

static void note_line(void *context, const char *line)
{
	assert_ptr_equal(context, &lines);
	bytes_put(&lines, line, strlen(line));
	bytes_put(&lines, "|", 1);
}

/* A channel from a pipe, whose other end is *from_us. */
static struct channel *new_channel(int *from_us, int to)
{
	struct channel *c = xmalloc(sizeof(*c));
	int p[2];

	assert_int_equal(pipe(p), 0);
	*from_us = p[1];
	*c = (struct channel){.from = p[0], .to = to, .context = &lines};
	return c;
}

static void give(struct channel *c, int fd, const char *text, size_t n)
{
	assert_int_equal(write(fd, text, n), n);
	channel_serve(c);
}

static void expect_lines(const char *want)
{
	bytes_put(&lines, "", 1);
	assert_string_equal((const char *)lines.data, want);
	bytes_free(&lines);
}

/* Cut at every place, the same lines come out. */
static void lines_of_pieces(void **state)
{
	static const char text[] = "one\r\n\r\ntwo\n\nthree\rfour\nlast";

	(void)state;
	for (size_t cut = 1; cut < strlen(text); cut++) {
		int fd;
		struct channel *c = new_channel(&fd, -1);

		c->take = note_line;
		give(c, fd, text, cut);
		give(c, fd, text + cut, strlen(text) - cut);
		assert_true(channel_lives(c) && channel_waits(c).fd == c->from);
		close(fd);
		channel_serve(c);
		assert_false(channel_lives(c));
		expect_lines("one||two||three\rfour|last|");
		free(c);
	}
}

/* A line of n characters: as one, up to the limit. */
static void long_line(size_t n, const char *rest)
{
	char *text = xmalloc(n + 2), *want = xmalloc(n + 8);
	int fd;
	struct channel *c = new_channel(&fd, -1);

	c->take = note_line;
	memset(text, 'x', n);
	give(c, fd, text, n);
	give(c, fd, "\n", 1);
	memset(want, 'x', CHANNEL_LINE - 1 < n ? CHANNEL_LINE - 1 : n);
	strcat(want, rest);
	expect_lines(want);
	close(fd);
	close(c->from);
	free(c);
	free(text);
	free(want);
}

static void long_lines(void **state)
{
	(void)state;
	long_line(CHANNEL_LINE - 2, "|");
	long_line(CHANNEL_LINE - 1, "|");
	long_line(CHANNEL_LINE, "|x|");
}

/* Nothing is taken before the last was passed on. */
static void passed_on(void **state)
{
	int fd, to[2];
	char got[16] = "";

	(void)state;
	assert_int_equal(pipe(to), 0);
	struct channel *c = new_channel(&fd, to[1]);
	give(c, fd, "abc", 3);
	assert_true(channel_waits(c).fd == to[1] && channel_waits(c).events == POLLOUT);
	close(fd);
	channel_serve(c);
	assert_int_equal(read(to[0], got, sizeof(got)), 3);
	assert_string_equal(got, "abc");
	assert_true(channel_lives(c) && channel_waits(c).fd == c->from);
	channel_serve(c);
	assert_false(channel_lives(c) || c->failed);
	close(to[0]);
	close(to[1]);
	free(c);
}

/* What cannot be written is thrown away, to the end; it is a failure, but when the reader went. */
static void not_passed_on(int to, bool failed)
{
	int fd;
	struct channel *c = new_channel(&fd, to);

	give(c, fd, "abc", 3);
	channel_serve(c);
	assert_int_equal(c->failed, failed);
	for (int i = 0; i < 3; i++) {
		give(c, fd, "more", 4);
		assert_true(channel_waits(c).fd == c->from);
	}
	close(fd);
	channel_serve(c);
	assert_false(channel_lives(c));
	free(c);
	close(to);
}

static void nobody_there(void **state)
{
	int to[2];

	(void)state;
	say_nothing = true;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(to), 0);
	close(to[0]);
	not_passed_on(to[1], false);
	not_passed_on(open("/dev/full", O_WRONLY), true);
	signal(SIGPIPE, SIG_DFL);
}

/* Bytes among lines, cut at every place. */
static struct bytes taken;

static void note_and_take(void *context, const char *line)
{
	struct channel *c = context;

	bytes_put(&lines, line, strlen(line));
	bytes_put(&lines, "|", 1);
	if (!strcmp(line, "take"))
		channel_take_bytes(c, &taken, 5);
}

static void bytes_among_lines(void **state)
{
	static const char text[] = "one\ntake\na\n\0\ntwo\n";

	(void)state;
	for (size_t cut = 1; cut < sizeof(text) - 1; cut++) {
		int fd;
		struct channel *c = new_channel(&fd, -1);

		c->take = note_and_take;
		c->context = c;
		give(c, fd, text, cut);
		give(c, fd, text + cut, sizeof(text) - 1 - cut);
		expect_lines("one|take|wo|");
		assert_int_equal(taken.size, 5);
		assert_memory_equal(taken.data, "a\n\0\nt", 5);
		bytes_free(&taken);
		close(fd);
		close(c->from);
		free(c);
	}
}

int channel_tests(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_among_lines),
	    cmocka_unit_test(lines_of_pieces), cmocka_unit_test(long_lines),
	    cmocka_unit_test(passed_on), cmocka_unit_test(nobody_there)};

	return unit_group("channel", tests, COUNT_OF(tests), NULL, NULL);
}
