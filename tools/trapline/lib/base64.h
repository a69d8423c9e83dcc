/* Base64 (RFC 4648, section 4): four characters for three bytes. */
#pragma once

#include "kernel/lib/types.h"

/*
 * The bytes in n characters, at most n / 4 * 3, to `data`: how many; -EINVAL: it is no such text.
 */
ssize base64_decode(void *data, const char *text, size_t n);
