/* Filters: what matches, what is visited, what is refused and where the caret stands, limits. */
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/unit/filter_sample.h"
#include "trace/filter_priv.h"
#include "trace/host.h"

static struct trace_filter *make(const char *text)
{
	struct trace_filter_error why = {"", 0};
	struct trace_filter *f = NULL;
	int err = trace_filter_create(&filter_sample_call, text, &f, &why);

	if (err)
		ktap_fail(__FILE__, __LINE__, "refused: %s: %s at %u", text, why.text, why.pos);
	return f;
}

static bool matches(const char *text, const struct filter_sample *rec)
{
	struct trace_filter *f = make(text);
	struct host_context ctx;

	if (!f)
		return false;
	host_enter(&ctx);
	bool match = trace_filter_match(f, rec, sizeof(*rec));
	host_exit();
	trace_filter_free(f);
	return match;
}

/* ---- what is visited ---------------------------------------------------------------------------------------------------- */

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
		struct trace_filter *f = make(visits[i].filter);
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
		struct trace_filter *f = make(visits[i].filter);
		const struct filter_insn *end = f->start + f->count;

		for (const struct filter_insn *in = f->start; in < end; in++)
			for (unsigned k = 0; k < 2; k++)
				EXPECT(in->next[k] <= FILTER_PASS ||
				       (in->next[k] > in && in->next[k] < end));
		trace_filter_free(f);
	}
}

/* ---- every operator on every kind of field -------------------------------------------------------------------------------- */

static const struct filter_sample fixed = {
    .ent = {.type = 7, .flags = 4, .preempt_count = 2, .pid = 42},
    .s8 = -5,
    .u8 = 200,
    .s16 = -300,
    .u16 = 40000,
    .s32 = -70000,
    .u32 = 3000000000,
    .s64 = -5000000000,
    .u64 = 0x8000000000000001,
    .name = "bash",
    .tight = "bash",
    .numbers = {1, 2, 3},
    .a = 'A',
};

