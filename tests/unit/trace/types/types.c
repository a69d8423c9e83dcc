/*
 * Types by name, from a section made by hand: names that are found, that are not, and damaged
 * sections.
 */
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/unit/prng.h"
#include "tests/unit/trace/types/sample.h"
#include "trace/host_memory.h"

static u32 member(u32 type, const char *name, struct types_member *m)
{
	return types_member(type, name, strlen(name), m) ? m->type : 0;
}

static void functions(void)
{
	u32 type = 0, mkdirat, rmdir;

	types_sample_use();
	mkdirat = types_function("do_mkdirat");
	rmdir = types_function("do_rmdir");
	EXPECT_EQ(types_param_count(mkdirat), 3);
	EXPECT_STR(types_param(mkdirat, 0, &type), "dfd");
	EXPECT_STR(types_name(type), "int");
	EXPECT_STR(types_param(mkdirat, 1, &type), "thing");
	EXPECT_EQ(types_kind(type), TYPES_PTR);
	EXPECT_STR(types_param(mkdirat, 2, &type), "mode");
	EXPECT_EQ(types_size(type), 2);
	EXPECT(!types_param(mkdirat, 3, &type));
	EXPECT_STR(types_name(types_result(mkdirat)), "int");
	EXPECT_EQ(types_result(rmdir), 0);
	EXPECT_EQ(types_param_count(rmdir), 2);
	EXPECT_EQ(types_function("no_such_function"), 0);
	EXPECT_EQ(types_tracepoint("no_such_event"), 0);
	EXPECT_EQ(types_param_count(types_find("thing")), 0);
	types_host_use();
}

static void members(void)
{
	struct types_member m = {.type = 0};
	u32 type, count, thing;

	types_sample_use();
	thing = types_find("thing");
	EXPECT_EQ(types_size(thing), 104);
	EXPECT_STR(types_name(types_strip(member(thing, "where", &m))), "point");
	EXPECT_EQ(m.at, 256);
	type = member(thing, "bytes", &m); /* of the anonymous union */
	EXPECT_EQ(m.at, 320);
	EXPECT_EQ(types_kind(type), TYPES_ARRAY);
	EXPECT_STR(types_name(types_target(type, &count)), "unsigned char");
	EXPECT_EQ(count, 4);
	EXPECT_EQ(types_size(type), 4);
	member(thing, "high", &m);
	EXPECT_EQ(m.at, 387);
	EXPECT_EQ(m.bits, 29);
	EXPECT(!member(thing, "x", &m)); /* of a member that has a name */
	EXPECT(!member(thing, "hig", &m));
	EXPECT(!member(thing, "highs", &m));
	EXPECT(!member(thing, "", &m));
	EXPECT(!member(member(thing, "next", &m), "next", &m)); /* of a pointer */
	types_host_use();
}

static void kinds(void)
{
	struct types_member m = {.type = 0};
	u32 type = 0, count, proto;

	types_sample_use();
	proto = types_function("do_mkdirat");
	types_param(proto, 1, &type);
	type = types_target(type, &count); /* volatile thing_t */
	EXPECT_EQ(count, 0);
	EXPECT_EQ(types_strip(type), types_find("thing"));
	EXPECT_EQ(types_strip(types_find("thing_t")), types_find("thing"));
	EXPECT_EQ(types_encoding(member(types_find("thing"), "on", &m)), TYPES_BOOL);
	EXPECT_EQ(types_encoding(types_result(proto)), TYPES_SIGNED);
	EXPECT_EQ(types_encoding(types_find("thing")), 0);
	EXPECT_EQ(types_target(types_find("thing"), &count), 0);
	EXPECT_STR(types_enum_name(types_find("color"), 5), "GREEN");
	EXPECT_STR(types_enum_name(types_find("color"), -1), "BLUE");
	EXPECT(!types_enum_name(types_find("color"), 1));
	EXPECT(!types_enum_name(types_find("point"), 0));
	EXPECT_EQ(types_kind(0), TYPES_VOID);
	EXPECT_EQ(types_size(0), 0);
	EXPECT_STR(types_name(0), "");
	EXPECT_EQ(types_find("points"), 0);
	EXPECT_EQ(types_find("hidden"), 0);
	EXPECT_EQ(types_walk(), 0);
	types_host_use();
}

