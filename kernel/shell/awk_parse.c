/* Parses awk programs: tokens, then recursive descent with precedence climbing. Task context (memory only). */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/awk.h"
#include "kernel/shell/scan.h"

enum token { T_END, T_NEWLINE, T_NUMBER, T_STRING, T_REGEX, T_NAME, T_FUNCTION, T_OP };

struct parser {
	struct awk *w;
	const char *p;
	enum token token, before;
	char op[4];	  /* T_OP */
	const char *name; /* T_NAME; into the text */
	size_t name_len;
	int function;
	struct awk_value value;
	bool no_in, no_greater; /* in a `for (x in a)` head; in what print prints */
};

static struct awk_node *expression(struct parser *p, int level);
static struct awk_node *statement(struct parser *p);

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

int awk_function_find(const char *name, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (!strncmp(functions[i].name, name, n) && !functions[i].name[n])
			return i;
	return -1;
}

static void *complain(struct parser *p, const char *what)
{
	if (!p->w->failed)
		sh_fail(p->w->io, "%s near '%.20s'", what, p->p);
	p->w->failed = true;
	p->token = T_END;
	return NULL;
}

/* ---- tokens ---- */

static void read_string(struct parser *p)
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
		complain(p, "unterminated string");
		return;
	}
	*o = 0;
	p->p = s + 1;
	p->token = T_STRING;
	p->value = awk_string(out);
}

static void read_regex(struct parser *p)
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
		complain(p, "unterminated regex");
		return;
	}
	*o = 0;
	p->p = s + 1;
	p->token = T_REGEX;
	p->value = awk_string(out);
}

static void read_number(struct parser *p)
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

static void read_operator(struct parser *p)
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
		complain(p, "syntax error");
}

/* May a `/` here begin a regular expression? Not behind an operand. */
static bool regex_may_begin(const struct parser *p)
{
	if (p->before == T_NUMBER || p->before == T_STRING || p->before == T_REGEX)
		return false;
	if (p->before == T_NAME)
		return false;
	return p->before != T_OP || !strchr(")]$", p->op[0]);
}

static void next(struct parser *p)
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

static bool at_op(const struct parser *p, const char *op)
{
	return p->token == T_OP && !strcmp(p->op, op);
}

static bool at_name(const struct parser *p, const char *name)
{
	return p->token == T_NAME && p->name_len == strlen(name) &&
	       !memcmp(p->name, name, p->name_len);
}

static bool accept(struct parser *p, const char *op)
{
	if (!at_op(p, op))
		return false;
	next(p);
	return true;
}

static bool accept_name(struct parser *p, const char *name)
{
	if (!at_name(p, name))
		return false;
	next(p);
	return true;
}

static void expect(struct parser *p, const char *op)
{
	if (!accept(p, op))
		complain(p, "syntax error");
}

static void newlines(struct parser *p)
{
	while (p->token == T_NEWLINE)
		next(p);
}

/* ---- expressions ---- */

static struct awk_node *node(
    struct parser *p, enum awk_op op, struct awk_node *a, struct awk_node *b)
{
	struct awk_node *n = sh_zalloc(p->w->arena, sizeof(*n));

	if (!n)
		return complain(p, "out of memory");
	n->op = op;
	n->a = a;
	n->b = b;
	return n;
}

static struct awk_node *constant(struct parser *p)
{
	struct awk_node *n = node(p, AWK_CONST, NULL, NULL);

	if (n)
		n->value = p->value;
	next(p);
	return n;
}

static struct awk_node *regex(struct parser *p)
{
	struct awk_node *n = node(p, AWK_REGEX, NULL, NULL);
	const char *error;

	if (!n)
		return NULL;
	n->re = sh_regex_new(p->value.str, SH_REGEX_EXTENDED, &error);
	if (!n->re)
		return complain(p, error);
	n->all_next = p->w->with_regex;
	p->w->with_regex = n;
	next(p);
	return n;
}

