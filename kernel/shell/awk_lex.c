/* The tokens of awk programs, and the names of its functions. Task context (memory only). */
#include "kernel/shell/awk_parser.h"

#include "kernel/lib/string.h"
#include "kernel/shell/scan.h"

static const struct {
	const char *name;
	int min, max;
} functions[] = {
    {"length", 0, 1},
    {"substr", 2, 3},
    {"index", 2, 2},
    {"split", 2, 3},
    {"sub", 2, 3},
    {"gsub", 2, 3},
    {"match", 2, 2},
    {"tolower", 1, 1},
    {"toupper", 1, 1},
    {"sprintf", 1, 99},
    {"int", 1, 1},
    {"strtonum", 1, 1},
};

const char *awk_function_name(int n, int *min, int *max)
{
	*min = functions[n].min;
	*max = functions[n].max;
	return functions[n].name;
}

/* Its number; -1: none. */
static int awk_function_find(const char *name, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (!strncmp(functions[i].name, name, n) && !functions[i].name[n])
			return i;
	return -1;
}

void *awk_complain(struct awk_parser *p, const char *what)
{
	if (!p->w->failed)
		sh_fail(p->w->io, "%s near '%.20s'", what, p->p);
	p->w->failed = true;
	p->token = T_END;
	return NULL;
}

static void read_string(struct awk_parser *p)
{
	static const char from[] = "nt\\\"/ra", to[] = "\n\t\\\"/\r\a";
	char *out = sh_alloc(p->w->arena, strlen(p->p) + 1), *o = out;
	const char *s = p->p + 1, *at;

	for (; out && *s && *s != '"'; s++) {
		if (*s != '\\' || !s[1]) {
			*o++ = *s;
			continue;
		}
		at = strchr(from, *++s);
		if (!at)
			*o++ = '\\';
		*o++ = at ? to[at - from] : *s;
	}
	if (!out || !*s) {
		awk_complain(p, "unterminated string");
		return;
	}
	*o = 0;
	p->p = s + 1;
	p->token = T_STRING;
	p->value = awk_string(out);
}

static void read_regex(struct awk_parser *p)
{
	char *out = sh_alloc(p->w->arena, strlen(p->p) + 1), *o = out;
	const char *s = p->p + 1;
	bool bracket = false;

	for (; out && *s && *s != '\n' && (*s != '/' || bracket); s++) {
		if (*s == '[')
			bracket = true;
		else if (*s == ']')
			bracket = false;
		if (s[0] == '\\' && s[1] == '/')
			s++;
		else if (s[0] == '\\' && s[1])
			*o++ = *s++;
		*o++ = *s;
	}
	if (!out || *s != '/') {
		awk_complain(p, "unterminated regex");
		return;
	}
	*o = 0;
	p->p = s + 1;
	p->token = T_REGEX;
	p->value = awk_string(out);
}

static void read_number(struct awk_parser *p)
{
	const char *end;

	if (p->p[0] == '0' && (p->p[1] | 32) == 'x') {
		p->value = awk_int(parse_digits(p->p + 2, &end, 16));
	} else {
		p->value = awk_number(sh_dec_parse(p->p, &end));
	}
	p->p = end;
	p->token = T_NUMBER;
}

static void read_operator(struct awk_parser *p)
{
	static const char *const ops[] = {
	    "+=", "-=", "*=", "/=", "%=", "==", "!=", "<=", ">=", "&&", "||", "!~", "++", "--"};

	p->token = T_OP;
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		if (str_has_prefix(p->p, ops[i])) {
			strscpy(p->op, ops[i], sizeof(p->op));
			p->p += 2;
			return;
		}
	}
	p->op[0] = *p->p++;
	p->op[1] = 0;
	if (!strchr("{}()[];,+-*/%!<>|?:~$=", p->op[0]))
		awk_complain(p, "syntax error");
}

/* May a `/` here begin a regular expression? Not behind an operand. */
static bool regex_may_begin(const struct awk_parser *p)
{
	if (p->before == T_NUMBER || p->before == T_STRING || p->before == T_REGEX)
		return false;
	if (p->before == T_NAME)
		return false;
	return p->before != T_OP || !strchr(")]$", p->op[0]);
}

void awk_next(struct awk_parser *p)
{
	p->before = p->token;
	for (;;) {
		p->p += strspn(p->p, " \t\r");
		if (p->p[0] == '\\' && p->p[1] == '\n')
			p->p += 2;
		else if (*p->p == '#')
			p->p += strcspn(p->p, "\n");
		else
			break;
	}
	if (p->w->failed || !*p->p) {
		p->token = T_END;
	} else if (*p->p == '\n') {
		p->token = T_NEWLINE;
		p->p++;
	} else if (*p->p == '"') {
		read_string(p);
	} else if (*p->p == '/' && regex_may_begin(p)) {
		read_regex(p);
	} else if (is_digit(*p->p) || (*p->p == '.' && is_digit(p->p[1]))) {
		read_number(p);
	} else if (sh_name_start(*p->p)) {
		p->name = p->p;
		p->name_len = sh_name_len(p->p);
		p->p += p->name_len;
		p->function = awk_function_find(p->name, p->name_len);
		p->token = p->function >= 0 ? T_FUNCTION : T_NAME;
	} else {
		read_operator(p);
	}
}

bool awk_at_op(const struct awk_parser *p, const char *op)
{
	return p->token == T_OP && !strcmp(p->op, op);
}

bool awk_at_name(const struct awk_parser *p, const char *name)
{
	return p->token == T_NAME && p->name_len == strlen(name) &&
	       !memcmp(p->name, name, p->name_len);
}

bool awk_accept(struct awk_parser *p, const char *op)
{
	if (!awk_at_op(p, op))
		return false;
	awk_next(p);
	return true;
}

bool awk_accept_name(struct awk_parser *p, const char *name)
{
	if (!awk_at_name(p, name))
		return false;
	awk_next(p);
	return true;
}

void awk_expect(struct awk_parser *p, const char *op)
{
	if (!awk_accept(p, op))
		awk_complain(p, "syntax error");
}

void awk_newlines(struct awk_parser *p)
{
	while (p->token == T_NEWLINE)
		awk_next(p);
}
