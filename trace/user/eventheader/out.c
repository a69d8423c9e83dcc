/* See out.h. */
#include "trace/user/eventheader/out.h"
#include "kernel/lib/string.h"

#define REPLACEMENT 0xfffd
#define LAST_CODE   0x10ffff

/* ---- objects, arrays, names ---- */

static void put_separator(struct eh_out *o, char text)
{
	if (!o->first)
		seq_putc(o->s, o->json ? ',' : text);
	o->first = false;
}

void eh_out_quote(struct eh_out *o)
{
	if (o->json)
		seq_putc(o->s, '"');
}

void eh_out_member(struct eh_out *o, const char *name, u32 len, u32 number, u16 tag)
{
	put_separator(o, ' ');
	eh_out_quote(o);
	eh_utf8_put(o->s, name, len);
	if (number) {
		seq_putc(o->s, '#');
		seq_dec(o->s, number, 1, ' ');
	}
	if (tag) {
		seq_puts(o->s, ";tag=0x");
		seq_hex(o->s, tag, 1);
	}
	eh_out_quote(o);
	seq_putc(o->s, o->json ? ':' : '=');
}

void eh_out_key(struct eh_out *o, const char *name)
{
	eh_out_member(o, name, strlen(name), 0, 0);
}

void eh_out_element(struct eh_out *o)
{
	put_separator(o, ',');
}

void eh_out_open(struct eh_out *o, bool is_array)
{
	seq_putc(o->s, o->json && is_array ? '[' : '{');
	o->first = true;
}

void eh_out_close(struct eh_out *o, bool is_array)
{
	seq_putc(o->s, o->json && is_array ? ']' : '}');
	o->first = false;
}

/* ---- characters ---- */

u64 eh_load(const u8 *p, u32 n, bool big)
{
	u64 v = 0;

	for (u32 i = 0; i < n; i++)
		v = v << 8 | p[big ? i : n - 1 - i];
	return v;
}

static bool is_surrogate(u32 code)
{
	return code >= 0xd800 && code < 0xe000;
}

/*
 * A byte that begins no character is one of Latin-1, as in Microsoft's decoder: the next may begin
 * one.
 */
static u32 next_utf8(struct eh_chars *c)
{
	static const u32 least[] = {0, 0x80, 0x800, 0x10000};
	u8 first = *c->at++;
	u32 more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1, code = first & (0x3f >> more);

	if (first < 0x80)
		return first;
	if (first < 0xc0 || first >= 0xf8 || (size_t)(c->end - c->at) < more)
		return first;
	for (u32 i = 0; i < more; i++) {
		if ((c->at[i] & 0xc0) != 0x80)
			return first;
		code = code << 6 | (c->at[i] & 0x3f);
	}
	if (code < least[more] || code > LAST_CODE || is_surrogate(code))
		return first;
	c->at += more;
	return code;
}

/* A unit of n bytes; an incomplete one at the end is the last. */
static u32 eh_char_next_unit(struct eh_chars *c, u32 n, bool big)
{
	u32 unit = REPLACEMENT;

	if ((size_t)(c->end - c->at) >= n)
		unit = eh_load(c->at, n, big);
	c->at += MIN((size_t)n, (size_t)(c->end - c->at));
	return unit;
}

static u32 next_utf16(struct eh_chars *c, bool big)
{
	u32 high = eh_char_next_unit(c, 2, big), low;
	struct eh_chars ahead = *c;

	if (!is_surrogate(high))
		return high;
	if (high >= 0xdc00 || c->end - c->at < 2)
		return REPLACEMENT;
	low = eh_char_next_unit(&ahead, 2, big);
	if (low < 0xdc00 || low >= 0xe000)
		return REPLACEMENT;
	*c = ahead;
	return 0x10000 + ((high - 0xd800) << 10 | (low - 0xdc00));
}

static u32 next_utf32(struct eh_chars *c, bool big)
{
	u32 code = eh_char_next_unit(c, 4, big);

	return code > LAST_CODE || is_surrogate(code) ? REPLACEMENT : code;
}

u32 eh_char_next(struct eh_chars *c)
{
	switch (c->set) {
	case EH_LATIN:
		return *c->at++;
	case EH_UTF8:
		return next_utf8(c);
	case EH_UTF16:
	case EH_UTF16_BIG:
		return next_utf16(c, c->set == EH_UTF16_BIG);
	default:
		return next_utf32(c, c->set == EH_UTF32_BIG);
	}
}

/* Those of UTF-32 first: one of them begins as one of UTF-16 does. */
void eh_chars_skip_mark(struct eh_chars *c)
{
	static const struct {
		const char *mark;
		u32 len;
		enum eh_charset set;
	} marks[] = {
	    {"\xff\xfe\0\0", 4, EH_UTF32},
	    {"\0\0\xfe\xff", 4, EH_UTF32_BIG},
	    {"\xff\xfe", 2, EH_UTF16},
	    {"\xfe\xff", 2, EH_UTF16_BIG},
	    {"\xef\xbb\xbf", 3, EH_UTF8},
	};

	for (u32 i = 0; i < ARRAY_SIZE(marks); i++) {
		if ((size_t)(c->end - c->at) < marks[i].len ||
		    memcmp(c->at, marks[i].mark, marks[i].len))
			continue;
		c->at += marks[i].len;
		c->set = marks[i].set;
		return;
	}
}

static void put_code(struct seq *s, u32 code)
{
	if (code < 0x80) {
		seq_putc(s, code);
		return;
	}
	if (code < 0x800) {
		seq_putc(s, 0xc0 | code >> 6);
	} else {
		if (code < 0x10000) {
			seq_putc(s, 0xe0 | code >> 12);
		} else {
			seq_putc(s, 0xf0 | code >> 18);
			seq_putc(s, 0x80 | (code >> 12 & 0x3f));
		}
		seq_putc(s, 0x80 | (code >> 6 & 0x3f));
	}
	seq_putc(s, 0x80 | (code & 0x3f));
}

/* Does it move a terminal's cursor, or end a line for somebody? */
static bool is_control(u32 code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029;
}

void eh_char_put(struct seq *s, u32 code)
{
	static const char letters[32] = {
	    ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};

	if (!is_control(code)) {
		if (code == '"' || code == '\\')
			seq_putc(s, '\\');
		put_code(s, code);
	} else if (code < 0x20 && letters[code]) {
		seq_putc(s, '\\');
		seq_putc(s, letters[code]);
	} else {
		seq_write(s, "\\u", 2);
		seq_hex(s, code, 4);
	}
}

void eh_chars_put(struct seq *s, struct eh_chars c)
{
	while (c.at < c.end && !s->overflow)
		eh_char_put(s, eh_char_next(&c));
}

void eh_utf8_put(struct seq *s, const char *text, u32 len)
{
	const u8 *at = (const u8 *)text;

	eh_chars_put(s, (struct eh_chars){at, at + len, EH_UTF8});
}