/* Expressions between commas up to the bracket, which is taken. */
static struct awk_node *arguments(struct parser *p, const char *close)
{
	struct awk_node *first = NULL, **at = &first;
	bool no_in = p->no_in, no_greater = p->no_greater;

	p->no_in = p->no_greater = false;
	newlines(p);
	while (!p->w->failed && !at_op(p, close)) {
		*at = expression(p, 0);
		if (!*at)
			return NULL;
		at = &(*at)->next;
		newlines(p);
		if (!at_op(p, close)) {
			expect(p, ",");
			newlines(p);
		}
	}
	expect(p, close);
	p->no_in = no_in;
	p->no_greater = no_greater;
	return first;
}

static struct awk_node *call(struct parser *p)
{
	struct awk_node *n = node(p, AWK_CALL, NULL, NULL);
	int count = 0, min, max;

	if (!n)
		return NULL;
	n->n = p->function;
	next(p);
	if (accept(p, "("))
		n->a = arguments(p, ")");
	for (struct awk_node *x = n->a; x; x = x->next)
		count++;
	awk_function_name(n->n, &min, &max);
	return count < min || count > max ? complain(p, "wrong number of arguments") : n;
}

static struct awk_node *variable(struct parser *p)
{
	struct awk_node *n = node(p, AWK_VAR, NULL, NULL);

	if (!n)
		return NULL;
	n->var = awk_var(p->w, p->name, p->name_len);
	if (!n->var)
		return complain(p, "out of memory");
	next(p);
	if (accept(p, "[")) {
		n->op = AWK_INDEX;
		n->a = arguments(p, "]");
		if (!n->a)
			return complain(p, "syntax error");
	}
	return n;
}

/* ( expression ), or (i, j) in array. */
static struct awk_node *grouping(struct parser *p)
{
	struct awk_node *inner = arguments(p, ")"), *n;

	if (!inner)
		return complain(p, "syntax error");
	if (!inner->next)
		return node(p, AWK_PLUS, inner,
		    inner); /* its own node: a value, not a place; b marks "as it is" */
	if (!accept_name(p, "in") || p->token != T_NAME)
		return complain(p, "syntax error");
	n = node(p, AWK_IN, inner, NULL);
	if (n)
		n->var = awk_var(p->w, p->name, p->name_len);
	next(p);
	return n;
}

static struct awk_node *primary(struct parser *p)
{
	if (p->token == T_NUMBER || p->token == T_STRING)
		return constant(p);
	if (p->token == T_REGEX)
		return regex(p);
	if (p->token == T_FUNCTION)
		return call(p);
	if (p->token == T_NAME)
		return variable(p);
	if (accept(p, "("))
		return grouping(p);
	return complain(p, "syntax error");
}

static bool is_place(const struct awk_node *n)
{
	return n && (n->op == AWK_VAR || n->op == AWK_FIELD || n->op == AWK_INDEX);
}

static struct awk_node *unary(struct parser *p)
{
	struct awk_node *n;
	bool plus;

	if (p->w->failed || os_stack_left() < AWK_STACK_MIN)
		return complain(p, "too deeply nested");
	if (accept(p, "!"))
		return node(p, AWK_NOT, unary(p), NULL);
	if (accept(p, "-"))
		return node(p, AWK_NEG, unary(p), NULL);
	if (accept(p, "+"))
		return node(p, AWK_PLUS, unary(p), NULL);
	if (at_op(p, "++") || at_op(p, "--")) {
		plus = p->op[0] == '+';
		next(p);
		n = node(p, AWK_PRE, unary(p), NULL);
		if (n)
			n->n = plus ? 1 : -1;
		return n && is_place(n->a) ? n : complain(p, "syntax error");
	}
	n = accept(p, "$") ? node(p, AWK_FIELD,
				 at_op(p, "++") || at_op(p, "--") || at_op(p, "-") || at_op(p, "$")
				     ? unary(p)
				     : primary(p),
				 NULL)
			   : primary(p);
	if (is_place(n) && (at_op(p, "++") || at_op(p, "--"))) {
		n = node(p, AWK_POST, n, NULL);
		if (n)
			n->n = p->op[0] == '+' ? 1 : -1;
		next(p);
	}
	return n;
}

