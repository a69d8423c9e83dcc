/*
 * Binary floating point to decimal, without floating point: the kernel has no use of those
 * registers. Pure: any context; about 1 KiB of stack.
 *
 * The value is f * 2^e. What is printed is the shortest decimal that lies nearer to it than half
 * the way to either neighbour, so that reading it gives the same value (the method of Steele and
 * White, with large integers):
 *
 *   1. r / s is the value, low / s and high / s half the distances to the neighbours below and
 *      above.
 *   2. Scale by 10 until r / s is the first digit and its fraction.
 *   3. Digit by digit: the integer part of r / s; the rest times 10. It ends where the rest is less
 *      than `low`, or more than 1 - `high`: then cutting off here, or rounding up, stays within the
 *      half distances.
 */
#include "trace/user/eventheader/float.h"

#define WORDS 36 /* of 32 bits: 2^1024 * 10 * 2, and 2 * 2^1074 * 10, have room */

struct big {
	u32 n; /* words in use, the last of them not 0 */
	u32 w[WORDS];
};

static void big_set(struct big *b, u64 v)
{
	b->w[0] = v;
	b->w[1] = v >> 32;
	b->n = v >> 32 ? 2 : v ? 1 : 0;
}

static void eh_big_times(struct big *b, u32 factor)
{
	u64 carry = 0;

	for (u32 i = 0; i < b->n; i++) {
		carry += (u64)b->w[i] * factor;
		b->w[i] = carry;
		carry >>= 32;
	}
	if (carry)
		b->w[b->n++] = carry;
}

static void eh_big_shift(struct big *b, u32 bits)
{
	u32 words = bits / 32;

	if (!b->n)
		return;
	for (; bits % 32; bits--)
		eh_big_times(b, 2);
	for (u32 i = b->n; i-- > 0;)
		b->w[i + words] = b->w[i];
	for (u32 i = 0; i < words; i++)
		b->w[i] = 0;
	b->n += words;
}

static int eh_big_compare(const struct big *a, const struct big *b)
{
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	for (u32 i = a->n; i-- > 0;)
		if (a->w[i] != b->w[i])
			return a->w[i] < b->w[i] ? -1 : 1;
	return 0;
}

/* a + b against c. */
static int eh_big_compare_sum(const struct big *a, const struct big *b, const struct big *c)
{
	struct big sum = *a;
	u64 carry = 0;

	for (u32 i = 0; i < b->n || carry; i++) {
		if (i == sum.n)
			sum.w[sum.n++] = 0;
		carry += (u64)sum.w[i] + (i < b->n ? b->w[i] : 0);
		sum.w[i] = carry;
		carry >>= 32;
	}
	return eh_big_compare(&sum, c);
}

/* a >= b */
static void big_subtract(struct big *a, const struct big *b)
{
	s64 borrow = 0;

	for (u32 i = 0; i < a->n; i++) {
		borrow += (s64)a->w[i] - (i < b->n ? b->w[i] : 0);
		a->w[i] = borrow;
		borrow >>= 32;
	}
	while (a->n && !a->w[a->n - 1])
		a->n--;
}

/* The integer part of a / b, which is below 10; a becomes the rest. */
static u32 big_digit(struct big *a, const struct big *b)
{
	u32 digit = 0;

	for (; eh_big_compare(a, b) >= 0; digit++)
		big_subtract(a, b);
	return digit;
}

struct decimal {
	struct big r, s, low, high;
	bool even; /* the value's last bit is 0: what lies half way rounds to it */
};

/* Step 1. edge: f is the least with its exponent, so that the neighbour below is half as far. */
static void begin(struct decimal *d, u64 f, int e, bool edge)
{
	big_set(&d->r, f);
	big_set(&d->s, 1);
	big_set(&d->low, 1);
	big_set(&d->high, edge ? 2 : 1);
	eh_big_shift(&d->r, 1 + edge + (e > 0 ? e : 0));
	eh_big_shift(&d->s, 1 + edge + (e < 0 ? -e : 0));
	eh_big_shift(&d->low, e > 0 ? e : 0);
	eh_big_shift(&d->high, e > 0 ? e : 0);
	d->even = !(f & 1);
}

