/* The ledger as tables. */
#include <string.h>

#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/trace/ledger.h"

static const char text[] = "# what became of every hit\n"
			   "cpu0: hits 12 = recorded 10 + filtered 0 + refused 2\n"
			   "cpu1: hits 0 = recorded 0 + filtered 0 + refused 0\n"
			   "all: recorded 10 = seen 9 + snapshot, read, cleared or discarded 1\n"
			   "sched:sched_switch: hits 12 = recorded 10 + filtered 0 + refused 2\n"
			   "balanced\n";

static void tables(void **state)
{
	struct ledger l;

	(void)state;
	ledger_parse(&l, text, NULL, NULL);
	assert_int_equal(l.tables, 2);
	assert_int_equal(l.folded, 1);
	assert_string_equal(l.verdict, "balanced");
	const struct ledger_table *t = &l.table[0];
	assert_int_equal(t->rows, 2);
	assert_string_equal(t->row[0].who, "cpu0");
	assert_string_equal(t->row[1].who, "sched:sched_switch");
	assert_int_equal(t->column.count, 4);
	assert_string_equal(t->column.word[0], "hits");
	assert_int_equal(t->row[0].number[3], 2);
	assert_true(t->shown[0] && t->shown[1] && !t->shown[2] && t->shown[3]);
	t = &l.table[1];
	assert_int_equal(t->rows, 1);
	assert_string_equal(t->column.word[2], "snapshot, read, cleared or discarded");
	assert_int_equal(t->row[0].number[2], 1);
	ledger_free(&l);
}

static bool is_cpu(const void *context, const char *who)
{
	return !strncmp(who, context, 3);
}

static void wanted_rows(void **state)
{
	struct ledger l;

	(void)state;
	ledger_parse(&l, text, is_cpu, "cpu");
	assert_int_equal(l.table[0].rows, 1);
	assert_int_equal(l.table[1].rows, 0);
	assert_int_equal(l.folded, 3);
	ledger_free(&l);
}

/* Nothing of it is trusted: it came with the file. */
static void no_equations(void **state)
{
	static const char *const texts[] = {"", "\n\n", ": ", "a: b", "a: b 1", "a: b 1 + c 2",
	    "a: b 1 = ", "a: 1 = 2", "a: = + =", "not balanced: cpu0: hits"};
	struct ledger l;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ledger_parse(&l, texts[i], NULL, NULL);
		assert_int_equal(l.tables ? l.table[0].rows : 0, 0);
		ledger_free(&l);
	}
	ledger_parse(&l, "cpu0: hits 1 = x 1\nnot balanced: cpu0: hits\n", NULL, NULL);
	assert_string_equal(l.verdict, "not balanced: cpu0: hits");
	ledger_free(&l);
}

/* As many columns as there is room for, and one more. */
static void columns(void **state)
{
	char line[512] = "w: a 1 = b0 1";
	struct ledger l;

	(void)state;
	for (unsigned i = 1; i < LEDGER_COLUMNS; i++)
		snprintf(line + strlen(line), sizeof(line) - strlen(line), " + b%u %u", i, i + 1);
	ledger_parse(&l, line, NULL, NULL);
	assert_int_equal(l.table[0].rows, 1);
	assert_int_equal(l.table[0].row[0].number[LEDGER_COLUMNS - 1], LEDGER_COLUMNS - 1);
	ledger_free(&l);
}

/* As many left sides, and one more. */
static void sides(void **state)
{
	struct ledger l;

	(void)state;
	ledger_parse(&l, "w: a 1 = b 1\nw: b 1 = c 1\nw: c 1 = d 1\n", NULL, NULL);
	assert_int_equal(l.tables, LEDGER_TABLES - 1);
	ledger_free(&l);
	ledger_parse(&l,
	    "w: a 1 = b 1\nw: b 1 = c 1\nw: c 1 = d 1\nw: d 1 = e 1\nw: e 1 = f 1\nw: a 2 = b 2\n",
	    NULL, NULL);
	assert_int_equal(l.tables, LEDGER_TABLES);
	assert_int_equal(l.table[0].rows, 2);
	assert_int_equal(l.table[3].rows, 1);
	ledger_free(&l);
}

static void meanings(void **state)
{
	(void)state;
	assert_non_null(strstr(ledger_meaning("refused"), "took no record"));
	assert_null(ledger_meaning("something else"));
}

int ledger_tests(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(tables), cmocka_unit_test(wanted_rows),
	    cmocka_unit_test(no_equations), cmocka_unit_test(columns), cmocka_unit_test(sides),
	    cmocka_unit_test(meanings)};

	return unit_group("ledger", tests, COUNT_OF(tests), NULL, NULL);
}