/* clang-format off */
static const struct {
	const char *filter;
	bool match;
} rows[] = {
    /* Signed and unsigned, each width: below, at, above. */
    {"s8 == -5", true}, {"s8 != -5", false}, {"s8 < -4", true}, {"s8 < -5", false},
    {"s8 <= -5", true}, {"s8 <= -6", false}, {"s8 > -6", true}, {"s8 > -5", false},
    {"s8 >= -5", true}, {"s8 >= -4", false}, {"s8 & 1", true}, {"s8 & 4", false}, {"s8 & -1", true},
    {"u8 == 200", true}, {"u8 > 127", true}, {"u8 < 200", false}, {"u8 <= 200", true}, {"u8 & 8", true},
    {"u8 & 0x37", false}, {"u8 == 456", true}, {"u8 != 456", false}, /* as wide as the field */
    {"s16 == -300", true}, {"s16 < 0", true}, {"s16 >= -300", true}, {"s16 > -300", false},
    {"u16 == 40000", true}, {"u16 > 32767", true}, {"u16 < 40001", true}, {"u16 == 0116100", true},
    {"s32 == -70000", true}, {"s32 <= -70000", true}, {"s32 > 5", false}, {"s32 == 0x11170", false},
    {"u32 == 3000000000", true}, {"u32 >= 0xb2d05e00", true}, {"u32 < 0", false}, {"u32 >= 0", true},
    {"s64 == -5000000000", true}, {"s64 < -4999999999", true}, {"s64 >= -9223372036854775808", true},
    {"s64 < -9223372036854775808", false}, {"s64 > 9223372036854775807", false},
    {"u64 == 0x8000000000000001", true}, {"u64 > 0x8000000000000000", true}, {"u64 < 9223372036854775809", false},
    {"u64 <= 18446744073709551615", true}, {"u64 > 18446744073709551615", false},
    {"u64 & 0x8000000000000000", true}, {"u64 & 2", false},
    {"s8 < -128", false}, {"s8 >= -128", true}, {"s8 > 127", false}, {"s8 <= 127", true},
    {"a == 'A'", true}, {"a != 'B'", true}, {"a >= 'B'", false}, {"b == '\\0'", true}, {"a == '\\\\'", false},
    /* Strings in the record. */
    {"name == \"bash\"", true}, {"name == 'bash'", true}, {"name != \"bash\"", false}, {"name == bash", true},
    {"name != sh", true}, {"name == \"bas\"", false}, {"name == \"bashx\"", false}, {"name == \"\"", false},
    {"name ~ \"bash\"", true}, {"name ~ \"ba*\"", true}, {"name ~ \"*as*\"", true}, {"name ~ \"b?s*\"", true},
    {"name ~ \"*sh\"", false}, /* the end of the array is not the end of the string */
    {"name ~ \"*s?\"", true}, {"name ~ \"b*h\"", true}, {"name ~ \"b*x\"", false}, {"name ~ \"[a-c]ash\"", true},
    {"name ~ \"[!a-c]ash\"", false}, {"name ~ \"[^a-c]ash\"", true}, {"name ~ \"[^x]ash\"", false}, {"name ~ \"!sh*\"", true}, {"name ~ \"!ba*\"", false},
    {"name ~ \"*\"", true}, {"name ~ \"**\"", true}, {"name ~ \"ba\\sh\"", true}, {"name ~ \"*bash*\"", true},
    {"tight == \"bash\"", true}, {"tight == \"bas\"", false}, {"tight == \"bashx\"", false}, {"tight ~ \"*ash\"", false},
    {"tight ~ \"*as\"", true}, {"tight ~ \"bash*\"", true}, {"tight ~ \"b?sh\"", true}, {"tight ~ \"bash?\"", false},
    {"dyn == \"dynamic\"", true}, {"dyn ~ \"*mic\"", true}, {"dyn ~ \"dyn*\"", true}, {"dyn ~ \"*nam*\"", true},
    {"dyn ~ \"d*c\"", true}, {"dyn != \"dynamic\"", false}, {"dyn == \"dynami\"", false}, {"dyn ~ \"*z*\"", false},
    {"rel == \"relative\"", true}, {"rel ~ \"*tive\"", true}, {"rel ~ \"*ive?\"", false}, {"rel != \"x\"", true},
    {"rel ~ \"5*\"", false},
    /* Pointers: what faults does not match, whichever way it is asked; a negation of the whole does. */
    {"ptr == \"pointed\"", true}, {"ptr ~ \"*ted\"", true}, {"ptr != \"pointed\"", false}, {"ptr ~ \"p*d\"", true},
    {"user.ustring == \"x\"", false}, {"user.ustring != \"x\"", false}, {"!user.ustring != \"x\"", true},
    {"user == \"x\"", false}, {"user != \"x\"", false}, {"user ~ \"*\"", false},
    /* Sets of CPUs: masks, scalars. */
    {"mask & CPUS{1}", true}, {"mask & CPUS{0}", false}, {"mask & CPUS{0-1}", true}, {"mask == CPUS{1,5}", true},
    {"mask != CPUS{1,5}", false}, {"mask == CPUS{1}", false}, {"mask != CPUS{1}", true}, {"mask & CPUS{2-4,6-63}", false},
    {"mask & CPUS{17-42}", false}, {"mask == CPUS{1-5:1/4}", true}, {"mask & CPUS{all}", true}, {"mask & CPUS{N}", false},
    {"u8 & CPUS{0-63}", false}, {"s8 & CPUS{0-63}", false}, {"s8 != CPUS{3}", true},
    {"b & CPUS{0}", true}, {"b == CPUS{0}", true}, {"b == CPUS{0,1}", false}, {"b != CPUS{0,1}", true}, {"b != CPUS{0}", false},
    {"a == CPUS{ 0 }", false}, {"a != CPUS{0-5}", true},
    /* What every event has. */
    {"common_pid == 42", true}, {"common_type == 7", true}, {"common_flags & 4", true}, {"common_preempt_count > 4", false},
    {"cpu >= 0", true}, {"CPU < 64", true}, {"cpu < 0", false}, {"cpu & CPUS{0-63}", true}, {"cpu == CPUS{all}", false},
    {"cpu & 0", false}, {"comm != \"no such task\"", true}, {"COMM ~ \"*\"", true}, {"comm == nosuch", false},
    /* Blanks, parentheses, '!'. */
    {"  s8==-5&&u8==200  ", true}, {"((((s8 == -5))))", true}, {"!s8 == -5", false}, {"! ! ( ! s8 == 5 )", true},
    {"s8 == 1 || s8 == -5 && u8 == 1", false}, {"(s8 == 1 || s8 == -5) && u8 == 200", true},
    {"name == \"a && b\" || name == '(\"' || s8 == -5", true},
    {"s8&1&&u8&8", true}, {"s8\t==\n-5", true},
    {"rest ~ \"*\"", true},
};
/* clang-format on */

