/* Decimal numbers. Pure; any context. */
#include "kernel/shell/decimal.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"

static const s64 ten[] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};

struct sh_dec sh_dec_int(s64 v)
{
	return (struct sh_dec){v, 0};
}

/* Zeros behind the point go: whole numbers stay whole. */
static struct sh_dec trim(struct sh_dec a)
{
	while (a.scale && a.m % 10 == 0) {
		a.m /= 10;
		a.scale--;
	}
	return a;
}

/* Drops digits behind the point, rounding half away from zero. */
static struct sh_dec reduce(struct sh_dec a, int scale)
{
	while (a.scale > scale) {
		s64 digit = a.m % 10;

		a.m /= 10;
		a.scale--;
		if (a.scale == scale && (digit >= 5 || digit <= -5))
			a.m += digit > 0 ? 1 : -1;
	}
	return a;
}

/* Brings both to one scale, the finer one if both fit. */
static void align(struct sh_dec *a, struct sh_dec *b)
{
	struct sh_dec *coarse = a->scale < b->scale ? a : b, *fine = coarse == a ? b : a;
	s64 m;

	while (coarse->scale < fine->scale) {
		if (__builtin_mul_overflow(coarse->m, 10, &m)) {
			*fine = reduce(*fine, coarse->scale);
			return;
		}
		coarse->m = m;
		coarse->scale++;
	}
}

/* An exponent at p ("e-3"); returns the place behind it. */
static const char *exponent(const char *p, struct sh_dec *a)
{
	bool minus = p[1] == '-';
	const char *digits = p + 1 + (minus || p[1] == '+');
	struct sh_dec by = {10, 0};
	u64 n;

	if ((*p | 32) != 'e' || !is_digit(*digits))
		return p;
	if (minus)
		by = (struct sh_dec){1, 1};
	for (n = MIN(parse_digits(digits, &p, 10), 30UL); n; n--)
		*a = sh_dec_mul(*a, by);
	return p;
}

struct sh_dec sh_dec_parse(const char *s, const char **end)
{
	struct sh_dec a = {0};
	const char *p = s + strspn(s, " \t\n"), *digits;
	bool minus = *p == '-';

	p += minus || *p == '+';
	digits = p;
	while (is_digit(*p)) {
		if (__builtin_mul_overflow(a.m, 10, &a.m) ||
		    __builtin_add_overflow(a.m, *p - '0', &a.m))
			a.m = INT64_MAX;
		p++;
	}
	if (p[0] == '.' && (p > digits || is_digit(p[1]))) {
		s64 m;

		for (p++, digits--; is_digit(*p); p++) {
			if (a.scale == SH_DEC_SCALE || __builtin_mul_overflow(a.m, 10, &m) ||
			    __builtin_add_overflow(m, *p - '0', &m))
				continue;
			a.m = m;
			a.scale++;
		}
	}
	if (p > digits)
		p = exponent(p, &a);
	*end = p > digits ? p : s;
	if (minus)
		a.m = -a.m;
	return trim(a);
}

struct sh_dec sh_dec_add(struct sh_dec a, struct sh_dec b)
{
	s64 m;

	align(&a, &b);
	while (__builtin_add_overflow(a.m, b.m, &m)) {
		if (!a.scale)
			return sh_dec_int((u64)a.m + (u64)b.m);
		a = reduce(a, a.scale - 1);
		b = reduce(b, b.scale - 1);
	}
	return trim((struct sh_dec){m, a.scale});
}

struct sh_dec sh_dec_sub(struct sh_dec a, struct sh_dec b)
{
	b.m = -(u64)b.m;
	return sh_dec_add(a, b);
}

struct sh_dec sh_dec_mul(struct sh_dec a, struct sh_dec b)
{
	s64 m;

	while (__builtin_mul_overflow(a.m, b.m, &m)) {
		if (a.scale >= b.scale && a.scale)
			a = reduce(a, a.scale - 1);
		else if (b.scale)
			b = reduce(b, b.scale - 1);
		else
			return sh_dec_int((u64)a.m * (u64)b.m);
	}
	return trim(reduce((struct sh_dec){m, a.scale + b.scale}, SH_DEC_SCALE));
}

struct sh_dec sh_dec_div(struct sh_dec a, struct sh_dec b)
{
	struct sh_dec q = {0};
	bool minus;
	u64 x, y;

	align(&a, &b);
	minus = (a.m < 0) != (b.m < 0);
	x = a.m < 0 ? -(u64)a.m : (u64)a.m;
	y = b.m < 0 ? -(u64)b.m : (u64)b.m;
	if (!y)
		return q;
	q.m = x / y;
	x %= y;
	while (x && q.scale < SH_DEC_SCALE && x <= UINT64_MAX / 10 && q.m <= INT64_MAX / 10 - 1) {
		q.m = q.m * 10 + x * 10 / y;
		x = x * 10 % y;
		q.scale++;
	}
	if (minus)
		q.m = -q.m;
	return trim(q);
}

struct sh_dec sh_dec_mod(struct sh_dec a, struct sh_dec b)
{
	align(&a, &b);
	if (!b.m || b.m == -1)
		return sh_dec_int(0);
	return trim((struct sh_dec){a.m % b.m, a.scale});
}

int sh_dec_cmp(struct sh_dec a, struct sh_dec b)
{
	align(&a, &b);
	return a.m < b.m ? -1 : a.m > b.m;
}

s64 sh_dec_trunc(struct sh_dec a)
{
	return a.m / ten[a.scale];
}

static void put(struct sh_dec a, char *out, size_t size)
{
	u64 m = a.m < 0 ? -(u64)a.m : (u64)a.m;

	if (!a.scale)
		snprintf(out, size, "%lld", (long long)a.m);
	else
		snprintf(out, size, "%s%llu.%0*llu", a.m < 0 ? "-" : "",
		    (unsigned long long)(m / ten[a.scale]), a.scale,
		    (unsigned long long)(m % ten[a.scale]));
}

void sh_dec_text(struct sh_dec a, char out[32])
{
	u64 m = a.m < 0 ? -(u64)a.m : (u64)a.m;
	int digits = 0;

	for (u64 x = m; x; x /= 10)
		digits++;
	if (digits > 6 && a.scale)
		a = trim(reduce(a, MAX(a.scale - (digits - 6), 0)));
	put(a, out, 32);
}

void sh_dec_fixed(struct sh_dec a, int digits, char out[48])
{
	size_t n;

	digits = MIN(MAX(digits, 0), 12);
	a = reduce(a, digits);
	put(a, out, 32);
	n = strlen(out);
	if (a.scale < digits && !a.scale)
		out[n++] = '.';
	for (; a.scale < digits; a.scale++)
		out[n++] = '0';
	out[n] = 0;
}
