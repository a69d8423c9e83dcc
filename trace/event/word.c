/* Splits text written to set_event and the pid lists into words. Pure, any context. */
#include "trace/event/word.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

ssize trace_word_take(const char *text, size_t n, char word[TRACE_WORD_MAX + 1])
{
	size_t at = 0;

	while (at < n && is_space(text[at]))
		at++;
	size_t start = at;
	while (at < n && text[at] && !is_space(text[at]))
		at++;
	size_t len = at - start;
	if (len > TRACE_WORD_MAX)
		return -EINVAL;
	memcpy(word, text + start, len);
	word[len] = '\0';
	/* A NUL directly after blanks is taken as well: it ends an empty word. */
	bool ended = at < n && (len || !text[at]);
	return at + ended;
}