static void fill(struct filter_sample *rec)
{
	*rec = fixed;
	filter_sample_set(rec, "dynamic", 8, "relative", 9, 1 << 1 | 1 << 5);
}

static void operators(void)
{
	static const char pointed[128] __aligned(64) = "pointed";
	struct filter_sample rec;

	fill(&rec);
	rec.ptr = pointed;
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		if (matches(rows[i].filter, &rec) != rows[i].match)
			ktap_fail(__FILE__, __LINE__, "row %u: %s is not %d", i, rows[i].filter,
			    rows[i].match);
}

static const struct {
	const char *filter, *why;
	u32 pos;
} refused[] = {
    {"", FILTER_NOTHING, 0},
    {"   ", FILTER_NOTHING, 3},
    {"!", FILTER_NOTHING, 1},
    {"x == 1", FILTER_NO_FIELD, 2},
    {"s8 == 1 && x", FILTER_NO_FIELD, 13},
    {"== 1", FILTER_NO_FIELD, 1},
    {"s8 == 1 &&", FILTER_NO_FIELD, 11},
    {"s8 == 1 || ", FILTER_NO_FIELD, 12},
    {"(s8 == 1 && )", FILTER_NO_FIELD, 13},
    {"()", FILTER_NO_FIELD, 2},
    {"s8 = 1", FILTER_INVALID_OP, 4},
    {"s8", FILTER_INVALID_OP, 3},
    {"s8 | 1", FILTER_INVALID_OP, 4},
    {"s8 !~ 1", FILTER_INVALID_OP, 4},
    {"s8.hex == 1", FILTER_INVALID_OP, 3},
    {"s8 <> 1", FILTER_INVALID_VALUE, 5},
    {"s8 === 1", FILTER_INVALID_VALUE, 6},
    {"s8 == foo", FILTER_INVALID_VALUE, 7},
    {"s8 == +1", FILTER_INVALID_VALUE, 7},
    {"s8 == ", FILTER_INVALID_VALUE, 7},
    {"name == ", FILTER_INVALID_VALUE, 9},
    {"name == foo*", FILTER_INVALID_VALUE, 9},
    {"name == *foo", FILTER_INVALID_VALUE, 9},
    {"s8 == 12x", FILTER_ILLEGAL_NUMBER, 7},
    {"s8 == --1", FILTER_ILLEGAL_NUMBER, 7},
    {"s8 == -", FILTER_ILLEGAL_NUMBER, 7},
    {"u8 == -1", FILTER_ILLEGAL_NUMBER, 7},
    {"s64 == 9223372036854775808", FILTER_ILLEGAL_NUMBER, 8},
    {"u64 == 18446744073709551616", FILTER_ILLEGAL_NUMBER, 8},
    {"s8 == 999999999999999999999999999", FILTER_TOO_LONG, 34},
    {"s8 == \"5\"", FILTER_EXPECT_NUMBER, 7},
    {"u8 == 'ab'", FILTER_EXPECT_NUMBER, 7},
    {"u8 == ''", FILTER_EXPECT_NUMBER, 7},
    {"u16 == 'a'", FILTER_EXPECT_NUMBER, 8},
    {"mask == \"5\"", FILTER_EXPECT_NUMBER, 9},
    {"name == 5", FILTER_EXPECT_STRING, 9},
    {"ptr == 0x1234", FILTER_EXPECT_STRING, 8},
    {"comm == 5", FILTER_EXPECT_STRING, 9},
    {"name < \"x\"", FILTER_ILLEGAL_OP, 8},
    {"name & bash", FILTER_ILLEGAL_OP, 8},
    {"s8 ~ 5", FILTER_ILLEGAL_OP, 6},
    {"u8 ~ 'a'", FILTER_ILLEGAL_OP, 6},
    {"numbers == 1", FILTER_ILLEGAL_OP, 12},
    {"mask == 1", FILTER_ILLEGAL_OP, 9},
    {"s8 == 1 s8 == 2", FILTER_TOO_MANY_TERMS, 8},
    {"s8 == 1 & s8 == 2", FILTER_TOO_MANY_TERMS, 8},
    {"s8 == 1 (s8 == 2)", FILTER_TOO_MANY_TERMS, 8},
    {"name == \"x\"y", FILTER_TOO_MANY_TERMS, 11},
    {"(s8 == 1", FILTER_TOO_MANY_OPEN, 0},
    {"((s8 == 1) && (u8 == 2)", FILTER_TOO_MANY_OPEN, 0},
    {"s8 == 2 && (u8 == 1", FILTER_TOO_MANY_OPEN, 11},
    {"s8 == 2 && ((name == \")\")", FILTER_TOO_MANY_OPEN, 11},
    {"(nosuch == 1", FILTER_TOO_MANY_OPEN, 0},
    {"s8 == 1)", FILTER_TOO_MANY_CLOSE, 7},
    {"(s8 == 1)) || u8 == 1", FILTER_TOO_MANY_CLOSE, 9},
    {"name == \"abc", FILTER_MISSING_QUOTE, 8},
    {"name == \"abc'", FILTER_MISSING_QUOTE, 8},
    {"name == 'a' && (name == \"", FILTER_MISSING_QUOTE, 24},
    {"call_site.function == no_such_function", FILTER_NO_FUNCTION, 39},
    {"call_site.function == 1", FILTER_NO_FUNCTION, 24},
    {"call_site.function == 0x", FILTER_NO_FUNCTION, 25},
    {"call_site.function < main", FILTER_INVALID_OP, 22},
    {"call_site.function == \"x\"", FILTER_INVALID_VALUE, 23},
    {"u32.function == main", FILTER_ILLEGAL_OP, 17},
    {"ptr.function == main", FILTER_ILLEGAL_OP, 17},
    {"u8 & CPUS", FILTER_MISSING_OPEN, 11},
    {"u8 & CPUS 0", FILTER_MISSING_OPEN, 11},
    {"u8 & CPUS{0", FILTER_MISSING_CLOSE, 12},
    {"u8 & CPUS{}", FILTER_BAD_CPULIST, 11},
    {"u8 & CPUS{x}", FILTER_BAD_CPULIST, 12},
    {"u8 & CPUS{1-0}", FILTER_BAD_CPULIST, 14},
    {"u8 & CPUS{64}", FILTER_BAD_CPULIST, 13},
    {"u8 & CPUS{99999999999}", FILTER_BAD_CPULIST, 22},
    {"u8 & CPUS{0-3:3/2}", FILTER_BAD_CPULIST, 18},
    {"u8 & CPUS{0-3:1/0}", FILTER_BAD_CPULIST, 18},
    {"u8 & CPUS{0-3:1}", FILTER_BAD_CPULIST, 16},
    {"u8 & CPUS{0;1}", FILTER_BAD_CPULIST, 14},
    {"u8 & CPUS{1-}", FILTER_BAD_CPULIST, 13},
    {"u8 > CPUS{0}", FILTER_ILLEGAL_OP, 6},
    {"name == CPUS{0}", FILTER_ILLEGAL_OP, 9},
    {"numbers & CPUS{0}", FILTER_ILLEGAL_OP, 11},
};

