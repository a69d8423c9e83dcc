/* Which event of a trace is meant. See goto.h. */
#include "tools/trapline/goto/goto.h"
#include "tools/trapline/trace/text.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

static bool find_match(const struct visit *v, const char *match, uint64_t nth, size_t *index)
{
	char *text = NULL, error[200];
	size_t size = 0;
	uint64_t seen = 0;
	regex_t pattern;
	int wrong = regcomp(&pattern, match, REG_EXTENDED | REG_NOSUB);

	if (wrong) {
		regerror(wrong, &pattern, error, sizeof(error));
		say("--match %s: %s", match, error);
		return false;
	}
	FILE *f = open_memstream(&text, &size);
	for (size_t i = 0; f && i < v->events && seen < nth; i++) {
		rewind(f);
		write_record(f, &v->trace, &v->event[i]);
		fputc('\0', f);
		fflush(f);
		if (!regexec(&pattern, text, 0, NULL, 0) && ++seen == nth)
			*index = i;
	}
	if (f)
		fclose(f);
	free(text);
	regfree(&pattern);
	if (seen < nth)
		say("%s: %llu of its lines match '%s'", v->trace.file, (unsigned long long)seen,
		    match);
	return seen == nth;
}

/* "CPU:N" */
static bool find_of_cpu(const struct visit *v, const char *word, size_t *index)
{
	char *end;
	uint64_t cpu = strtoull(word, &end, 10), n = strtoull(end + 1, NULL, 10), seen = 0;

	for (size_t i = 0; i < v->events; i++)
		if (v->event[i].cpu == cpu && ++seen == n) {
			*index = i;
			return true;
		}
	say("%s: CPU %llu has %llu events", v->trace.file, (unsigned long long)cpu,
	    (unsigned long long)seen);
	return false;
}

static bool find_time(const struct visit *v, const char *word, size_t *index)
{
	uint64_t time;

	if (!v->trace.in_ns) {
		say("%s: its clock counts no seconds", v->trace.file);
		return false;
	}
	if (!parse_seconds(word, &time)) {
		say("'%s' is no time", word);
		return false;
	}
	for (size_t i = 0; i < v->events; i++)
		if (v->event[i].time >= time) {
			*index = i;
			return true;
		}
	say("%s: it has no event at or after %s", v->trace.file, word);
	return false;
}

static bool is_digits(const char *text, size_t n)
{
	return n && n < 19 && strspn(text, "0123456789") >= n;
}

bool goto_choose(
    const struct visit *v, const char *word, const char *match, uint64_t nth, size_t *index)
{
	const char *colon = word ? strchr(word, ':') : NULL;
	uint64_t number;

	if (match)
		return find_match(v, match, nth, index);
	if (strchr(word, '.'))
		return find_time(v, word, index);
	if (colon && is_digits(word, colon - word) && is_digits(colon + 1, strlen(colon + 1)))
		return find_of_cpu(v, word, index);
	if (!parse_number(word, ~0ULL, &number)) {
		say("'%s' is no event: its number, CPU:N, or a time such as 1.25", word);
		return false;
	}
	if (!number || number > v->events) {
		say("%s: it has events 1 to %zu", v->trace.file, v->events);
		return false;
	}
	*index = number - 1;
	return true;
}
