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

/* Words of the section: the head has 14, then where the types begin. */
enum { AT = 14, RECORDS = AT + 25 };

static void refusals(void)
{
	const void *data;
	size_t size = types_sample(&data);
	const struct types_head *h = data;
	u32 end = size / 2, function = RECORDS + h->n_words;

	types_sample_use();
	EXPECT_STR(types_use(data, 20), "it is of another kind");
	EXPECT_STR(types_use(data, size - 2), "it has another size than it says");
	EXPECT_STR(refusal(0, 1), "it is of another kind");
	EXPECT_STR(refusal(2, size + 2), "it has another size than it says");
	EXPECT_STR(refusal(6, h->n_words + 1), "it has another size than it says");
	EXPECT_STR(refusal(end - 1, 'x' << 8), "its names have no end");
	EXPECT_STR(refusal(AT, h->n_words), "a record does not lie in it");
	EXPECT_STR(refusal(RECORDS, 31), "a record does not lie in it");
	EXPECT_STR(refusal(RECORDS, TYPES_STRUCT | 511 << 7), "a record does not lie in it");
	EXPECT_STR(refusal(RECORDS + 1, 0xffff), "a name does not lie in it");
	EXPECT_STR(refusal(RECORDS + 22, 26), "a type is not there"); /* what CONST is of */
	EXPECT_STR(refusal(RECORDS + 22, 8), "a type is made of itself");
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
    {"types.refusals", refusals},
    {"types.damage", damage},
    {NULL, NULL},
};

const struct ktap_suite suite_types = {cases};
