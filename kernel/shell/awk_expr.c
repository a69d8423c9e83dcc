/* Expressions of awk programs, by precedence climbing. Task context (memory only). */
#include "kernel/shell/awk_parser.h"

#include "kernel/lib/string.h"

struct awk_node *awk_node_new(
    struct awk_parser *p, enum awk_op op, struct awk_node *a, struct awk_node *b)
{
	struct awk_node *n = sh_zalloc(p->w->arena, sizeof(*n));

	if (!n)
		return awk_complain(p, "out of memory");
	n->op = op;
	n->a = a;
	n->b = b;
	return n;
}

static struct awk_node *constant(struct awk_parser *p)
{
	struct awk_node *n = awk_node_new(p, AWK_CONST, NULL, NULL);

	if (n)
		n->value = p->value;
	awk_next(p);
	return n;
}

static struct awk_node *regex(struct awk_parser *p)
{
	struct awk_node *n = awk_node_new(p, AWK_REGEX, NULL, NULL);
	const char *error;

	if (!n)
		return NULL;
	n->re = sh_regex_new(p->value.str, SH_REGEX_EXTENDED, &error);
	if (!n->re)
		return awk_complain(p, error);
	n->all_next = p->w->with_regex;
	p->w->with_regex = n;
	awk_next(p);
	return n;
}

/* Expressions between commas up to the bracket, which is taken. */
struct awk_node *awk_arguments(struct awk_parser *p, const char *close)
{
	struct awk_node *first = NULL, **at = &first;
	bool no_in = p->no_in, no_greater = p->no_greater;

	p->no_in = p->no_greater = false;
	awk_newlines(p);
	while (!p->w->failed && !awk_at_op(p, close)) {
		*at = awk_expression(p);
		if (!*at)
			return NULL;
		at = &(*at)->next;
		awk_newlines(p);
		if (!awk_at_op(p, close)) {
			awk_expect(p, ",");
			awk_newlines(p);
		}
	}
	awk_expect(p, close);
	p->no_in = no_in;
	p->no_greater = no_greater;
	return first;
}

static struct awk_node *call(struct awk_parser *p)
{
	struct awk_node *n = awk_node_new(p, AWK_CALL, NULL, NULL);
	int count = 0, min, max;

	if (!n)
		return NULL;
	n->n = p->function;
	awk_next(p);
	if (awk_accept(p, "("))
		n->a = awk_arguments(p, ")");
	for (struct awk_node *x = n->a; x; x = x->next)
		count++;
	awk_function_name(n->n, &min, &max);
	return count < min || count > max ? awk_complain(p, "wrong number of arguments") : n;
}

/* Functions of one's own, getline and what runs commands are not there; as names of variables they would be silently wrong. */
static bool is_missing(const struct awk_parser *p)
{
	return p->name[p->name_len] == '(' || awk_at_name(p, "function") ||
	       awk_at_name(p, "func") || awk_at_name(p, "getline");
}

static struct awk_node *variable(struct awk_parser *p)
{
	struct awk_node *n;

	if (is_missing(p))
		return awk_complain(p, "not understood here");
	n = awk_node_new(p, AWK_VAR, NULL, NULL);
	if (!n)
		return NULL;
	n->var = awk_var(p->w, p->name, p->name_len);
	if (!n->var)
		return awk_complain(p, "out of memory");
	awk_next(p);
	if (awk_accept(p, "[")) {
		n->op = AWK_INDEX;
		n->a = awk_arguments(p, "]");
		if (!n->a)
			return awk_complain(p, "syntax error");
	}
	return n;
}

/* ( expression ), or (i, j) in array. */
static struct awk_node *grouping(struct awk_parser *p)
{
	struct awk_node *inner = awk_arguments(p, ")"), *n;

	if (!inner)
		return awk_complain(p, "syntax error");
	if (!inner->next)
		return awk_node_new(p, AWK_PLUS, inner,
		    inner); /* its own node: a value, not a place; b marks "as it is" */
	if (!awk_accept_name(p, "in") || p->token != T_NAME)
		return awk_complain(p, "syntax error");
	n = awk_node_new(p, AWK_IN, inner, NULL);
	if (n)
		n->var = awk_var(p->w, p->name, p->name_len);
	awk_next(p);
	return n;
}

static struct awk_node *primary(struct awk_parser *p)
{
	if (p->token == T_NUMBER || p->token == T_STRING)
		return constant(p);
	if (p->token == T_REGEX)
		return regex(p);
	if (p->token == T_FUNCTION)
		return call(p);
	if (p->token == T_NAME)
		return variable(p);
	if (awk_accept(p, "("))
		return grouping(p);
	return awk_complain(p, "syntax error");
}

