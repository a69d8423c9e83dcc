/* Filters: the predicates that are evaluated, and limits. */
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/filter/sample.h"
#include "trace/filter/file.h"
#include "trace/filter/priv.h"
#include "trace/host_memory.h"
#include "trace/host_symbol.h"

/* ---- what is visited ---- */

/* a to h of the record, what is expected, and the fields that may not be looked at. */
static const struct {
	const char *filter, *fields, *not_visited;
	bool match;
} visits[] = {
#define AND_ALL "a == 1 && b == 1 && c == 1 && d == 1 && e == 1 && f == 1 && g == 1 && h == 1"
    {AND_ALL, "11111111", "", true},
    {AND_ALL, "01111111", "bcdefgh", false},
    {AND_ALL, "11111110", "", false},
    {AND_ALL, "11101111", "efgh", false},
#define OR_ALL "a == 1 || b == 1 || c == 1 || d == 1 || e == 1 || f == 1 || g == 1 || h == 1"
    {OR_ALL, "00000000", "", false},
    {OR_ALL, "10000000", "bcdefgh", true},
    {OR_ALL, "00000001", "", true},
    {OR_ALL, "00010000", "efgh", true},
#define PAIRS "(a == 1 || b == 1) && (c == 1 || d == 1) && (e == 1 || f == 1) && (g == 1 || h == 1)"
    {PAIRS, "10101010", "bdfh", true},
    {PAIRS, "01010101", "", true},
    {PAIRS, "00111111", "cdefgh", false},
    {PAIRS, "10001111", "befgh", false},
#define CONJUNCTIONS "a == 1 && b == 1 || c == 1 && d == 1 || e == 1 && f == 1 || g == 1 && h == 1"
    {CONJUNCTIONS, "11000000", "cdefgh", true},
    {CONJUNCTIONS, "01010101", "bdfh", false},
    {CONJUNCTIONS, "10100011", "f", true},
    {CONJUNCTIONS, "00000010", "bdf", false},
#define NESTED "(a == 1 && b == 1 || c == 1) && d == 1 || e == 1 && (f == 1 || g == 1 && h == 1)"
    {NESTED, "11010000", "cefgh", true},
    {NESTED, "00101100", "bgh", true},
    {NESTED, "00000000", "bdfgh", false},
    {NESTED, "01001011", "bd", true},
    {NESTED, "11001010", "c", false},
#define NOT_GROUP "a == 1 && !(b == 1 || c == 1 && d == 1) && !(e == 1)"
    {NOT_GROUP, "10010000", "dfgh", true},
    {NOT_GROUP, "11110000", "cdefgh", false},
    {NOT_GROUP, "10111000", "efgh", false},
    {NOT_GROUP, "10101000", "fgh", false},
#define NOTS "!(!(a == 1 && !(b == 1)) || !!(c == 1)) || !d == 1"
    {NOTS, "10000000", "defgh", true},
    {NOTS, "10110000", "efgh", false},
    {NOTS, "11110000", "cefgh", false},
    {NOTS, "01110000", "bcefgh", false},
#define DEEP                                                                                       \
	"((((((((a == 1) && b == 1) || c == 1) && d == 1) || e == 1) && f == 1) || g == 1) && h "  \
	"== 1)"
    {DEEP, "11010101", "ceg", true},
    {DEEP, "00000011", "bdf", true},
    {DEEP, "00001000", "bdh", false},
};

static u32 visited; /* a bit per field, a first */

static bool visit(const struct filter_insn *in, const void *rec, u32 len __maybe_unused)
{
	u32 field = in->offset - offsetof(struct filter_sample, a);

	visited |= 1u << field;
	return *((const u8 *)rec + in->offset) - in->first <= in->span;
}

static void watch(struct trace_filter *f)
{
	for (u32 i = 0; i < f->count; i++)
		((struct filter_insn *)f->start)[i].test = visit;
}

