/* Base64 (RFC 4648, section 4): four characters for three bytes. */
#pragma once

#include "kernel/lib/types.h"

/*
 * Decodes n characters to `data`, at most n / 4 * 3 bytes, and returns their number; -EINVAL:
 * invalid text.
 */
ssize base64_decode(void *data, const char *text, size_t n);
