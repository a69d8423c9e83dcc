/* A checker of JSON, written by the RFC and not by what prints it. One user at a time. */
#include "tests/unit/json_check.h"
#include "kernel/lib/string.h"

#define KEYS_MAX 4096

struct text {
	const char *at, *end;
	u32 depth;
};

/* Names of all objects that are open, those of the innermost last. */
static struct {
	const char *at;
	size_t len;
} keys[KEYS_MAX];
static u32 n_keys;

static bool value(struct text *t);

static bool take(struct text *t, char c)
{
	if (t->at == t->end || *t->at != c)
		return false;
	t->at++;
	return true;
}

static bool word(struct text *t, const char *w)
{
	while (*w)
		if (!take(t, *w++))
			return false;
	return true;
}

static bool digits(struct text *t)
{
	const char *start = t->at;

	while (t->at < t->end && is_digit(*t->at))
		t->at++;
	return t->at > start;
}

static bool number(struct text *t)
{
	take(t, '-');
	if (!take(t, '0') && !digits(t))
		return false;
	if (take(t, '.') && !digits(t))
		return false;
	if (take(t, 'e')) {
		if (!take(t, '+'))
			take(t, '-');
		return digits(t);
	}
	return true;
}

static bool escape(struct text *t)
{
	if (take(t, 'u')) {
		for (u32 i = 0; i < 4; i++, t->at++)
			if (t->at == t->end ||
			    !(is_digit(*t->at) || (*t->at >= 'a' && *t->at <= 'f')))
				return false;
		return true;
	}
	return t->at < t->end && strchr("\"\\/bfnrt", *t->at++);
}

/* The ranges of the table "well-formed UTF-8 byte sequences" of the Unicode standard. */
static bool character(struct text *t)
{
	static const struct {
		u8 first, last, low, high, more;
	} rows[] = {{0x20, 0x7e, 0, 0, 0}, {0xc2, 0xdf, 0x80, 0xbf, 1}, {0xe0, 0xe0, 0xa0, 0xbf, 2},
	    {0xe1, 0xec, 0x80, 0xbf, 2}, {0xed, 0xed, 0x80, 0x9f, 2}, {0xee, 0xef, 0x80, 0xbf, 2},
	    {0xf0, 0xf0, 0x90, 0xbf, 3}, {0xf1, 0xf3, 0x80, 0xbf, 3}, {0xf4, 0xf4, 0x80, 0x8f, 3}};
	u8 c = *t->at++;

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		if (c < rows[i].first || c > rows[i].last)
			continue;
		if ((size_t)(t->end - t->at) < rows[i].more)
			return false;
		for (u32 k = 0; k < rows[i].more; k++, t->at++) {
			u8 b = *t->at;
			if (b < (k ? 0x80 : rows[i].low) || b > (k ? 0xbf : rows[i].high))
				return false;
		}
		return true;
	}
	return false;
}

static bool string(struct text *t)
{
	if (!take(t, '"'))
		return false;
	while (t->at < t->end && *t->at != '"')
		if (!(take(t, '\\') ? escape(t) : character(t)))
			return false;
	return take(t, '"');
}

static bool array(struct text *t)
{
	if (take(t, ']'))
		return true;
	do
		if (!value(t))
			return false;
	while (take(t, ','));
	return take(t, ']');
}

static bool is_new_key(u32 base, const char *at, size_t len)
{
	for (u32 i = base; i < n_keys; i++)
		if (keys[i].len == len && !memcmp(keys[i].at, at, len))
			return false;
	if (n_keys == KEYS_MAX)
		return false;
	keys[n_keys].at = at;
	keys[n_keys++].len = len;
	return true;
}

static bool object(struct text *t)
{
	u32 base = n_keys;

	if (take(t, '}'))
		return true;
	do {
		const char *key = t->at;
		if (!string(t) || !is_new_key(base, key, t->at - key) || !take(t, ':') || !value(t))
			return false;
	} while (take(t, ','));
	n_keys = base;
	return take(t, '}');
}

static bool value(struct text *t)
{
	bool good;

	if (t->at == t->end || t->depth == 64)
		return false;
	t->depth++;
	switch (*t->at) {
	case '"':
		good = string(t);
		break;
	case '{':
		t->at++;
		good = object(t);
		break;
	case '[':
		t->at++;
		good = array(t);
		break;
	case 't':
		good = word(t, "true");
		break;
	case 'f':
		good = word(t, "false");
		break;
	case 'n':
		good = word(t, "null");
		break;
	default:
		good = number(t);
		break;
	}
	t->depth--;
	return good;
}

bool json_check(const char *text, size_t len)
{
	struct text t = {text, text + len, 0};

	n_keys = 0;
	return value(&t) && t.at == t.end;
}