static void short_circuit(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(visits); i++) {
		struct filter_sample rec = {0};
		struct trace_filter *f = filter_sample_compile(visits[i].filter);
		u32 forbidden = 0;

		for (unsigned k = 0; k < 8; k++)
			(&rec.a)[k] = visits[i].fields[k] - '0';
		for (const char *c = visits[i].not_visited; *c; c++)
			forbidden |= 1u << (*c - 'a');
		if (!f)
			continue;
		watch(f);
		visited = 0;
		bool match = trace_filter_match(f, &rec, sizeof(rec));
		if (match != visits[i].match || visited & forbidden)
			ktap_fail(__FILE__, __LINE__, "row %u: %s (%s): match %d, visited %x", i,
			    visits[i].filter, visits[i].fields, match, visited);
		trace_filter_free(f);
	}
}

/* Every exit leads forward, to an instruction or one of the two ends. */
static void program_goes_forward(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(visits); i++) {
		struct trace_filter *f = filter_sample_compile(visits[i].filter);
		const struct filter_insn *end = f->start + f->count;

		for (const struct filter_insn *in = f->start; in < end; in++)
			for (unsigned k = 0; k < 2; k++)
				EXPECT(in->next[k] <= FILTER_PASS ||
				       (in->next[k] > in && in->next[k] < end));
		trace_filter_free(f);
	}
}

/* ---- limits ---- */

static int try(const char *text, const char **why)
{
	struct trace_filter_error error = {.text = "", .pos = 0};
	struct trace_filter *f = NULL;
	int err = trace_filter_create(&filter_sample_call, text, &f, &error);

	*why = error.text;
	trace_filter_free(f);
	return err;
}

/* 255 characters of a string, 23 of a number. */
static void operand_limits(void)
{
	char text[320];
	const char *why;

	for (unsigned n = 254; n <= 256; n++) {
		memcpy(text, "name == \"", 9);
		memset(text + 9, 'x', n);
		strscpy(text + 9 + n, "\"", 2);
		EXPECT_EQ(try(text, &why), n < 256 ? 0 : -EINVAL);
		EXPECT_STR(why, n < 256 ? "" : FILTER_TOO_LONG);
		memmove(text + 8, text + 9, n);
		text[8 + n] = '\0';
		EXPECT_EQ(try(text, &why), n < 256 ? 0 : -EINVAL);
	}
	for (unsigned n = 22; n <= 24; n++) {
		memcpy(text, "u64 == ", 7);
		memset(text + 7, '0', n);
		text[7 + n] = '\0';
		EXPECT_EQ(try(text, &why), n < 24 ? 0 : -EINVAL);
		EXPECT_STR(why, n < 24 ? "" : FILTER_TOO_LONG);
	}
}

/* As deep and as long as a line can be, and beyond: what a program can hold. */
static void depth_and_length(void)
{
	enum { DEPTH = 2000, TERMS = 32767 };
	char *text = host_alloc((TERMS + 2) * 8);
	const char *why;

	memset(text, '(', DEPTH);
	memcpy(text + DEPTH, "a==1", 4);
	memset(text + DEPTH + 4, ')', DEPTH);
	EXPECT_EQ(try(text, &why), 0);
	text[2 * DEPTH + 3] = '\0';
	EXPECT_EQ(try(text, &why), -EINVAL);
	for (unsigned n = TERMS - 1; n <= TERMS + 1; n++) {
		for (unsigned i = 0; i < n; i++)
			memcpy(text + 6 * i,
			    i % 2 ? "a>1||"
				    " "
				  : "b<1&&"
				    " ",
			    6);
		text[6 * n - 3] = '\0';
		EXPECT_EQ(try(text, &why), n <= TERMS ? 0 : -EINVAL);
		EXPECT_STR(why, n <= TERMS ? "" : FILTER_TOO_MANY_TERMS);
	}
	host_free(text);
}

