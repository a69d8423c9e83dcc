/* Numbers to digits. Pure: any context; read-only tables. */
#include "kernel/lib/digits.h"

const u64 powers_of_10[20] = {0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
    1000000000, 10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000,
    1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
    10000000000000000000UL};

/* "00" to "99": two digits a division. */
#define D10(t) t "0" t "1" t "2" t "3" t "4" t "5" t "6" t "7" t "8" t "9"
static const char pairs[] =
    D10("0") D10("1") D10("2") D10("3") D10("4") D10("5") D10("6") D10("7") D10("8") D10("9");

char *digits_dec(char *end, u64 v)
{
	while (v >= 100) {
		const char *pair = pairs + v % 100 * 2;
		v /= 100;
		*--end = pair[1];
		*--end = pair[0];
	}
	if (v >= 10) {
		*--end = pairs[v * 2 + 1];
		*--end = pairs[v * 2];
	} else {
		*--end = '0' + v;
	}
	return end;
}

static inline char *put_hex(char *end, u64 v, const char digit[16])
{
	do
		*--end = digit[v & 15];
	while (v >>= 4);
	return end;
}

char *digits_hex(char *end, u64 v)
{
	return put_hex(end, v, "0123456789abcdef");
}

char *digits_hex_upper(char *end, u64 v)
{
	return put_hex(end, v, "0123456789ABCDEF");
}

char *digits_oct(char *end, u64 v)
{
	do {
		*--end = '0' + (v & 7);
	} while (v >>= 3);
	return end;
}
