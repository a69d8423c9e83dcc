/* Runs awk's tree. Strings a statement makes are given back when it ends; what variables hold they own. Task context. */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/awk.h"

void awk_fail(struct awk *w, const char *fmt, ...)
{
	char text[128];
	va_list ap;

	if (w->failed)
		return;
	w->failed = true;
	w->status = 2;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	sh_fail(w->io, "%s", text);
}

struct sh_regex *awk_regex(struct awk *w, const struct awk_node *n, bool *own)
{
	const char *error;
	struct sh_regex *re;

	*own = n->op != AWK_REGEX;
	if (!*own)
		return n->re;
	re = sh_regex_new(awk_str(w, awk_eval(w, n)), SH_REGEX_EXTENDED, &error);
	if (!re)
		awk_fail(w, "bad regex: %s", error);
	return re;
}

static bool awk_matches(struct awk *w, const struct awk_node *n, const char *s)
{
	bool own, yes;
	struct sh_regex *re = awk_regex(w, n, &own);

	yes = re && sh_regex_match(re, s, strlen(s), 0, NULL);
	if (own)
		sh_regex_free(re);
	return yes;
}

/* The key of name[i, j]. */
static const char *key_of(struct awk *w, const struct awk_node *list)
{
	struct sh_buf b = {0};
	const char *key;

	if (!list->next)
		return awk_str(w, awk_eval(w, list));
	for (const struct awk_node *n = list; n; n = n->next) {
		if (n != list)
			sh_buf_puts(&b, awk_str(w, w->subsep->value));
		sh_buf_puts(&b, awk_str(w, awk_eval(w, n)));
	}
	key = sh_strdup(&w->tmp, sh_buf_str(&b));
	sh_buf_free(&b);
	return key ? key : "";
}

/* A copy in the arena: the variable may change while the value is in use. */
static struct awk_value held(struct awk *w, struct awk_value v)
{
	if (v.str && !(v.str = sh_strdup(&w->tmp, v.str))) {
		awk_fail(w, "out of memory");
		v.str = "";
	}
	return v;
}

static __noinline struct awk_value variable(struct awk *w, const struct awk_node *n)
{
	if (n->var == w->nf)
		awk_nf(w);
	if (n->var->items)
		awk_fail(w, "%s is an array", n->var->name);
	return held(w, n->var->value);
}

static __noinline struct awk_value element(struct awk *w, const struct awk_node *n)
{
	struct awk_item *i = awk_item(w, n->var, key_of(w, n->a), true);

	return i ? held(w, i->value) : (struct awk_value){0};
}

void awk_assign(struct awk *w, const struct awk_node *to, struct awk_value v)
{
	struct awk_item *i;

	switch (to->op) {
	case AWK_VAR:
		awk_set(w, to->var, v);
		break;
	case AWK_FIELD:
		awk_field_set(w, sh_dec_trunc(awk_num(awk_eval(w, to->a))), awk_str(w, v));
		break;
	case AWK_INDEX:
		i = awk_item(w, to->var, key_of(w, to->a), true);
		if (i)
			awk_store(w, &i->value, v);
		break;
	default:
		awk_fail(w, "cannot assign to that");
	}
}

static __noinline struct awk_value arithmetic(
    struct awk *w, enum awk_op op, struct sh_dec a, struct sh_dec b)
{
	switch (op) {
	case AWK_ADD:
		return awk_number(sh_dec_add(a, b));
	case AWK_SUB:
		return awk_number(sh_dec_sub(a, b));
	case AWK_MUL:
		return awk_number(sh_dec_mul(a, b));
	default:
		if (!b.m) {
			awk_fail(w, "division by zero");
			return awk_int(0);
		}
		return awk_number(op == AWK_DIV ? sh_dec_div(a, b) : sh_dec_mod(a, b));
	}
}

static __noinline struct awk_value assignment(struct awk *w, const struct awk_node *n)
{
	struct awk_value v = awk_eval(w, n->b);

	if (n->sub != AWK_ASSIGN)
		v = arithmetic(w, n->sub, awk_num(awk_eval(w, n->a)), awk_num(v));
	if (!w->failed)
		awk_assign(w, n->a, v);
	return v;
}

