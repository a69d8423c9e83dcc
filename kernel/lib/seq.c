/* seq: text into memory of the caller's. Any context; a seq belongs to one user at a time. */
#include "kernel/lib/seq.h"
#include "kernel/lib/digits.h"
#include "kernel/lib/string.h"

/* Room for n more bytes? If not, the seq is marked and n cut to what fits. */
static inline size_t seq_room(struct seq *s, size_t n)
{
	size_t room = s->size - s->len;
	if (likely(n <= room))
		return n;
	s->overflow = true;
	return room;
}

void seq_write(struct seq *s, const void *data, size_t n)
{
	n = seq_room(s, n);
	memcpy(s->buf + s->len, data, n);
	s->len += n;
}

static void seq_put(struct fmt_sink *sink, const char *text, size_t n)
{
	seq_write(container_of(sink, struct seq, sink), text, n);
}

void seq_init(struct seq *s, char *buf, size_t size)
{
	s->sink.put = seq_put;
	s->buf = buf;
	s->size = size;
	s->len = 0;
	s->overflow = false;
}

void seq_vprintf(struct seq *s, const char *fmt, va_list ap)
{
	fmt_vprint(&s->sink, fmt, ap);
}

void seq_printf(struct seq *s, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fmt_vprint(&s->sink, fmt, ap);
	va_end(ap);
}

void seq_putc(struct seq *s, char c)
{
	if (likely(s->len < s->size))
		s->buf[s->len++] = c;
	else
		s->overflow = true;
}

void seq_puts(struct seq *s, const char *str)
{
	seq_write(s, str, strlen(str));
}

/*
 * Room for a number of n digits in its field, the padding written; returns the end of the digits.
 * NULL: not all fits.
 */
static inline char *seq_field(struct seq *s, unsigned n, unsigned width, char pad)
{
	size_t len = MAX(n, width);

	if (unlikely(len > s->size - s->len))
		return NULL;
	char *at = s->buf + s->len;
	s->len += len;
	for (; width > n; width--)
		*at++ = pad;
	return at + n;
}

/* The same where only a part fits. */
static void seq_cut(struct seq *s, const char *digits, size_t n, unsigned width, char pad)
{
	for (; width > n; width--)
		seq_putc(s, pad);
	seq_write(s, digits, n);
}

void seq_dec(struct seq *s, u64 v, unsigned width, char pad)
{
	unsigned n = count_dec(v);
	char *end = seq_field(s, n, width, pad), digits[DIGITS_MAX];

	if (likely(end))
		digits_dec(end, v);
	else
		seq_cut(s, digits_dec(digits + DIGITS_MAX, v), n, width, pad);
}

void seq_hex(struct seq *s, u64 v, unsigned width)
{
	unsigned n = count_hex(v);
	char *end = seq_field(s, n, width, '0'), digits[DIGITS_MAX];

	if (likely(end))
		digits_hex(end, v);
	else
		seq_cut(s, digits_hex(digits + DIGITS_MAX, v), n, width, '0');
}
