/* Base64. See base64.h. */
#include <errno.h>

#include "tools/trapline/lib/base64.h"

/* -1: none of them. */
static int value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/*
 * Four characters, of which `n` (2 to 4) say something: n - 1 bytes. False: one of them does not,
 * or bits are left over.
 */
static bool decode_four(u8 *p, const char *text, unsigned n)
{
	u32 v = 0;

	for (unsigned i = 0; i < n; i++) {
		int bits = value(text[i]);

		if (bits < 0)
			return false;
		v |= (u32)bits << (18 - 6 * i);
	}
	for (unsigned i = 0; i < n - 1; i++)
		p[i] = v >> (16 - 8 * i);
	return n == 4 || !(v << (8 * (n - 1)) & 0xffffff);
}

ssize base64_decode(void *data, const char *text, size_t n)
{
	u8 *p = data;
	unsigned last = 4;

	if (n % 4)
		return -EINVAL;
	if (n && text[n - 1] == '=')
		last = text[n - 2] == '=' ? 2 : 3;
	for (; n; n -= 4, text += 4) {
		unsigned chars = n == 4 ? last : 4;

		if (!decode_four(p, text, chars))
			return -EINVAL;
		p += chars - 1;
	}
	return p - (u8 *)data;
}