enum { L_COND = 1, L_OR, L_AND, L_IN, L_MATCH, L_COMPARE, L_CONCAT, L_ADD, L_MUL };

static const struct {
	const char *text;
	int level;
	enum awk_op op;
} binaries[] = {
    {"||", L_OR, AWK_OR},
    {"&&", L_AND, AWK_AND},
    {"~", L_MATCH, AWK_MATCH},
    {"!~", L_MATCH, AWK_NOMATCH},
    {"<", L_COMPARE, AWK_LT},
    {"<=", L_COMPARE, AWK_LE},
    {"==", L_COMPARE, AWK_EQ},
    {"!=", L_COMPARE, AWK_NE},
    {">", L_COMPARE, AWK_GT},
    {">=", L_COMPARE, AWK_GE},
    {"+", L_ADD, AWK_ADD},
    {"-", L_ADD, AWK_SUB},
    {"*", L_MUL, AWK_MUL},
    {"/", L_MUL, AWK_DIV},
    {"%", L_MUL, AWK_MOD},
};

/* The operator at the token; its level, 0 for none. Concatenation has none: an operand simply follows. */
static int operator_at(struct parser *p, enum awk_op *op)
{
	if (p->token == T_OP) {
		for (size_t i = 0; i < ARRAY_SIZE(binaries); i++) {
			if (strcmp(p->op, binaries[i].text) ||
			    (binaries[i].op == AWK_GT && p->no_greater))
				continue;
			*op = binaries[i].op;
			return binaries[i].level;
		}
	}
	if (at_name(p, "in") && !p->no_in) {
		*op = AWK_IN;
		return L_IN;
	}
	*op = AWK_CONCAT;
	if (p->token == T_NUMBER || p->token == T_STRING || p->token == T_FUNCTION ||
	    (p->token == T_NAME && !at_name(p, "in")))
		return L_CONCAT;
	return p->token == T_OP && (strchr("$(!", p->op[0]) || at_op(p, "++") || at_op(p, "--")) &&
		       !at_op(p, "!=")
		   ? L_CONCAT
		   : 0;
}

/* a[...]: `x in name` takes a name behind it. */
static struct awk_node *in_array(struct parser *p, struct awk_node *left)
{
	struct awk_node *n = node(p, AWK_IN, left, NULL);

	if (!n || p->token != T_NAME)
		return complain(p, "syntax error");
	n->var = awk_var(p->w, p->name, p->name_len);
	next(p);
	return n;
}

static struct awk_node *binary(struct parser *p, int level)
{
	struct awk_node *left = unary(p);
	enum awk_op op;
	int found;

	while (left && !p->w->failed && (found = operator_at(p, &op)) >= level && found) {
		if (op != AWK_CONCAT)
			next(p);
		if (op == AWK_OR || op == AWK_AND)
			newlines(p);
		left = op == AWK_IN ? in_array(p, left) : node(p, op, left, binary(p, found + 1));
	}
	return left;
}

static enum awk_op assignment_op(const struct parser *p)
{
	static const char letters[] = "+-*/%";
	const char *at = p->op[0] ? strchr(letters, p->op[0]) : NULL;

	return at ? AWK_ADD + (at - letters) : AWK_ASSIGN;
}

/* Assignment and ?: bind to the right. */
static struct awk_node *expression(struct parser *p, int level)
{
	struct awk_node *n = binary(p, L_OR), *whole;

