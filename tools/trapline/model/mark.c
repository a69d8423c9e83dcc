/* See mark.h. */
#include "tools/trapline/model/mark.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define SEPARATORS " \t:_-."

static const struct {
	const char *word;
	enum mark_phase phase;
} words[] = {{"begin", MARK_BEGIN}, {"start", MARK_BEGIN}, {"end", MARK_END}, {"stop", MARK_END}};
#define WORDS (sizeof(words) / sizeof(words[0]))

static bool is_separator(char c)
{
	return c && strchr(SEPARATORS, c);
}

static void trim(struct mark_parts *m)
{
	while (m->length && is_separator(m->name[0])) {
		m->name++;
		m->length--;
	}
	while (m->length && is_separator(m->name[m->length - 1]))
		m->length--;
}

static bool parse_systrace(struct mark_parts *m, const char *text, size_t n)
{
	const char *bar = n > 2 ? memchr(text + 2, '|', n - 2) : NULL;

	if (n < 1 || (text[0] != 'B' && text[0] != 'E') || (n > 1 && text[1] != '|'))
		return false;
	if (text[0] == 'E') {
		*m = (struct mark_parts){MARK_END, text, 0, true};
		return true;
	}
	if (!bar)
		return false;
	*m = (struct mark_parts){MARK_BEGIN, bar + 1, text + n - bar - 1, false};
	return true;
}

static bool is_first_word(const char *text, size_t n, const char *word, size_t length)
{
	return n >= length && !strncasecmp(text, word, length) &&
	       (n == length || is_separator(text[length]));
}

/* After a separator, or in CamelCase. */
static bool is_last_word(const char *text, size_t n, const char *word, size_t length)
{
	const char *last = text + n - length;

	if (n <= length || strncasecmp(last, word, length))
		return false;
	return is_separator(last[-1]) ||
	       (isupper((unsigned char)last[0]) && islower((unsigned char)last[-1]) &&
		   !memcmp(last + 1, word + 1, length - 1));
}

void mark_parse(struct mark_parts *m, const char *text, size_t n)
{
	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	*m = (struct mark_parts){MARK_INSTANT, text, n, false};
	if (parse_systrace(m, text, n))
		return;
	for (size_t i = 0; i < WORDS; i++) {
		size_t length = strlen(words[i].word);
		bool first = is_first_word(text, n, words[i].word, length);

		if (!first && !is_last_word(text, n, words[i].word, length))
			continue;
		*m = (struct mark_parts){
		    words[i].phase, first ? text + length : text, n - length, false};
		trim(m);
		return;
	}
}
