/* Escapes text for XML and HTML, so that no bytes of it act as markup. Pure. */
#pragma once

#include "tools/trapline/lib/util.h"

/*
 * For text, or an attribute in double or single quotes. Keeps UTF-8 and newlines; replaces invalid
 * bytes by U+FFFD, and control characters, which XML forbids, by their pictures (from U+2400 on).
 */
void xml_put(FILE *out, const char *text, size_t n);
/*
 * The same for a JSON string within a page: emits no quote, and nothing that ends the enclosing
 * element.
 */
void json_put(FILE *out, const char *text, size_t n);