	(void)level;
	if (!n || p->w->failed)
		return NULL;
	if (p->token == T_OP && is_place(n) &&
	    (at_op(p, "=") || (p->op[1] == '=' && strchr("+-*/%", p->op[0])))) {
		enum awk_op sub = assignment_op(p);

		next(p);
		newlines(p);
		n = node(p, AWK_ASSIGN, n, expression(p, 0));
		if (n)
			n->sub = sub;
		return n && n->b ? n : NULL;
	}
	if (!accept(p, "?"))
		return n;
	whole = node(p, AWK_COND, n, expression(p, 0));
	newlines(p);
	expect(p, ":");
	if (whole && !p->w->failed)
		whole->c = expression(p, 0);
	return whole;
}

/* ---- statements ---- */

static bool at_statement_end(const struct parser *p)
{
	return p->token == T_NEWLINE || p->token == T_END || at_op(p, ";") || at_op(p, "}");
}

/* print (a, b): a list in parentheses, if nothing follows them. */
static bool list_in_parentheses(struct parser *p, struct awk_node **list)
{
	struct parser before = *p;

	if (!accept(p, "("))
		return false;
	*list = arguments(p, ")");
	if (p->w->failed || at_statement_end(p))
		return true;
	*p = before;
	*list = NULL;
	return false;
}

static struct awk_node *print_statement(struct parser *p, enum awk_op op)
{
	struct awk_node *n = node(p, op, NULL, NULL), **at;

	next(p);
	if (!n)
		return NULL;
	if (!list_in_parentheses(p, &n->a)) {
		p->no_greater = true;
		for (at = &n->a; !at_statement_end(p) && !p->w->failed;) {
			*at = expression(p, 0);
			if (!*at)
				return NULL;
			at = &(*at)->next;
			if (!accept(p, ","))
				break;
			newlines(p);
		}
		p->no_greater = false;
	}
	if (op == AWK_PRINTF && !n->a)
		return complain(p, "printf without a format");
	return n;
}

static struct awk_node *block(struct parser *p)
{
	struct awk_node *n = node(p, AWK_BLOCK, NULL, NULL), **at;

	if (!n)
		return NULL;
	at = &n->a;
	for (;;) {
		while (p->token == T_NEWLINE || at_op(p, ";"))
			next(p);
		if (p->w->failed || accept(p, "}"))
			return n;
		if (p->token == T_END)
			return complain(p, "unmatched {");
		*at = statement(p);
		if (!*at)
			return NULL;
		at = &(*at)->next;
	}
}

static struct awk_node *body(struct parser *p)
{
	newlines(p);
	if (accept(p, ";"))
		return node(p, AWK_BLOCK, NULL, NULL);
	return statement(p);
}

static struct awk_node *if_statement(struct parser *p)
{
	struct awk_node *n = node(p, AWK_IF, NULL, NULL);
	struct parser before;

	next(p);
	expect(p, "(");
	if (!n || p->w->failed || !(n->a = expression(p, 0)))
		return NULL;
	expect(p, ")");
	n->b = body(p);
	before = *p;
	while (p->token == T_NEWLINE || at_op(p, ";"))
		next(p);
	if (accept_name(p, "else"))
		n->c = body(p);
	else
		*p = before;
	return p->w->failed ? NULL : n;
}

static struct awk_node *while_statement(struct parser *p)
{
	struct awk_node *n = node(p, AWK_WHILE, NULL, NULL);

	next(p);
	expect(p, "(");
	if (!n || p->w->failed || !(n->a = expression(p, 0)))
		return NULL;
	expect(p, ")");
	n->b = body(p);
	return n->b ? n : NULL;
}

static struct awk_node *do_statement(struct parser *p)
{
	struct awk_node *n = node(p, AWK_DO, NULL, NULL);

	next(p);
	if (!n || !(n->b = body(p)))
		return NULL;
	while (p->token == T_NEWLINE || at_op(p, ";"))
		next(p);
	if (!accept_name(p, "while"))
		return complain(p, "syntax error");
	expect(p, "(");
	n->a = p->w->failed ? NULL : expression(p, 0);
	expect(p, ")");
	return n->a ? n : NULL;
}

/* for (x in a) and for (;;) */
static struct awk_node *for_statement(struct parser *p)
{
	struct awk_node *n = node(p, AWK_FOR, NULL, NULL);

