/*
 * A naive evaluator against the real one: random expressions over random records. The expression is
 * a tree; it is printed as text, with blanks and parentheses as they fall, for the one, and walked
 * as a tree by the other, which knows the language only by what it means: numbers in 128 bits,
 * wildcards by recursion. The seed is printed; FILTER_SEED=n plays one again, FILTER_PAIRS=n more
 * of them.
 */
#include <stdlib.h>
#include <time.h>

#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/filter/sample.h"
#include "trace/host_context.h"

#define PAIRS	      2000000 /* make test-all: five million */
#define RECORDS	      20      /* to each expression */
#define NODES	      64
#define TEXT_MAX      4096
#define ELSEWHERE_MAX 32

/* ---- chance ---- */

static u64 state;

static u64 any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static u32 below(u32 n)
{
	return any() % n;
}

static bool one_in(u32 n)
{
	return below(n) == 0;
}

/* Numbers that meet: small ones, the ends of ranges, sometimes any. */
static u64 number(void)
{
	static const u64 ends[] = {0, 1, 2, 127, 128, 255, 256, 32767, 32768, 65535, 65536,
	    0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff};
	u64 v = one_in(8) ? any() : ends[below(sizeof(ends) / sizeof(ends[0]))];

	return one_in(3) ? -v : v;
}

/* Text that meets: few letters, short. */
static u32 letters(char *to, u32 max, const char *set)
{
	u32 n = below(max), kinds = strlen(set);

	for (u32 i = 0; i < n; i++)
		to[i] = set[below(kinds)];
	to[n] = '\0';
	return n;
}

/* ---- expressions ---- */

enum type {
	S8,
	U8,
	S16,
	U16,
	S32,
	U32,
	S64,
	U64,
	PID,
	CPU,
	STRING,
	TIGHT,
	DYN,
	REL,
	PTR,
	USER,
	COMM,
	MASK,
	SITE,
	TYPES
};
enum op { EQ, NE, LT, LE, GT, GE, AND_BITS, GLOB };

static const struct {
	const char *name;
	bool is_signed;
	u32 bits; /* of a number; 0: none */
} types[TYPES] = {
    {"s8", true, 8},
    {"u8", false, 8},
    {"s16", true, 16},
    {"u16", false, 16},
    {"s32", true, 32},
    {"u32", false, 32},
    {"s64", true, 64},
    {"u64", false, 64},
    {"common_pid", true, 32},
    {"cpu", true, 32},
    {"name", false, 0},
    {"tight", false, 0},
    {"dyn", false, 0},
    {"rel", false, 0},
    {"ptr", false, 0},
    {"user.ustring", false, 0},
    {"comm", false, 0},
    {"mask", false, 0},
    {"call_site", false, 64},
};
static const char *const op_text[] = {"==", "!=", "<", "<=", ">", ">=", "&", "~"};

struct node {
	enum { PREDICATE, AND, OR, NOT } kind;
	u32 a, b; /* nodes */
	enum type type;
	enum op op;
	u64 value, set;
	bool cpus; /* CPUS{set} */
	char text[16];
};

static struct node nodes[NODES];
static u32 node_count;

static void make_predicate(struct node *n)
{
	n->kind = PREDICATE;
	n->type = below(TYPES);
	n->cpus = n->type == MASK || (types[n->type].bits && one_in(8));
	if (n->cpus) {
		n->op = (enum op[]){EQ, NE, AND_BITS}[below(3)];
		n->set = one_in(2) ? 1ul << below(64) : any() & any();
		if (!n->set)
			n->set = 1;
	} else if (types[n->type].bits) {
		n->op = below(GLOB);
		n->value = number();
	} else {
		n->op = (enum op[]){EQ, NE, GLOB}[below(3)];
		letters(n->text, sizeof(n->text) - 1, n->op == GLOB ? "ab*?[]!-\\5" : "ab*5");
	}
}

