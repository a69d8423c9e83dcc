/* Cutting a line of the monitor into commands and words: see words.h. */
#include "kernel/monitor/words.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"

struct cutter {
	struct words *w;
	const char *p; /* next character of the line */
	size_t used;   /* of w->text */
	int status, pid;
	const char *wrong; /* NULL: nothing */
};

static void words_put(struct cutter *c, char byte)
{
	if (c->used == WORDS_TEXT - 1)
		c->wrong = "the line is too long";
	else
		c->w->text[c->used++] = byte;
}

/* $? or $$ becomes a number; any other $ stays what it is. */
static void words_dollar(struct cutter *c)
{
	char number[16];

	if (c->p[1] != '?' && c->p[1] != '$') {
		words_put(c, *c->p++);
		return;
	}
	fmt_snprintf(number, sizeof(number), "%d", c->p[1] == '?' ? c->status : c->pid);
	for (const char *s = number; *s; s++)
		words_put(c, *s);
	c->p += 2;
}

static void words_quoted(struct cutter *c)
{
	char quote = *c->p++;

	while (*c->p && *c->p != quote && !c->wrong) {
		if (quote == '"' && *c->p == '$') {
			words_dollar(c);
			continue;
		}
		if (quote == '"' && *c->p == '\\' && c->p[1] && strchr("\"\\$`", c->p[1]))
			c->p++;
		words_put(c, *c->p++);
	}
	if (!*c->p)
		c->wrong = "a quote is not closed";
	else
		c->p++;
}

static bool words_ends(char c)
{
	return strchr(" \t;>&|<", c); /* its NUL is one of them */
}

/* One word, copied; NULL with c->wrong. */
static char *words_word(struct cutter *c)
{
	char *word = c->w->text + c->used;

	while (!words_ends(*c->p) && !c->wrong) {
		if (*c->p == '\'' || *c->p == '"') {
			words_quoted(c);
		} else if (*c->p == '$') {
			words_dollar(c);
		} else {
			c->p += *c->p == '\\' && c->p[1];
			words_put(c, *c->p++);
		}
	}
	words_put(c, '\0');
	return c->wrong ? NULL : word;
}

static void words_skip_blanks(struct cutter *c)
{
	c->p += strspn(c->p, " \t");
	if (*c->p == '#')
		c->p += strlen(c->p);
}

static void words_redirect(struct cutter *c)
{
	c->w->append = c->p[1] == '>';
	c->p += c->w->append ? 2 : 1;
	c->p += strspn(c->p, " \t");
	if (words_ends(*c->p))
		c->wrong = "no file after >";
	else if (c->w->to)
		c->wrong = "two files after >";
	else
		c->w->to = words_word(c);
}

/* The words up to ; && or the end. */
static void words_command(struct cutter *c)
{
	for (words_skip_blanks(c); *c->p && *c->p != ';' && !c->wrong; words_skip_blanks(c)) {
		if (str_has_prefix(c->p, "&&"))
			return;
		if (*c->p == '>')
			words_redirect(c);
		else if (*c->p == '|' || *c->p == '<' || *c->p == '&')
			c->wrong = "no pipes, input files or jobs here";
		else if (c->w->count == WORDS_MAX)
			c->wrong = "too many words";
		else
			c->w->word[c->w->count++] = words_word(c);
	}
}

bool words_next(struct words *w, const char **at, int status, int pid, const char **wrong)
{
	struct cutter c = {.w = w, .p = *at, .status = status, .pid = pid};

	w->count = 0;
	w->to = NULL;
	w->append = w->only_after_success = false;
	for (words_skip_blanks(&c); *c.p == ';'; words_skip_blanks(&c))
		c.p++;
	if (str_has_prefix(c.p, "&&")) {
		w->only_after_success = true;
		c.p += 2;
	}
	words_command(&c);
	if (!c.wrong && w->only_after_success && !w->count)
		c.wrong = "no command after &&";
	if (!c.wrong && !w->count && w->to)
		c.wrong = "no command before >";
	w->word[w->count] = NULL;
	*at = c.p;
	*wrong = c.wrong;
	return !c.wrong && w->count;
}

bool words_continue(char *line)
{
	size_t n = strlen(line), slashes = 0;

	while (slashes < n && line[n - 1 - slashes] == '\\')
		slashes++;
	if (slashes % 2 == 0)
		return false;
	line[n - 1] = '\0';
	return true;
}
