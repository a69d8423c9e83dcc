/* Pattern matching and lists of words. Pure but for memory. */
#include "kernel/shell/glob.h"
#include "kernel/lib/string.h"

bool sh_class_has(const char *name, size_t n, unsigned char c)
{
	static const struct {
		const char *name, *set;
	} classes[] = {
	    {"alpha", "a-zA-Z"},
	    {"digit", "0-9"},
	    {"alnum", "a-zA-Z0-9"},
	    {"upper", "A-Z"},
	    {"lower", "a-z"},
	    {"space", "\t-\r  "},
	    {"blank", "\t\t  "},
	    {"xdigit", "0-9a-fA-F"},
	    {"punct", "!-/:-@[-`{-~"},
	    {"print", " -~"},
	    {"graph", "!-~"},
	    {"cntrl", "\1-\37\177\177"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		const unsigned char *s = (const unsigned char *)classes[i].set;

		if (strlen(classes[i].name) != n || memcmp(classes[i].name, name, n))
			continue;
		while (*s) { /* "a-z" ranges; a pair without '-' is a range too */
			unsigned char lo = s[0], hi = s[1] == '-' ? s[2] : s[1];

			if (c >= lo && c <= hi)
				return true;
			s += s[1] == '-' ? 3 : 2;
		}
	}
	return false;
}

/* One element of a bracket expression at *p, which moves behind it. */
static bool bracket_item(const char **p, unsigned char c)
{
	const char *s = *p, *e;
	unsigned char lo, hi;

	if (s[0] == '[' && s[1] == ':' && (e = strstr(s + 2, ":]"))) {
		*p = e + 2;
		return sh_class_has(s + 2, e - s - 2, c);
	}
	if (*s == '\\' && s[1])
		s++;
	lo = hi = *s++;
	if (s[0] == '-' && s[1] && s[1] != ']') {
		s++;
		if (*s == '\\' && s[1])
			s++;
		hi = *s++;
	}
	*p = s;
	return c >= lo && c <= hi;
}

/* One bracket expression at p ('['): does it hold c? *end is set behind the ']'; NULL: there is none, '[' is itself. */
static bool sh_glob_bracket(const char *p, char c, const char **end)
{
	bool negate, found = false;
	const char *first;

	p++;
	negate = *p == '!' || *p == '^';
	p += negate;
	for (first = p; *p && (*p != ']' || p == first);)
		found |= bracket_item(&p, c);
	*end = *p ? p + 1 : NULL;
	return found != negate;
}

/* One pattern element against one character: where the pattern goes on, NULL if they differ. */
static const char *match_one(const char *p, char c)
{
	const char *end;
	bool has;

	switch (*p) {
	case '?':
		return p + 1;
	case '[':
		has = sh_glob_bracket(p, c, &end);
		if (end)
			return has ? end : NULL;
		break;
	case '\\':
		p += p[1] != 0;
		break;
	default:
		break;
	}
	return *p && *p == c ? p + 1 : NULL;
}

bool sh_glob_match_n(const char *p, const char *text, size_t n)
{
	const char *star = NULL, *retry = NULL, *end = text + n, *q;

	for (;;) {
		if (*p == '*') {
			star = ++p;
			retry = text;
			continue;
		}
		if (text == end) {
			if (!*p)
				return true;
			return false; /* a longer tail for the star has been tried before a shorter one */
		}
		q = match_one(p, *text);
		if (q) {
			p = q;
			text++;
		} else if (star) {
			p = star;
			text = ++retry;
		} else {
			return false;
		}
	}
}

bool sh_glob_match(const char *pattern, const char *text)
{
	return sh_glob_match_n(pattern, text, strlen(text));
}

bool sh_glob_magic(const char *p)
{
	for (; *p; p++) {
		if (*p == '\\' && p[1])
			p++;
		else if (strchr("*?[", *p))
			return true;
	}
	return false;
}

void sh_words_add(struct sh_words *w, struct sh_arena *a, char *word)
{
	if (w->n + 1 >= w->room) {
		int room = w->room ? w->room * 2 : 8;
		char **v = sh_alloc(a, room * sizeof(*v));

		if (!v || !word) {
			w->failed = true;
			return;
		}
		if (w->n)
			memcpy(v, w->v, w->n * sizeof(*v));
		w->v = v;
		w->room = room;
	}
	if (!word) {
		w->failed = true;
		return;
	}
	w->v[w->n++] = word;
	w->v[w->n] = NULL;
}

static void sift_down(char **v, int at, int n)
{
	for (int kid; (kid = 2 * at + 1) < n; at = kid) {
		if (kid + 1 < n && strcmp(v[kid], v[kid + 1]) < 0)
			kid++;
		if (strcmp(v[at], v[kid]) >= 0)
			return;
		char *t = v[at];
		v[at] = v[kid];
		v[kid] = t;
	}
}

void sh_words_sort(char **v, int n)
{
	for (int i = n / 2 - 1; i >= 0; i--)
		sift_down(v, i, n);
	for (int i = n - 1; i > 0; i--) {
		char *t = v[0];
		v[0] = v[i];
		v[i] = t;
		sift_down(v, 0, i);
	}
}