/* Elements of elements count; an array of no length has none to ask for. */
static void arrays(void)
{
	struct types_member m = {.type = 0};
	u32 outer, row, count;

	types_sample_use();
	outer = types_find("outer");
	EXPECT_EQ(types_size(outer), 0x40020);
	EXPECT_EQ(types_size(member(outer, "rows", &m)), 4 * 0x10003);
	row = types_target(m.type, &count);
	EXPECT_EQ(count, 0x10003);
	EXPECT_EQ(types_size(row), 4);
	EXPECT_STR(types_name(types_target(row, &count)), "unsigned char");
	EXPECT_EQ(types_size(member(outer, "open", &m)), 0);
	EXPECT_EQ(types_target(m.type, &count), 0);
	EXPECT_EQ(count, 0);
	types_host_use();
}

/* Members of anonymous structs, nested or const, are found with their places in the outer one. */
static void anonymous(void)
{
	static const struct {
		const char *name;
		u32 at, bits, size;
	} rows[] = {{"first", 0, 0, 4}, {"middle", 32, 0, 4}, {"inner_word", 64, 0, 4},
	    {"inner_bytes", 64, 0, 4}, {"rows", 96, 0, 4 * 0x10003}, {"far", 0x2000c3, 5, 4}};
	struct types_member m = {.type = 0};

	types_sample_use();
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(types_size(member(types_find("outer"), rows[i].name, &m)), rows[i].size);
		EXPECT_EQ(m.at, rows[i].at);
		EXPECT_EQ(m.bits, rows[i].bits);
	}
	EXPECT(!member(types_find("outer"), "inner", &m));
	types_host_use();
}

/* Values are as wide as they were declared, and negative only where they were declared signed. */
static void enums(void)
{
	static const struct {
		const char *type;
		s64 value;
		const char *name; /* NULL: it has none */
	} rows[] = {{"color", -1, "BLUE"}, {"color", 0xffffffff, NULL}, {"color", 0xffff, NULL},
	    {"color", 0x18000, "WHITE"}, {"flag", 0x80000000, "FLAG_HIGH"},
	    {"flag", -0x80000000l, NULL}, {"flag", 0x12345, "FLAG_LOW"}, {"flag", 0x2345, NULL},
	    {"level", 0xffff, "LEVEL_MOST"}, {"level", -1, NULL}, {"level", 0, "LEVEL_NONE"},
	    {"huge", 1, "HUGE_ONE"}, {"huge", (s64)0x8001000200030004, "HUGE_TOP"},
	    {"huge", 0x00030004, NULL}, {"huge", 0x1000200030004, NULL},
	    {"huge", 1ul << 32 | 1, NULL}};
	const char *name;

	types_sample_use();
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		name = types_enum_name(types_find(rows[i].type), rows[i].value);
		EXPECT_STR(name ? name : "none", rows[i].name ? rows[i].name : "none");
	}
	EXPECT_EQ(types_size(types_find("level")), 2);
	EXPECT_EQ(types_size(types_find("huge")), 8);
	types_host_use();
}

/* Changes word i of the section: what is wrong with it then. */
static const char *refusal(u32 i, u16 value)
{
	const void *data;
	size_t size = types_sample(&data);
	const char *why;
	u16 *copy = host_alloc(size);

	memcpy(copy, data, size);
	copy[i] = value;
	why = types_use(copy, size);
	EXPECT(why); /* or what is freed now is in use */
	host_free(copy);
	return why ? why : "";
}

#define AT 14 /* words of the head; where the types begin follows */

/* The word of the section at which the record of the first type of a kind begins. */
static u32 first_record(const struct types_head *h, u32 kind)
{
	const u16 *at = (const u16 *)h + AT, *words = at + h->n_types;
	u32 i = 0;

	while (i < h->n_types && TYPES_KIND(words[at[i]]) != kind)
		i++;
	return AT + h->n_types + at[i];
}

/* Each number of a name or a type is refused from the first on that is not there. */
static void refusals_at_ends(void)
{
	static const char no_name[] = "a name does not lie in it",
			  no_type[] = "a type is not there",
			  no_member[] = "a member does not lie in it",
			  no_proto[] = "a function has no prototype",
			  not_named[] = "a name belongs to no type";
	const void *data;
	size_t size = types_sample(&data);
	const struct types_head *h = data;
	u32 function = AT + h->n_types + h->n_words, named = function + h->n_functions;
	u16 name = h->n_text / 2, type = h->n_types + 1;
	u32 proto = first_record(h, TYPES_PROTO), array = first_record(h, TYPES_ARRAY);
	const struct {
		u32 at;
		u16 value;
		const char *why;
	} rows[] = {{first_record(h, TYPES_INT) + 1, name, no_name},
	    {first_record(h, TYPES_FWD) + 1, name, no_name},
	    {first_record(h, TYPES_PTR) + 1, type, no_type},
	    {first_record(h, TYPES_TYPEDEF) + 2, type, no_type}, {array + 1, type, no_type},
	    {array + 2, type, no_type}, {proto + 1, type, no_type}, {proto + 2, name, no_member},
	    {proto + 3, type, no_member}, {first_record(h, TYPES_STRUCT) + 4, name, no_member},
	    {first_record(h, TYPES_STRUCT) + 5, type, no_member},
	    {first_record(h, TYPES_ENUM) + 3, name, no_member},
	    {first_record(h, TYPES_ENUM64) + 3, name, no_member}, {function, type, no_proto},
	    {named, 0, not_named}, {named, type, not_named},
	    {size / 2 - name, 'x', "its names have no end"},
	    {function - 2, TYPES_TYPEDEF, "a record does not lie in it"}};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		EXPECT_STR(refusal(rows[i].at, rows[i].value), rows[i].why);
	types_host_use();
}

