/*
 * Filters: every operator on every kind of field, what is refused and where the caret stands, and
 * patterns of text.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/filter/sample.h"
#include "trace/filter/file.h"
#include "trace/filter/priv.h"

/* ---- every operator on every kind of field ---- */

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
    {"name == /bin/sh", false}, {"name != /bin/sh", true},
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
    /*
     * Pointers: what faults does not match, whichever way it is asked; a negation of the whole
     * does.
     */
    {"ptr == \"pointed\"", true}, {"ptr ~ \"*ted\"", true}, {"ptr != \"pointed\"", false}, {"ptr ~ \"p*d\"", true},
    {"user.ustring == \"x\"", false}, {"user.ustring != \"x\"", false}, {"!user.ustring != \"x\"", true},
    {"user == \"x\"", false}, {"user != \"x\"", false}, {"user ~ \"*\"", false},
    /* Sets of CPUs: masks, scalars. */
    {"mask & CPUS{1}", true}, {"mask & CPUS{0}", false}, {"mask & CPUS{0-1}", true}, {"mask == CPUS{1,5}", true},
    {"mask != CPUS{1,5}", false}, {"mask == CPUS{1}", false}, {"mask != CPUS{1}", true}, {"mask & CPUS{2-4,6-63}", false},
    {"mask & CPUS{17-42}", false}, {"mask == CPUS{1-5:1/4}", true}, {"mask & CPUS{all}", true}, {"mask & CPUS{5-N}", true}, {"mask & CPUS{6-N}", false}, {"mask & CPUS{N}", false},
    {"u8 & CPUS{0-63}", false}, {"s8 & CPUS{0-63}", false}, {"s8 != CPUS{3}", true},
    {"b & CPUS{0}", true}, {"b == CPUS{0}", true}, {"b == CPUS{0,1}", false}, {"b != CPUS{0,1}", true}, {"b != CPUS{0}", false},
    {"a == CPUS{ 0 }", false}, {"a != CPUS{0-5}", true},
    /* What every event has. */
    {"common_pid == 42", true}, {"common_type == 7", true}, {"common_flags & 4", true}, {"common_preempt_count > 4", false},
    {"cpu >= 0", true}, {"cpu > -1", true}, {"CPU > -1", true}, {"common_cpu > -1", true}, {"CPU < 64", true}, {"cpu < 0", false}, {"cpu & CPUS{0-63}", true}, {"cpu == CPUS{all}", false},
    {"cpu & 0", false}, {"comm != \"no such task\"", true}, {"COMM ~ \"*\"", true}, {"comm == nosuch", false},
    /* Blanks, parentheses, '!'. */
    {"  s8==-5&&u8==200  ", true}, {"((((s8 == -5))))", true}, {"!s8 == -5", false}, {"!s8 != -5", true}, {"!s8 < -5", true}, {"! ! ( ! s8 == 5 )", true},
    {"s8 == 1 || s8 == -5 && u8 == 1", false}, {"(s8 == 1 || s8 == -5) && u8 == 200", true},
    {"name == \"a && b\" || name == '(\"' || s8 == -5", true},
    {"s8&1&&u8&8", true}, {"s8\t==\n-5", true},
    {"rest ~ \"*\"", true},
};
/* clang-format on */

static void fill(struct filter_sample *rec)
{
	*rec = filter_sample_usual;
	filter_sample_set(rec, "dynamic", 8, "relative", 9, 1 << 1 | 1 << 5);
}

static void operators(void)
{
	static const char pointed[128] __aligned(64) = "pointed";
	struct filter_sample rec;

	fill(&rec);
	rec.ptr = pointed;
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		if (filter_sample_matches(rows[i].filter, &rec) != rows[i].match)
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
    {"u8 == ''''", FILTER_EXPECT_NUMBER, 7},
    {"u8 == '\\x'", FILTER_EXPECT_NUMBER, 7},
    {"u16 == 'a'", FILTER_EXPECT_NUMBER, 8},
    {"mask == \"5\"", FILTER_EXPECT_NUMBER, 9},
    {"name == 5", FILTER_EXPECT_STRING, 9},
    {"ptr == 0x1234", FILTER_EXPECT_STRING, 8},
    {"comm == 5", FILTER_EXPECT_STRING, 9},
    {"name < \"x\"", FILTER_ILLEGAL_OP, 8},
    {"name & bash", FILTER_ILLEGAL_OP, 8},
    {"s8 ~ 5", FILTER_ILLEGAL_OP, 6},
    {"u8 ~ 'a'", FILTER_EXPECT_NUMBER, 6},
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
    {"u8 & CPUS{0-3:0/0}", FILTER_BAD_CPULIST, 18},
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
		struct trace_filter_error why = {.text = "", .pos = 0};
		struct trace_filter *f = NULL;
		int err = trace_filter_create(&filter_sample_call, refused[i].filter, &f, &why);

		if (err != -EINVAL || f || strcmp(why.text, refused[i].why) ||
		    why.pos != refused[i].pos)
			ktap_fail(__FILE__, __LINE__, "row %u: %s: %d, %s at %u", i,
			    refused[i].filter, err, why.text, why.pos);
		trace_filter_free(f);
	}
}

