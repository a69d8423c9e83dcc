/* Strings and characters, beside the C library's. Freestanding and pure: any context. */
#pragma once

#include "kernel/lib/libc.h"

/*
 * Copies at most size-1 bytes and always ends dst; returns the bytes copied, or -E2BIG if src did
 * not fit.
 */
long strscpy(char *dst, const char *src, size_t size);
/* Is `s` begun by `prefix`? */
bool str_has_prefix(const char *s, const char *prefix);
/* True if the strings are equal. Most pairs differ in the first byte, which saves the call. */
static inline bool str_equal(const char *a, const char *b)
{
	return *a == *b && !strcmp(a, b);
}
/* Cuts blanks (space, tab, newline) off both ends, in place; returns the new start. */
char *strstrip(char *s);
static inline bool is_space(int c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}
static inline bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}
static inline bool is_alpha(int c)
{
	return (c | 32) >= 'a' && (c | 32) <= 'z';
}
static inline bool is_alnum(int c)
{
	return is_digit(c) || is_alpha(c);
}
static inline bool is_print(int c)
{
	return c >= 0x20 && c < 0x7f;
}
