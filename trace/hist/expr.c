/*
 * Arithmetic in commands of histograms; what it works on is field.c. Task context under host_lock.
 *
 * An expression is cut at its root: the last + or - in it, else the last * or /, so that it is
 * evaluated from left to right and * and / bind tighter. There are no parentheses but in -(...),
 * which must be all of an expression. At most three operators, as on Linux.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/hist/hist.h"

#define DEPTH_MAX 3
#define OPERAND_EXTRA                                                                              \
	64 /* bytes of an operand beside its label: '$', a constant or a modifier, an operator */

static const char bad_string[] = "String type can not be an operand in expression";

static char *hist_find_last_op(char *text, const char *ops)
{
	char *last = NULL;

	for (; *text; text++)
		if (strchr(ops, *text))
			last = text;
	return last;
}

static char *find_root(char *text)
{
	char *op = hist_find_last_op(text, "+-");

	return op ? op : hist_find_last_op(text, "*/");
}

/* An operand as it was written. */
static void hist_show_operand(struct seq *s, const struct hist_field *f)
{
	if (f->flags & HIST_CONST)
		seq_dec(s, f->number, 1, ' ');
	else
		seq_printf(s, "%s%s", f->flags & HIST_REF ? "$" : "", f->label);
	hist_show_modifier(s, f);
}

static bool hist_label_expr(struct hist *h, struct hist_field *f, char op)
{
	size_t size = strlen(f->a->label) + (f->b ? strlen(f->b->label) : 0) + 2 * OPERAND_EXTRA;
	char *text = hist_alloc(h, size);
	struct seq s;

	if (!text)
		return false;
	seq_init(&s, text, size - 1);
	if (op == '-' && !f->b)
		seq_puts(&s, "-(");
	hist_show_operand(&s, f->a);
	if (f->b) {
		seq_putc(&s, op);
		hist_show_operand(&s, f->b);
	} else {
		seq_putc(&s, ')');
	}
	f->label = text;
	return true;
}

static void like_operand(struct hist_field *f, const struct hist_field *operand)
{
	f->flags |= operand->flags & (HIST_TIMESTAMP | HIST_USECS);
	f->size = operand->size;
	f->is_signed = operand->is_signed;
	f->type = operand->type;
}

/* "-(...)": `text` stands behind the minus. */
static int parse_minus(struct hist *h, char *text, u32 flags, const char *var_name, u32 *depth,
    struct hist_field **out)
{
	struct hist_field *f, *operand;

	if (++*depth > DEPTH_MAX)
		return hist_fail(h, "Too many subexpressions (3 max)", text - 1);
	char *end = strchr(text, '(') ? strrchr(text, ')') : NULL;
	if (!end)
		return -EINVAL;
	text++;
	if (end[1])
		return hist_fail(h, "Unary minus not supported in sub-expressions", text);
	*end = '\0';
	f = hist_field_new(h, flags | HIST_EXPR, var_name);
	if (!f)
		return -ENOMEM;
	int err = hist_parse_expr(h, text, 0, NULL, depth, &operand);
	if (err)
		return err;
	if (operand->flags & HIST_IS_STRING)
		return hist_fail(h, bad_string, text);
	f->op = HIST_OP_NEG;
	f->a = operand;
	like_operand(f, operand);
	*out = f;
	return hist_label_expr(h, f, '-') ? 0 : -ENOMEM;
}

/* Of a reference the variable itself: what it is decides about units and constants. */
static const struct hist_field *meant(const struct hist_field *f)
{
	return f->flags & (HIST_REF | HIST_ALIAS) ? hist_own_var(f->owner, f->ref_name) : f;
}

static u64 compute(char op, u64 a, u64 b)
{
	switch (op) {
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '*':
		return a * b;
	default:
		return a / b;
	}
}

static u8 op_of(char op)
{
	switch (op) {
	case '+':
		return HIST_OP_ADD;
	case '-':
		return HIST_OP_SUB;
	case '*':
		return HIST_OP_MUL;
	default:
		return HIST_OP_DIV;
	}
}

/* Two constants are one; everything else is computed when the event fires. */
static int combine(struct hist *h, struct hist_field *f, char op, const char *second)
{
	const struct hist_field *a = meant(f->a), *b = meant(f->b);

	if (!a || !b)
		return -EINVAL;
	if ((a->flags ^ b->flags) & HIST_USECS)
		return hist_fail(h, "Timestamp units in expression don't match", NULL);
	if (op == '/' && (b->flags & HIST_CONST) && !b->number) {
		hist_fail(h, "Division by zero", second);
		return -EDOM;
	}
	f->a->once = f->b->once = true;
	if (a->flags & b->flags & HIST_CONST) {
		f->flags |= HIST_CONST;
		hist_field_special(f, HIST_OP_CONST, sizeof(u64), "u64", "");
		f->number = compute(op, a->number, b->number);
		f->a = f->b = NULL;
		return 0;
	}
	f->flags |= HIST_EXPR;
	f->op = op_of(op);
	like_operand(f, f->a);
	return hist_label_expr(h, f, op) ? 0 : -ENOMEM;
}

static int hist_parse_operand(struct hist *h, char *text, u32 *depth, struct hist_field **out)
{
	int err = hist_parse_expr(h, text, 0, NULL, depth, out);

	if (!err && ((*out)->flags & HIST_IS_STRING))
		err = hist_fail(h, bad_string, text);
	return err;
}

int hist_parse_expr(struct hist *h, char *text, u32 flags, const char *var_name, u32 *depth,
    struct hist_field **out)
{
	char *root;

	if (*depth > DEPTH_MAX)
		return hist_fail(h, "Too many subexpressions (3 max)", text);
	root = find_root(text);
	if (!root)
		return hist_parse_atom(h, text, flags, var_name, out);
	char op = *root, *last_minus = hist_find_last_op(text, "-");
	if (last_minus == text)
		return parse_minus(h, text + 1, flags, var_name, depth, out);
	++*depth;
	*root++ = '\0';
	if (!*text || !*root)
		return -EINVAL;
	struct hist_field *f = hist_field_new(h, flags, var_name);
	if (!f)
		return -ENOMEM;
	int err = hist_parse_operand(h, text, depth, &f->a);
	if (!err)
		err = hist_parse_operand(h, root, depth, &f->b);
	if (!err)
		err = combine(h, f, op, root);
	*out = f;
	return err;
}
