/*
 * Lookups in the symbol table: kernel/base/symtab.c, on a table made by hand as tools/symtab makes
 * it.
 */
#include "kernel/base/symtab.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/types.h"

/*
 * 0x1010 alpha, 0x1020 beta and its alias bravo, 0x1040 dup, 0x1080 gamma, 0x1080.. dup, to 0x1100.
 */
static const u32 offsets[] = {0x10, 0x20, 0x20, 0x40, 0x80, 0xa0};
static const u32 name_at[] = {0, 6, 11, 17, 21, 17};
static const u16 by_name[] = {0, 1, 2, 3, 5, 4};
static const u32 global[] = {0x3b}; /* all but the third */
static const char names[] = "alpha\0beta\0bravo\0dup\0gamma";
static const struct sym_table table = {
    .text_start = 0x1000,
    .text_end = 0x1100,
    .count = ARRAY_SIZE(offsets),
    .offset = offsets,
    .name_at = name_at,
    .by_name = by_name,
    .names = names,
    .type = 't',
    .global = global,
};

static const char *name_of(u64 addr)
{
	long i = symtab_find(&table, addr);

	return i < 0 ? "none" : symtab_name(&table, i);
}

static void finds(void)
{
	EXPECT_STR(name_of(0x1010), "alpha");
	EXPECT_STR(name_of(0x101f), "alpha");
	EXPECT_STR(name_of(0x1020), "beta");
	EXPECT_STR(name_of(0x103f), "beta");
	EXPECT_STR(name_of(0x1040), "dup");
	EXPECT_STR(name_of(0x1080), "gamma");
	EXPECT_STR(name_of(0x10ff), "dup");
}

static void finds_nothing_outside(void)
{
	EXPECT_STR(name_of(0), "none");
	EXPECT_STR(name_of(0xfff), "none");
	EXPECT_STR(name_of(0x100f), "none"); /* text before the first function */
	EXPECT_STR(name_of(0x1100), "none");
	EXPECT_STR(name_of(~0UL), "none");
}

static void sizes(void)
{
	EXPECT_EQ(symtab_size(&table, 0), 0x10);
	EXPECT_EQ(symtab_size(&table, 1), 0x20);
	EXPECT_EQ(symtab_size(&table, 2), 0x20);
	EXPECT_EQ(symtab_size(&table, 5), 0x60);
}

static void names_and_counts(void)
{
	unsigned n = 99;

	EXPECT_EQ(symtab_by_name(&table, "bravo", &n, NULL), 2);
	EXPECT_EQ(n, 1);
	EXPECT_EQ(symtab_by_name(&table, "dup", &n, NULL), 3);
	EXPECT_EQ(n, 2);
	EXPECT_EQ(symtab_by_name(&table, "gamma", NULL, NULL), 4);
	/* Where one was found is no more than a hint. */
	for (u32 at = 0; at < table.count + 2; at++) {
		u32 recent = at;
		EXPECT_EQ(symtab_by_name(&table, "dup", &n, &recent), 3);
		EXPECT_EQ(n, 2);
		EXPECT_EQ(symtab_by_name(&table, "dup", &n, &recent), 3);
		EXPECT_EQ(n, 2);
	}
	EXPECT_EQ(symtab_by_name(&table, "alph", &n, NULL), -1);
	EXPECT_EQ(n, 0);
	EXPECT_EQ(symtab_by_name(&table, "zeta", &n, NULL), -1);
	EXPECT_EQ(symtab_by_name(&table, "", &n, NULL), -1);
}

static void types(void)
{
	EXPECT_EQ(symtab_type(&table, 0), 'T');
	EXPECT_EQ(symtab_type(&table, 2), 't');
	EXPECT_EQ(symtab_type(&table, 5), 'T');
}

/* As the first link has it. */
static void empty_table(void)
{
	static const struct sym_table none = {.text_start = 0x1000, .text_end = 0x1100};

	EXPECT_EQ(symtab_find(&none, 0x1010), -1);
	EXPECT_EQ(symtab_by_name(&none, "alpha", NULL, NULL), -1);
}

static const struct ktap_case cases[] = {
    {"symtab.finds", finds},
    {"symtab.finds_nothing_outside", finds_nothing_outside},
    {"symtab.sizes", sizes},
    {"symtab.names_and_counts", names_and_counts},
    {"symtab.types", types},
    {"symtab.empty_table", empty_table},
    {NULL, NULL},
};
const struct ktap_suite suite_symtab = {cases};
