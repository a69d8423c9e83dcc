/* Numbers from text. Pure: any context. */
#pragma once

#include "kernel/lib/types.h"

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
 * The C library's prefix parser: digits at *s; *end is set after the last one taken. Wraps on
 * overflow, as Linux's.
 */
u64 parse_digits(const char *s, const char **end, unsigned base);
