/*
 * The types in the format that Linux calls BTF, read again as its document (bpf/btf.rst) has it:
 * each record, each name, and the functions.
 */
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/types/sample.h"
#include "trace/host_symbol.h"

#define HEAD_WORDS 6
#define FUNC	   12 /* the kind */
#define FLAG	   (1u << 31)

/* Words of a record. */
enum { NAME, INFO, SIZE, TYPE = SIZE, ITEMS };

static u32 image[2048];
static size_t length;
static const struct types_head *section;

static void begin(void)
{
	struct seq s;
	size_t size;

	types_sample_use();
	section = types_used(&size);
	memset(image, 0, sizeof(image));
	seq_init(&s, (char *)image, sizeof(image));
	types_show_btf(&s);
	EXPECT(!s.overflow);
	length = s.len;
}

static u32 btf_kind(const u32 *r)
{
	return r[INFO] >> 24 & 31;
}

static u32 btf_count(const u32 *r)
{
	return r[INFO] & 0xffff;
}

static u32 btf_words(const u32 *r)
{
	switch (btf_kind(r)) {
	case TYPES_INT:
		return ITEMS + 1;
	case TYPES_ARRAY:
		return ITEMS + 3;
	case TYPES_STRUCT:
	case TYPES_UNION:
	case TYPES_ENUM64:
		return ITEMS + 3 * btf_count(r);
	case TYPES_ENUM:
	case TYPES_PROTO:
		return ITEMS + 2 * btf_count(r);
	default:
		return ITEMS;
	}
}

/* NULL: there are not so many. */
static const u32 *btf_after(const u32 *r)
{
	const u32 *next = r + btf_words(r);

	return next < image + HEAD_WORDS + image[3] / 4 ? next : NULL;
}

/* Of a type of the section, which keeps its number. */
static const u32 *btf_record(u32 type)
{
	static const u32 none[ITEMS];
	const u32 *r = image + HEAD_WORDS;

	while (r && --type)
		r = btf_after(r);
	return r ? r : none;
}

static const char *btf_text(u32 at)
{
	return at < image[5] ? (const char *)(image + HEAD_WORDS) + image[4] + at : "(beyond)";
}

/* The head has the lengths of both parts, which follow each other and are all that there is. */
static void head(void)
{
	begin();
	EXPECT_EQ(image[0], 0x1eb9f); /* magic, version 1, no flags */
	EXPECT_EQ(image[1], HEAD_WORDS * 4);
	EXPECT_EQ(image[2], 0);
	EXPECT_EQ(image[4], image[3]);
	EXPECT_EQ(length, HEAD_WORDS * 4 + image[3] + image[5]);
	EXPECT_STR(btf_text(0), "");
	EXPECT_EQ(((const char *)image)[length - 1], '\0');
	types_host_use();
}

/* Each type has the number, kind, name and size that it has for probes. */
static void names_and_sizes(void)
{
	begin();
	for (u32 i = 1; i <= section->n_types; i++) {
		const u32 *r = btf_record(i);
		u32 kind = types_kind(i);
		bool sized = kind == TYPES_INT || kind == TYPES_STRUCT || kind == TYPES_UNION ||
			     kind == TYPES_ENUM || kind == TYPES_ENUM64;
		EXPECT_EQ(btf_kind(r), kind);
		EXPECT_STR(btf_text(r[NAME]), types_name(i));
		EXPECT(!sized || r[SIZE] == types_size(i));
	}
	types_host_use();
}

/* An integer has its encoding and bits; an array its elements, its index and its length. */
static void integers_and_arrays(void)
{
	unsigned signed_ones = 0, arrays = 0;
	u32 count;

	begin();
	for (u32 i = 1; i <= section->n_types; i++) {
		const u32 *r = btf_record(i);
		if (btf_kind(r) == TYPES_INT)
			EXPECT_EQ(r[ITEMS], types_encoding(i) << 24 | 8 * types_size(i));
		if (btf_kind(r) == TYPES_INT)
			signed_ones += r[ITEMS] >> 24 & TYPES_SIGNED;
		if (btf_kind(r) != TYPES_ARRAY)
			continue;
		u32 element = types_target(i, &count);
		EXPECT_EQ(r[ITEMS + 2], count);
		EXPECT(!count || r[ITEMS] == element);
		EXPECT_STR(types_name(r[ITEMS + 1]), "unsigned int");
		arrays += count == 0x10003;
	}
	EXPECT_EQ(signed_ones, 3);
	EXPECT_EQ(arrays, 1);
	types_host_use();
}

/* Pointers, modifiers and typedefs have the type that they are made of. */
static void chains(void)
{
	u32 count, any = 0;

	begin();
	for (u32 i = 1; i <= section->n_types; i++) {
		const u32 *r = btf_record(i);
		if (btf_kind(r) == TYPES_PTR)
			EXPECT_EQ(r[TYPE], types_target(i, &count));
		if (btf_kind(r) == TYPES_TYPEDEF || btf_kind(r) == TYPES_VOLATILE ||
		    btf_kind(r) == TYPES_CONST) {
			EXPECT_EQ(types_strip(r[TYPE]), types_strip(i));
			EXPECT(r[TYPE] != i);
			any++;
		}
	}
	EXPECT_EQ(any, 4);
	types_host_use();
}