/* Of a string elsewhere 1024 bytes are taken, the last of them for a NUL. */
static void pointed_limits(void)
{
	char *s = host_alloc(2048), *text = host_alloc(2048);
	struct filter_sample rec = filter_sample_usual;

	for (unsigned n = FILTER_POINTED_MAX - 2; n <= FILTER_POINTED_MAX; n++) {
		memset(s, 'x', 2048);
		memcpy(s + n - 3, "end", 4);
		rec.ptr = s;
		EXPECT_EQ(filter_sample_matches("ptr ~ \"*xend\"", &rec), n < FILTER_POINTED_MAX);
		EXPECT_EQ(filter_sample_matches("ptr ~ \"*xend*\"", &rec), n < FILTER_POINTED_MAX);
		rec.ptr = s + 1; /* blocks that are not aligned */
		EXPECT_EQ(filter_sample_matches("ptr ~ \"*xend\"", &rec), true);
	}
	for (u64 bad = 0; bad < 4; bad++) {
		static const u64 addresses[] = {0, 1, 1UL << 63, ~0UL};
		rec.ptr = (const char *)addresses[bad];
		EXPECT(!filter_sample_matches("ptr ~ \"*\"", &rec) &&
		       !filter_sample_matches("ptr != \"\"", &rec));
	}
	host_free(text);
	host_free(s);
}

/* At the ends of a text that need not have a NUL; what stands around it is not looked at. */
static void glob_edges(void)
{
	static const struct {
		const char *pattern, *text;
		u32 begin, len;
		bool matches;
	} rows[] = {
	    {"*abc", "abcx", 1, 3, false},
	    {"*abc", "abcx", 0, 4, true},
	    {"abc*", "xabc", 1, 3, true},
	    {"abc*", "xabc", 1, 2, false},
	    {"*abc*", "xxabc", 0, 5, true},
	    {"*abc*", "xxabc", 0, 4, false},
	    {"*abc*", "abcxx", 0, 5, true},
	    {"*abc*", "xabcx", 1, 3, true},
	    {"*abc*", "ab\0abc", 0, 6, false},
	    {"*abc*", "ababc", 0, 5, true},
	    {"*abc*", "ab", 0, 2, false},
	    {"**", "", 0, 1, true},
	    {"**", "", 0, 0, true},
	    {"ab*cd", "abcd", 0, 5, true},
	    {"ab*cd", "abcd", 0, 4, true},
	    {"ab*bc", "abc", 0, 4, false},
	    {"a*b?", "axbz", 0, 5, true},
	    {"?b*c", "xb-c", 0, 5, true},
	    {"5*", "5*", 0, 3, true},
	    {"5*", "55", 0, 3, false},
	    {"**a", "xa", 0, 3, true},
	    {"a**b", "a-b", 0, 4, true},
	    {"*b?", "a\0bc", 0, 4, false},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct filter_insn in = {.kind = FILTER_TEST};
		char pattern[16];

		strscpy(pattern, rows[i].pattern, sizeof(pattern));
		filter_text_prepare(&in, pattern, strlen(pattern), true);
		EXPECT_EQ(
		    in.match(&in, rows[i].text + rows[i].begin, rows[i].len), rows[i].matches);
	}
}

/* A mask shorter than a word: what lies after it is not of it. */
static void short_mask(void)
{
	struct filter_sample rec = filter_sample_usual;

	rec.room[0] = 1 << 1;
	rec.room[1] = 1 << 5;
	rec.mask = 1 << 16 | offsetof(struct filter_sample, room);
	EXPECT(filter_sample_matches("mask == CPUS{1}", &rec));
	rec.mask = 2 << 16 | offsetof(struct filter_sample, room);
	EXPECT(filter_sample_matches("mask == CPUS{1,13}", &rec));
}

