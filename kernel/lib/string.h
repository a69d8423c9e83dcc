/*
 * Memory and strings: the C library's functions that the kernel uses, with the standard's meanings,
 * and a few of our own. Freestanding and pure: any context.
 */
#pragma once

#include "kernel/lib/types.h"

void *memcpy(void *dst, const void *src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *s, int c, size_t n);
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t max);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
char *strstr(const char *s, const char *what);
size_t strspn(const char *s, const char *set);
size_t strcspn(const char *s, const char *set);

/*
 * Copies at most size-1 bytes and always ends dst; returns the bytes copied, or -E2BIG if src did
 * not fit.
 */
long strscpy(char *dst, const char *src, size_t size);
/* Is `s` begun by `prefix`? */
bool str_has_prefix(const char *s, const char *prefix);
/* Cuts blanks (space, tab, newline) off both ends, in place; returns the new start. */
char *strstrip(char *s);
/*
 * Cuts the next token off *s at any of `delims` (empty tokens included, as strsep); NULL when *s is
 * NULL.
 */
char *strsep(char **s, const char *delims);

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

/*
 * Whole-string numbers as Linux's kstrto*() take them: an optional sign ('-' only where signed),
 * digits of `base` (0: by prefix 0x, 0, else decimal), one optional newline at the end, nothing
 * else. 0, -EINVAL (not a number) or -ERANGE (does not fit). *out changes only on success.
 */
int parse_u64(const char *s, unsigned base, u64 *out);
int parse_s64(const char *s, unsigned base, s64 *out);
int parse_u32(const char *s, unsigned base, u32 *out);
int parse_s32(const char *s, unsigned base, s32 *out);
/*
 * The C library's prefix parser: digits at *s; *end is set behind the last one taken. Wraps on
 * overflow, as Linux's.
 */
u64 parse_digits(const char *s, const char **end, unsigned base);
