/*
 * Formatting in two halves. Both walk the format with bprintf_next_spec(), so that they agree on
 * what each conversion takes. Any context; no state.
 */
#include "trace/output/bprintf.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"

/* One conversion of a format. */
struct spec {
	const char *start, *end; /* from the % on; after the last letter */
	u8 stars;		 /* '*' for width, precision: an int each */
	u8 words;		 /* of the argument; 0: a string, or none */
	char conv;
};

static u8 size_words(const char *length, const char *end)
{
	for (; length < end; length++)
		if (*length == 'l' || *length == 'z' || *length == 'j' || *length == 't' ||
		    *length == 'L')
			return 2;
	return 1;
}

/* The next conversion at or after fmt; false: the rest is plain text. */
static bool bprintf_next_spec(const char *fmt, struct spec *sp)
{
	const char *p = strchr(fmt, '%');

	if (!p)
		return false;
	*sp = (struct spec){.start = p++};
	for (; *p && strchr("-+ #0123456789.*", *p); p++)
		sp->stars += *p == '*';
	const char *length = p;
	while (*p && strchr("hlzjtL", *p))
		p++;
	sp->conv = *p;
	if (*p)
		p++;
	if (sp->conv == 'p') {
		sp->words = 2;
		p += is_alpha(*p);
	} else if (sp->conv && strchr("diuxXoc", sp->conv)) {
		sp->words = size_words(length, p);
	}
	sp->end = p;
	return true;
}

/* Words of a string of so many bytes and its NUL. */
static u32 string_words(size_t len)
{
	return len / 4 + 1;
}

struct packer {
	u32 *buf;
	u32 room, used;
};

static void bprintf_pack(struct packer *pk, const void *data, size_t bytes, u32 words)
{
	if (pk->used + words <= pk->room) {
		pk->buf[pk->used + words - 1] = 0;
		memcpy(&pk->buf[pk->used], data, bytes);
	}
	pk->used += words;
}

u32 bprintf_encode(u32 *buf, u32 room, const char *fmt, va_list ap)
{
	struct packer pk = {buf, room, 0};
	struct spec sp;

	for (; bprintf_next_spec(fmt, &sp); fmt = sp.end) {
		for (u8 i = 0; i < sp.stars; i++) {
			int star = va_arg(ap, int);
			bprintf_pack(&pk, &star, 4, 1);
		}
		if (sp.conv == 's') {
			const char *s = va_arg(ap, const char *);
			if (!s)
				s = "(null)";
			size_t len = strlen(s); /* once: it may change meanwhile */
			bprintf_pack(&pk, s, len, string_words(len));
		} else if (sp.words == 2) {
			u64 v = va_arg(ap, u64);
			bprintf_pack(&pk, &v, 8, 2);
		} else if (sp.words == 1) {
			u32 v = va_arg(ap, u32);
			bprintf_pack(&pk, &v, 4, 1);
		}
	}
	return pk.used;
}

/* The conversion's own text, with numbers in the places of its stars. False: the words ran out. */
static bool plain_spec(
    const struct spec *sp, const u32 **at, const u32 *end, char *text, size_t size)
{
	struct seq s;

	seq_init(&s, text, size - 1);
	for (const char *p = sp->start; p < sp->end; p++) {
		if (*p != '*') {
			seq_putc(&s, *p);
			continue;
		}
		if (*at == end)
			return false;
		seq_printf(&s, "%d", (int)*(*at)++);
	}
	text[s.len] = '\0';
	return !s.overflow;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static const u32 *decode_one(
    struct seq *s, const struct spec *sp, const char *text, const u32 *at, const u32 *end)
{
	u64 v = 0;

	if (sp->conv == 's') {
		size_t room = (end - at) * 4, len = strnlen((const char *)at, room);
		if (len == room)
			return NULL;
		seq_printf(s, text, (const char *)at);
		return at + string_words(len);
	}
	if (end - at < sp->words)
		return NULL;
	memcpy(&v, at, sp->words * 4);
	if (sp->words == 2)
		seq_printf(s, text, v);
	else if (sp->words == 1)
		seq_printf(s, text, (u32)v);
	else
		seq_printf(s, "%s", sp->conv == '%' ? "%" : text);
	return at + sp->words;
}
#pragma GCC diagnostic pop

void bprintf_decode(struct seq *s, const char *fmt, const u32 *buf, u32 words)
{
	const u32 *end = buf + words;
	struct spec sp;
	char text[40];

	for (; bprintf_next_spec(fmt, &sp); fmt = sp.end) {
		seq_write(s, fmt, sp.start - fmt);
		if (!plain_spec(&sp, &buf, end, text, sizeof(text)))
			return;
		buf = decode_one(s, &sp, text, buf, end);
		if (!buf)
			return;
	}
	seq_puts(s, fmt);
}
