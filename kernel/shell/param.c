/* ${...}: parameters and their operators - + = ? # ## % %% :offset:length /pattern/text, with POSIX's meanings. Task context. */
#include "kernel/lib/string.h"
#include "kernel/shell/arith.h"
#include "kernel/shell/expand.h"
#include "kernel/shell/scan.h"

struct param {
	const char *name; /* of a variable, or one special character, or digits */
	size_t name_len;
	const char *value; /* NULL: unset */
	char number[24];
};

static void bad_substitution(struct sh_expander *x)
{
	sh_error(x->sh, "bad substitution");
	sh_expand_fail(x);
}

/* Single-letter option names that are on: $- */
static void option_letters(const struct shell *sh, char *out)
{
	if (sh->errexit)
		*out++ = 'e';
	if (sh->noglob)
		*out++ = 'f';
	if (sh->interactive)
		*out++ = 'i';
	if (sh->nounset)
		*out++ = 'u';
	if (sh->xtrace)
		*out++ = 'x';
	*out = 0;
}

static void special_value(struct shell *sh, struct param *p)
{
	long long v;

	switch (*p->name) {
	case '?':
		v = sh->status;
		break;
	case '$':
		v = sh->pid;
		break;
	case '#':
		v = sh->vars.argc;
		break;
	case '!':
		if (!sh->last_bg)
			return;
		v = sh->last_bg;
		break;
	default:
		option_letters(sh, p->number);
		p->value = p->number;
		return;
	}
	snprintf(p->number, sizeof(p->number), "%lld", v);
	p->value = p->number;
}

static void positional_value(struct shell *sh, struct param *p)
{
	const char *end;
	u64 i = parse_digits(p->name, &end, 10);

	if (i == 0)
		p->value = sh->vars.arg0 ? sh->vars.arg0 : "sh";
	else if (p->name_len < 9 && i <= (u64)sh->vars.argc)
		p->value = sh->vars.argv[i - 1];
}

/* Reads the name at s and its value. False: there is no name. */
static bool get_param(struct shell *sh, struct param *p, const char *s)
{
	*p = (struct param){.name = s, .name_len = sh_name_len(s)};
	if (p->name_len) {
		p->value = sh_var_getn(&sh->vars, s, p->name_len);
		return true;
	}
	if (is_digit(*s)) {
		while (is_digit(s[p->name_len]))
			p->name_len++;
		positional_value(sh, p);
		return true;
	}
	if (!*s || !strchr("?$#!-@*", *s))
		return false;
	p->name_len = 1;
	if (*s != '@' && *s != '*')
		special_value(sh, p);
	else if (sh->vars.argc)
		p->value = sh->vars.argv[0];
	return true;
}

static void put_value(struct sh_expander *x, struct param *p)
{
	if (*p->name == '@' || *p->name == '*') {
		sh_expand_args(x, *p->name);
	} else if (p->value) {
		sh_expand_value(x, p->value, strlen(p->value));
	} else if (x->sh->nounset) {
		sh_error(x->sh, "%.*s: parameter not set", (int)p->name_len, p->name);
		sh_expand_fail(x);
	}
}

/* ${#name} */
static void put_length(struct sh_expander *x, struct param *p)
{
	char text[24];
	size_t n = p->value ? strlen(p->value) : 0;

	if (*p->name == '@' || *p->name == '*')
		n = x->sh->vars.argc;
	sh_expand_value(x, text, snprintf(text, sizeof(text), "%zu", n));
}

/* A copy of the word after an operator, expanded to one string (pattern: with backslashes). NULL: failed. */
static char *operand(struct sh_expander *x, const char *s, const char *end, bool pattern)
{
	char *raw = sh_strndup(&x->sh->tmp, s, end - s), *text;

	text = !raw ? NULL : pattern ? sh_expand_pattern(x->sh, raw) : sh_expand_string(x->sh, raw);
	if (!text)
		sh_expand_fail(x);
	return text;
}

static void assign_default(struct sh_expander *x, struct param *p, const char *s, const char *end)
{
	char *value = operand(x, s, end, false);

	if (!value)
		return;
	if (!sh_name_len(p->name) || sh_var_setn(&x->sh->vars, p->name, p->name_len, value)) {
		bad_substitution(x);
		return;
	}
	sh_expand_value(x, value, strlen(value));
}

static void complain_unset(struct sh_expander *x, struct param *p, const char *s, const char *end)
{
	char *text = operand(x, s, end, false);

	if (text)
		sh_error(x->sh, "%.*s: %s", (int)p->name_len, p->name,
		    *text ? text : "parameter not set");
	sh_expand_fail(x);
}

static void put_word(struct sh_expander *x, const char *s, const char *end)
{
	bool outer = x->in_param;

	x->in_param = true;
	sh_expand_raw(x, s, end);
	x->in_param = outer;
}

/* - + = ? with or without the colon; s is at the word. */
static void put_conditional(
    struct sh_expander *x, struct param *p, char op, bool colon, const char *s, const char *end)
{
	bool set = p->value && (!colon || *p->value);

