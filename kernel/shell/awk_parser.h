/*
 * What the parts of the parser of awk programs share: tokens (awk_lex.c), expressions (awk_expr.c), statements and rules
 * (awk_parse.c). After a complaint `failed` is set and the token is T_END for good. Task context (memory only).
 */
#pragma once

#include "kernel/shell/awk.h"

enum awk_token { T_END, T_NEWLINE, T_NUMBER, T_STRING, T_REGEX, T_NAME, T_FUNCTION, T_OP };

struct awk_parser {
	struct awk *w;
	const char *p;
	enum awk_token token, before;
	char op[4];	  /* T_OP */
	const char *name; /* T_NAME; into the text */
	size_t name_len;
	int function;
	struct awk_value value;
	bool no_in, no_greater; /* in a `for (x in a)` head; in what print prints */
};

/* awk_lex.c: says what is wrong, once; NULL for the caller to return. */
void *awk_complain(struct awk_parser *p, const char *what);
void awk_next(struct awk_parser *p);
bool awk_at_op(const struct awk_parser *p, const char *op);
bool awk_at_name(const struct awk_parser *p, const char *name);
bool awk_accept(struct awk_parser *p, const char *op); /* takes it if it is there */
bool awk_accept_name(struct awk_parser *p, const char *name);
void awk_expect(struct awk_parser *p, const char *op);
void awk_newlines(struct awk_parser *p); /* takes any number of them */

/* awk_expr.c: NULL after a complaint. */
struct awk_node *awk_node_new(
    struct awk_parser *p, enum awk_op op, struct awk_node *a, struct awk_node *b);
struct awk_node *awk_expression(struct awk_parser *p);
bool awk_is_place(const struct awk_node *n); /* may be assigned to */
/* Expressions between commas up to the bracket `close`, which is taken; NULL also if there are none. */
struct awk_node *awk_arguments(struct awk_parser *p, const char *close);
