/* Is a text one JSON value (RFC 8259), in UTF-8, no object of which has a name twice? */
#pragma once

#include "kernel/lib/types.h"

bool json_check(const char *text, size_t len);
