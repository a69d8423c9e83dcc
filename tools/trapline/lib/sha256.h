/* SHA-256 (FIPS 180-4), by which a trace identifies the files of its machine. Pure. */
#pragma once

#include "tools/trapline/lib/util.h"

#define SHA256_TEXT 65 /* 64 digits of hex and a NUL */

void sha256_text(const void *data, size_t size, char text[SHA256_TEXT]);
