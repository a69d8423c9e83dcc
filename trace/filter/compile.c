/*
 * Filters: from the text to the program. Task context; allocates, publishes nothing.
 *
 * Words. An instruction is a predicate with two exits, for "it is false" and "it is true"; an exit
 * leads to another instruction, or to one of the two ends of the program, where the record passes
 * or does not. A chain is a list of exits that will all lead to the same place once it is known. Of
 * an expression only two chains matter: where it turns out false ("no") and where it turns out true
 * ("yes"). A frame holds what is open inside one pair of parentheses, the whole text being one of
 * them.
 *
 * The language: or = and {"||" and};  and = not {"&&" not};  not = {"!"} (predicate | "(" or ")").
 *
 * 1. Look the whole text through: quotes and parentheses must match (such an error is told before
 *    all others), and how many there are says how much room is needed at most.
 * 2. An operand is wanted. '!' turns round what follows; '(' opens a frame, which remembers whether
 *    it is to be turned round.
 * 3. A predicate becomes the next instruction: its exits are the operand's chains, changed for each
 *    other if it is turned round.
 * 4. "&&" after an operand: if that is true, go on with the next instruction; if false, so is the
 *    conjunction: its no joins that of the operands before it, in the frame.
 * 5. "||", ')' or the end: the conjunction is over, its no is all it has gathered.
 * 6. "||": if that is false, go on with the next instruction; if true, so is the disjunction: its
 *    yes joins that of those before.
 * 7. ')': the expression is whole, and an operand of the frame around: go on at 4, turned round if
 *    the frame was.
 * 8. The end: yes leads to where the record passes, no to where it does not.
 *
 * An exit only ever leads to an instruction that comes later (4, 6) or to an end (8), and every
 * exit is in one chain until it leads somewhere: the program ends, inside itself. What
 * short-circuiting leaves out is never visited.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/filter/priv.h"
#include "trace/host_memory.h"

#define NONE 0xffff

/* An exit is twice the number of its instruction, and one more where that is true. */
struct chain {
	u16 first, last; /* NONE, NONE: empty */
};
static const struct chain empty = {NONE, NONE};

struct operand {
	struct chain no, yes;
};

struct frame {
	struct chain no;  /* of the conjunction so far */
	struct chain yes; /* of the conjunctions before it */
	bool turned;
};

/* What step 1 finds: upper bounds. */
struct bounds {
	u32 predicates, frames;
	size_t text;
};

struct compiler {
	struct filter_parser p;
	struct filter_insn *prog;
	u32 count;	     /* instructions so far */
	u16 *next_exit;	     /* by exit: the next one of its chain */
	struct frame *frame; /* the innermost */
};

int filter_fail_as(struct filter_parser *p, int code, const char *why, size_t pos)
{
	*p->err = (struct trace_filter_error){.text = why, .pos = pos, .code = code};
	return -EINVAL;
}

int filter_fail(struct filter_parser *p, const char *why, size_t pos)
{
	return filter_fail_as(p, -EINVAL, why, pos);
}

/* ---- step 1 ---- */

/* Where the innermost '(' stands that is never closed. Quotes are whole. */
static size_t find_open(const char *text, size_t end)
{
	u32 closed = 0;
	char quote = 0;

	while (end-- > 0) {
		char c = text[end];
		if (quote)
			quote = c == quote ? 0 : quote;
		else if (c == '\'' || c == '"')
			quote = c;
		else if (c == ')')
			closed++;
		else if (c == '(' && closed-- == 0)
			break;
	}
	return end;
}

static int check_text(struct filter_parser *p, struct bounds *b)
{
	size_t i, quoted = 0, ands = 0, open = 0;
	char quote = 0;

	b->frames = 1;
	for (i = 0; p->text[i]; i++) {
		char c = p->text[i];
		ands += c == '&' || c == '|';
		b->frames += c == '(';
		if (quote) {
			quote = c == quote ? 0 : quote;
		} else if (c == '\'' || c == '"') {
			quote = c;
			quoted = i;
		} else if (c == '(') {
			open++;
		} else if (c == ')' && open-- == 0) {
			return filter_fail_as(p, -EPERM, FILTER_TOO_MANY_CLOSE, i);
		}
	}
	if (quote)
		return filter_fail_as(p, -ESRCH, FILTER_MISSING_QUOTE, quoted);
	if (open)
		return filter_fail_as(p, -ENOENT, FILTER_TOO_MANY_OPEN, find_open(p->text, i));
	if (ands / 2 >= NONE / 2)
		return filter_fail(p, FILTER_TOO_MANY_TERMS, i);
	b->predicates = ands / 2 + 1;
	b->text = i;
	return 0;
}

/* ---- chains ---- */

static struct chain join(struct compiler *c, struct chain a, struct chain b)
{
	if (a.first == NONE)
		return b;
	if (b.first == NONE)
		return a;
	c->next_exit[a.last] = b.first;
	return (struct chain){a.first, b.last};
}

static void filter_link_chain(struct compiler *c, struct chain ch, const struct filter_insn *to)
{
	for (u16 exit = ch.first; exit != NONE; exit = c->next_exit[exit])
		c->prog[exit / 2].next[exit % 2] = to;
}