static bool eh_big_is_at_least(int order, bool even)
{
	return order > 0 || (order == 0 && even);
}

/* Step 2: the place of the first digit: the value is 0.d1d2... * 10^place. */
static int scale(struct decimal *d)
{
	int place = 0;

	/* Round up to 1 and more: one digit more in front. */
	while (eh_big_is_at_least(eh_big_compare_sum(&d->r, &d->high, &d->s), d->even)) {
		eh_big_times(&d->s, 10);
		place++;
	}
	for (;;) {
		eh_big_times(&d->r, 10);
		eh_big_times(&d->low, 10);
		eh_big_times(&d->high, 10);
		if (eh_big_is_at_least(eh_big_compare_sum(&d->r, &d->high, &d->s), d->even))
			break;
		place--;
	}
	eh_big_times(&d->s, 10); /* the last was one too many */
	return place;
}

/* Step 3. The digits, at most 17, as text; returns how many. */
static u32 generate(struct decimal *d, char *digits)
{
	bool is_low, is_high;
	u32 n = 0, digit;

	do {
		eh_big_times(&d->r, 10);
		eh_big_times(&d->low, 10);
		eh_big_times(&d->high, 10);
		digit = big_digit(&d->r, &d->s);
		is_low = eh_big_is_at_least(eh_big_compare(&d->low, &d->r), d->even);
		is_high = eh_big_is_at_least(eh_big_compare_sum(&d->r, &d->high, &d->s), d->even);
		digits[n++] = '0' + digit;
	} while (!is_low && !is_high && n < 17);
	/*
	 * Both would do: the nearer one, twice the rest against one; of two as near the even one.
	 */
	int order = eh_big_compare_sum(&d->r, &d->r, &d->s);
	if (is_high && (!is_low || eh_big_is_at_least(order, digit & 1)))
		digits[n - 1]++;
	return n;
}

static void put_zeros(struct seq *s, int n)
{
	for (; n > 0; n--)
		seq_putc(s, '0');
}

/*
 * As C's %g puts them down: 0.0001 and up to 17 digits before the point in full, others with an
 * exponent.
 */
static void put_digits(struct seq *s, const char *digits, int n, int place)
{
	if (place > 17 || place < -3) {
		seq_putc(s, digits[0]);
		if (n > 1) {
			seq_putc(s, '.');
			seq_write(s, digits + 1, n - 1);
		}
		seq_printf(s, "e%+03d", place - 1);
	} else if (place <= 0) {
		seq_puts(s, "0.");
		put_zeros(s, -place);
		seq_write(s, digits, n);
	} else {
		seq_write(s, digits, MIN(n, place));
		put_zeros(s, place - n);
		if (n > place) {
			seq_putc(s, '.');
			seq_write(s, digits + place, n - place);
		}
	}
}

bool eh_float_put(struct seq *s, u64 bits, u32 n)
{
	u32 fraction_bits = n == 4 ? 23 : 52, exponent_max = n == 4 ? 0xff : 0x7ff;
	u64 fraction = bits & ((1UL << fraction_bits) - 1);
	u32 exponent = bits >> fraction_bits & exponent_max;
	struct decimal d;
	char digits[17];

	if (exponent == exponent_max)
		return false;
	if (bits >> (n * 8 - 1) & 1)
		seq_putc(s, '-');
	if (!exponent && !fraction) {
		seq_putc(s, '0');
		return true;
	}
	if (exponent)
		fraction |= 1UL << fraction_bits;
	int e = (int)(exponent ? exponent : 1) - (int)(exponent_max / 2) - (int)fraction_bits;
	begin(&d, fraction, e, exponent > 1 && fraction == 1UL << fraction_bits);
	int place = scale(&d);
	u32 count = generate(&d, digits);
	put_digits(s, digits, count, place);
	return true;
}