static void errors(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(refused); i++) {
		struct trace_filter_error why = {"", 0};
		struct trace_filter *f = NULL;
		int err = trace_filter_create(&filter_sample_call, refused[i].filter, &f, &why);

		if (err != -EINVAL || f || strcmp(why.text, refused[i].why) ||
		    why.pos != refused[i].pos)
			ktap_fail(__FILE__, __LINE__, "row %u: %s: %d, %s at %u", i,
			    refused[i].filter, err, why.text, why.pos);
		trace_filter_free(f);
	}
}

static void refused_text(void)
{
	static const struct trace_filter_error why = {"Reason", 3}, beyond = {"Reason", 300};
	struct filter_sample rec = fixed;
	struct trace_filter *f = trace_filter_create_refused("x == 1", &why);

	EXPECT_STR(trace_filter_text(f), "x == 1\n   ^\nparse_error: Reason\n");
	EXPECT(trace_filter_match(f, &rec, sizeof(rec)));
	trace_filter_free(f);
	f = trace_filter_create_refused("x == 1", &beyond);
	EXPECT_STR(trace_filter_text(f), "x == 1\n      ^\nparse_error: Reason\n");
	trace_filter_free(f);
}

/* ---- text ------------------------------------------------------------------------------------------------------------------ */

/* clang-format off */
static const struct {
	const char *pattern, *text;
	bool match;
} globs[] = {
    {"a?c*", "abc", true}, {"a?c*", "ac", false}, {"*a*b*c", "xaxbxc", true}, {"*a*b*c", "xaxcxb", false},
    {"a*?", "a", false}, {"a*?", "ab", true}, {"?", "", false}, {"?*", "x", true}, {"[]]", "]", true}, {"[!]]", "]", false},
    {"[a-]", "-", true}, {"[a-]", "b", false}, {"[-a]", "-", true}, {"[a", "[a", true}, {"[a", "a", false}, {"[", "[", true},
    {"[a-", "[a-", true}, {"[b-a]", "a", false}, {"\\*", "*", true}, {"\\*", "x", false}, {"a\\", "a", true}, {"a\\", "a\\", false},
    {"\\[a", "[a", true}, {"[a-c][!x]?", "bay", true}, {"[a-c][!x]?", "bxy", false}, {"*[ab]*[cd]", "xaxbxcxd", true},
    {"x*[", "xy[", true}, {"aa*a*aa", "aaaa", false}, {"aa*a*aa", "aaaaa", true}, {"*ab?", "abababx", true},
};
/* clang-format on */

