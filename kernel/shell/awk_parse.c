/* Statements and rules of awk programs, by recursive descent. Task context (memory only). */
#include "kernel/shell/awk_parser.h"

#include "kernel/lib/string.h"

static struct awk_node *statement(struct awk_parser *p);

static bool at_statement_end(const struct awk_parser *p)
{
	return p->token == T_NEWLINE || p->token == T_END || awk_at_op(p, ";") || awk_at_op(p, "}");
}

/* print (a, b): a list in parentheses, if nothing follows them. */
static bool list_in_parentheses(struct awk_parser *p, struct awk_node **list)
{
	struct awk_parser before = *p;

	if (!awk_accept(p, "("))
		return false;
	*list = awk_arguments(p, ")");
	if (p->w->failed || at_statement_end(p))
		return true;
	*p = before;
	*list = NULL;
	return false;
}

static struct awk_node *print_statement(struct awk_parser *p, enum awk_op op)
{
	struct awk_node *n = awk_node_new(p, op, NULL, NULL), **at;

	awk_next(p);
	if (!n)
		return NULL;
	if (!list_in_parentheses(p, &n->a)) {
		p->no_greater = true;
		for (at = &n->a; !at_statement_end(p) && !p->w->failed;) {
			*at = awk_expression(p);
			if (!*at)
				return NULL;
			at = &(*at)->next;
			if (!awk_accept(p, ","))
				break;
			awk_newlines(p);
		}
		p->no_greater = false;
	}
	if (op == AWK_PRINTF && !n->a)
		return awk_complain(p, "printf without a format");
	return n;
}

static struct awk_node *block(struct awk_parser *p)
{
	struct awk_node *n = awk_node_new(p, AWK_BLOCK, NULL, NULL), **at;

	if (!n)
		return NULL;
	at = &n->a;
	for (;;) {
		while (p->token == T_NEWLINE || awk_at_op(p, ";"))
			awk_next(p);
		if (p->w->failed || awk_accept(p, "}"))
			return n;
		if (p->token == T_END)
			return awk_complain(p, "unmatched {");
		*at = statement(p);
		if (!*at)
			return NULL;
		at = &(*at)->next;
	}
}

static struct awk_node *body(struct awk_parser *p)
{
	awk_newlines(p);
	if (awk_accept(p, ";"))
		return awk_node_new(p, AWK_BLOCK, NULL, NULL);
	return statement(p);
}

static struct awk_node *if_statement(struct awk_parser *p)
{
	struct awk_node *n = awk_node_new(p, AWK_IF, NULL, NULL);
	struct awk_parser before;

	awk_next(p);
	awk_expect(p, "(");
	if (!n || p->w->failed || !(n->a = awk_expression(p)))
		return NULL;
	awk_expect(p, ")");
	n->b = body(p);
	before = *p;
	while (p->token == T_NEWLINE || awk_at_op(p, ";"))
		awk_next(p);
	if (awk_accept_name(p, "else"))
		n->c = body(p);
	else
		*p = before;
	return p->w->failed ? NULL : n;
}

static struct awk_node *while_statement(struct awk_parser *p)
{
	struct awk_node *n = awk_node_new(p, AWK_WHILE, NULL, NULL);

	awk_next(p);
	awk_expect(p, "(");
	if (!n || p->w->failed || !(n->a = awk_expression(p)))
		return NULL;
	awk_expect(p, ")");
	n->b = body(p);
	return n->b ? n : NULL;
}

static struct awk_node *do_statement(struct awk_parser *p)
{
	struct awk_node *n = awk_node_new(p, AWK_DO, NULL, NULL);

	awk_next(p);
	if (!n || !(n->b = body(p)))
		return NULL;
	while (p->token == T_NEWLINE || awk_at_op(p, ";"))
		awk_next(p);
	if (!awk_accept_name(p, "while"))
		return awk_complain(p, "syntax error");
	awk_expect(p, "(");
	n->a = p->w->failed ? NULL : awk_expression(p);
	awk_expect(p, ")");
	return n->a ? n : NULL;
}

/* for (x in a) and for (;;) */
static struct awk_node *for_statement(struct awk_parser *p)
{
	struct awk_node *n = awk_node_new(p, AWK_FOR, NULL, NULL);