static void turn_round(struct operand *x, bool turned)
{
	if (turned)
		*x = (struct operand){.no = x->yes, .yes = x->no};
}

static struct operand operand_of(struct compiler *c, u32 insn)
{
	u16 no = 2 * insn, yes = no + 1;

	c->next_exit[no] = c->next_exit[yes] = NONE;
	return (struct operand){.no = {no, no}, .yes = {yes, yes}};
}

/* ---- steps 2 to 7 ---- */

static char filter_skip_blanks(struct filter_parser *p)
{
	while (is_space(p->text[p->at]))
		p->at++;
	return p->text[p->at];
}

static void push(struct compiler *c, bool turned)
{
	*++c->frame = (struct frame){.no = empty, .yes = empty, .turned = turned};
}

/* Steps 2 and 3. */
static int parse_operand(struct compiler *c, struct operand *x)
{
	struct filter_parser *p = &c->p;
	bool turned = false, invert;

	for (;; p->at++) {
		char ch = filter_skip_blanks(p), then = ch ? p->text[p->at + 1] : '\0';
		if (ch == '(') {
			push(c, turned);
			turned = false;
		} else if (ch == '!' && then != '=' && then != '~') {
			turned = !turned;
		} else {
			break;
		}
	}
	if (!p->text[p->at] && !c->count)
		return filter_fail(p, FILTER_NOTHING, p->at);
	int err = filter_parse_predicate(p, &c->prog[c->count], &invert);
	if (err)
		return err;
	*x = operand_of(c, c->count++);
	turn_round(x, turned != invert);
	return 0;
}

/* Steps 4 to 8, up to the next operator; *end: it was the text's end. */
static int parse_operators(struct compiler *c, struct operand *x, bool *end)
{
	for (;;) {
		char op = filter_skip_blanks(&c->p), then = op ? c->p.text[c->p.at + 1] : '\0';
		if ((op == '&' || op == '|') ? then != op : op && op != ')')
			return filter_fail_as(&c->p, -EPERM, FILTER_TOO_MANY_TERMS, c->p.at);
		c->p.at += op ? 1 + (op != ')') : 0;
		x->no = join(c, c->frame->no, x->no);
		if (op == '&') { /* 4 */
			filter_link_chain(c, x->yes, &c->prog[c->count]);
			c->frame->no = x->no;
			return 0;
		}
		c->frame->no = empty; /* 5 */
		x->yes = join(c, c->frame->yes, x->yes);
		if (op == '|') { /* 6 */
			filter_link_chain(c, x->no, &c->prog[c->count]);
			c->frame->yes = x->yes;
			return 0;
		}
		*end = !op;
		if (*end)
			return 0;
		turn_round(x, c->frame--->turned); /* 7: there is one around, by step 1 */
	}
}

static int compile(struct compiler *c)
{
	struct operand x;
	bool end = false;

	while (!end) {
		int err = parse_operand(c, &x);
		if (!err)
			err = parse_operators(c, &x, &end);
		if (err)
			return err;
	}
	filter_link_chain(c, x.no, FILTER_FAIL); /* 8 */
	filter_link_chain(c, x.yes, FILTER_PASS);
	c->p.f->count = c->count;
	return 0;
}

/* ---- making and freeing ---- */

static struct trace_filter *alloc_filter(u32 insns, size_t text, size_t patterns)
{
	struct trace_filter *f =
	    host_alloc(sizeof(*f) + insns * sizeof(*f->start) + text + 1 + patterns);

	if (!f)
		return NULL;
	f->start = (struct filter_insn *)(f + 1);
	f->text = (char *)(f->start + insns);
	return f;
}

static int compile_into(struct trace_filter *f, struct compiler *c, const struct bounds *b)
{
	size_t exits = 2 * b->predicates * sizeof(u16);
	void *scratch = host_alloc(b->frames * sizeof(struct frame) + exits);

	if (!scratch)
		return -ENOMEM;
	c->prog = (struct filter_insn *)f->start;
	c->frame = scratch;
	c->next_exit = (u16 *)(c->frame + b->frames);
	c->frame->no = c->frame->yes = empty;
	int err = compile(c);
	host_free(scratch);
	return err;
}

int trace_filter_create(const struct trace_event_call *call, const char *text,
    struct trace_filter **out, struct trace_filter_error *err)
{
	struct compiler c = {.p = {.call = call, .text = text, .err = err}};
	struct bounds b;
	int error = host_memory_check("a filter", 0);

	if (!error)
		error = check_text(&c.p, &b);
	if (error)
		return error;
	struct trace_filter *f = alloc_filter(b.predicates, b.text, b.text + b.predicates);
	if (!f)
		return -ENOMEM;
	memcpy((char *)f->text, text, b.text + 1);
	c.p.f = f;
	c.p.room = (char *)f->text + b.text + 1;
	error = compile_into(f, &c, &b);
	if (error)
		host_free(f);
	else
		*out = f;
	return error;
}

const char *trace_filter_text(const struct trace_filter *f)
{
	return f->text;
}