/* A mask of more CPUs than there can be: those beyond belong to no set, and make it another. */
static void long_mask(void)
{
	struct filter_sample rec = filter_sample_usual;

	memset(rec.room, 0, sizeof(rec.room));
	rec.room[0] = 1 << 1;
	rec.mask = 16 << 16 | offsetof(struct filter_sample, room);
	EXPECT(filter_sample_matches("mask == CPUS{1}", &rec));
	for (unsigned beyond = 8; beyond < 16; beyond++) {
		rec.room[beyond] = 1;
		EXPECT(!filter_sample_matches("mask == CPUS{1}", &rec));
		EXPECT(filter_sample_matches("mask != CPUS{1}", &rec));
		EXPECT(filter_sample_matches("mask & CPUS{1}", &rec));
		rec.room[beyond] = 0;
	}
}

/* Data that is not in the record matches neither what is asked nor its opposite. */
static void not_there(void)
{
	static const char *const texts[] = {"dyn == \"x\"", "dyn != \"x\"", "rel == \"x\"",
	    "rel != \"x\"", "mask == CPUS{1}", "mask != CPUS{1}", "mask & CPUS{1}"};
	struct filter_sample rec = filter_sample_usual;

	rec.dyn = rec.rel = rec.mask = 1 << 16 | 0xfff0;
	for (unsigned i = 0; i < ARRAY_SIZE(texts); i++)
		EXPECT(!filter_sample_matches(texts[i], &rec));
}

/* Each pattern of a filter ends where it ends, whatever pattern follows. */
static void several_patterns(void)
{
	struct filter_sample rec = filter_sample_usual;

	filter_sample_set(&rec, "dynamic", 8, "relative", 9, 0);
	EXPECT(filter_sample_matches("name ~ \"b?s?\" && dyn ~ \"d?n?m?c\"", &rec));
	EXPECT(filter_sample_matches("dyn ~ \"[d]*c\" && rel ~ \"[r]*e\" && name == bash", &rec));
	EXPECT(filter_sample_matches("name == x||name == bash&&s8 == -5", &rec));
	EXPECT(!filter_sample_matches("name == \"!sh\"", &rec));
	EXPECT(filter_sample_matches("name != \"!sh\"", &rec));
}

/* An address lies in a function from its first byte to its last. */
static void of_function(void)
{
	struct filter_sample rec = filter_sample_usual;
	struct host_symbol sym;
	char is[96], is_not[96];
	u64 size;

	if (!host_sym_nth(1, &sym) || host_sym_find(sym.name, &size) != sym.start)
		return;
	fmt_snprintf(is, sizeof(is), "call_site.function == %.60s", sym.name);
	fmt_snprintf(is_not, sizeof(is_not), "call_site.function != %.60s", sym.name);
	for (s64 at = -1; at <= 1; at++) {
		rec.call_site = sym.start + at;
		EXPECT_EQ(filter_sample_matches(is, &rec), at >= 0);
		EXPECT_EQ(filter_sample_matches(is_not, &rec), at < 0);
		rec.call_site = sym.start + size + at;
		EXPECT_EQ(filter_sample_matches(is, &rec), at < 0);
		EXPECT_EQ(filter_sample_matches(is_not, &rec), at >= 0);
	}
}

/* Words that point outside the record, a record cut short: no match, nothing read. */
static void hostile_records(void)
{
	static const u32 words[] = {
	    0xffffffff, 0x0001ffff, 0xffff0000, 0x00010000 | sizeof(filter_sample_usual)};
	struct filter_sample *rec = host_alloc(sizeof(*rec));
	struct trace_filter *f =
	    filter_sample_compile("dyn ~ \"*\" || rel ~ \"*\" || mask & CPUS{0-63}");

	for (unsigned i = 0; i < ARRAY_SIZE(words); i++) {
		rec->dyn = rec->rel = rec->mask = words[i];
		EXPECT(!trace_filter_match(f, rec, sizeof(*rec)));
	}
	rec->dyn = rec->rel = rec->mask = 1 << 16 | (sizeof(*rec) - 1);
	EXPECT(trace_filter_match(f, rec, sizeof(*rec)));
	rec->dyn = 0;
	EXPECT(!trace_filter_match(f, rec, offsetof(struct filter_sample, ptr) - 1));
	/* The gate's shorter ways run the program without a look at the length. */
	rec->dyn = 1 << 16;
	EXPECT(!trace_filter_run_tests(f->start, rec, offsetof(struct filter_sample, dyn)));
	trace_filter_free(f);
	host_free(rec);
}

