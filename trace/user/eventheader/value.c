/* See value.h. */
#include "trace/user/eventheader/value.h"
#include "kernel/abi/eventheader.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/user/eventheader/float.h"

/* The formats that an encoding goes with, a bit each. EH_BYTES goes with every encoding. */
#define F(format) (1u << EH_##format)
#define NUMBER	  (F(UNSIGNED) | F(SIGNED) | F(HEX))
#define TEXT	  (F(STRING_UTF) | F(STRING_BOM) | F(STRING_XML) | F(STRING_JSON))
#define ADDRESS	  (F(IP_ADDRESS) | F(IP_ADDRESS_OBSOLETE))
static const u32 usable[EH_ENCODING_MAX] = {
    [EH_VALUE8] = NUMBER | F(BOOLEAN) | F(STRING_LATIN),
    [EH_VALUE16] = NUMBER | F(BOOLEAN) | F(STRING_UTF) | F(PORT),
    [EH_VALUE32] =
	NUMBER | F(ERRNO) | F(PID) | F(TIME) | F(BOOLEAN) | F(FLOAT) | F(STRING_UTF) | ADDRESS,
    [EH_VALUE64] = NUMBER | F(TIME) | F(FLOAT),
    [EH_VALUE128] = F(UUID) | ADDRESS,
    [EH_ZSTRING8] = TEXT | F(STRING_LATIN),
    [EH_ZSTRING16] = TEXT,
    [EH_ZSTRING32] = TEXT,
    [EH_STRING8] = TEXT | F(STRING_LATIN),
    [EH_STRING16] = TEXT,
    [EH_STRING32] = TEXT,
    [EH_BINARY8] = TEXT | F(STRING_LATIN),
};

static bool eh_value_is_usable(u8 encoding, u8 format)
{
	return format == EH_BYTES ||
	       (format <= EH_IP_ADDRESS_OBSOLETE && (usable[encoding] >> format & 1));
}

static enum eventheader_format default_format(u8 encoding)
{
	if (encoding == EH_VALUE128 || encoding == EH_BINARY8)
		return EH_BYTES;
	return encoding < EH_VALUE128 ? EH_UNSIGNED : EH_STRING_UTF;
}

/* A format that goes with no string: only a value has it. */
static bool is_value_format(u8 format)
{
	return format != EH_DEFAULT && format <= EH_IP_ADDRESS_OBSOLETE &&
	       !eh_value_is_usable(EH_STRING8, format);
}

/* The encoding of a value of n bytes; EH_STRUCT, which no format goes with, if there is none. */
static u8 encoding_of_size(u32 n)
{
	for (u8 encoding = EH_VALUE8; encoding <= EH_VALUE128; encoding++)
		if (n == 1u << (encoding - EH_VALUE8))
			return encoding;
	return EH_STRUCT;
}

static s64 eh_load_signed(const struct eh_value *v)
{
	u32 spare = 64 - 8 * v->n;

	return (s64)(eh_load(v->p, v->n, v->big) << spare) >> spare;
}

void eh_signed_put(struct seq *s, s64 v)
{
	if (v < 0)
		seq_putc(s, '-');
	seq_dec(s, v < 0 ? 0 - (u64)v : (u64)v, 1, ' ');
}

/* ---- what JSON has between quotes ---- */

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

/* ---- times, as dates ---- */

/*
 * The first and the last second of the years that C's struct tm can hold: those that Microsoft's
 * decoder shows as a date.
 */
#define TIME_FIRST (-67768040609740800)
#define TIME_LAST  67768036191676799
#define DAY	   86400
#define CYCLE	   146097  /* days of 400 years, after which the calendar repeats itself */
#define PAST	   5368710 /* cycles added before counting: no year above lies before them */
#define EPOCH	   719468  /* days from March 1 of the year 0 to January 1, 1970 */

static void put_year(struct seq *s, s64 year)
{
	if (year < 0)
		seq_putc(s, '-');
	seq_dec(s, year < 0 ? -year : year, 4, '0');
}

/*
 * days: since January 1, 1970, and PAST cycles more, so that none is negative. The year begins on
 * March 1 here: a leap day is its last day, and the first day of a month is a matter of arithmetic.
 */
static void put_date(struct seq *s, u64 days)
{
	u64 since = days + EPOCH, cycles = since / CYCLE, day = since % CYCLE;
	u64 year = (day - day / 1460 + day / 36524 - day / (CYCLE - 1)) / 365;

	day -= year * 365 + year / 4 - year / 100;
	u64 month = (5 * day + 2) / 153; /* 0: March */
	day -= (153 * month + 2) / 5;
	put_year(s, ((s64)cycles - PAST) * 400 + year + (month >= 10));
	seq_putc(s, '-');
	seq_dec(s, month < 10 ? month + 3 : month - 9, 2, '0');
	seq_putc(s, '-');
	seq_dec(s, day + 1, 2, '0');
}