static __noinline struct awk_value concatenation(struct awk *w, const struct awk_node *n)
{
	const char *a = awk_str(w, awk_eval(w, n->a)), *b = awk_str(w, awk_eval(w, n->b));
	size_t na = strlen(a), nb = strlen(b);
	char *s = sh_alloc(&w->tmp, na + nb + 1);

	if (!s) {
		awk_fail(w, "out of memory");
		return awk_string("");
	}
	memcpy(s, a, na);
	memcpy(s + na, b, nb + 1);
	return awk_string(s);
}

static __noinline struct awk_value comparison(struct awk *w, const struct awk_node *n)
{
	struct awk_value a = awk_eval(w, n->a), b = awk_eval(w, n->b);
	int d = awk_compare(w, a, b);

	switch (n->op) {
	case AWK_LT:
		return awk_int(d < 0);
	case AWK_LE:
		return awk_int(d <= 0);
	case AWK_EQ:
		return awk_int(d == 0);
	case AWK_NE:
		return awk_int(d != 0);
	case AWK_GT:
		return awk_int(d > 0);
	default:
		return awk_int(d >= 0);
	}
}

static __noinline struct awk_value step(struct awk *w, const struct awk_node *n)
{
	struct sh_dec old = awk_num(awk_eval(w, n->a)), new_ = sh_dec_add(old, sh_dec_int(n->n));

	awk_assign(w, n->a, awk_number(new_));
	return awk_number(n->op == AWK_PRE ? new_ : old);
}

static __noinline struct awk_value match(struct awk *w, const struct awk_node *n)
{
	const char *s = awk_str(w, awk_eval(w, n->a));

	return awk_int(awk_matches(w, n->b, s) == (n->op == AWK_MATCH));
}

/* Recursive: what it calls is kept out of line, so that its frame stays small. */
struct awk_value awk_eval(struct awk *w, const struct awk_node *n)
{
	if (w->failed || os_stack_left() < AWK_STACK_MIN) {
		awk_fail(w, "too deeply nested");
		return (struct awk_value){0};
	}
	switch (n->op) {
	case AWK_CONST:
		return n->value;
	case AWK_REGEX:
		return awk_int(awk_matches(w, n, sh_buf_str(&w->record)));
	case AWK_VAR:
		return variable(w, n);
	case AWK_FIELD:
		return awk_field(w, sh_dec_trunc(awk_num(awk_eval(w, n->a))));
	case AWK_INDEX:
		return element(w, n);
	case AWK_ASSIGN:
		return assignment(w, n);
	case AWK_COND:
		return awk_eval(w, awk_true(awk_eval(w, n->a)) ? n->b : n->c);
	case AWK_OR:
		return awk_int(awk_true(awk_eval(w, n->a)) || awk_true(awk_eval(w, n->b)));
	case AWK_AND:
		return awk_int(awk_true(awk_eval(w, n->a)) && awk_true(awk_eval(w, n->b)));
	case AWK_IN:
		return awk_int(awk_item(w, n->var, key_of(w, n->a), false) != NULL);
	case AWK_MATCH:
	case AWK_NOMATCH:
		return match(w, n);
	case AWK_CONCAT:
		return concatenation(w, n);
	case AWK_ADD:
	case AWK_SUB:
	case AWK_MUL:
	case AWK_DIV:
	case AWK_MOD:
		return arithmetic(w, n->op, awk_num(awk_eval(w, n->a)), awk_num(awk_eval(w, n->b)));
	case AWK_NEG:
		return awk_number(sh_dec_sub(sh_dec_int(0), awk_num(awk_eval(w, n->a))));
	case AWK_PLUS:
		return n->b ? awk_eval(w, n->a) : awk_number(awk_num(awk_eval(w, n->a)));
	case AWK_NOT:
		return awk_int(!awk_true(awk_eval(w, n->a)));
	case AWK_PRE:
	case AWK_POST:
		return step(w, n);
	case AWK_CALL:
		return awk_call(w, n);
	default:
		return comparison(w, n);
	}
}

static void print(struct awk *w, const struct awk_node *n)
{
	if (!n->a)
		sh_puts(w->io, sh_buf_str(&w->record));
	for (const struct awk_node *x = n->a; x; x = x->next) {
		const char *text = awk_str(w, awk_eval(w, x));

		if (w->failed)
			return;
		sh_puts(w->io, text);
		if (x->next)
			sh_puts(w->io, awk_str(w, w->ofs->value));
	}
	sh_puts(w->io, awk_str(w, w->ors->value));
}

