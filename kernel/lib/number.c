/*
 * Text to numbers, by the rules of Linux's kstrto*() and simple_strtoull(), which every tracefs
 * file shows to its users. Pure: any context; nothing shared.
 */
#include "kernel/lib/number.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

/* Value of a digit, or something no base reaches. */
static unsigned digit_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (is_alpha(c))
		return (c | 32) - 'a' + 10;
	return 255;
}

/* Settles base 0 by the prefix and steps over "0x". "0x" without a hex digit after it is octal 0
 * and an x. */
static const char *parse_base(const char *s, unsigned *base)
{
	bool hex = s[0] == '0' && (s[1] | 32) == 'x';

	if (*base == 0) {
		if (hex && digit_value(s[2]) < 16)
			*base = 16;
		else
			*base = s[0] == '0' ? 8 : 10;
	}
	return *base == 16 && hex ? s + 2 : s;
}

/* Takes digits from s; returns where it stopped. The value wraps; *overflow says whether it did. */
static const char *take_digits(const char *s, unsigned base, u64 *value, bool *overflow)
{
	u64 v = 0;
	unsigned d;

	*overflow = false;
	for (; (d = digit_value(*s)) < base; s++) {
		u64 next;
		if (__builtin_mul_overflow(v, base, &next))
			*overflow = true;
		if (__builtin_add_overflow(next, d, &next))
			*overflow = true;
		v = next;
	}
	*value = v;
	return s;
}

/* The whole string after the sign. */
static int parse_magnitude(const char *s, unsigned base, u64 *out)
{
	u64 v;
	bool overflow;
	const char *start = parse_base(s, &base);
	const char *end = take_digits(start, base, &v, &overflow);

	if (overflow)
		return -ERANGE;
	if (end == start)
		return -EINVAL;
	if (*end == '\n')
		end++;
	if (*end)
		return -EINVAL;
	*out = v;
	return 0;
}

int parse_u64(const char *s, unsigned base, u64 *out)
{
	return parse_magnitude(*s == '+' ? s + 1 : s, base, out);
}

int parse_s64(const char *s, unsigned base, s64 *out)
{
	u64 v;
	bool negative = *s == '-';
	int err = negative ? parse_magnitude(s + 1, base, &v) : parse_u64(s, base, &v);

	if (err)
		return err;
	if (v > (u64)INT64_MAX + negative)
		return -ERANGE;
	*out = negative ? (s64)(0 - v) : (s64)v;
	return 0;
}

int parse_u32(const char *s, unsigned base, u32 *out)
{
	u64 v;
	int err = parse_u64(s, base, &v);

	if (err)
		return err;
	if (v > UINT32_MAX)
		return -ERANGE;
	*out = v;
	return 0;
}

int parse_s32(const char *s, unsigned base, s32 *out)
{
	s64 v;
	int err = parse_s64(s, base, &v);

	if (err)
		return err;
	if (v < INT32_MIN || v > INT32_MAX)
		return -ERANGE;
	*out = v;
	return 0;
}

u64 parse_digits(const char *s, const char **end, unsigned base)
{
	u64 v;
	bool overflow;
	const char *start = parse_base(s, &base);
	const char *stop = take_digits(start, base, &v, &overflow);

	if (end)
		*end = stop;
	return v;
}