static u32 make_node(u32 depth)
{
	u32 me = node_count++;
	struct node *n = &nodes[me];

	if (depth == 0 || node_count + 2 >= NODES || one_in(4)) {
		make_predicate(n);
		return me;
	}
	n->kind = AND + below(3);
	n->a = make_node(depth - 1);
	if (n->kind != NOT)
		n->b = make_node(depth - 1);
	return me;
}

/* ---- as text ---- */

static void blanks(struct seq *s)
{
	while (one_in(3))
		seq_putc(s, one_in(8) ? '\t' : ' ');
}

static void put_number(struct seq *s, enum type t, u64 v)
{
	bool negative = types[t].is_signed && (s64)v < 0;

	if (negative)
		seq_putc(s, '-');
	if (negative)
		v = -v;
	/* Octal digits of the largest would be too many. */
	seq_printf(s, (const char *[]){"%lu", "0x%lx", "0%lo"}[below(v >> 60 ? 2 : 3)], v);
}

static void put_set(struct seq *s, u64 set)
{
	seq_puts(s, "CPUS{");
	for (u32 cpu = 0; cpu < 64; cpu++) {
		u32 to = cpu;
		if (!(set >> cpu & 1))
			continue;
		while (to < 63 && set >> (to + 1) & 1)
			to++;
		if (to > cpu)
			seq_printf(s, "%u-%u,", cpu, to);
		else
			seq_printf(s, "%u,", cpu);
		cpu = to;
	}
	seq_putc(s, '}');
}

static void put_predicate(struct seq *s, const struct node *n)
{
	char quote = one_in(2) ? '"' : '\'';

	seq_puts(s, types[n->type].name);
	blanks(s);
	seq_puts(s, op_text[n->op]);
	blanks(s);
	if (n->cpus)
		put_set(s, n->set);
	else if (types[n->type].bits)
		put_number(s, n->type, n->value);
	else
		seq_printf(s, "%c%s%c", quote, n->text, quote);
}

/*
 * `around`: what binds the node from outside; parentheses where they must be, and sometimes where
 * not.
 */
static void put_node(struct seq *s, u32 i, int around)
{
	const struct node *n = &nodes[i];
	bool must =
	    around == NOT ? n->kind == AND || n->kind == OR : around == AND && n->kind == OR;
	bool paren = must || one_in(6);

	blanks(s);
	if (paren)
		seq_putc(s, '(');
	blanks(s);
	if (n->kind == PREDICATE) {
		put_predicate(s, n);
	} else if (n->kind == NOT) {
		seq_putc(s, '!');
		put_node(s, n->a, NOT);
	} else {
		put_node(s, n->a, n->kind);
		seq_puts(s, n->kind == AND ? "&&" : "||");
		put_node(s, n->b, n->kind);
	}
	blanks(s);
	if (paren)
		seq_putc(s, ')');
}

/* ---- records ---- */

static char elsewhere[2][ELSEWHERE_MAX];

static void make_record(struct filter_sample *rec)
{
	char dyn[8], rel[8];

	rec->ent = (struct trace_entry){.type = below(4), .pid = number()};
	rec->s8 = rec->u8 = number();
	rec->s16 = number();
	rec->u16 = number();
	rec->s32 = number();
	rec->u32 = number();
	rec->s64 = number();
	rec->u64 = one_in(2) ? number() : below(64);
	rec->call_site = number();
	memset(rec->name, 0, sizeof(rec->name));
	letters(rec->name, sizeof(rec->name), "ab5");
	for (u32 i = 0; i < sizeof(rec->tight); i++)
		rec->tight[i] = "ab\0"[below(3)];
	u32 dyn_len = letters(dyn, sizeof(dyn), "ab5*"), rel_len = letters(rel, sizeof(rel), "ab[");
	filter_sample_set(rec, dyn, dyn_len + 1, rel, rel_len + 1, any() & any());
	letters(elsewhere[0], ELSEWHERE_MAX, "ab");
	letters(elsewhere[1], ELSEWHERE_MAX, "ab\\");
	rec->ptr = one_in(8) ? (const char *)(u64)below(2) : elsewhere[0];
	rec->user = one_in(8) ? 1ul << 63 : (u64)elsewhere[1];
}

