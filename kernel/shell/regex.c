/*
 * Compiles regular expressions: recursive descent straight into code with relative jumps, so that pieces can be copied. Pure; task
 * context: it recurses and allocates.
 */
#include "kernel/shell/regex.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/glob.h"
#include "kernel/shell/regex_prog.h"

#define GROUP_DEPTH 10
#define REPEAT_MAX  255

struct compiler {
	struct sh_regex *re;
	const char *p;
	bool extended;
	int depth;
	const char *error;
};

static void alternation(struct compiler *c);

static void fail(struct compiler *c, const char *why)
{
	if (!c->error)
		c->error = why;
}

/* Makes room for n instructions at `at`. */
static struct sh_rx_inst *open_gap(struct compiler *c, unsigned at, unsigned n)
{
	struct sh_regex *re = c->re;

	if (re->len + n > SH_RX_PROG_MAX) {
		fail(c, "regular expression too big");
		return NULL;
	}
	memmove(re->prog + at + n, re->prog + at, (re->len - at) * sizeof(*re->prog));
	re->len += n;
	return re->prog + at;
}

static void emit_at(struct compiler *c, unsigned at, struct sh_rx_inst in)
{
	struct sh_rx_inst *gap = open_gap(c, at, 1);

	if (gap)
		*gap = in;
}

static void emit(struct compiler *c, enum sh_rx_op op, u8 ch)
{
	emit_at(c, c->re->len, (struct sh_rx_inst){.op = op, .c = ch});
}

static void class_add(u64 set[4], unsigned lo, unsigned hi)
{
	for (unsigned i = lo; i <= hi; i++)
		set[i >> 6] |= 1UL << (i & 63);
}

static void class_add_name(u64 set[4], const char *name, size_t n)
{
	for (unsigned i = 0; i < 256; i++)
		if (sh_class_has(name, n, i))
			class_add(set, i, i);
}

static void fold_case(u64 set[4])
{
	for (unsigned i = 'a'; i <= 'z'; i++) {
		if (sh_rx_has(set, i) || sh_rx_has(set, i - 32)) {
			class_add(set, i, i);
			class_add(set, i - 32, i - 32);
		}
	}
}

static void emit_class(struct compiler *c, u64 set[4], bool negate)
{
	struct sh_regex *re = c->re;

	if (re->class_count == SH_RX_CLASS_MAX) {
		fail(c, "regular expression has too many classes");
		return;
	}
	if (re->icase)
		fold_case(set);
	for (int i = 0; i < 4; i++)
		re->classes[re->class_count][i] = negate ? ~set[i] : set[i];
	emit(c, SH_RX_CLASS, re->class_count++);
}

static void emit_char(struct compiler *c, u8 ch)
{
	emit(c, SH_RX_CHAR, c->re->icase && is_alpha(ch) ? ch | 32 : ch);
}

/* \w and \s, and their opposites. */
static void emit_named(struct compiler *c, char which)
{
	u64 set[4] = {0};

	if ((which | 32) == 's') {
		class_add_name(set, "space", 5);
	} else {
		class_add_name(set, "alnum", 5);
		class_add(set, '_', '_');
	}
	emit_class(c, set, which < 'a');
}

/* One item of [...] at *p: a class, a character, a range. */
static void bracket_item(struct compiler *c, u64 set[4])
{
	const char *s = c->p, *e;
	unsigned char lo = *s, hi = *s;

	if (s[0] == '[' && s[1] == ':' && (e = strstr(s + 2, ":]"))) {
		class_add_name(set, s + 2, e - s - 2);
		c->p = e + 2;
		return;
	}
	s++;
	if (s[0] == '-' && s[1] && s[1] != ']') {
		hi = s[1];
		s += 2;
	}
	if (hi < lo)
		fail(c, "invalid range end");
	else
		class_add(set, lo, hi);
	c->p = s;
}

static void bracket(struct compiler *c)
{
	u64 set[4] = {0};
	bool negate;
	const char *first;

	c->p++;
	negate = *c->p == '^';
	c->p += negate;
	for (first = c->p; *c->p && (*c->p != ']' || c->p == first);)
		bracket_item(c, set);
	if (!*c->p) {
		fail(c, "unmatched [");
		return;
	}
	c->p++;
	emit_class(c, set, negate);
}

static void group(struct compiler *c)
{
	unsigned n = ++c->re->groups;

	if (++c->depth > GROUP_DEPTH) {
		fail(c, "regular expression too deeply nested");
		return;
	}
	if (n < SH_REGEX_GROUPS)
		emit(c, SH_RX_SAVE, 2 * n);
	alternation(c);
	if (n < SH_REGEX_GROUPS)
		emit(c, SH_RX_SAVE, 2 * n + 1);
	if (str_has_prefix(c->p, c->extended ? ")" : "\\)"))
		c->p += c->extended ? 1 : 2;
	else
		fail(c, "unmatched ( or \\(");
	c->depth--;
}

