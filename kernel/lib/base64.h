/* Bytes as text of letters, digits, + and /, four characters for three bytes (RFC 4648, section 4). Pure; any context. */
#pragma once

#include "kernel/lib/types.h"

#define BASE64_SIZE(n) (((n) + 2) / 3 * 4)

/* Writes BASE64_SIZE(n) characters, padded with =, no NUL. */
void base64_encode(char *text, const void *data, size_t n);
/* The bytes in n characters, at most n / 4 * 3, to `data`: how many; -EINVAL: it is no such text. */
ssize base64_decode(void *data, const char *text, size_t n);