static bool glob_is(const char *pattern, const char *s, u32 len)
{
	struct filter_insn in = {.text = pattern};

	return filter_match_glob(&in, s, len);
}

static void glob(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(globs); i++) {
		const char *s = globs[i].text;
		bool whole = glob_is(globs[i].pattern, s, strlen(s) + 1);

		if (whole != globs[i].match || glob_is(globs[i].pattern, s, strlen(s)) != whole)
			ktap_fail(__FILE__, __LINE__, "row %u: %s on %s", i, globs[i].pattern, s);
	}
}

/* A star for each of many that do not match at the end: the time is the product of the lengths, not a power. */
static void glob_is_not_exponential(void)
{
	char pattern[128], text[512];

	for (unsigned i = 0; i < 120; i += 2)
		memcpy(pattern + i, "*a", 2);
	strscpy(pattern + 120, "b", 2);
	memset(text, 'a', sizeof(text));
	EXPECT(!glob_is(pattern, text, sizeof(text)));
}

/* ---- limits ---------------------------------------------------------------------------------------------------------------- */

static int try(const char *text, const char **why)
{
	struct trace_filter_error error = {"", 0};
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
	struct filter_sample rec = fixed;

	for (unsigned n = FILTER_POINTED_MAX - 2; n <= FILTER_POINTED_MAX; n++) {
		memset(s, 'x', 2048);
		memcpy(s + n - 3, "end", 4);
		rec.ptr = s;
		EXPECT_EQ(matches("ptr ~ \"*xend\"", &rec), n < FILTER_POINTED_MAX);
		rec.ptr = s + 1; /* blocks that are not aligned */
		EXPECT_EQ(matches("ptr ~ \"*xend\"", &rec), true);
	}
	for (u64 bad = 0; bad < 4; bad++) {
		static const u64 addresses[] = {0, 1, 1UL << 63, ~0UL};
		rec.ptr = (const char *)addresses[bad];
		EXPECT(!matches("ptr ~ \"*\"", &rec) && !matches("ptr != \"\"", &rec));
	}
	host_free(text);
	host_free(s);
}

