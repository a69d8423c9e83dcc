/*
 * user_events_enable: names of user events that are switched on in the global trace array while a
 * program registers them, so that the program's first write is recorded. Task context under
 * host_lock.
 *
 * Linux has no such file: there a user event can be switched on only after it was registered.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/enable.h"
#include "trace/event/event.h"
#include "trace/event/file.h"
#include "trace/user/user.h"

#define LIST_MAX 4096 /* bytes, with a NUL after each word */

static char list[LIST_MAX];
static size_t list_size;

/* `*` stands for any text, `?` for one character. */
static bool pattern_matches(const char *pattern, const char *name)
{
	const char *star = NULL, *again = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = ++pattern;
			again = name;
		} else if (*pattern == '?' || *pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++again;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* The last word that matches decides. */
static bool is_listed(const char *name)
{
	bool listed = false;

	for (size_t at = 0; at < list_size; at += strlen(list + at) + 1) {
		bool off = list[at] == '!';

		if (pattern_matches(list + at + off, name))
			listed = !off;
	}
	return listed;
}

int user_events_enable_new(const struct user_event *ev)
{
	struct trace_event_file *file = trace_event_file_of(trace_global, &ev->call);

	return file && is_listed(ev->name) ? trace_files_enable(&file, 1, true) : 0;
}

static const char *next_word(const char *line)
{
	while (is_space(*line))
		line++;
	return line;
}

/* Bytes that the words of a line need in the list; or -EINVAL: one is a lone '!'. */
static ssize words_size(const char *line)
{
	size_t size = 0;

	while (*(line = next_word(line))) {
		size_t n = strcspn(line, " \t\n");

		if (n == 1 && *line == '!')
			return -EINVAL;
		size += n + 1;
		line += n;
	}
	return size;
}

int user_events_enable_store(const char *line)
{
	ssize size = words_size(line);

	if (size < 0)
		return size;
	if ((size_t)size > LIST_MAX - list_size)
		return -ENOSPC;
	while (*(line = next_word(line))) {
		size_t n = strcspn(line, " \t\n");

		memcpy(list + list_size, line, n);
		list[list_size + n] = '\0';
		list_size += n + 1;
		line += n;
	}
	return 0;
}

void user_events_enable_clear(void)
{
	list_size = 0;
}

void user_events_enable_show(struct seq *s)
{
	for (size_t at = 0; at < list_size; at += strlen(list + at) + 1)
		seq_printf(s, "%s\n", list + at);
}
