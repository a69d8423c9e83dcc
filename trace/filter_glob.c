/*
 * How a predicate compares text: what kind of pattern it is, and the matching of each kind. Pure: any context; nothing is read
 * beyond the lengths given.
 *
 * Linux's odd sides are kept: "*text" alone compares with the end of the memory, which for an array of fixed size is not the end of
 * the string in it; a pattern that begins with a digit has no wildcards; '!' at the start asks the opposite.
 */
#include "kernel/lib/string.h"
#include "trace/filter_priv.h"

/* The pattern's kind by its wildcards; *text, *len become what is compared. */
static enum filter_how kind_of(const char **text, size_t *len)
{
	const char *s = *text;
	size_t n = *len;
	bool open = n && s[0] == '*', close = n > 1 && s[n - 1] == '*';

	if (n && is_digit(s[0]))
		return FILTER_FULL;
	for (size_t i = open; i < n - close; i++)
		if (s[i] == '*' || s[i] == '[' || s[i] == '?' || s[i] == '\\')
			return FILTER_GLOB;
	*text += open;
	*len -= open + close;
	return open ? (close ? FILTER_MIDDLE : FILTER_END) : (close ? FILTER_FRONT : FILTER_FULL);
}

void filter_text_prepare(struct filter_insn *in, char *pattern, size_t len, bool glob)
{
	const char *text = pattern;

	if (glob && len && *text == '!') {
		in->negate = true;
		text++;
		len--;
	}
	in->how = glob ? kind_of(&text, &len) : FILTER_FULL;
	in->text = text;
	in->text_len = len;
	pattern[text - pattern + len] = '\0';
}

static bool contains(const char *s, u32 len, const char *what, u32 what_len)
{
	for (u32 i = 0; i + what_len <= len; i++)
		if (!memcmp(s + i, what, what_len))
			return true;
	return false;
}

bool filter_text_match(const struct filter_insn *in, const char *s, u32 len)
{
	u32 n = in->text_len;

	switch (in->how) {
	case FILTER_FRONT:
		return len >= n && !memcmp(s, in->text, n);
	case FILTER_END:
		return len > n && !memcmp(s + len - 1 - n, in->text, n);
	case FILTER_MIDDLE:
		return contains(s, strnlen(s, len), in->text, n);
	case FILTER_GLOB:
		return filter_glob(in->text, s, len);
	default:
		return strnlen(s, len) == n && !memcmp(s, in->text, n);
	}
}

/*
 * A class, from behind its '['. Returns where the pattern goes on, or NULL if it has no end and '[' stands for itself. "[!": any but
 * these; the first character may be ']'; "a-z": a range; a '-' before the end stands for itself.
 */
static const char *match_class(const char *p, unsigned char c, bool *match)
{
	bool invert = *p == '!', found = false;
	const unsigned char *at = (const unsigned char *)p + invert;

	do {
		unsigned char from = *at++, to = from;
		if (from && at[0] == '-' && at[1] != ']') {
			to = at[1];
			at += 2;
		}
		if (!from || !to)
			return NULL;
		found |= from <= c && c <= to;
	} while (*at != ']');
	*match = found != invert;
	return (const char *)at + 1;
}

/* Does the pattern's next element, no '*', take c? Returns where the pattern goes on, NULL: no. */
static const char *match_one(const char *p, char c)
{
	bool match;
	const char *rest;

	switch (*p) {
	case '?':
		return p + 1;
	case '[':
		rest = match_class(p + 1, c, &match);
		if (rest)
			return match ? rest : NULL;
		return c == '[' ? p + 1 : NULL;
	case '\\':
		p++;
		return *p && *p == c ? p + 1 : NULL;
	default:
		return *p && *p == c ? p + 1 : NULL;
	}
}

/* A lone backslash at the end stands for nothing. */
static bool at_end(const char *p)
{
	return !*p || (p[0] == '\\' && !p[1]);
}

/*
 * The last '*' takes nothing at first, and one more character each time what follows does not match: earlier ones need not be tried
 * again, since what stands between two '*' has matched as early as it can.
 */
bool filter_glob(const char *p, const char *s, u32 len)
{
	const char *end = s + strnlen(s, len), *star = NULL, *from = NULL;

	for (;;) {
		if (*p == '*') {
			star = ++p;
			from = s;
			if (!*p)
				return true;
			continue;
		}
		if (s == end && at_end(p))
			return true;
		const char *next = s < end ? match_one(p, *s) : NULL;
		if (next) {
			p = next;
			s++;
		} else {
			if (!star || from >= end)
				return false;
			p = star;
			s = ++from;
		}
	}
}
