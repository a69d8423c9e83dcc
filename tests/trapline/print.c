/*
 * Expressions of C about a stopped machine, with the types and symbols of stopped.c: values,
 * what binds more, how values are printed, and what is refused.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/trapline/stopped.h"
#include "tests/trapline/trapline_unit.h"

#define TASK	0xffff888000001000ULL
#define LOCAL	0xffff888000002000ULL
#define LIST	0xffff888000003000ULL
#define FLAGS	0xffff888000004000ULL
#define LETTERS 0xffff888000005000ULL

struct made_task {
	int32_t pid;
	char comm[16];
	int32_t state;
	uint64_t next;
	int32_t low, high;
	uint64_t mm;
};

static struct made_task task = {-7, "a \"b\\\n", 5, TASK, 1, -1, 0};
static const uint64_t local[] = {1, TASK};
static struct {
	int32_t many[70];
	struct made_task tasks[5];
	int32_t exact[64];
} list = {.many = {1, 2, -3}, .tasks = {{.pid = 9}, {.pid = 10}}};
static const uint32_t flags[] = {1u << 10 | 100 << 3 | 5, 77};
static const struct {
	uint64_t word;
	uint8_t byte, pad;
	uint16_t half;
	uint32_t four;
} data = {0x1122334455667788, 0x99, 0, 0xaabb, 0xccddeeff};
static char letters[300];

static const struct stopped_memory memory[] = {{TASK, &task, sizeof(task)},
    {LOCAL, local, sizeof(local)}, {LIST, &list, sizeof(list)}, {FLAGS, flags, sizeof(flags)},
    {KERNEL_DATA, &data, 16}, {LETTERS, letters, sizeof(letters)}};

static struct stopped stub;
static struct visit visit;

static int begin(void **state)
{
	(void)state;
	memset(letters, 'x', sizeof(letters));
	stopped_begin(&stub, memory, COUNT_OF(memory));
	visit = (struct visit){.seek.gdb = stub.gdb};
	stopped_kernel(&visit.kernel);
	ktypes_open(&visit.types, &visit.kernel);
	visit.r[GDB_RDI] = TASK;
	visit.r[GDB_RIP] = KERNEL_TEXT + 0x41;
	visit.r[GDB_GS_BASE] = LOCAL;
	return 0;
}

static int over(void **state)
{
	(void)state;
	elf_close(&visit.kernel);
	stopped_end(&stub);
	return 0;
}

struct line {
	const char *text;
	bool hexadecimal;
};

static void print(void *context)
{
	const struct line *line = context;

	goto_print(&visit, line->text, line->hexadecimal);
}

static void expect_line(const char *text, bool hexadecimal, const char *want)
{
	char *got = stopped_caught(print, &(struct line){text, hexadecimal});
	size_t n = strlen(got);

	if (n && got[n - 1] == '\n')
		got[n - 1] = '\0';
	if (strcmp(got, want))
		print_error("%s\n", text);
	assert_string_equal(got, want);
	free(got);
}

static void expect_print(const char *text, const char *want)
{
	expect_line(text, false, want);
}

static void expect_refused(const char *text, const char *why)
{
	char said[300];

	snprintf(said, sizeof(said), "trapline: %s", why);
	expect_line(text, false, said);
}

static void operators(void **state)
{
	static const struct {
		const char *text;
		uint64_t n;
	} cases[] = {{"1 + 2 * 3", 7}, {"(1 + 2) * 3", 9}, {"10 - 3 - 2", 5}, {"100 / 10 / 5", 2},
	    {"17 % 5", 2}, {"1 << 2 + 1", 8}, {"256 >> 4 >> 2", 4}, {"1 | 6 ^ 2", 5},
	    {"6 & 3 == 3", 0}, {"(6 & 3) == 2", 1}, {"1 ^ 3 & 2", 3}, {"2 < 1 == 0", 1},
	    {"1 < 1", 0}, {"1 <= 1", 1}, {"2 > 2", 0}, {"2 >= 2", 1}, {"1 != 1", 0},
	    {"1 || 0 && 0", 1}, {"2 && 4", 1}, {"0 || 0", 0}, {"-1 > 0", 1}, {"~0 == -1", 1},
	    {"!5", 0}, {"!0", 1}, {"- -3", 3}, {"1 << 63", 1ULL << 63}, {"1 << 64", 0},
	    {"-1 >> 63", 1}, {"-1 >> 64", 0}, {"0x10 + 010", 24}, {"7UL", 7}, {"'a'", 97},
	    {"18446744073709551615", UINT64_MAX}, {"  4  ", 4}, {"4294967296 * 4294967296", 0},
	    {"sizeof(int)", 4}, {"sizeof(struct task)", 48}, {"sizeof(struct task *)", 8},
	    {"sizeof four", 4}, {"sizeof half + 1", 3}};

	char sum[602];
	uint64_t n;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		n = ~cases[i].n;
		if (!goto_number(&visit, cases[i].text, &n) || n != cases[i].n)
			print_error("%s\n", cases[i].text);
		assert_int_equal(n, cases[i].n);
	}
	for (size_t i = 0; i < 300; i++)
		strcpy(sum + 2 * i, "1+");
	strcpy(sum + 600, "1"); /* long, but not deep */
	assert_true(goto_number(&visit, sum, &n));
	assert_int_equal(n, 301);
}