/* Members have their places in bits; the flag of a struct means that bit fields have lengths. */
static void members(void)
{
	static const struct {
		const char *type;
		u32 i;
		const char *name, *of; /* what it is of; NULL: of no name */
		u32 at;
	} rows[] = {{"point", 0, "x", "int", 0}, {"point", 1, "y", "int", 32},
	    {"thing", 3, "where", "point", 256}, {"thing", 6, "low", "unsigned int", 3 << 24 | 384},
	    {"thing", 13, "big", "s64", 704}, {"outer", 0, "first", "int", 0},
	    {"outer", 1, "", NULL, 32}, {"outer", 3, "far", "unsigned int", 5 << 24 | 0x2000c3},
	    {"outer", 4, "open", NULL, 0x2000e0}};

	begin();
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		const u32 *r = btf_record(types_find(rows[i].type)),
			  *item = r + ITEMS + 3 * rows[i].i;
		EXPECT(rows[i].i < btf_count(r));
		EXPECT_STR(btf_text(item[0]), rows[i].name);
		EXPECT(!rows[i].of || !strcmp(types_name(item[1]), rows[i].of));
		EXPECT_EQ(item[2], rows[i].at);
		EXPECT_EQ(r[INFO] & FLAG, !strcmp(rows[i].type, "point") ? 0 : FLAG);
	}
	EXPECT_EQ(btf_count(btf_record(types_find("thing"))), 14);
	types_host_use();
}

/* Values of enums have 32 bits, or 64; the flag means that they are signed. */
static void values(void)
{
	static const struct {
		const char *type, *name;
		u32 i, low, high, flag;
	} rows[] = {{"color", "GREEN", 1, 5, 0, FLAG}, {"color", "BLUE", 2, 0xffffffff, 0, FLAG},
	    {"flag", "FLAG_LOW", 0, 0x12345, 0, 0}, {"flag", "FLAG_HIGH", 1, 0x80000000, 0, 0},
	    {"level", "LEVEL_NONE", 0, 0, 0, 0}, {"level", "LEVEL_MOST", 1, 0xffff, 0, 0},
	    {"huge", "HUGE_ONE", 0, 1, 0, 0}, {"huge", "HUGE_TOP", 1, 0x00030004, 0x80010002, 0}};

	begin();
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		const u32 *r = btf_record(types_find(rows[i].type));
		u32 step = btf_kind(r) == TYPES_ENUM64 ? 3 : 2;
		const u32 *item = r + ITEMS + step * rows[i].i;
		EXPECT(rows[i].i < btf_count(r));
		EXPECT_STR(btf_text(item[0]), rows[i].name);
		EXPECT_EQ(item[1], rows[i].low);
		EXPECT(step == 2 || item[2] == rows[i].high);
		EXPECT_EQ(r[INFO] & FLAG, rows[i].flag);
	}
	types_host_use();
}

/* A prototype has the result, and names and types of its parameters. */
static void prototypes(void)
{
	u32 n = 0, type;

	begin();
	for (u32 i = 1; i <= section->n_types; i++) {
		const u32 *r = btf_record(i);
		if (btf_kind(r) != TYPES_PROTO)
			continue;
		EXPECT_EQ(r[TYPE], types_result(i));
		EXPECT_EQ(btf_count(r), types_param_count(i));
		for (u32 k = 0; k < btf_count(r); k++) {
			EXPECT_STR(btf_text(r[ITEMS + 2 * k]), types_param(i, k, &type));
			EXPECT_EQ(r[ITEMS + 2 * k + 1], type);
			n++;
		}
	}
	EXPECT_EQ(n, 5);
	types_host_use();
}

/* Each function that has a prototype follows the types, with its name, in the order of the host. */
static void functions(void)
{
	const u16 *function;
	struct host_symbol sym;

	begin();
	function = (const u16 *)(section + 1) + section->n_types + section->n_words;
	const u32 *r = btf_after(btf_record(section->n_types));
	for (u32 i = 0; i < section->n_functions; i++) {
		if (!function[i] || !host_sym_nth(i, &sym))
			continue;
		EXPECT(r);
		if (!r)
			break;
		EXPECT_STR(btf_text(r[NAME]), sym.name);
		EXPECT_EQ(r[INFO], FUNC << 24 | (sym.type == 'T'));
		EXPECT_EQ(r[TYPE], types_function(sym.name));
		r = btf_after(r);
	}
	EXPECT(!r);
	types_host_use();
}

/* Of no types there is nothing to show. */
static void nothing(void)
{
	char byte;
	struct seq s;

	EXPECT(!types_use(NULL, 0));
	seq_init(&s, &byte, 1);
	types_show_btf(&s);
	EXPECT_EQ(s.len, 0);
	types_host_use();
}

static const struct ktap_case cases[] = {
    {"btf.head", head},
    {"btf.names_and_sizes", names_and_sizes},
    {"btf.integers_and_arrays", integers_and_arrays},
    {"btf.chains", chains},
    {"btf.members", members},
    {"btf.values", values},
    {"btf.prototypes", prototypes},
    {"btf.functions", functions},
    {"btf.nothing", nothing},
    {NULL, NULL},
};
const struct ktap_suite suite_btf = {cases};
