/* See xml.h. */
#include "tools/trapline/lib/xml.h"

#include <string.h>

#define REPLACEMENT 0xfffd
#define PICTURES    0x2400
#define DELETED	    0x2421

/* The next character, and how many bytes it takes: RFC 3629, and what XML 1.0 has. */
static uint32_t next_char(const uint8_t *s, size_t n, size_t *length)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned bytes = s[0] < 0x80	   ? 1
			 : s[0] >> 5 == 6  ? 2
			 : s[0] >> 4 == 14 ? 3
			 : s[0] >> 3 == 30 ? 4
					   : 0;
	uint32_t c = bytes < 2 ? s[0] : s[0] & (0x7f >> bytes);

	*length = 1;
	if (!bytes || bytes > n)
		return REPLACEMENT;
	for (unsigned i = 1; i < bytes; i++) {
		if (s[i] >> 6 != 2)
			return REPLACEMENT;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[bytes] || (c >= 0xd800 && c < 0xe000) || (c & 0xfffe) == 0xfffe ||
	    c > 0x10ffff)
		return REPLACEMENT;
	*length = bytes;
	return c;
}

void xml_put(FILE *out, const char *text, size_t n)
{
	const uint8_t *s = (const uint8_t *)text;
	size_t length;

	for (; n; s += length, n -= length) {
		uint32_t c = next_char(s, n, &length);
		if (c && c < 127 && strchr("&<>\"'", (int)c))
			fprintf(out, "&#%u;", c);
		else if (c < ' ' && c != '\n')
			fprintf(out, "&#%u;", PICTURES + c);
		else if (c == 127 || (c >= 0x80 && c < 0xa0))
			fprintf(out, "&#%u;", c == 127 ? DELETED : REPLACEMENT);
		else if (c == REPLACEMENT)
			fprintf(out, "&#%u;", REPLACEMENT);
		else
			fwrite(s, 1, length, out);
	}
}

void json_put(FILE *out, const char *text, size_t n)
{
	const uint8_t *s = (const uint8_t *)text;
	size_t length;

	for (; n; s += length, n -= length) {
		uint32_t c = next_char(s, n, &length);
		if (c < ' ' || c == REPLACEMENT || (c >= 127 && c < 0xa0) ||
		    (c < 127 && strchr("&<>\"'\\", (int)c)) || c == 0x2028 || c == 0x2029)
			fprintf(out, "\\u%04x", c);
		else
			fwrite(s, 1, length, out);
	}
}
