/* Values of EventHeader fields: numbers, addresses, times, strings. Pure: any context. */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/eventheader_priv.h"

/* Which formats go with an encoding, a bit each; of all others the default is shown. Bytes go with each. */
#define F(format) (1u << EH_##format)
#define NUMBER	  (F(UNSIGNED) | F(SIGNED) | F(HEX))
#define TEXT	  (F(STRING_UTF) | F(STRING_BOM) | F(STRING_XML) | F(STRING_JSON))
static const u32 usable[EH_ENCODING_MAX] = {
    [EH_VALUE8] = NUMBER | F(BOOLEAN) | F(STRING_LATIN),
    [EH_VALUE16] = NUMBER | F(BOOLEAN) | F(STRING_UTF) | F(PORT),
    [EH_VALUE32] =
	NUMBER | F(ERRNO) | F(PID) | F(TIME) | F(BOOLEAN) | F(FLOAT) | F(STRING_UTF) | F(IPV4),
    [EH_VALUE64] = NUMBER | F(TIME) | F(FLOAT),
    [EH_VALUE128] = F(UUID) | F(IPV6),
    [EH_ZSTRING8] = TEXT | F(STRING_LATIN),
    [EH_ZSTRING16] = TEXT,
    [EH_ZSTRING32] = TEXT,
    [EH_STRING8] = TEXT | F(STRING_LATIN),
    [EH_STRING16] = TEXT,
    [EH_STRING32] = TEXT,
};

static enum eventheader_format format_of(const struct eh_value *v)
{
	if (v->format == EH_BYTES)
		return EH_BYTES;
	if (v->format && v->format <= EH_IPV6 && (usable[v->encoding] >> v->format & 1))
		return v->format;
	return v->encoding == EH_VALUE128  ? EH_BYTES
	       : v->encoding < EH_VALUE128 ? EH_UNSIGNED
					   : EH_STRING_UTF;
}

u64 eh_load(const u8 *p, u32 n, bool big)
{
	u64 v = 0;

	for (u32 i = 0; i < n; i++)
		v = v << 8 | p[big ? i : n - 1 - i];
	return v;
}

static s64 load_signed(const struct eh_value *v)
{
	u32 spare = 64 - 8 * v->n;

	return (s64)(eh_load(v->p, v->n, v->big) << spare) >> spare;
}

static void put_signed(struct seq *s, s64 v)
{
	if (v < 0)
		seq_putc(s, '-');
	seq_dec(s, v < 0 ? 0 - (u64)v : (u64)v, 1, ' ');
}

/* ---- what JSON has between quotes ----------------------------------------------------------------------------------------- */

void eh_bytes_put(struct seq *s, const u8 *p, u32 n, char between)
{
	for (u32 i = 0; i < n && !s->overflow; i++) {
		if (i)
			seq_putc(s, between);
		seq_hex(s, p[i], 2);
	}
}

void eh_uuid_put(struct seq *s, const u8 *id)
{
	static const u8 groups[] = {4, 2, 2, 2, 6};

	for (u32 i = 0; i < ARRAY_SIZE(groups); id += groups[i++]) {
		if (i)
			seq_putc(s, '-');
		for (u32 k = 0; k < groups[i]; k++)
			seq_hex(s, id[k], 2);
	}
}

static void put_errno(struct seq *s, s64 v)
{
	const char *name = v > 0 ? errno_name(v) : NULL;

	seq_puts(s, name ? name : "ERRNO");
	seq_putc(s, '(');
	put_signed(s, v);
	seq_putc(s, ')');
}

#define YEAR_0	   -62167219200 /* seconds from 1970 to the year 0, to the year 10000 */
#define YEAR_10000 253402300800
#define DAY	   86400
#define CYCLE	   146097 /* days of 400 years, after which the calendar repeats itself */

/*
 * days: since January 1 of the year 0. Counted from March 1 of the year -400 on, so that nothing is negative, a leap day is its year's
 * last, and a month's first day is a matter of arithmetic.
 */
static void put_date(struct seq *s, u64 days)
{
	u64 since = days - 60 + CYCLE, cycles = since / CYCLE, day = since % CYCLE;
	u64 year = (day - day / 1460 + day / 36524 - day / (CYCLE - 1)) / 365;

	day -= year * 365 + year / 4 - year / 100;
	u64 month = (5 * day + 2) / 153; /* 0: March */
	day -= (153 * month + 2) / 5;
	seq_dec(s, (cycles - 1) * 400 + year + (month >= 10), 4, '0');
	seq_putc(s, '-');
	seq_dec(s, month < 10 ? month + 3 : month - 9, 2, '0');
	seq_putc(s, '-');
	seq_dec(s, day + 1, 2, '0');
}

/* ISO 8601; what has no year of four digits as a number. */
static void put_time(struct seq *s, s64 v)
{
	if (v < YEAR_0 || v >= YEAR_10000) {
		seq_puts(s, "TIME(");
		put_signed(s, v);
		seq_putc(s, ')');
		return;
	}
	u64 t = v - YEAR_0;
	put_date(s, t / DAY);
	t %= DAY;
	seq_putc(s, 'T');
	seq_dec(s, t / 3600, 2, '0');
	seq_putc(s, ':');
	seq_dec(s, t / 60 % 60, 2, '0');
	seq_putc(s, ':');
	seq_dec(s, t % 60, 2, '0');
	seq_putc(s, 'Z');
}

static void put_ipv4(struct seq *s, const u8 *p)
{
	for (u32 i = 0; i < 4; i++) {
		if (i)
			seq_putc(s, '.');
		seq_dec(s, p[i], 1, ' ');
	}
}