/*
 * A string that goes on to the end of the record, without a NUL there. The record's memory ends
 * with it: sanitizers look.
 */
static void rest_of_record(void)
{
	struct filter_sample *rec = host_alloc(sizeof(*rec));
	char text[80];

	memset(rec->room, 'r', sizeof(rec->room));
	EXPECT(filter_sample_matches("rest ~ \"r*\"", rec));
	EXPECT(!filter_sample_matches("rest == \"r\"", rec));
	memcpy(text, "rest == \"", 9);
	memset(text + 9, 'r', sizeof(rec->room));
	strscpy(text + 9 + sizeof(rec->room), "\"", 2);
	EXPECT(filter_sample_matches(text, rec));
	strscpy(rec->room, "short", sizeof(rec->room));
	EXPECT(filter_sample_matches("rest == \"short\" && rest ~ \"*rt\"", rec));
	host_free(rec);
}

/* It goes on to the end of this record, not of the largest there can be. */
static void rest_of_short_record(void)
{
	struct filter_sample rec = filter_sample_usual;
	struct trace_filter *f = filter_sample_compile("rest == \"rrrrrrrr\"");
	u32 at = offsetof(struct filter_sample, room);

	memset(rec.room, 'r', sizeof(rec.room));
	for (u32 n = 0; f && n <= 16; n++)
		EXPECT_EQ(trace_filter_match(f, &rec, at + n), n == 8);
	trace_filter_free(f);
}

/* Up to where a program runs without a call; f->fixed covers what the predicates read. */
static void looks(void)
{
	static const struct {
		const char *text;
		bool to_the_end;
	} rows[] = {
	    {"u64 == 1 && (s64 > -3 || s32 < 5) && !(u32 == 7)", true},
	    {"u64 == 1 && u16 == 2", false},
	    {"u64 == 1 && name == \"x\"", false},
	    {"u64 & 1", false},
	    {"cpu == 0", false},
	    {"common_pid == 1", false},
	};
	const struct filter_sample rec = {.u64 = 1};
	struct trace_filter *f;

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		f = filter_sample_compile(rows[i].text);
		const struct filter_insn *in = f->start;
		EXPECT_EQ(trace_filter_run_numbers(&in, &rec),
		    rows[i].to_the_end ? FILTER_YES : FILTER_OPEN);
		trace_filter_free(f);
	}
	f = trace_filter_create_refused("u64", &(struct trace_filter_error){.text = "why"});
	EXPECT(f && f->start->kind == FILTER_TEST && trace_filter_match(f, "", 0));
	trace_filter_free(f);
	f = filter_sample_compile("u8 == 1 && name == \"x\" && cpu == 0 && ptr == \"x\"");
	EXPECT_EQ(f->fixed, offsetof(struct filter_sample, user));
	trace_filter_free(f);
	f = filter_sample_compile("comm == x");
	EXPECT_EQ(f->fixed, 0);
	trace_filter_free(f);
}

static const struct ktap_case cases[] = {
    {"filter.short_circuit", short_circuit},
    {"filter.program_goes_forward", program_goes_forward},
    {"filter.operand_limits", operand_limits},
    {"filter.depth_and_length", depth_and_length},
    {"filter.pointed_limits", pointed_limits},
    {"filter.glob_edges", glob_edges},
    {"filter.short_mask", short_mask},
    {"filter.hostile_records", hostile_records},
    {"filter.rest_of_record", rest_of_record},
    {"filter.looks", looks},
    {"filter.long_mask", long_mask},
    {"filter.not_there", not_there},
    {"filter.several_patterns", several_patterns},
    {"filter.of_function", of_function},
    {"filter.rest_of_short_record", rest_of_short_record},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_filter = {cases};