/* ---- what it means ---- */

/* A class at p (after '['); *end after its ']'. False if it has no end. */
static bool class_of(const char *p, char c, bool *match, const char **end)
{
	bool invert = *p == '!';
	const char *first = p + invert;

	*match = invert;
	for (p = first; p == first || *p != ']'; p++) {
		char low = *p, high = *p;
		if (!*p)
			return false;
		if (p[1] == '-' && p[2] != ']') {
			high = p[2];
			p += 2;
			if (!high)
				return false;
		}
		if ((unsigned char)low <= (unsigned char)c &&
		    (unsigned char)c <= (unsigned char)high)
			*match = !invert;
	}
	*end = p + 1;
	return true;
}

static bool glob(const char *p, const char *s)
{
	bool match;
	const char *end;

	if (*p == '*')
		return glob(p + 1, s) || (*s && glob(p, s + 1));
	if (!*p || (p[0] == '\\' && !p[1]))
		return !*s;
	if (!*s)
		return false;
	if (*p == '[' && class_of(p + 1, *s, &match, &end))
		return match && glob(end, s + 1);
	if (*p == '\\')
		return p[1] == *s && glob(p + 2, s + 1);
	return (*p == '?' || *p == *s) && glob(p + 1, s + 1);
}

/* n bytes of memory that hold a string. */
static bool text_is(const struct node *n, const char *mem, u32 len)
{
	const char *p = n->text;
	char s[64];
	bool negate = n->op == NE;

	memcpy(s, mem, strnlen(mem, len));
	s[strnlen(mem, len)] = '\0';
	if (n->op != GLOB)
		return !strcmp(s, p) != negate;
	if (*p == '!') {
		negate = true;
		p++;
	}
	if (*p >= '0' && *p <= '9')
		return !strcmp(s, p) != negate;
	if (*p == '*' && !p[1 + strcspn(p + 1, "*?[\\")]) {
		u32 rest = strlen(p + 1);
		bool ends = rest < len && !memcmp(mem + len - 1 - rest, p + 1, rest);
		return ends != negate;
	}
	return glob(p, s) != negate;
}

static __int128 value_of(const struct filter_sample *rec, enum type t)
{
	switch (t) {
	case S8:
		return rec->s8;
	case U8:
		return rec->u8;
	case S16:
		return rec->s16;
	case U16:
		return rec->u16;
	case S32:
		return rec->s32;
	case U32:
		return rec->u32;
	case S64:
		return rec->s64;
	case U64:
		return rec->u64;
	case PID:
		return rec->ent.pid;
	case SITE:
		return rec->call_site;
	default:
		return host_cpu();
	}
}

/* As the field would hold it. */
static __int128 constant(enum type t, u64 v)
{
	switch (types[t].bits) {
	case 8:
		return types[t].is_signed ? (__int128)(s8)v : (__int128)(u8)v;
	case 16:
		return types[t].is_signed ? (__int128)(s16)v : (__int128)(u16)v;
	case 32:
		return types[t].is_signed ? (__int128)(s32)v : (__int128)(u32)v;
	default:
		return types[t].is_signed ? (__int128)(s64)v : (__int128)(u64)v;
	}
}

static bool number_is(const struct node *n, __int128 v)
{
	__int128 c = constant(n->type, n->value);

	switch (n->op) {
	case EQ:
		return v == c;
	case NE:
		return v != c;
	case LT:
		return v < c;
	case LE:
		return v <= c;
	case GT:
		return v > c;
	case GE:
		return v >= c;
	default:
		return ((u64)v & (u64)c & (~0ul >> (64 - types[n->type].bits))) != 0;
	}
}

static bool set_is(const struct node *n, u64 set)
{
	return n->op == AND_BITS ? (set & n->set) != 0 : (set == n->set) == (n->op == EQ);
}

/* A number that is no CPU's is no set at all: not even the empty one. */
static bool cpu_is(const struct node *n, __int128 v)
{
	u64 unsigned_v = (u64)v & (~0ul >> (64 - types[n->type].bits));

	return unsigned_v < 64 ? set_is(n, 1ul << unsigned_v) : n->op == NE;
}

