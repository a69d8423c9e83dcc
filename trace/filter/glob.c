/*
 * Text matching for predicates: finds the kind of a pattern, and matches each kind. Pure: any
 * context; reads nothing beyond the given lengths.
 *
 * It keeps Linux's peculiarities: "*text" alone compares with the end of the memory, which for an
 * array of fixed size is not the end of the string in it; a pattern that begins with a digit has no
 * wildcards; a leading '!' negates the match.
 */
/* hot: runs with each event */
#include "kernel/lib/string.h"
#include "trace/filter/priv.h"

static bool filter_match_full(const struct filter_insn *in, const char *s, u32 len)
{
	return strnlen(s, len) == in->text_len && !memcmp(s, in->text, in->text_len);
}

/* "text*" */
static bool filter_match_front(const struct filter_insn *in, const char *s, u32 len)
{
	return len >= in->text_len && !memcmp(s, in->text, in->text_len);
}

/* "*text" */
static bool filter_match_end(const struct filter_insn *in, const char *s, u32 len)
{
	u32 n = in->text_len;

	return len > n && !memcmp(s + len - 1 - n, in->text, n);
}

/* "*text*". The text has no NUL, so nothing after the end of the string is equal to it. */
static bool filter_match_middle(const struct filter_insn *in, const char *s, u32 len)
{
	u32 n = in->text_len;

	if (n == 0 || len < n)
		return n == 0;
	for (const char *last = s + len - n; s <= last && *s; s++)
		if (*s == in->text[0] && !memcmp(s, in->text, n))
			return true;
	return false;
}

/* "text*text", nothing else in it */
static bool filter_match_ends(const struct filter_insn *in, const char *s, u32 len)
{
	const char *p = in->text, *end = s;

	while (len && *end) {
		end++;
		len--;
	}
	if (end - s < in->text_len - 1)
		return false;
	for (; *p != '*'; p++, s++)
		if (*p != *s)
			return false;
	for (const char *q = in->text + in->text_len - 1; q > p; q--)
		if (*q != *--end)
			return false;
	return true;
}

/* Is one '*' the only wildcard from `at` on? */
static bool is_one_star(const char *s, size_t n, size_t at)
{
	return s[at] == '*' && !memchr(s + at + 1, '*', n - at - 1) && !memchr(s, '?', n);
}

/* The pattern's kind by its wildcards; *text, *len become what is compared. */
static filter_match kind_of(const char **text, size_t *len)
{
	const char *s = *text;
	size_t n = *len;
	bool open = n && s[0] == '*', close = n > 1 && s[n - 1] == '*';

	if (n && is_digit(s[0]))
		return filter_match_full;
	if (memchr(s, '[', n) || memchr(s, '\\', n))
		return filter_match_glob;
	for (size_t i = open; i < n - close; i++)
		if (s[i] == '*' || s[i] == '?')
			return !open && !close && is_one_star(s, n, i) ? filter_match_ends
								       : filter_match_wild;
	*text += open;
	*len -= open + close;
	return open ? (close ? filter_match_middle : filter_match_end)
		    : (close ? filter_match_front : filter_match_full);
}

void filter_text_prepare(struct filter_insn *in, char *pattern, size_t len, bool glob)
{
	const char *text = pattern;

	if (glob && len && *text == '!') {
		in->negate = true;
		text++;
		len--;
	}
	in->match = glob ? kind_of(&text, &len) : filter_match_full;
	in->text = text;
	in->text_len = len;
	pattern[text - pattern + len] = '\0';
}

/*
 * A class; p is after its '['. Returns where the pattern goes on, or NULL if the class has no end
 * and '[' stands for itself. "[!": any but these; the first character may be ']'; "a-z": a range; a
 * '-' before the end stands for itself.
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

/*
 * Does the pattern's next element, a class or a character after a backslash, take c? Returns where
 * it goes on, NULL: no.
 */
static const char *match_special(const char *p, char c)
{
	bool match;

	if (*p == '\\')
		return p[1] && p[1] == c ? p + 2 : NULL;
	const char *rest = match_class(p + 1, c, &match);
	if (rest)
		return match ? rest : NULL;
	return c == '[' ? p + 1 : NULL;
}

/* The pattern is used up; a lone backslash at its end stands for nothing. */
static bool at_end(const char *p)
{
	while (*p == '*')
		p++;
	return !*p || (p[0] == '\\' && !p[1]);
}

/*
 * From s on, where the element that begins with `first` may match: known at once if that is a
 * character and no more.
 */
static inline const char *skip(const char *s, const char *end, char first)
{
	if (first != '?' && first != '*' && first != '[' && first != '\\')
		while (s < end && *s != first && *s)
			s++;
	return s;
}

/*
 * The last '*' takes nothing at first, and one more character each time what follows does not
 * match: earlier ones need not be tried again, since what stands between two '*' has matched as
 * early as it can.
 */
static inline __attribute__((always_inline)) bool match_glob(
    const struct filter_insn *in, const char *s, u32 len, bool special)
{
	const char *p = in->text, *end = s + len, *star = NULL, *from = NULL;

	while (s < end && *s) {
		char c = *s, want = *p;
		const char *next = p + 1;
		if (want == '*') {
			p = star = next;
			from = s = skip(s, end, *star);
			continue;
		}
		if (special && (want == '[' || want == '\\'))
			next = match_special(p, c);
		else if (want != c && want != '?')
			next = NULL;
		if (next) {
			p = next;
			s++;
		} else if (star) {
			p = star;
			s = from = skip(from + 1, end, *star);
		} else {
			return false;
		}
	}
	return at_end(p);
}

bool filter_match_glob(const struct filter_insn *in, const char *s, u32 len)
{
	return match_glob(in, s, len, true);
}

bool filter_match_wild(const struct filter_insn *in, const char *s, u32 len)
{
	return match_glob(in, s, len, false);
}
