/* The kernel's types, of a section made by hand (stopped.c has its C): sizes, members, values. */
#include <string.h>

#include "tests/trapline/stopped.h"
#include "tests/trapline/trapline_unit.h"
#include "trace/types/section.h"

static struct elf elf;
static struct ktypes types;

static int begin(void **state)
{
	(void)state;
	stopped_kernel(&elf);
	ktypes_open(&types, &elf);
	return !types.data;
}

static int over(void **state)
{
	(void)state;
	elf_close(&elf);
	return 0;
}

static struct ctype named(const char *name)
{
	struct ctype t;

	if (!ktypes_named(&types, name, &t))
		fail_msg("no type %s", name);
	return t;
}

static void expect_type(const char *name, enum ckind kind, uint64_t size, bool is_signed)
{
	struct ctype t = named(name);

	assert_int_equal(ktypes_kind(&types, t), kind);
	assert_int_equal(ktypes_size(&types, t), size);
	assert_int_equal(ktypes_is_signed(&types, t), is_signed);
	assert_int_equal(ktypes_is_char(&types, t), !strcmp(name, "char"));
	t.stars++;
	assert_int_equal(ktypes_kind(&types, t), CKIND_POINTER);
	assert_int_equal(ktypes_size(&types, t), 8);
	assert_false(ktypes_is_signed(&types, t));
	assert_false(ktypes_is_char(&types, t));
	assert_int_equal(ktypes_target(&types, t).id, named(name).id);
	assert_int_equal(ktypes_target(&types, t).stars, 0);
}

/* Of each kind, by the names that C and the section have for it. */
static void kinds(void **state)
{
	struct ctype t;

	(void)state;
	expect_type("int", CKIND_NUMBER, 4, true);
	expect_type("char", CKIND_NUMBER, 1, true);
	expect_type("unsigned", CKIND_NUMBER, 4, false);
	expect_type("unsigned long", CKIND_NUMBER, 8, false);
	expect_type("long unsigned int", CKIND_NUMBER, 8, false);
	expect_type("long", CKIND_NUMBER, 8, true);
	expect_type("unsigned char", CKIND_NUMBER, 1, false);
	expect_type("my_pid", CKIND_NUMBER, 4, true);
	expect_type("struct task", CKIND_STRUCT, 48, false);
	expect_type("enum state", CKIND_ENUM, 4, true);
	expect_type("enum plain", CKIND_ENUM, 4, false);
	expect_type("enum huge", CKIND_ENUM, 8, false);
	expect_type("void", CKIND_VOID, 1, false);
	assert_int_equal(ktypes_size(&types, (struct ctype){CTYPE_WORD, 0}), 8);
	assert_false(ktypes_is_signed(&types, (struct ctype){CTYPE_WORD, 0}));
	assert_false(ktypes_named(&types, "task", &t));
	assert_false(ktypes_named(&types, "union task", &t));
	assert_false(ktypes_named(&types, "struct pid_t", &t));
	assert_false(ktypes_named(&types, "state", &t));
}

static void expect_member(
    const char *type, const char *name, uint64_t bit, unsigned bits, uint64_t size)
{
	struct cmember m;

	assert_true(ktypes_find(&types, named(type), name, &m));
	assert_string_equal(m.name, name);
	assert_int_equal(m.bit, bit);
	assert_int_equal(m.bit_size, bits);
	assert_int_equal(ktypes_size(&types, m.type), size);
}

/* Their places: within unnamed ones, too, and of bit fields. */
static void members(void **state)
{
	struct cmember m;
	size_t n = 0;

	(void)state;
	expect_member("struct task", "pid", 0, 0, 4);
	expect_member("struct task", "comm", 8 * 4, 0, 16);
	expect_member("struct task", "next", 8 * 24, 0, 8);
	expect_member("struct task", "both", 8 * 32, 0, 8);
	expect_member("struct task", "high", 8 * 36, 0, 4);
	expect_member("struct flags", "a", 0, 3, 4);
	expect_member("struct flags", "b", 3, 7, 4);
	expect_member("struct flags", "c", 32, 0, 4);
	expect_member("struct list", "many", 0, 0, 280);
	expect_member("struct list", "exact", 8 * 520, 0, 256);
	expect_member("struct list", "tasks", 8 * 280, 0, 240);
	assert_false(ktypes_find(&types, named("struct task"), "hig", &m));
	assert_false(ktypes_find(&types, named("int"), "pid", &m));
	while (ktypes_member(&types, named("struct task"), n, &m))
		n++;
	assert_int_equal(n, 6);
	assert_string_equal(m.name, "mm");
	assert_true(ktypes_find(&types, named("struct list"), "many", &m));
	assert_int_equal(ktypes_kind(&types, m.type), CKIND_ARRAY);
	assert_int_equal(ktypes_length(&types, m.type), 70);
	assert_int_equal(ktypes_target(&types, m.type).id, named("int").id);
}