	if (op == '+') {
		if (set)
			put_word(x, s, end);
	} else if (set) {
		put_value(x, p);
	} else if (op == '-') {
		put_word(x, s, end);
	} else if (op == '=') {
		assign_default(x, p, s, end);
	} else {
		complain_unset(x, p, s, end);
	}
}

/* # ## % %%: cuts the shortest or longest match off the front or the back. */
static void put_trimmed(
    struct sh_expander *x, struct param *p, char op, const char *s, const char *end)
{
	bool longest = *s == op;
	const char *value = p->value ? p->value : "";
	char *pattern = operand(x, s + longest, end, true);
	size_t n = strlen(value);

	if (!pattern)
		return;
	for (size_t i = 0; i <= n; i++) {
		size_t cut = longest ? n - i : i; /* bytes the pattern takes */

		if (op == '#' && sh_glob_match_n(pattern, value, cut)) {
			sh_expand_value(x, value + cut, n - cut);
			return;
		}
		if (op == '%' && sh_glob_match_n(pattern, value + n - cut, cut)) {
			sh_expand_value(x, value, n - cut);
			return;
		}
	}
	sh_expand_value(x, value, n);
}

static bool number_operand(struct sh_expander *x, const char *s, const char *end, s64 *out)
{
	char *text = operand(x, s, end, false);
	const char *error;

	if (!text)
		return false;
	if (!sh_arith(&x->sh->vars, text, out, &error))
		return true;
	sh_error(x->sh, "%s", error);
	sh_expand_fail(x);
	return false;
}

/* ${name:offset:length} */
static void put_substring(struct sh_expander *x, struct param *p, const char *s, const char *end)
{
	const char *value = p->value ? p->value : "", *colon = s;
	s64 n = strlen(value), from, count = n;

	while (colon < end && *colon != ':')
		colon = sh_skip_piece(colon, 0);
	if (!number_operand(x, s, colon, &from))
		return;
	if (colon < end && !number_operand(x, colon + 1, end, &count))
		return;
	if (from < 0)
		from = MAX(from + n, (s64)0);
	from = MIN(from, n);
	if (count < 0)
		count = MAX(n - from + count, (s64)0);
	sh_expand_value(x, value + from, MIN(count, n - from));
}

/* The longest match of the pattern at s (n bytes left); -1: none. */
static ssize match_at(const char *pattern, const char *s, size_t n)
{
	for (ssize len = n; len >= 0; len--)
		if (sh_glob_match_n(pattern, s, len))
			return len;
	return -1;
}

/* ${name/pattern/text} and ${name//pattern/text} */
static void put_replaced(struct sh_expander *x, struct param *p, const char *s, const char *end)
{
	const char *v = p->value ? p->value : "", *slash;
	bool all = *s == '/', done = false;
	char *pattern, *text;
	ssize n;

	s += all;
	for (slash = s; slash < end && *slash != '/';)
		slash = sh_skip_piece(slash, 0);
	pattern = operand(x, s, slash, true);
	text = pattern ? operand(x, slash < end ? slash + 1 : end, end, false) : NULL;
	if (!text)
		return;
	while (*v) {
		n = done || !*pattern ? -1 : match_at(pattern, v, strlen(v));
		if (n > 0) {
			sh_expand_value(x, text, strlen(text));
			v += n;
			done = !all;
		} else {
			sh_expand_value(x, v++, 1);
		}
	}
}

static void put_operator(struct sh_expander *x, struct param *p, const char *s, const char *end)
{
	bool colon = *s == ':' && s + 1 < end && strchr("-+=?", s[1]);
	char op = s[colon];

	if (strchr("-+=?", op)) {
		put_conditional(x, p, op, colon, s + colon + 1, end);
		return;
	}
	if (!p->value && x->sh->nounset)
		put_value(x, p); /* complains */
	else if (op == '#' || op == '%')
		put_trimmed(x, p, op, s + 1, end);
	else if (op == ':')
		put_substring(x, p, s + 1, end);
	else if (op == '/')
		put_replaced(x, p, s + 1, end);
	else
		bad_substitution(x);
}

void sh_expand_param(struct sh_expander *x, const char *p, const char *end)
{
	struct param param;

	p++;
	if (*p != '{') {
		get_param(x->sh, &param, p);
		if (is_digit(*p) &&
		    param.name_len > 1) { /* $12 is ${1}2: the scanner took one digit */
			char digit[2] = {*p, 0};

			get_param(x->sh, &param, digit);
			put_value(x, &param);
			return;
		}
		put_value(x, &param);
		return;
	}
	p++;
	end--;
	if (*p == '#' && p + 1 < end && get_param(x->sh, &param, p + 1) &&
	    p + 1 + param.name_len == end)
		put_length(x, &param);
	else if (!get_param(x->sh, &param, p) || p + param.name_len > end)
		bad_substitution(x);
	else if (p + param.name_len == end)
		put_value(x, &param);
	else
		put_operator(x, &param, p + param.name_len, end);
}