bool awk_is_place(const struct awk_node *n)
{
	return n && (n->op == AWK_VAR || n->op == AWK_FIELD || n->op == AWK_INDEX);
}

static struct awk_node *unary(struct awk_parser *p)
{
	struct awk_node *n;
	bool plus;

	if (p->w->failed || os_stack_left() < AWK_STACK_MIN)
		return awk_complain(p, "too deeply nested");
	if (awk_accept(p, "!"))
		return awk_node_new(p, AWK_NOT, unary(p), NULL);
	if (awk_accept(p, "-"))
		return awk_node_new(p, AWK_NEG, unary(p), NULL);
	if (awk_accept(p, "+"))
		return awk_node_new(p, AWK_PLUS, unary(p), NULL);
	if (awk_at_op(p, "++") || awk_at_op(p, "--")) {
		plus = p->op[0] == '+';
		awk_next(p);
		n = awk_node_new(p, AWK_PRE, unary(p), NULL);
		if (n)
			n->n = plus ? 1 : -1;
		return n && awk_is_place(n->a) ? n : awk_complain(p, "syntax error");
	}
	n = awk_accept(p, "$") ? awk_node_new(p, AWK_FIELD,
				     awk_at_op(p, "++") || awk_at_op(p, "--") ||
					     awk_at_op(p, "-") || awk_at_op(p, "$")
					 ? unary(p)
					 : primary(p),
				     NULL)
			       : primary(p);
	if (awk_is_place(n) && (awk_at_op(p, "++") || awk_at_op(p, "--"))) {
		n = awk_node_new(p, AWK_POST, n, NULL);
		if (n)
			n->n = p->op[0] == '+' ? 1 : -1;
		awk_next(p);
	}
	return n;
}

enum { L_OR = 1, L_AND, L_IN, L_MATCH, L_COMPARE, L_CONCAT, L_ADD, L_MUL };

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
static int operator_at(struct awk_parser *p, enum awk_op *op)
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
	if (awk_at_name(p, "in") && !p->no_in) {
		*op = AWK_IN;
		return L_IN;
	}
	*op = AWK_CONCAT;
	if (p->token == T_NUMBER || p->token == T_STRING || p->token == T_FUNCTION ||
	    (p->token == T_NAME && !awk_at_name(p, "in")))
		return L_CONCAT;
	return p->token == T_OP &&
		       (strchr("$(!", p->op[0]) || awk_at_op(p, "++") || awk_at_op(p, "--")) &&
		       !awk_at_op(p, "!=")
		   ? L_CONCAT
		   : 0;
}

/* a[...]: `x in name` takes a name behind it. */
static struct awk_node *in_array(struct awk_parser *p, struct awk_node *left)
{
	struct awk_node *n = awk_node_new(p, AWK_IN, left, NULL);

	if (!n || p->token != T_NAME)
		return awk_complain(p, "syntax error");
	n->var = awk_var(p->w, p->name, p->name_len);
	awk_next(p);
	return n;
}

static struct awk_node *binary(struct awk_parser *p, int level)
{
	struct awk_node *left = unary(p);
	enum awk_op op;
	int found;

	while (left && !p->w->failed && (found = operator_at(p, &op)) >= level && found) {
		if (op != AWK_CONCAT)
			awk_next(p);
		if (op == AWK_OR || op == AWK_AND)
			awk_newlines(p);
		left = op == AWK_IN ? in_array(p, left)
				    : awk_node_new(p, op, left, binary(p, found + 1));
	}
	return left;
}

static enum awk_op assignment_op(const struct awk_parser *p)
{
	static const char letters[] = "+-*/%";
	const char *at = p->op[0] ? strchr(letters, p->op[0]) : NULL;

	return at ? AWK_ADD + (at - letters) : AWK_ASSIGN;
}

/* Assignment and ?: bind to the right. */
struct awk_node *awk_expression(struct awk_parser *p)
{
	struct awk_node *n = binary(p, L_OR), *whole;

	if (!n || p->w->failed)
		return NULL;
	if (p->token == T_OP && awk_is_place(n) &&
	    (awk_at_op(p, "=") || (p->op[1] == '=' && strchr("+-*/%", p->op[0])))) {
		enum awk_op sub = assignment_op(p);

		awk_next(p);
		awk_newlines(p);
		n = awk_node_new(p, AWK_ASSIGN, n, awk_expression(p));
		if (n)
			n->sub = sub;
		return n && n->b ? n : NULL;
	}
	if (!awk_accept(p, "?"))
		return n;
	whole = awk_node_new(p, AWK_COND, n, awk_expression(p));
	awk_newlines(p);
	awk_expect(p, ":");
	if (whole && !p->w->failed)
		whole->c = awk_expression(p);
	return whole;
}
