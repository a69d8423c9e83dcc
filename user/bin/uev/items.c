/* The ITEMs of uev: words that stand for bytes. */
#include "user/bin/uev/uev.h"

#include <stdlib.h>
#include <string.h>

uint64_t number(const char *s)
{
	return *s == '-' ? (uint64_t)strtoll(s, NULL, 0) : strtoull(s, NULL, 0);
}

static bool begins(const char *s, const char *with, const char **rest)
{
	size_t n = strlen(with);

	*rest = s + n;
	return !strncmp(s, with, n);
}

static int put_hex(unsigned char *to, const char *digits)
{
	int n = 0;

	for (; digits[2 * n] && digits[2 * n + 1]; n++) {
		char byte[3] = {digits[2 * n], digits[2 * n + 1], '\0'};

		to[n] = strtoul(byte, NULL, 16);
	}
	return n;
}

/* "N:M"; M is what stands after the second colon. */
static uint64_t second(const char *s)
{
	const char *colon = strchr(s, ':');

	return colon ? number(colon + 1) : 0;
}

static int put_number(unsigned char *to, const char *item)
{
	const char *colon = strchr(item, ':');
	int size = atoi(item + 1) / 8;
	uint64_t v;

	if ((*item != 'u' && *item != 's') || !colon || size < 1 || size > 8)
		return -1;
	v = number(colon + 1);
	memcpy(to, &v, size);
	return size;
}

/* Bytes, or -1. */
static int put_item(unsigned char *to, const char *item)
{
	const char *rest;
	uint32_t word;

	if (begins(item, "str:", &rest) || begins(item, "strz:", &rest))
		return strlen(strcpy((char *)to, rest)) + (item[3] == 'z');
	if (begins(item, "zero:", &rest) || begins(item, "fill:", &rest)) {
		memset(to, *item == 'f' ? second(rest) : 0, number(rest));
		return number(rest);
	}
	if (begins(item, "hex:", &rest))
		return put_hex(to, rest);
	if (begins(item, "dloc:", &rest) || begins(item, "rloc:", &rest)) {
		word = DYN_LOC(number(rest) & 0xffff, second(rest));
		memcpy(to, &word, sizeof(word));
		return sizeof(word);
	}
	return put_number(to, item);
}

int put_items(unsigned char *to, int n, char **items)
{
	int used = 0;

	for (int i = 0; i < n; i++) {
		int size = put_item(to + used, items[i]);

		if (size < 0)
			return -1;
		used += size;
	}
	return used;
}
