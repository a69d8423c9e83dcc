/*
 * The kernel command line, cut into words once. As Linux: blanks separate; double quotes protect
 * blanks and are dropped when they enclose a whole word or a whole value; '-' and '_' in a name are
 * the same; what follows "--" is not the kernel's. Written by cmdline_init() only, before anything
 * else runs: any context may read.
 */
#include "kernel/base/cmdline.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"

#define CMDLINE_MAX 4096
#define WORDS_MAX   256

static char given[CMDLINE_MAX]; /* as given */
static char cut[CMDLINE_MAX];	/* names and values, each ended by NUL */
static struct {
	const char *name, *value; /* value "" for a bare word */
} words[WORDS_MAX];
static unsigned word_count;

/* Ends the string at `end` and takes the quote that closes it away. */
static void end_word(char *start, char *end, bool quoted)
{
	*end = '\0';
	if (quoted && end > start && end[-1] == '"')
		end[-1] = '\0';
}

/* Cuts the word at s, which is no blank; returns what follows it. */
static char *take_word(char *s)
{
	bool word_quoted = *s == '"', value_quoted = false, inside = word_quoted;
	char *name = s += word_quoted, *value = NULL, *next;

	for (; *s && (inside || !is_space(*s)); s++) {
		if (*s == '=' && !value && s > name) {
			value = s + 1;
			value_quoted = *value == '"';
		}
		if (*s == '"')
			inside = !inside;
	}
	next = *s ? s + 1 : s;
	end_word(name, s, word_quoted || value_quoted);
	if (value) {
		value[-1] = '\0';
		value += value_quoted;
	}
	if (word_count < WORDS_MAX) {
		words[word_count].name = name;
		words[word_count].value = value ? value : s; /* s is at its NUL */
		word_count++;
	}
	return next;
}

void cmdline_init(const char *line)
{
	char *s = cut;

	strscpy(given, line, sizeof given);
	strscpy(cut, line, sizeof cut);
	word_count = 0;
	for (;;) {
		while (is_space(*s))
			s++;
		if (!*s)
			return;
		if (s[0] == '-' && s[1] == '-' && (!s[2] || is_space(s[2])))
			return;
		s = take_word(s);
	}
}

const char *cmdline(void)
{
	return given;
}

static bool cmdline_same_name(const char *a, const char *b)
{
	for (; *a || *b; a++, b++)
		if ((*a == '-' ? '_' : *a) != (*b == '-' ? '_' : *b))
			return false;
	return true;
}

const char *cmdline_nth(const char *name, unsigned index)
{
	for (unsigned i = 0; i < word_count; i++)
		if (cmdline_same_name(words[i].name, name) && index-- == 0)
			return words[i].value;
	return NULL;
}

const char *cmdline_get(const char *name)
{
	for (unsigned i = word_count; i-- > 0;)
		if (cmdline_same_name(words[i].name, name))
			return words[i].value;
	return NULL;
}

bool cmdline_flag(const char *name)
{
	const char *value = cmdline_get(name);

	return value && strcmp(value, "0") != 0 && strcmp(value, "off") != 0;
}

u64 cmdline_u64(const char *name, u64 otherwise)
{
	const char *value = cmdline_get(name), *end;
	u64 v;

	if (!value || !is_digit(*value))
		return otherwise;
	v = parse_digits(value, &end, 0);
	switch (*end | 32) {
	case 'g':
		v <<= 10;
		/* fallthrough */
	case 'm':
		v <<= 10;
		/* fallthrough */
	case 'k':
		v <<= 10;
		end++;
		break;
	}
	return *end ? otherwise : v;
}
