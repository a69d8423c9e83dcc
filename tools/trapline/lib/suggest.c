/* See suggest.h. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/lib/suggest.h"

#define NAME_MOST 128 /* longer ones are like nothing */

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Three rows of the usual table: [0] is that before the last. */
unsigned suggest_distance(const char *a, const char *b)
{
	unsigned row[3][NAME_MOST + 1];
	size_t n = strlen(a), m = strlen(b);

	if (n > NAME_MOST || m > NAME_MOST)
		return NAME_MOST;
	for (size_t j = 0; j <= m; j++)
		row[2][j] = j;
	for (size_t i = 1; i <= n; i++) {
		memmove(row, row + 1, 2 * sizeof(row[0]));
		row[2][0] = i;
		for (size_t j = 1; j <= m; j++) {
			unsigned changed = row[1][j - 1] + (a[i - 1] != b[j - 1]);
			row[2][j] = least(changed, least(row[1][j], row[2][j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[2][j] = least(row[2][j], row[0][j - 2] + 1);
		}
	}
	return row[2][m];
}

/* The next line; false: that was the last one. */
static bool next_event(const char **events, char line[2 * NAME_MOST])
{
	size_t n = strcspn(*events, "\n");

	if (!**events)
		return false;
	snprintf(line, 2 * NAME_MOST, "%.*s", (int)n, *events);
	*events += n + ((*events)[n] == '\n');
	return true;
}

/* Cuts SYSTEM:EVENT at the colon; the event, or "". */
static const char *cut(char *line)
{
	char *colon = strchr(line, ':');

	if (!colon)
		return "";
	*colon = '\0';
	return colon + 1;
}

static bool fits(const char *pattern, const char *name)
{
	return !*pattern || !fnmatch(pattern, name, 0);
}

bool suggest_has(const char *events, const char *word)
{
	char line[2 * NAME_MOST], wanted[2 * NAME_MOST];

	word += *word == '!';
	snprintf(wanted, sizeof(wanted), "%s", word);
	bool pair = strchr(word, ':');
	const char *event = cut(wanted);
	if (!strcmp(word, "all"))
		return true;
	while (*word && next_event(&events, line)) {
		const char *name = cut(line);
		if (pair ? fits(wanted, line) && fits(event, name)
			 : fits(wanted, line) || fits(wanted, name))
			return true;
	}
	return false;
}

/* Keeps the likest so far. */
static void compare(const char *word, const char *name, unsigned *best, char like[2 * NAME_MOST])
{
	unsigned d = suggest_distance(word, name);

	if (d >= *best)
		return;
	*best = d;
	snprintf(like, 2 * NAME_MOST, "%s", name);
}

char *suggest(const char *events, const char *word)
{
	char line[2 * NAME_MOST], like[2 * NAME_MOST] = "";
	unsigned best;

	word += *word == '!';
	best = strlen(word) / 3 + 1; /* what is further away is another word */
	bool pair = strchr(word, ':');
	if (strpbrk(word, "*?["))
		return NULL;
	while (next_event(&events, line)) {
		if (pair) {
			compare(word, line, &best, like);
			continue;
		}
		const char *name = cut(line);
		compare(word, line, &best, like);
		compare(word, name, &best, like);
	}
	return *like ? xstrndup(like, strlen(like)) : NULL;
}
