/* String functions that the C library does not have. Pure: any context. */
#include "kernel/lib/string.h"
#include "kernel/lib/errno.h"

long strscpy(char *dst, const char *src, size_t size)
{
	if (!size)
		return -E2BIG;
	size_t n = strnlen(src, size);
	if (n == size) {
		memcpy(dst, src, size - 1);
		dst[size - 1] = '\0';
		return -E2BIG;
	}
	memcpy(dst, src, n + 1);
	return n;
}

bool str_has_prefix(const char *s, const char *prefix)
{
	while (*prefix)
		if (*s++ != *prefix++)
			return false;
	return true;
}

char *strstrip(char *s)
{
	while (is_space(*s))
		s++;
	size_t n = strlen(s);
	while (n && is_space(s[n - 1]))
		n--;
	s[n] = '\0';
	return s;
}