static const struct trace_event_field *bytes_of(const struct trace_event_call *call __maybe_unused)
{
	static const struct trace_event_field fields[] = {
	    {"__data_loc u8[]", "bytes", sizeof(struct trace_entry), 4, false,
		TRACE_FIELD_DYN_ARRAY},
	    {.name = NULL}};

	return fields;
}

/* Only a mask is a set of CPUs: other data of a length of its own is none. */
static void set_of_bytes(void)
{
	struct trace_event_class class = {.system = "unit", .fields = bytes_of};
	struct trace_event_call call = {.class = &class, .name = "bytes"};
	struct trace_filter_error why = {.text = "", .pos = 0};
	struct trace_filter *f = NULL;

	EXPECT_EQ(trace_filter_create(&call, "bytes & CPUS{1}", &f, &why), -EINVAL);
	EXPECT_STR(why.text, FILTER_ILLEGAL_OP);
	EXPECT_EQ(why.pos, 9);
	trace_filter_free(f);
}

static void refused_text(void)
{
	static const struct trace_filter_error why = {.text = "Reason", .pos = 3},
					       beyond = {.text = "Reason", .pos = 300};
	struct filter_sample rec = filter_sample_usual;
	struct trace_filter *f = trace_filter_create_refused("x == 1", &why);

	EXPECT_STR(trace_filter_text(f), "x == 1\n   ^\nparse_error: Reason\n");
	EXPECT(trace_filter_match(f, &rec, sizeof(rec)));
	trace_filter_free(f);
	f = trace_filter_create_refused("x == 1", &beyond);
	EXPECT_STR(trace_filter_text(f), "x == 1\n      ^\nparse_error: Reason\n");
	trace_filter_free(f);
}

/* ---- text ---- */

/* clang-format off */
static const struct {
	const char *pattern, *text;
	bool match;
} globs[] = {
    {"a?c*", "abc", true}, {"a?c*", "ac", false}, {"*a*b*c", "xaxbxc", true}, {"*a*b*c", "xaxcxb", false},
    {"a*?", "a", false}, {"a*?", "ab", true}, {"?", "", false}, {"?*", "x", true}, {"[]]", "]", true}, {"[!]]", "]", false},
    {"[a-]", "-", true}, {"[a-]", "b", false}, {"[-a]", "-", true}, {"[a", "[a", true}, {"[a", "a", false}, {"[", "[", true},
    {"[a b]x", "bx", true}, {"[a b]x", " x", true}, {"[a-", "[a-", true}, {"[b-a]", "a", false}, {"\\*", "*", true}, {"\\*", "x", false}, {"a\\", "a", true}, {"a\\", "a\\", false},
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

/*
 * A star for each of many that do not match at the end: the time is the product of the lengths, not
 * a power.
 */
static void glob_is_not_exponential(void)
{
	char pattern[128], text[512];

	for (unsigned i = 0; i < 120; i += 2)
		memcpy(pattern + i, "*a", 2);
	strscpy(pattern + 120, "b", 2);
	memset(text, 'a', sizeof(text));
	EXPECT(!glob_is(pattern, text, sizeof(text)));
}

static const struct ktap_case cases[] = {
    {"filter.operators", operators},
    {"filter.errors", errors},
    {"filter.refused_text", refused_text},
    {"filter.set_of_bytes", set_of_bytes},
    {"filter.glob", glob},
    {"filter.glob_is_not_exponential", glob_is_not_exponential},
    {NULL, NULL},
};
const struct ktap_suite suite_filter_operators = {cases};
