/*
 * Words to arguments: parameters, command substitution, arithmetic, field splitting, file names, quote removal (POSIX XCU
 * 2.6). While a field is built every quoted character is preceded by a backslash (and so is every backslash that came out of an
 * expansion): the field is a pattern, and taking the backslashes away is quote removal. Task context.
 */
#include "kernel/shell/expand.h"
#include "kernel/lib/string.h"
#include "kernel/shell/arith.h"
#include "kernel/shell/scan.h"

/* One character to the field. */
static void put_char(struct sh_expander *x, char c, bool quoted)
{
	if (quoted || c == '\\')
		sh_buf_putc(&x->field, '\\');
	sh_buf_putc(&x->field, c);
	x->started = true;
	x->after_blank = false;
}

static void finish_field(struct sh_expander *x)
{
	if (x->started && x->fields)
		sh_words_add(x->fields, &x->sh->tmp,
		    sh_strndup(&x->sh->tmp, sh_buf_str(&x->field), x->field.len));
	x->field.len = 0;
	x->started = false;
}

/* A character that an expansion gave, outside quotes: may end the field. */
static void put_split(struct sh_expander *x, char c)
{
	if (!x->fields || !strchr(x->ifs, c)) {
		put_char(x, c, false);
	} else if (c == ' ' || c == '\t' || c == '\n') {
		if (x->started) {
			finish_field(x);
			x->after_blank = true;
		}
	} else {
		if (!x->after_blank)
			x->started = true; /* an empty field counts here */
		finish_field(x);
		x->after_blank = false;
	}
}

void sh_expand_value(struct sh_expander *x, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (x->quoted)
			put_char(x, s[i], true);
		else
			put_split(x, s[i]);
	}
}

int sh_expand_fail(struct sh_expander *x)
{
	x->failed = true;
	x->sh->aborted = true;
	x->sh->status = 2;
	return -1;
}

/* $@ and $*: between quotes "$@" keeps the parameters apart, "$*" joins them with the first character of IFS. */
void sh_expand_args(struct sh_expander *x, char which)
{
	const struct sh_vars *v = &x->sh->vars;

	for (int i = 0; i < v->argc; i++) {
		if (i && x->quoted && which == '*' && *x->ifs)
			put_char(x, *x->ifs, true);
		else if (i && (!x->quoted || which == '@') && x->fields)
			finish_field(x);
		else if (i && !x->fields)
			put_char(x, ' ', true);
		if (x->quoted)
			x->started = true;
		sh_expand_value(x, v->argv[i], strlen(v->argv[i]));
	}
}

static void expand_command(struct sh_expander *x, const char *text, size_t n)
{
	struct sh_buf out = {0};

	if (sh_substitute(x->sh, text, n, &out))
		sh_expand_fail(x);
	while (out.len && out.s[out.len - 1] == '\n')
		out.len--;
	sh_expand_value(x, out.s, out.len);
	x->field.failed |= out.failed;
	sh_buf_free(&out);
}

/* `...`: a backslash there takes $ ` \ (and " between double quotes) as they are. */
static void expand_backquote(struct sh_expander *x, const char *s, const char *end)
{
	char *text = sh_alloc(&x->sh->tmp, end - s), *o = text;

	if (!text) {
		sh_expand_fail(x);
		return;
	}
	for (s++; s < end - 1; s++) {
		if (*s == '\\' && (strchr("$`\\", s[1]) || (x->quoted && s[1] == '"')))
			s++;
		*o++ = *s;
	}
	expand_command(x, text, o - text);
}

static void expand_arith(struct sh_expander *x, const char *s, size_t n)
{
	char *raw = sh_strndup(&x->sh->tmp, s, n), *text, number[24];
	const char *error;
	s64 value;

	text = raw ? sh_expand_heredoc(x->sh, raw) : NULL;
	if (!text) {
		sh_expand_fail(x);
		return;
	}
	if (sh_arith(&x->sh->vars, text, &value, &error)) {
		sh_error(x->sh, "%s", error);
		sh_expand_fail(x);
		return;
	}
	sh_expand_value(x, number, snprintf(number, sizeof(number), "%lld", (long long)value));
}

/* At a `$` or `; returns the place behind it. */
static const char *sh_expand_dollar(struct sh_expander *x, const char *p)
{
	const char *end = *p == '`' ? sh_skip_backquote(p) : sh_skip_dollar(p, 0);

	if (!end) {
		sh_error(x->sh, "syntax error: unterminated expansion");
		sh_expand_fail(x);
		return p + strlen(p);
	}
	if (*p == '`')
		expand_backquote(x, p, end);
	else if (end == p + 1)
		put_char(x, '$', x->quoted);
	else if (p[1] == '(' && p[2] == '(' && end[-2] == ')')
		expand_arith(x, p + 3, end - p - 5);
	else if (p[1] == '(')
		expand_command(x, p + 2, end - p - 3);
	else
		sh_expand_param(x, p, end);
	return end;
}

static const char *expand_squote(struct sh_expander *x, const char *p)
{
	x->started = true;
	for (p++; *p && *p != '\''; p++)
		put_char(x, *p, true);
	return *p ? p + 1 : p;
}