	next(p);
	expect(p, "(");
	if (!n || p->w->failed)
		return NULL;
	p->no_in = true;
	n->a = at_op(p, ";") ? NULL : expression(p, 0);
	p->no_in = false;
	if (n->a && n->a->op == AWK_VAR && accept_name(p, "in")) {
		n->op = AWK_FOR_IN;
		n->var = p->token == T_NAME ? awk_var(p->w, p->name, p->name_len) : NULL;
		if (!n->var)
			return complain(p, "syntax error");
		next(p);
	} else {
		expect(p, ";");
		n->b = at_op(p, ";") ? NULL : expression(p, 0);
		expect(p, ";");
		n->c = at_op(p, ")") ? NULL : expression(p, 0);
	}
	expect(p, ")");
	n->d = p->w->failed ? NULL : body(p);
	return n->d ? n : NULL;
}

static struct awk_node *simple_statement(struct parser *p)
{
	static const struct {
		const char *name;
		enum awk_op op;
	} words[] = {{"next", AWK_NEXT}, {"exit", AWK_EXIT}, {"break", AWK_BREAK},
	    {"continue", AWK_CONTINUE}, {"delete", AWK_DELETE}};
	struct awk_node *n;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!accept_name(p, words[i].name))
			continue;
		n = node(p, words[i].op, NULL, NULL);
		if (n && (n->op == AWK_DELETE ||
			     (n->op == AWK_EXIT && p->token != T_END && p->token != T_NEWLINE &&
				 !at_op(p, ";") && !at_op(p, "}"))))
			n->a = expression(p, 0);
		if (n && n->op == AWK_DELETE && !is_place(n->a))
			return complain(p, "syntax error");
		return n;
	}
	n = node(p, AWK_EXPR, expression(p, 0), NULL);
	return n && n->a ? n : NULL;
}

static struct awk_node *statement(struct parser *p)
{
	struct awk_node *n;

	if (p->w->failed || os_stack_left() < AWK_STACK_MIN)
		return complain(p, "too deeply nested");
	if (accept(p, "{"))
		return block(p);
	if (at_name(p, "if"))
		return if_statement(p);
	if (at_name(p, "while"))
		return while_statement(p);
	if (at_name(p, "do"))
		return do_statement(p);
	if (at_name(p, "for"))
		return for_statement(p);
	if (at_name(p, "print"))
		n = print_statement(p, AWK_PRINT);
	else if (at_name(p, "printf"))
		n = print_statement(p, AWK_PRINTF);
	else
		n = simple_statement(p);
	if (n && !at_statement_end(p))
		return complain(p, "syntax error");
	return n;
}

static void rule(struct parser *p)
{
	struct awk_rule *r = sh_zalloc(p->w->arena, sizeof(*r));

	if (!r) {
		complain(p, "out of memory");
		return;
	}
	*p->w->end = r;
	p->w->end = &r->next;
	r->when = AWK_ALWAYS;
	if (accept_name(p, "BEGIN")) {
		r->when = AWK_BEGIN;
	} else if (accept_name(p, "END")) {
		r->when = AWK_END;
	} else if (!at_op(p, "{")) {
		r->when = AWK_IF_TRUE;
		r->from = expression(p, 0);
		if (!p->w->failed && accept(p, ",")) {
			r->when = AWK_RANGE;
			r->to = expression(p, 0);
		}
	}
	if (!p->w->failed && accept(p, "{"))
		r->body = block(p);
	else if (r->when < AWK_IF_TRUE)
		complain(p, "syntax error");
}

int awk_parse(struct awk *w, const char *text)
{
	struct parser p = {.w = w, .p = text, .token = T_NEWLINE};

	next(&p);
	for (;;) {
		while (p.token == T_NEWLINE || at_op(&p, ";"))
			next(&p);
		if (p.token == T_END)
			return w->failed;
		rule(&p);
	}
}