/* The longest run of zero words, of at least two: where it begins; 8: none. */
static u32 find_zeros(const u8 *p, u32 *len)
{
	u32 best = 8, n = 0;

	*len = 1;
	for (u32 i = 0; i < 8; i++) {
		n = eh_load(p + 2 * i, 2, true) ? 0 : n + 1;
		if (n > *len) {
			*len = n;
			best = i + 1 - n;
		}
	}
	return best;
}

/* As RFC 5952 writes them. */
static void put_ipv6(struct seq *s, const u8 *p)
{
	u32 len, zeros = find_zeros(p, &len);
	bool is_ipv4 = len == 5 && eh_load(p + 10, 2, true) == 0xffff;

	for (u32 i = 0; i < (is_ipv4 ? 6 : 8); i++) {
		if (i == zeros) {
			seq_write(s, "::", 2);
			i += len - 1;
			continue;
		}
		if (i && i != zeros + len)
			seq_putc(s, ':');
		seq_hex(s, eh_load(p + 2 * i, 2, true), 1);
	}
	if (is_ipv4) {
		seq_putc(s, ':');
		put_ipv4(s, p + 12);
	}
}

/* ---- text ----------------------------------------------------------------------------------------------------------------- */

static void put_string(struct seq *s, const struct eh_value *v, enum eventheader_format format)
{
	static const enum eh_charset sets[EH_ENCODING_MAX] = {[EH_ZSTRING8] = EH_UTF8,
	    [EH_ZSTRING16] = EH_UTF16,
	    [EH_ZSTRING32] = EH_UTF32,
	    [EH_STRING8] = EH_UTF8,
	    [EH_STRING16] = EH_UTF16,
	    [EH_STRING32] = EH_UTF32};
	struct eh_chars c = {v->p, v->p + v->n, sets[v->encoding]};

	if (format == EH_STRING_LATIN)
		c.set = EH_LATIN;
	else if (v->big && c.set != EH_UTF8)
		c.set++; /* the same with the other byte order */
	if (format >= EH_STRING_BOM && format <= EH_STRING_JSON)
		eh_chars_skip_mark(&c);
	seq_putc(s, '"');
	eh_chars_put(s, c);
	seq_putc(s, '"');
}

/* A number that is one character: of UTF-16 half a character has none. */
static void put_character(struct eh_out *o, const struct eh_value *v)
{
	struct eh_chars c = {v->p, v->p + v->n, EH_LATIN};
	char quote = o->json ? '"' : '\'';

	if (v->n > 1)
		c.set = (v->n == 2 ? EH_UTF16 : EH_UTF32) + v->big;
	seq_putc(o->s, quote);
	eh_char_put(o->s, eh_char_next(&c));
	seq_putc(o->s, quote);
}

static void put_text(struct eh_out *o, const struct eh_value *v, enum eventheader_format format)
{
	if (v->encoding < EH_ZSTRING8)
		put_character(o, v);
	else
		put_string(o->s, v, format);
}

/* ---- any ------------------------------------------------------------------------------------------------------------------ */

static void put_float(struct eh_out *o, const struct eh_value *v)
{
	u64 bits = eh_load(v->p, v->n, v->big), one = 1;
	u64 sign = one << (v->n * 8 - 1), infinity = v->n == 4 ? 0x7f800000 : 0x7ff0000000000000;

	if (eh_float_put(o->s, bits, v->n))
		return;
	eh_out_quote(o);
	if ((bits & ~sign) != infinity)
		seq_puts(o->s, "nan");
	else
		seq_puts(o->s, bits & sign ? "-inf" : "inf");
	eh_out_quote(o);
}

static void put_boolean(struct seq *s, u64 v)
{
	if (v > 1)
		seq_dec(s, v, 1, ' ');
	else
		seq_puts(s, v ? "true" : "false");
}

static void put_quoted(struct eh_out *o, const struct eh_value *v, enum eventheader_format format)
{
	struct seq *s = o->s;

	eh_out_quote(o);
	switch (format) {
	case EH_HEX:
		seq_puts(s, "0x");
		seq_hex(s, eh_load(v->p, v->n, v->big), 1);
		break;
	case EH_ERRNO:
		put_errno(s, load_signed(v));
		break;
	case EH_TIME:
		put_time(s, load_signed(v));
		break;
	case EH_UUID:
		eh_uuid_put(s, v->p);
		break;
	case EH_IPV4:
		put_ipv4(s, v->p);
		break;
	case EH_IPV6:
		put_ipv6(s, v->p);
		break;
	default:
		eh_bytes_put(s, v->p, v->n, o->json ? ' ' : ':');
		break;
	}
	eh_out_quote(o);
}

void eh_value_put(struct eh_out *o, const struct eh_value *v)
{
	enum eventheader_format format = format_of(v);

	switch (format) {
	case EH_UNSIGNED:
		seq_dec(o->s, eh_load(v->p, v->n, v->big), 1, ' ');
		break;
	case EH_SIGNED:
	case EH_PID:
		put_signed(o->s, load_signed(v));
		break;
	case EH_PORT:
		seq_dec(o->s, eh_load(v->p, v->n, true), 1, ' ');
		break;
	case EH_BOOLEAN:
		put_boolean(o->s, eh_load(v->p, v->n, v->big));
		break;
	case EH_FLOAT:
		put_float(o, v);
		break;
	case EH_STRING_LATIN:
	case EH_STRING_UTF:
	case EH_STRING_BOM:
	case EH_STRING_XML:
	case EH_STRING_JSON:
		put_text(o, v, format);
		break;
	default:
		put_quoted(o, v, format);
		break;
	}
}