/* The list of names may not hold a type that has none. */
static void refusals_of_named(void)
{
	static const u8 nameless[] = {
	    TYPES_PTR, TYPES_ARRAY, TYPES_VOLATILE, TYPES_CONST, TYPES_PROTO};
	const void *data;

	types_sample(&data);
	const struct types_head *h = data;
	const u16 *at = (const u16 *)h + AT, *words = at + h->n_types;
	u32 named = AT + h->n_types + h->n_words + h->n_functions;
	for (u32 i = 0; i < h->n_types; i++)
		for (unsigned k = 0; k < ARRAY_SIZE(nameless); k++)
			if (TYPES_KIND(words[at[i]]) == nameless[k])
				EXPECT_STR(refusal(named, i + 1), "a name belongs to no type");
	types_host_use();
}

static void refusals(void)
{
	const void *data;
	size_t size = types_sample(&data);
	const struct types_head *h = data;
	u32 end = size / 2, records = AT + h->n_types, function = records + h->n_words;

	types_sample_use();
	EXPECT_STR(types_use(data, 20), "it is of another kind");
	EXPECT_STR(types_use(data, size - 2), "it has another size than it says");
	EXPECT_STR(refusal(0, 1), "it is of another kind");
	EXPECT_STR(refusal(2, size + 2), "it has another size than it says");
	EXPECT_STR(refusal(6, h->n_words + 1), "it has another size than it says");
	EXPECT_STR(refusal(end - 1, 'x' << 8), "its names have no end");
	EXPECT_STR(refusal(AT, h->n_words), "a record does not lie in it");
	EXPECT_STR(refusal(records, 31), "a record does not lie in it");
	EXPECT_STR(refusal(records, TYPES_STRUCT | 511 << 7), "a record does not lie in it");
	EXPECT_STR(refusal(records + 1, 0xffff), "a name does not lie in it");
	EXPECT_STR(
	    refusal(records + 22, h->n_types + 1), "a type is not there"); /* what CONST is of */
	EXPECT_STR(refusal(records + 22, 8), "a type is made of itself");
	EXPECT_STR(refusal(function + h->n_functions - 1, 1), "a function has no prototype");
	EXPECT_STR(refusal(function + h->n_functions, 9), "a name belongs to no type");
	EXPECT_EQ(types_find("thing") != 0, true); /* the one before is in use still */
	EXPECT(!types_use(NULL, 0));
	EXPECT_EQ(types_find("thing"), 0);
	EXPECT_EQ(types_function("do_mkdirat"), 0);
	EXPECT_EQ(types_walk(), 0);
	types_host_use();
}

/* Whatever is damaged is refused, or makes sense. */
static void damage(void)
{
	u64 seed = 20, accepted = 0;
	const void *data;
	size_t size = types_sample(&data);
	u16 *copy = host_alloc(size);

	for (unsigned round = 0; copy && round < 3000; round++) {
		memcpy(copy, data, size);
		for (unsigned n = 1 + prng_next(&seed) % 3; n; n--) {
			u32 i = prng_next(&seed) % (size / 2);
			copy[i] = prng_next(&seed) & 1 ? prng_next(&seed) : prng_next(&seed) % 40;
		}
		if (types_use(copy, size))
			continue;
		accepted++;
		EXPECT_EQ(types_walk(), 0);
	}
	ktap_note(
	    "seed 20: %llu of 3000 damaged sections are sound still", (unsigned long long)accepted);
	types_host_use();
	host_free(copy);
}

static const struct ktap_case cases[] = {
    {"types.functions", functions},
    {"types.members", members},
    {"types.kinds", kinds},
    {"types.arrays", arrays},
    {"types.anonymous", anonymous},
    {"types.enums", enums},
    {"types.refusals", refusals},
    {"types.refusals_at_ends", refusals_at_ends},
    {"types.refusals_of_named", refusals_of_named},
    {"types.damage", damage},
    {NULL, NULL},
};

const struct ktap_suite suite_types = {cases};