/* A symbol is a word of its size; a function is its address; names of values, registers. */
static void names(void **state)
{
	(void)state;
	expect_line("word", true, "0x1122334455667788");
	expect_print("byte", "153");
	expect_print("half", "43707");
	expect_line("four", true, "0xccddeeff");
	expect_line("&half", true, "0xffffffff8020000a");
	expect_print("start", "0xffffffff80100000 <start+0x0>");
	expect_print("$rip", "0xffffffff80100041 <middle+0x1>");
	expect_line("$rdi", true, "0xffff888000001000");
	expect_print("BUSY + 1", "6");
	expect_print("1048575", "1048575");
	expect_print("1048576", "0x100000");
}

/* Members by pointers, in arrays and without a name between; bit fields, pointers that count. */
static void members(void **state)
{
	(void)state;
	expect_print("current->pid", "-7");
	expect_print("current->comm", "\"a \\\"b\\\\\\x0a\"");
	expect_print("current->comm[2]", "34");
	expect_print("current->state", "BUSY");
	expect_print("current->next->next->pid", "-7");
	expect_print("(*current).high", "-1");
	expect_line("&current->high", true, "0xffff888000001024");
	expect_print("((struct list *)0xffff888000003000)->many[2]", "-3");
	expect_print("((struct list *)0xffff888000003000)->tasks[1].pid", "10");
	expect_print("((struct flags *)0xffff888000004000)->a", "5");
	expect_print("((struct flags *)0xffff888000004000)->b", "100");
	expect_print("((struct flags *)0xffff888000004000)->c", "77");
	expect_line("(struct task *)16 + 2", true, "0x70");
	expect_line("(struct task *)0x100 - 1", true, "0xd0");
	expect_line("(int *)16 + 3", true, "0x1c");
	expect_print("*(int *)$rdi", "-7");
	expect_print("*&current->pid", "-7");
	expect_print("(const int)5 + (volatile unsigned char)0x101", "6");
	expect_print("((struct task *)$rdi)->pid == -7", "1");
	expect_print("(char)0x1ff", "-1");
	expect_print("(unsigned char)0x1ff", "255");
	expect_print("(int)4294967295", "-1");
	expect_print("(enum state)5", "BUSY");
	expect_print("(enum state)6", "6");
	expect_print("(my_pid)3", "3");
}

static void structs(void **state)
{
	(void)state;
	expect_print("*current", "{\n  pid = -7\n  comm = \"a \\\"b\\\\\\x0a\"\n  state = BUSY\n"
				 "  next = 0xffff888000001000\n  {\n    both = -4294967295\n    {\n"
				 "      low = 1\n      high = -1\n    }\n  }\n  mm = 0\n}");
	expect_print("*(struct flags *)0xffff888000004000", "{\n  a = 5\n  b = 100\n  c = 77\n}");
	expect_line(
	    "*(struct flags *)0xffff888000004000", true, "{\n  a = 5\n  b = 100\n  c = 77\n}");
	task.low = 2;
	expect_line("current->low", true, "0x2");
	task.low = 1;
}

