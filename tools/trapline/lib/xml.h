/* Text within XML and HTML: whatever bytes it has, no markup comes of it. Pure. */
#pragma once

#include "tools/trapline/lib/util.h"

/*
 * Into text or into an attribute in double or single quotes. UTF-8 stays; bytes that are none are
 * U+FFFD; of control characters, which XML has not, the pictures (U+2400 and on). A newline stays.
 */
void xml_put(FILE *out, const char *text, size_t n);
/*
 * The same within a string of JSON that stands in a page: no quote, and nothing that ends the
 * element around it.
 */
void json_put(FILE *out, const char *text, size_t n);