/* Words that point outside the record, a record cut short: no match, nothing read. */
static void hostile_records(void)
{
	static const u32 words[] = {0xffffffff, 0x0001ffff, 0xffff0000, 0x00010000 | sizeof(fixed)};
	struct filter_sample *rec = host_alloc(sizeof(*rec));
	struct trace_filter *f = make("dyn ~ \"*\" || rel ~ \"*\" || mask & CPUS{0-63}");

	for (unsigned i = 0; i < ARRAY_SIZE(words); i++) {
		rec->dyn = rec->rel = rec->mask = words[i];
		EXPECT(!trace_filter_match(f, rec, sizeof(*rec)));
	}
	rec->dyn = rec->rel = rec->mask = 1 << 16 | (sizeof(*rec) - 1);
	EXPECT(trace_filter_match(f, rec, sizeof(*rec)));
	rec->dyn = 0;
	EXPECT(!trace_filter_match(f, rec, offsetof(struct filter_sample, ptr) - 1));
	trace_filter_free(f);
	host_free(rec);
}

/* A string that goes on to the end of the record, without a NUL there. The record's memory ends with it: sanitizers look. */
static void rest_of_record(void)
{
	struct filter_sample *rec = host_alloc(sizeof(*rec));
	char text[80];

	memset(rec->room, 'r', sizeof(rec->room));
	EXPECT(matches("rest ~ \"r*\"", rec));
	EXPECT(!matches("rest == \"r\"", rec));
	memcpy(text, "rest == \"", 9);
	memset(text + 9, 'r', sizeof(rec->room));
	strscpy(text + 9 + sizeof(rec->room), "\"", 2);
	EXPECT(matches(text, rec));
	strscpy(rec->room, "short", sizeof(rec->room));
	EXPECT(matches("rest == \"short\" && rest ~ \"*rt\"", rec));
	host_free(rec);
}

/* The needs and the fixed part are what the predicates look at. */
static void needs(void)
{
	struct trace_filter *f = make("u8 == 1 && name == \"x\" && cpu == 0 && ptr == \"x\"");

	EXPECT_EQ(f->needs, TRACE_NEEDS_FIXED);
	EXPECT_EQ(f->fixed, offsetof(struct filter_sample, user));
	trace_filter_free(f);
	f = make("u8 == 1 && dyn == \"x\"");
	EXPECT_EQ(f->needs, TRACE_NEEDS_WHOLE);
	trace_filter_free(f);
	f = make("comm == x");
	EXPECT_EQ(f->fixed, 0);
	trace_filter_free(f);
}

static const struct ktap_case cases[] = {
    {"filter.short_circuit", short_circuit},
    {"filter.program_goes_forward", program_goes_forward},
    {"filter.operators", operators},
    {"filter.errors", errors},
    {"filter.refused_text", refused_text},
    {"filter.glob", glob},
    {"filter.glob_is_not_exponential", glob_is_not_exponential},
    {"filter.operand_limits", operand_limits},
    {"filter.depth_and_length", depth_and_length},
    {"filter.pointed_limits", pointed_limits},
    {"filter.hostile_records", hostile_records},
    {"filter.rest_of_record", rest_of_record},
    {"filter.needs", needs},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_filter = {cases};