static void print_formatted(struct awk *w, const struct awk_node *n)
{
	struct sh_buf b = {0};

	awk_format(w, &b, awk_str(w, awk_eval(w, n->a)), n->a->next);
	sh_put(w->io, b.s, b.len);
	sh_buf_free(&b);
}

/* A body of a loop; true: the loop ends, with *flow. */
static bool loop_body(struct awk *w, const struct awk_node *n, enum awk_flow *flow)
{
	*flow = awk_exec(w, n);
	if (*flow == AWK_FLOW_CONTINUE)
		*flow = AWK_GO;
	if (os_interrupted())
		*flow = AWK_FLOW_EXIT;
	if (*flow == AWK_GO && !w->failed)
		return false;
	if (*flow == AWK_FLOW_BREAK)
		*flow = AWK_GO;
	return true;
}

/* Is the condition true? Its strings are given back. */
static bool holds(struct awk *w, const struct awk_node *n)
{
	struct sh_mark mark = sh_arena_mark(&w->tmp);
	bool yes = !n || awk_true(awk_eval(w, n));

	sh_arena_release(&w->tmp, mark);
	return yes && !w->failed;
}

static enum awk_flow loop(struct awk *w, const struct awk_node *n)
{
	enum awk_flow flow = AWK_GO;
	struct sh_mark mark = sh_arena_mark(&w->tmp);

	if (n->op == AWK_DO && loop_body(w, n->b, &flow))
		return flow;
	if (n->op != AWK_FOR) {
		while (holds(w, n->a) && !loop_body(w, n->b, &flow))
			;
		return flow;
	}
	if (n->a)
		awk_eval(w, n->a);
	while (holds(w, n->b) && !loop_body(w, n->d, &flow)) {
		if (n->c)
			awk_eval(w, n->c);
		sh_arena_release(&w->tmp, mark);
	}
	return flow;
}

/* The keys are taken first: the body may change the array. */
static enum awk_flow for_in(struct awk *w, const struct awk_node *n)
{
	enum awk_flow flow = AWK_GO;
	struct sh_words keys = {0};

	for (int b = 0; n->var->items && b < AWK_BUCKETS; b++)
		for (struct awk_item *i = n->var->items[b]; i; i = i->next)
			sh_words_add(&keys, &w->tmp, sh_strdup(&w->tmp, i->key));
	if (keys.failed)
		awk_fail(w, "out of memory");
	for (int i = 0; i < keys.n && !w->failed; i++) {
		awk_assign(w, n->a, awk_input(keys.v[i]));
		if (loop_body(w, n->d, &flow))
			break;
	}
	return flow;
}

static enum awk_flow block(struct awk *w, const struct awk_node *n)
{
	enum awk_flow flow = AWK_GO;

	for (n = n->a; n && flow == AWK_GO && !w->failed; n = n->next)
		flow = awk_exec(w, n);
	return flow;
}

static enum awk_flow exec(struct awk *w, const struct awk_node *n)
{
	switch (n->op) {
	case AWK_PRINT:
		print(w, n);
		break;
	case AWK_PRINTF:
		print_formatted(w, n);
		break;
	case AWK_IF:
		if (holds(w, n->a))
			return awk_exec(w, n->b);
		return n->c && !w->failed ? awk_exec(w, n->c) : AWK_GO;
	case AWK_WHILE:
	case AWK_DO:
	case AWK_FOR:
		return loop(w, n);
	case AWK_FOR_IN:
		return for_in(w, n);
	case AWK_BLOCK:
		return block(w, n);
	case AWK_NEXT:
		return AWK_FLOW_NEXT;
	case AWK_EXIT:
		if (n->a)
			w->status = sh_dec_trunc(awk_num(awk_eval(w, n->a))) & 255;
		return AWK_FLOW_EXIT;
	case AWK_BREAK:
		return AWK_FLOW_BREAK;
	case AWK_CONTINUE:
		return AWK_FLOW_CONTINUE;
	case AWK_DELETE:
		awk_delete(n->a->var, n->a->op == AWK_INDEX ? key_of(w, n->a->a) : NULL);
		break;
	default:
		awk_eval(w, n->a);
	}
	return AWK_GO;
}

enum awk_flow awk_exec(struct awk *w, const struct awk_node *n)
{
	struct sh_mark mark = sh_arena_mark(&w->tmp);
	enum awk_flow flow = w->failed ? AWK_FLOW_EXIT : exec(w, n);

	sh_arena_release(&w->tmp, mark);
	return w->failed ? AWK_FLOW_EXIT : flow;
}