/* Between double quotes, up to `until` or the end of the text (heredoc: there is no quote to end it). */
static const char *expand_quoted(struct sh_expander *x, const char *p, char until)
{
	x->quoted = true;
	while (*p && *p != until && !x->failed) {
		if (*p == '\\' && p[1] == '\n') {
			p += 2;
		} else if (*p == '\\' && p[1] && (strchr("$`\\", p[1]) || (until && p[1] == '"'))) {
			put_char(x, p[1], true);
			p += 2;
		} else if (*p == '$' || *p == '`') {
			p = sh_expand_dollar(x, p);
		} else {
			put_char(x, *p++, true);
		}
	}
	x->quoted = false;
	return *p ? p + 1 : p;
}

static const char *expand_dquote(struct sh_expander *x, const char *p)
{
	bool outer = x->quoted;

	/* "$@" without parameters is nothing at all; every other "" is a field. */
	if (strncmp(p, "\"$@\"", 4) || x->sh->vars.argc)
		x->started = true;
	if (outer) { /* a quote inside "${x:-"..."}": what it holds is not quoted twice */
		p = expand_quoted(x, p + 1, '"');
		x->quoted = true;
		return p;
	}
	return expand_quoted(x, p + 1, '"');
}

static const char *expand_tilde(struct sh_expander *x, const char *p)
{
	const char *home = sh_var_get(&x->sh->vars, "HOME");

	if (!home || (p[1] && p[1] != '/')) {
		put_char(x, '~', false);
		return p + 1;
	}
	for (; *home; home++)
		put_char(x, *home, true);
	return p + 1;
}

static void put_literal(struct sh_expander *x, char c)
{
	if (x->in_param && !x->quoted)
		put_split(x, c);
	else
		put_char(x, c, x->quoted);
}

/* A raw word from the source, or the word inside ${x:-word}. */
void sh_expand_raw(struct sh_expander *x, const char *p, const char *end)
{
	if (p < end && *p == '~' && !x->quoted)
		p = expand_tilde(x, p);
	while (p < end && *p && !x->failed) {
		if (*p == '\\' && x->quoted && !strchr("$`\"\\}", p[1])) {
			put_char(x, *p++, true);
		} else if (*p == '\\' && p + 1 < end) {
			put_char(x, p[1], true);
			p += 2;
		} else if (*p == '\'' && !x->quoted) {
			p = expand_squote(x, p);
		} else if (*p == '"') {
			p = expand_dquote(x, p);
		} else if (*p == '$' || *p == '`') {
			p = sh_expand_dollar(x, p);
		} else {
			put_literal(x, *p++);
		}
	}
}

/* Takes the backslashes away, in place. */
static char *remove_quotes(char *s)
{
	char *o = s;

	for (char *p = s; *p; p++) {
		if (*p == '\\' && p[1])
			p++;
		*o++ = *p;
	}
	*o = 0;
	return s;
}

static bool memory_ok(struct sh_expander *x, bool lost)
{
	if (x->failed)
		return false;
	if (!lost)
		return true;
	sh_error(x->sh, "out of memory");
	sh_expand_fail(x);
	return false;
}

int sh_expand_words(struct shell *sh, const struct sh_word *words, struct sh_words *out)
{
	const char *ifs = sh_var_get(&sh->vars, "IFS");
	struct sh_words fields = {0};
	struct sh_expander x = {.sh = sh, .ifs = ifs ? ifs : " \t\n", .fields = &fields};

	for (; words && !x.failed; words = words->next) {
		sh_expand_raw(&x, words->text, words->text + strlen(words->text));
		finish_field(&x);
		x.after_blank = false;
	}
	for (int i = 0; i < fields.n && !x.failed; i++) {
		if (sh->noglob || !sh_glob_magic(fields.v[i]) ||
		    !sh_glob_paths(fields.v[i], &sh->tmp, out))
			sh_words_add(out, &sh->tmp, remove_quotes(fields.v[i]));
	}
	sh_buf_str(&x.field);
	memory_ok(&x, x.field.failed || fields.failed || out->failed);
	sh_buf_free(&x.field);
	return x.failed ? -1 : 0;
}

static char *expand_one(struct shell *sh, const char *text, bool heredoc)
{
	struct sh_expander x = {.sh = sh, .ifs = " "};
	char *s;

	if (heredoc)
		expand_quoted(&x, text, 0);
	else
		sh_expand_raw(&x, text, text + strlen(text));
	s = sh_strdup(&sh->tmp, sh_buf_str(&x.field));
	if (!memory_ok(&x, !s || x.field.failed))
		s = NULL;
	sh_buf_free(&x.field);
	return s;
}

char *sh_expand_pattern(struct shell *sh, const char *text)
{
	return expand_one(sh, text, false);
}

char *sh_expand_string(struct shell *sh, const char *text)
{
	char *s = expand_one(sh, text, false);

	return s ? remove_quotes(s) : NULL;
}

char *sh_expand_heredoc(struct shell *sh, const char *text)
{
	char *s = expand_one(sh, text, true);

	return s ? remove_quotes(s) : NULL;
}