static bool predicate_is(const struct node *n, const struct filter_sample *rec)
{
	const char *own = (const char *)rec;
	char comm[16] = {0};
	u64 mask;

	switch (n->type) {
	case STRING:
		return text_is(n, rec->name, sizeof(rec->name));
	case TIGHT:
		return text_is(n, rec->tight, sizeof(rec->tight));
	case DYN:
		return text_is(n, own + (rec->dyn & 0xffff), rec->dyn >> 16);
	case REL:
		return text_is(
		    n, (const char *)(&rec->rel + 1) + (rec->rel & 0xffff), rec->rel >> 16);
	case PTR:
		return rec->ptr == elsewhere[0] && text_is(n, rec->ptr, strlen(rec->ptr) + 1);
	case USER:
		return rec->user == (u64)elsewhere[1] &&
		       text_is(n, elsewhere[1], strlen(elsewhere[1]) + 1);
	case COMM:
		host_current_comm(comm);
		return text_is(n, comm, sizeof(comm));
	case MASK:
		memcpy(&mask, rec->room, sizeof(mask));
		return set_is(n, mask);
	default:
		return n->cpus ? cpu_is(n, value_of(rec, n->type))
			       : number_is(n, value_of(rec, n->type));
	}
}

static bool node_is(u32 i, const struct filter_sample *rec)
{
	const struct node *n = &nodes[i];

	switch (n->kind) {
	case AND:
		return node_is(n->a, rec) && node_is(n->b, rec);
	case OR:
		return node_is(n->a, rec) || node_is(n->b, rec);
	case NOT:
		return !node_is(n->a, rec);
	default:
		return predicate_is(n, rec);
	}
}

/* ---- the comparison ---- */

/* False: they disagree, which has been told. *matched counts. */
static bool one_expression(u64 *matched)
{
	static char text[TEXT_MAX];
	struct trace_filter_error why = {.text = ""};
	struct trace_filter *f = NULL;
	struct filter_sample rec;
	bool agree = true;
	struct seq s;

	node_count = 0;
	u32 root = make_node(below(6));
	seq_init(&s, text, sizeof(text) - 1);
	put_node(&s, root, OR);
	if (s.overflow)
		return true;
	text[s.len] = '\0';
	if (trace_filter_create(&filter_sample_call, text, &f, &why)) {
		ktap_fail(__FILE__, __LINE__, "refused: %s: %s at %u", text, why.text, why.pos);
		return false;
	}
	for (u32 i = 0; i < RECORDS && agree; i++) {
		make_record(&rec);
		bool expected = node_is(root, &rec);
		*matched += expected;
		agree = trace_filter_match(f, &rec, sizeof(rec)) == expected;
		if (!agree)
			ktap_fail(__FILE__, __LINE__, "%s is not %d", text, expected);
	}
	trace_filter_free(f);
	return agree;
}

static u64 setting(const char *name, u64 otherwise)
{
	const char *s = getenv(name);

	return s ? strtoull(s, NULL, 0) : otherwise;
}

static void agree(void)
{
	u64 pairs = setting("FILTER_PAIRS", PAIRS), matched = 0, done = 0;
	u64 seed = setting("FILTER_SEED", time(NULL));
	struct host_context ctx;

	ktap_note("FILTER_SEED=%llu", (unsigned long long)seed);
	state = seed * 0x9e3779b97f4a7c15 | 1;
	host_enter(&ctx);
	while (done < pairs && one_expression(&matched))
		done += RECORDS;
	host_preempt_enable();
	ktap_note(
	    "%llu pairs, %llu matches", (unsigned long long)done, (unsigned long long)matched);
	EXPECT(matched > done / 10 && matched < done - done / 10); /* it tells something */
}

static const struct ktap_case cases[] = {
    {"filter_random.agree", agree},
    {NULL, NULL},
};
const struct ktap_suite suite_filter_random = {cases};