static void expect_named(const char *type, const char *name, uint64_t value)
{
	uint64_t n;

	assert_true(ktypes_enum_value(&types, name, &n));
	assert_int_equal(n, value);
	assert_string_equal(ktypes_enum_name(&types, named(type), value), name);
}

/* Values of one, two and four words, with their signs. */
static void enums(void **state)
{
	uint64_t n;

	(void)state;
	expect_named("enum state", "IDLE", 0);
	expect_named("enum state", "BUSY", 5);
	expect_named("enum state", "BROKEN", -1ULL);
	expect_named("enum plain", "PLAIN", 40000);
	expect_named("enum far", "FAR", 0x12345);
	expect_named("enum far", "NEAR", -2ULL);
	expect_named("enum huge", "HUGE", 0x123456789abcdef0);
	assert_null(ktypes_enum_name(&types, named("enum state"), 4));
	assert_null(ktypes_enum_name(&types, named("enum state"), 0xffff));
	assert_false(ktypes_enum_value(&types, "BUS", &n));
	assert_false(ktypes_enum_value(&types, "pid", &n));
}

/* Opens the section with one word of its head changed. */
static bool opens_with(size_t word, uint32_t add)
{
	struct bytes b = stopped_types(), file;
	struct ktypes k;
	uint32_t n;

	memcpy(&n, b.data + 8 + 4 * word, 4);
	n += add;
	memcpy(b.data + 8 + 4 * word, &n, 4);
	file = stopped_elf(stopped_symbols, 1, b.data, b.size);
	struct elf e;
	assert_true(elf_open_in(&e, "made", file.data, file.size));
	ktypes_open(&k, &e);
	elf_close(&e);
	bytes_free(&b);
	bytes_free(&file);
	return k.data;
}

/* Numbers of the head that do not fit together make no types of it. */
static void damaged(void **state)
{
	(void)state;
	assert_true(opens_with(0, 0));
	assert_false(opens_with(0, 1));
	for (size_t word = 2; word <= 6; word++) {
		assert_false(opens_with(word, 2));
		assert_false(opens_with(word, 0x80000000));
	}
	assert_false(opens_with(6, -3)); /* the last text has no end */
}

/* Records that lead in circles, or outside, come to an end. */
static void circles(void **state)
{
	static const uint16_t at[] = {0, 3, 8, 500, 13},
			      word[] = {TYPES_TYPEDEF, 0, 1, TYPES_ARRAY, 2, 0, 0xffff, 0xffff,
				  TYPES_STRUCT | 1 << 7, 1, 8, 0, 0, 3, 0, TYPES_STRUCT | 9 << 7};
	struct ktypes k = {.data = (const uint8_t *)at,
	    .types = COUNT_OF(at),
	    .words = COUNT_OF(word),
	    .texts = 2,
	    .at = (const uint8_t *)at,
	    .word = (const uint8_t *)word,
	    .text = "\0"};
	struct cmember m;
	struct ctype t;

	(void)state;
	assert_int_equal(ktypes_kind(&k, (struct ctype){1, 0}), CKIND_VOID);
	ktypes_size(&k, (struct ctype){2, 0});
	assert_false(ktypes_find(&k, (struct ctype){3, 0}, "x", &m));
	assert_false(ktypes_named(&k, "struct x", &t)); /* its name lies outside */
	assert_int_equal(ktypes_kind(&k, (struct ctype){4, 0}), CKIND_VOID);
	assert_int_equal(ktypes_kind(&k, (struct ctype){6, 0}), CKIND_VOID);
	assert_false(ktypes_find(&k, (struct ctype){5, 0}, "x", &m));
}

int ktypes_tests(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(kinds),
	    cmocka_unit_test(members), cmocka_unit_test(enums), cmocka_unit_test(damaged),
	    cmocka_unit_test(circles)};

	return unit_group("ktypes", tests, COUNT_OF(tests), begin, over);
}