/*
 * Seconds since 1970 in ISO 8601, with as many digits as the year needs; TIME(v) beyond the years
 * that C's struct tm holds.
 */
static void eh_time_put(struct seq *s, s64 v)
{
	if (v < TIME_FIRST || v > TIME_LAST) {
		seq_puts(s, "TIME(");
		eh_signed_put(s, v);
		seq_putc(s, ')');
		return;
	}
	u64 t = v + (s64)PAST * CYCLE * DAY;
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

/* ---- values ---- */

static void put_errno(struct seq *s, s64 v)
{
	const char *name = v > 0 ? errno_name(v) : NULL;

	seq_puts(s, name ? name : "ERRNO");
	seq_putc(s, '(');
	eh_signed_put(s, v);
	seq_putc(s, ')');
}

static void eh_put_ipv4(struct seq *s, const u8 *p)
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
		eh_put_ipv4(s, p + 12);
	}
}

/* ---- text ---- */

static void put_string(struct seq *s, const struct eh_value *v, enum eventheader_format format)
{
	static const enum eh_charset sets[EH_ENCODING_MAX] = {[EH_ZSTRING8] = EH_UTF8,
	    [EH_ZSTRING16] = EH_UTF16,
	    [EH_ZSTRING32] = EH_UTF32,
	    [EH_STRING8] = EH_UTF8,
	    [EH_STRING16] = EH_UTF16,
	    [EH_STRING32] = EH_UTF32,
	    [EH_BINARY8] = EH_UTF8};
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

/* ---- any ---- */

static void put_float(struct eh_out *o, const struct eh_value *v)
{
	u64 bits = eh_load(v->p, v->n, v->big), one = 1;
	u64 sign = one << (v->n * 8 - 1), infinity = v->n == 4 ? 0x7f800000 : 0x7ff0000000000000;

	if (eh_float_put(o->s, bits, v->n))
		return;
	eh_out_quote(o);
	if (bits & sign)
		seq_putc(o->s, '-');
	seq_puts(o->s, (bits & ~sign) == infinity ? "inf" : "nan");
	eh_out_quote(o);
}

/* Any other number than 0 and 1 as it is: that of 32 bits is signed, as C's int. */
static void put_boolean(struct seq *s, const struct eh_value *v)
{
	u64 n = eh_load(v->p, v->n, v->big);

	if (n <= 1)
		seq_puts(s, n ? "true" : "false");
	else
		eh_signed_put(s, v->n == 4 ? eh_load_signed(v) : (s64)n);
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
		put_errno(s, eh_load_signed(v));
		break;
	case EH_TIME:
		eh_time_put(s, eh_load_signed(v));
		break;
	case EH_UUID:
		eh_uuid_put(s, v->p);
		break;
	case EH_IP_ADDRESS:
	case EH_IP_ADDRESS_OBSOLETE:
		if (v->n == 4)
			eh_put_ipv4(s, v->p);
		else
			put_ipv6(s, v->p);
		break;
	default:
		eh_bytes_put(s, v->p, v->n, o->json ? ' ' : ':');
		break;
	}
	eh_out_quote(o);
}

static void put_value(struct eh_out *o, const struct eh_value *v)
{
	enum eventheader_format format =
	    eh_value_is_usable(v->encoding, v->format) ? v->format : default_format(v->encoding);

	switch (format) {
	case EH_UNSIGNED:
		seq_dec(o->s, eh_load(v->p, v->n, v->big), 1, ' ');
		break;
	case EH_SIGNED:
	case EH_PID:
		eh_signed_put(o->s, eh_load_signed(v));
		break;
	case EH_PORT:
		seq_dec(o->s, eh_load(v->p, v->n, true), 1, ' ');
		break;
	case EH_BOOLEAN:
		put_boolean(o->s, v);
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

static bool may_hold_value(const struct eh_value *v)
{
	return !v->is_cut && (v->encoding == EH_STRING8 || v->encoding == EH_BINARY8) &&
	       is_value_format(v->format);
}

void eh_value_put(struct eh_out *o, const struct eh_value *v)
{
	struct eh_value value = *v;
	u8 encoding = encoding_of_size(v->n);

	if (may_hold_value(v) && !v->n) {
		seq_puts(o->s, "null");
		return;
	}
	if (may_hold_value(v) && eh_value_is_usable(encoding, v->format))
		value.encoding = encoding;
	put_value(o, &value);
}
