/* Finds the ends of quotes and brackets in shell text. Pure; any context. */
#include "kernel/shell/scan.h"
#include "kernel/lib/string.h"

size_t sh_name_len(const char *p)
{
	size_t n = 0;

	if (!sh_name_start(*p))
		return 0;
	while (sh_name_char(p[n]))
		n++;
	return n;
}

const char *sh_skip_squote(const char *p)
{
	p = strchr(p + 1, '\'');
	return p ? p + 1 : NULL;
}

const char *sh_skip_backquote(const char *p)
{
	for (p++; *p; p++) {
		if (*p == '`')
			return p + 1;
		if (*p == '\\' && p[1])
			p++;
	}
	return NULL;
}

static const char *sh_skip_dquote(const char *p, int depth)
{
	for (p++; p && *p != '"';) {
		if (!*p)
			return NULL;
		if (*p == '\\' && p[1])
			p += 2;
		else if (*p == '$')
			p = sh_skip_dollar(p, depth + 1);
		else if (*p == '`')
			p = sh_skip_backquote(p);
		else
			p++;
	}
	return p ? p + 1 : NULL;
}

const char *sh_skip_piece(const char *p, int depth)
{
	switch (*p) {
	case '\\':
		return p[1] ? p + 2 : NULL;
	case '\'':
		return sh_skip_squote(p);
	case '"':
		return sh_skip_dquote(p, depth);
	case '`':
		return sh_skip_backquote(p);
	case '$':
		return sh_skip_dollar(p, depth);
	default:
		return p + 1;
	}
}

/* At the `(` of $(: also knows comments and nested brackets. */
static const char *sh_skip_paren(const char *p, int depth)
{
	char before = ' ';
	int open = 0;

	while (p && *p) {
		if (*p == '#' && is_space(before)) {
			p += strcspn(p, "\n");
			continue;
		}
		if (*p == '(')
			open++;
		if (*p == ')' && --open == 0)
			return p + 1;
		before = *p;
		p = sh_skip_piece(p, depth + 1);
	}
	return NULL;
}

/* The same for `((`: no comments there, quotes mean nothing special. */
static const char *skip_arith(const char *p)
{
	int open = 0;

	for (; *p; p++) {
		if (*p == '(')
			open++;
		if (*p == ')' && --open == 0)
			return p + 1;
	}
	return NULL;
}

static const char *skip_brace(const char *p, int depth)
{
	for (p++; p && *p != '}'; p = sh_skip_piece(p, depth + 1))
		if (!*p)
			return NULL;
	return p ? p + 1 : NULL;
}

const char *sh_skip_dollar(const char *p, int depth)
{
	size_t n;

	if (depth > SH_NEST_MAX)
		return NULL;
	p++;
	if (*p == '{')
		return skip_brace(p, depth);
	if (p[0] == '(' && p[1] == '(')
		return skip_arith(p);
	if (*p == '(')
		return sh_skip_paren(p, depth);
	n = sh_name_len(p);
	if (n)
		return p + n;
	return *p && strchr("?$!#@*-0123456789", *p) ? p + 1 : p;
}