/* Behind a backslash; false: it was the end of a group or the like, nothing was taken. */
static void escaped(struct compiler *c)
{
	static const struct {
		char c;
		enum sh_rx_op op;
	} edges[] = {{'b', SH_RX_WORD_EDGE}, {'B', SH_RX_NO_EDGE}, {'<', SH_RX_WORD_START},
	    {'>', SH_RX_WORD_END}};
	char ch = *c->p++;

	for (size_t i = 0; i < ARRAY_SIZE(edges); i++) {
		if (edges[i].c == ch) {
			emit(c, edges[i].op, 0);
			return;
		}
	}
	if (strchr("wWsS", ch))
		emit_named(c, ch);
	else if (ch == 'n' || ch == 't')
		emit_char(c, ch == 'n' ? '\n' : '\t');
	else if (ch >= '1' && ch <= '9')
		fail(c, "back references are not supported");
	else
		emit_char(c, ch);
}

/* Is there an alternation bar, or the end of the group or pattern, at s? */
static bool at_end(struct compiler *c, const char *s)
{
	if (!*s)
		return true;
	if (c->extended)
		return *s == '|' || (*s == ')' && c->depth);
	return s[0] == '\\' && (s[1] == '|' || (s[1] == ')' && c->depth));
}

static void atom(struct compiler *c, bool first)
{
	char ch = *c->p;

	if (ch == '\\' && c->p[1]) {
		c->p++;
		if (!c->extended && *c->p == '(') {
			c->p++;
			group(c);
		} else {
			escaped(c);
		}
	} else if (ch == '\\') {
		fail(c, "trailing backslash");
	} else if (ch == '(' && c->extended) {
		c->p++;
		group(c);
	} else if (ch == '[') {
		bracket(c);
	} else if (ch == '.') {
		c->p++;
		emit(c, SH_RX_ANY, 0);
	} else if (ch == '^' && (c->extended || first)) {
		c->p++;
		emit(c, SH_RX_BOL, 0);
	} else if (ch == '$' && (c->extended || at_end(c, c->p + 1))) {
		c->p++;
		emit(c, SH_RX_EOL, 0);
	} else {
		c->p++;
		emit_char(c, ch);
	}
}

/* The code from `at` on becomes optional, repeated, or both. */
static void star(struct compiler *c, unsigned at)
{
	int n = c->re->len - at;

	emit_at(c, at, (struct sh_rx_inst){.op = SH_RX_SPLIT, .x = 1, .y = n + 2});
	emit_at(c, c->re->len, (struct sh_rx_inst){.op = SH_RX_JUMP, .x = -(n + 1)});
}

static void plus(struct compiler *c, unsigned at)
{
	int n = c->re->len - at;

	emit_at(c, c->re->len, (struct sh_rx_inst){.op = SH_RX_SPLIT, .x = -n, .y = 1});
}

static void optional(struct compiler *c, unsigned at)
{
	int n = c->re->len - at;

	emit_at(c, at, (struct sh_rx_inst){.op = SH_RX_SPLIT, .x = 1, .y = n + 1});
}

static void copy(struct compiler *c, unsigned at, unsigned n)
{
	unsigned end = c->re->len;

	if (open_gap(c, end, n))
		memcpy(c->re->prog + end, c->re->prog + at, n * sizeof(*c->re->prog));
}

/* {m}, {m,}, {m,n}: copies of the piece, the later ones optional. max < 0: no end. */
static void repeat(struct compiler *c, unsigned at, int min, int max)
{
	unsigned n = c->re->len - at, last;

	if (max == 0 || (min == 0 && max < 0)) {
		if (max == 0)
			c->re->len = at;
		else
			star(c, at);
		return;
	}
	for (int i = 1; i < min && !c->error; i++)
		copy(c, at, n);
	if (max < 0) {
		plus(c, c->re->len - n);
		return;
	}
	/* (x(x(x)?)?)?: from the innermost on, each copy wraps what follows it. */
	last = min ? c->re->len : at;
	for (int i = MAX(min, 1); i < max && !c->error; i++)
		copy(c, at, n);
	for (unsigned from = c->re->len - n; !c->error && c->re->len > last; from -= n) {
		optional(c, from);
		if (from == last)
			break;
	}
}

/* An interval at the cursor, behind its opening brace. False: it is none. */
static bool interval(struct compiler *c, int *min, int *max)
{
	const char *s = c->p, *close = c->extended ? "}" : "\\}";

	*min = is_digit(*s) ? (int)MIN(parse_digits(s, &s, 10), (u64)REPEAT_MAX + 1) : 0;
	*max = *min;
	if (*s == ',') {
		s++;
		*max = is_digit(*s) ? (int)MIN(parse_digits(s, &s, 10), (u64)REPEAT_MAX + 1) : -1;
	} else if (s == c->p) {
		return false;
	}
	if (!str_has_prefix(s, close))
		return false;
	if (*min > REPEAT_MAX || *max > REPEAT_MAX || (*max >= 0 && *max < *min))
		fail(c, "invalid content of {}");
	c->p = s + strlen(close);
	return true;
}