	awk_next(p);
	awk_expect(p, "(");
	if (!n || p->w->failed)
		return NULL;
	p->no_in = true;
	n->a = awk_at_op(p, ";") ? NULL : awk_expression(p);
	p->no_in = false;
	if (n->a && n->a->op == AWK_VAR && awk_accept_name(p, "in")) {
		n->op = AWK_FOR_IN;
		n->var = p->token == T_NAME ? awk_var(p->w, p->name, p->name_len) : NULL;
		if (!n->var)
			return awk_complain(p, "syntax error");
		awk_next(p);
	} else {
		awk_expect(p, ";");
		n->b = awk_at_op(p, ";") ? NULL : awk_expression(p);
		awk_expect(p, ";");
		n->c = awk_at_op(p, ")") ? NULL : awk_expression(p);
	}
	awk_expect(p, ")");
	n->d = p->w->failed ? NULL : body(p);
	return n->d ? n : NULL;
}

static struct awk_node *simple_statement(struct awk_parser *p)
{
	static const struct {
		const char *name;
		enum awk_op op;
	} words[] = {{"next", AWK_NEXT}, {"exit", AWK_EXIT}, {"break", AWK_BREAK},
	    {"continue", AWK_CONTINUE}, {"delete", AWK_DELETE}};
	struct awk_node *n;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!awk_accept_name(p, words[i].name))
			continue;
		n = awk_node_new(p, words[i].op, NULL, NULL);
		if (n && (n->op == AWK_DELETE ||
			     (n->op == AWK_EXIT && p->token != T_END && p->token != T_NEWLINE &&
				 !awk_at_op(p, ";") && !awk_at_op(p, "}"))))
			n->a = awk_expression(p);
		if (n && n->op == AWK_DELETE && !awk_is_place(n->a))
			return awk_complain(p, "syntax error");
		return n;
	}
	n = awk_node_new(p, AWK_EXPR, awk_expression(p), NULL);
	return n && n->a ? n : NULL;
}

static struct awk_node *statement(struct awk_parser *p)
{
	struct awk_node *n;

	if (p->w->failed || os_stack_left() < AWK_STACK_MIN)
		return awk_complain(p, "too deeply nested");
	if (awk_accept(p, "{"))
		return block(p);
	if (awk_at_name(p, "if"))
		return if_statement(p);
	if (awk_at_name(p, "while"))
		return while_statement(p);
	if (awk_at_name(p, "do"))
		return do_statement(p);
	if (awk_at_name(p, "for"))
		return for_statement(p);
	if (awk_at_name(p, "print"))
		n = print_statement(p, AWK_PRINT);
	else if (awk_at_name(p, "printf"))
		n = print_statement(p, AWK_PRINTF);
	else
		n = simple_statement(p);
	if (n && !at_statement_end(p))
		return awk_complain(p, "syntax error");
	return n;
}

static void rule(struct awk_parser *p)
{
	struct awk_rule *r = sh_zalloc(p->w->arena, sizeof(*r));

	if (!r) {
		awk_complain(p, "out of memory");
		return;
	}
	*p->w->end = r;
	p->w->end = &r->next;
	r->when = AWK_ALWAYS;
	if (awk_accept_name(p, "BEGIN")) {
		r->when = AWK_BEGIN;
	} else if (awk_accept_name(p, "END")) {
		r->when = AWK_END;
	} else if (!awk_at_op(p, "{")) {
		r->when = AWK_IF_TRUE;
		r->from = awk_expression(p);
		if (!p->w->failed && awk_accept(p, ",")) {
			r->when = AWK_RANGE;
			r->to = awk_expression(p);
		}
	}
	if (!p->w->failed && awk_accept(p, "{"))
		r->body = block(p);
	else if (r->when < AWK_IF_TRUE)
		awk_complain(p, "syntax error");
}

int awk_parse(struct awk *w, const char *text)
{
	struct awk_parser p = {.w = w, .p = text, .token = T_NEWLINE};

	awk_next(&p);
	for (;;) {
		while (p.token == T_NEWLINE || awk_at_op(&p, ";"))
			awk_next(&p);
		if (p.token == T_END)
			return w->failed;
		rule(&p);
	}
}