/* Of many items the first are printed, of texts the first letters. */
static void cut(void **state)
{
	char *got =
	    stopped_caught(print, &(struct line){"*(struct list *)0xffff888000003000", false});
	size_t commas = 0, inner = 0;

	(void)state;
	for (const char *p = got; (p = strstr(p, ", ")); p++)
		commas++;
	for (const char *p = got; (p = strstr(p, "comm = ")); p++)
		inner++;
	assert_int_equal(inner, 4);
	assert_int_equal(commas, 64 + 4 + 63);
	assert_non_null(strstr(got, "many = {1, 2, -3, 0, "));
	assert_non_null(strstr(got, ", 0, ...}\n  tasks = {{\n"));
	assert_non_null(strstr(got, ", 0, 0}\n}\n")); /* all of those that are not too many */
	assert_null(strstr(got, "{...}"));
	free(got);
	got = stopped_caught(print, &(struct line){"*(struct outer *)0xffff888000003000", false});
	assert_non_null(strstr(got, "      both = 0\n        {...}\n"));
	free(got);
	got = stopped_caught(print, &(struct line){"(char *)0xffff888000005000", false});
	assert_int_equal(strlen(got), strlen("0xffff888000005000 \"\"\n") + 200);
	free(got);
	letters[3] = '\0';
	expect_print("(char *)0xffff888000005000", "0xffff888000005000 \"xxx\"");
	expect_print("(char *)0", "0x0");
	expect_print("(char *)5", "0x5 \"\"");
}

static void refused(void **state)
{
	char deep[500];

	(void)state;
	expect_refused("", "the expression breaks off");
	expect_refused("1 +", "the expression breaks off");
	expect_refused("1 2", "'2' is too much");
	expect_refused("(1", "a ')' is missing before ''");
	expect_refused("current->comm[1", "a ']' is missing before ''");
	expect_refused("'a", "a ' is missing");
	expect_refused("'", "a ' is missing");
	expect_refused("1 / 0", "a division by 0");
	expect_refused("1 % 0", "a division by 0");
	expect_refused("$rxx", "there is no register '$rxx'");
	expect_refused("nothing", "there is no 'nothing' here");
	expect_refused("sizeofx", "there is no 'sizeofx' here");
	expect_refused("@main", "the program has no 'main'");
	expect_refused("current->", "which member?");
	expect_refused("current->nothing", "it has no member 'nothing'");
	expect_refused("current.pid", "it has no member 'pid'");
	expect_refused("1->pid", "it has no member 'pid'");
	expect_refused("&1", "that has no address");
	expect_refused("&((struct flags *)0xffff888000004000)->b", "that has no address");
	expect_refused("*current + 1", "that is no number");
	expect_refused("(struct nothing *)1", "there is no type 'struct nothing'");
	expect_refused("(struct task)1", "a number is no struct: * (TYPE *)");
	expect_refused("*(int *)8", "there is no memory at 0x8");
	expect_refused("*(char *)8", "there is no memory at 0x8");
	expect_refused("#", "'#' is no value");
	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	expect_refused(deep, "the expression is too deep");
	visit.r[GDB_GS_BASE] = 0;
	visit.r[GDB_KERNEL_GS_BASE] = LOCAL;
	expect_print("current->pid", "-7"); /* a program runs */
	visit.r[GDB_KERNEL_GS_BASE] = 0;
	expect_refused("current", "the current task is not known here");
	visit.r[GDB_GS_BASE] = LOCAL;
}

int print_tests(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(operators),
	    cmocka_unit_test(names), cmocka_unit_test(members), cmocka_unit_test(structs),
	    cmocka_unit_test(cut), cmocka_unit_test(refused)};

	return unit_group("print", tests, COUNT_OF(tests), begin, over);
}