/* One repetition mark behind the piece at `at`; false: none follows. */
static bool postfix(struct compiler *c, unsigned at)
{
	bool escape = !c->extended && c->p[0] == '\\';
	const char *before = c->p;
	char ch = c->p[escape];
	int min, max;

	if (ch == '*' && !escape) {
		c->p++;
		star(c, at);
		return true;
	}
	if ((!c->extended && !escape) || !ch || !strchr("+?{", ch))
		return false;
	c->p += 1 + escape;
	if (ch == '+') {
		plus(c, at);
	} else if (ch == '?') {
		optional(c, at);
	} else if (interval(c, &min, &max)) {
		repeat(c, at, min, max);
	} else if (c->extended) {
		c->p = before; /* a brace that is just a brace */
		return false;
	} else {
		fail(c, "invalid content of \\{\\}");
	}
	return true;
}

static void sequence(struct compiler *c)
{
	bool first = true;

	while (!c->error && !at_end(c, c->p)) {
		unsigned at = c->re->len;
		bool anchor = first && *c->p == '^';

		if (*c->p == '*' && first) { /* a star with nothing before it is a star */
			emit_char(c, *c->p++);
			first = false;
			continue;
		}
		atom(c, first);
		first = anchor && !c->extended;
		while (!c->error && !first && postfix(c, at))
			;
	}
}

static void alternation(struct compiler *c)
{
	unsigned at = c->re->len;

	sequence(c);
	while (!c->error && str_has_prefix(c->p, c->extended ? "|" : "\\|")) {
		unsigned jump, n;

		c->p += c->extended ? 1 : 2;
		n = c->re->len - at;
		emit_at(c, at, (struct sh_rx_inst){.op = SH_RX_SPLIT, .x = 1, .y = n + 2});
		jump = c->re->len;
		emit(c, SH_RX_JUMP, 0);
		if (c->error)
			return;
		/* The rest is the right-hand side of this bar; the next bar splits that. */
		at = c->re->len;
		sequence(c);
		if (!c->error)
			c->re->prog[jump].x = c->re->len - jump;
		if (!c->error && str_has_prefix(c->p, c->extended ? "|" : "\\|"))
			c->re->prog[jump]
			    .x++; /* to the jump that will follow: a split comes in before */
	}
}

/* Which bytes a match can begin with: what is reached from the start without taking one. */
static void find_first(struct sh_regex *re)
{
	unsigned n = 0;

	re->anchored = re->prog[0].op == SH_RX_BOL;
	re->filter = true;
	re->step = 1;
	re->todo[n++].pc = 0;
	while (n && re->filter) {
		s32 pc = re->todo[--n].pc;
		const struct sh_rx_inst *in = &re->prog[pc];

		if (re->seen[pc])
			continue;
		re->seen[pc] = 1;
		switch (in->op) {
		case SH_RX_CHAR:
			class_add(re->first, in->c, in->c);
			if (re->icase)
				fold_case(re->first);
			break;
		case SH_RX_CLASS:
			for (int i = 0; i < 4; i++)
				re->first[i] |= re->classes[in->c][i];
			break;
		case SH_RX_ANY:
		case SH_RX_MATCH:
			re->filter = false;
			break;
		case SH_RX_SPLIT:
			re->todo[n++].pc = pc + in->y;
			re->todo[n++].pc = pc + in->x;
			break;
		case SH_RX_JUMP:
			re->todo[n++].pc = pc + in->x;
			break;
		default:
			re->todo[n++].pc = pc + 1;
		}
	}
}

/* Memory for matching, by the size of the program. */
static bool make_room(struct sh_regex *re)
{
	size_t n = re->len + 1;

	re->now.t = kmalloc(n * sizeof(*re->now.t));
	re->next.t = kmalloc(n * sizeof(*re->next.t));
	re->todo = kmalloc((2 * n + 2) * sizeof(*re->todo));
	re->seen = kzalloc(n * sizeof(*re->seen));
	return re->now.t && re->next.t && re->todo && re->seen;
}

struct sh_regex *sh_regex_new(const char *pattern, unsigned flags, const char **error)
{
	struct sh_regex *re = kzalloc(sizeof(*re));
	struct compiler c = {.re = re, .p = pattern, .extended = flags & SH_REGEX_EXTENDED};
	struct sh_rx_inst *fit;

	*error = "out of memory";
	if (re)
		re->prog = kmalloc(SH_RX_PROG_MAX * sizeof(*re->prog));
	if (!re || !re->prog) {
		sh_regex_free(re);
		return NULL;
	}
	re->icase = flags & SH_REGEX_ICASE;
	alternation(&c);
	if (!c.error && *c.p)
		fail(&c, "unmatched ) or \\)");
	emit(&c, SH_RX_MATCH, 0);
	fit = krealloc(re->prog, (re->len + 1) * sizeof(*re->prog));
	re->prog = fit ? fit : re->prog;
	if (c.error || !make_room(re)) {
		*error = c.error ? c.error : *error;
		sh_regex_free(re);
		return NULL;
	}
	find_first(re);
	return re;
}

void sh_regex_free(struct sh_regex *re)
{
	if (!re)
		return;
	kfree(re->prog);
	kfree(re->now.t);
	kfree(re->next.t);
	kfree(re->todo);
	kfree(re->seen);
	kfree(re);
}
