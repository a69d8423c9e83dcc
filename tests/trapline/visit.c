/*
 * Where trapline goto goes: which event the words of a command line name, which move each line of
 * its prompt makes, and which file a program's address lies in.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/trapline/stopped.h"
#include "tests/trapline/trapline_unit.h"

static struct record record[] = {{.cpu = 1, .time = 1000000000, .id = 7, .pid = 4},
    {.cpu = 0, .time = 1500000000, .id = 8, .pid = 5},
    {.cpu = 1, .time = 1500000000, .id = 77, .pid = 5},
    {.cpu = 1, .time = 2000000001, .id = 9, .pid = 4}};
static struct visit visit;
static struct stopped stub;

/* The kernel's structs of a task that runs a program with two areas, in one file. */
#define TASK  0xffff888000001000ULL
#define LOCAL 0xffff888000002000ULL
#define MM    0xffff888000003000ULL
#define AREAS 0xffff888000004000ULL
#define FILE_ 0xffff888000005000ULL
#define PATH  0xffff888000006000ULL
#define NODE  16
static const uint64_t task[6] = {[5] = MM}, local[] = {0, TASK}, mm[] = {0, AREAS + NODE},
		      file[] = {0, PATH};
static uint64_t areas[10] = {
    0x400000, 0x402000, AREAS + 40 + NODE, FILE_, 0x1000, 0x600000, 0x601000, MM + 8, 0, 0};
static const struct stopped_memory memory[] = {{TASK, task, sizeof(task)},
    {LOCAL, local, sizeof(local)}, {MM, mm, sizeof(mm)}, {AREAS, areas, sizeof(areas)},
    {FILE_, file, sizeof(file)}, {PATH, "/bin/own", 9}};

static int begin(void **state)
{
	(void)state;
	stopped_begin(&stub, memory, COUNT_OF(memory));
	visit = (struct visit){.seek.gdb = stub.gdb,
	    .origin.boot.archive.data = (uint8_t *)areas,
	    .trace = {.file = "t", .cpus = 2, .in_ns = true},
	    .event = record,
	    .events = COUNT_OF(record)};
	stopped_kernel(&visit.kernel);
	ktypes_open(&visit.types, &visit.kernel);
	visit.r[GDB_GS_BASE] = LOCAL;
	return 0;
}

static int over(void **state)
{
	(void)state;
	elf_close(&visit.kernel);
	goto_close_files(&visit);
	stopped_end(&stub);
	return 0;
}

/* ---- which event ---- */

struct choice {
	const char *word, *match;
	uint64_t nth;
	size_t index;
	bool fine;
};

static void choose(void *context)
{
	struct choice *c = context;

	c->fine = goto_choose(&visit, c->word, c->match, c->nth, &c->index);
}

static void expect_choice(struct choice c, size_t want)
{
	free(stopped_caught(choose, &c));
	assert_true(c.fine);
	assert_int_equal(c.index + 1, want);
}

static void expect_none(struct choice c, const char *why)
{
	char *text = stopped_caught(choose, &c), *found = strstr(text, why);

	if (!found)
		print_error("not '%s': %s", why, text);
	assert_non_null(found);
	assert_false(c.fine);
	free(text);
}

/* By its number, by that on a CPU, by a time: the first at it, or after it. */
static void named(void **state)
{
	(void)state;
	expect_choice((struct choice){.word = "1"}, 1);
	expect_choice((struct choice){.word = "4"}, 4);
	expect_none((struct choice){.word = "0"}, "it has events 1 to 4");
	expect_none((struct choice){.word = "5"}, "it has events 1 to 4");
	expect_choice((struct choice){.word = "1:1"}, 1);
	expect_choice((struct choice){.word = "1:3"}, 4);
	expect_choice((struct choice){.word = "0:1"}, 2);
	expect_none((struct choice){.word = "0:2"}, "CPU 0 has 1 events");
	expect_none((struct choice){.word = "0:0"}, "CPU 0 has 1 events");
	expect_none((struct choice){.word = ":1"}, "':1' is no event");
	expect_none((struct choice){.word = "1:"}, "'1:' is no event");
	expect_none((struct choice){.word = "1:x"}, "'1:x' is no event");
	expect_none((struct choice){.word = "1:1234567890123456789"}, "is no event");
	expect_none((struct choice){.word = "-1"}, "'-1' is no event");
	expect_none((struct choice){.word = ""}, "'' is no event");
	expect_choice((struct choice){.word = "1.5"}, 2);
	expect_choice((struct choice){.word = "0.1"}, 1);
	expect_choice((struct choice){.word = "1.500000001"}, 4);
	expect_choice((struct choice){.word = "2.000000001"}, 4);
	expect_none((struct choice){.word = "2.000000002"}, "no event at or after 2.000000002");
	expect_none((struct choice){.word = "1.x"}, "'1.x' is no time");
	visit.trace.in_ns = false;
	expect_none((struct choice){.word = "1.5"}, "its clock counts no seconds");
	visit.trace.in_ns = true;
}

/* By what its line contains: a longer line before it leaves nothing of itself. */
static void matched(void **state)
{
	(void)state;
	expect_choice((struct choice){.match = "EVENT 7", .nth = 1}, 1);
	expect_choice((struct choice){.match = "EVENT 7", .nth = 2}, 3);
	expect_choice((struct choice){.match = "EVENT 7\\]", .nth = 1}, 1);
	expect_choice((struct choice){.match = "-5 .*(8|77)", .nth = 2}, 3);
	expect_none((struct choice){.match = "EVENT 7", .nth = 3}, "2 of its lines match");
	expect_none((struct choice){.match = "\\]\n\n", .nth = 1}, "0 of its lines match");
	expect_none((struct choice){.match = "(", .nth = 1}, "--match (: ");
}

/* ---- the prompt ---- */

static void prompt(void *lines)
{
	int before = dup(STDIN_FILENO), p[2];

	assert_int_equal(pipe(p), 0);
	assert_int_equal(write(p[1], lines, strlen(lines)), strlen(lines));
	close(p[1]);
	dup2(p[0], STDIN_FILENO);
	close(p[0]);
	goto_prompt(&visit);
	dup2(before, STDIN_FILENO);
	close(before);
}

/* The last move of the lines, at event `at` of 4 or after it. */
static void expect_move(size_t at, bool on, char *lines, int kind, uint64_t n)
{
	visit.has_event = at > 0;
	visit.at = at ? at - 1 : 0;
	visit.on_event = on;
	free(stopped_caught(prompt, lines));
	if ((int)visit.move.kind != kind || visit.move.n != n)
		print_error("%s: move %d to %llu\n", lines, visit.move.kind,
		    (unsigned long long)visit.move.n);
	assert_int_equal(visit.move.kind, kind);
	assert_int_equal(visit.move.n, n);
}

static void events(void **state)
{
	(void)state;
	expect_move(2, true, "next", MOVE_EVENT, 2);
	expect_move(2, true, "n 2\n", MOVE_EVENT, 3);
	expect_move(2, true, "n 3\n", MOVE_QUIT, 0);
	expect_move(0, false, "n\n", MOVE_EVENT, 0);
	expect_move(0, false, "n 4\n", MOVE_EVENT, 3);
	expect_move(0, false, "b\n", MOVE_QUIT, 0);
	expect_move(2, true, "back\n", MOVE_EVENT, 0);
	expect_move(2, true, "b 2\n", MOVE_QUIT, 0);
	expect_move(2, false, "b\n", MOVE_EVENT, 1); /* the one before is the last */
	expect_move(2, false, "b 2\n", MOVE_EVENT, 0);
	expect_move(2, false, "b 3\n", MOVE_QUIT, 0);
	expect_move(2, true, "b 9223372036854775808\n", MOVE_QUIT, 0);
	expect_move(2, true, "n 0\nn x\nn 3\n", MOVE_QUIT, 0);
	expect_move(2, true, "event 1:2\n", MOVE_EVENT, 2);
	expect_move(2, true, "e\ne 5\ne 4\n", MOVE_EVENT, 3);
	expect_move(2, true, " \tn\t 2\n", MOVE_EVENT, 3);
	expect_move(2, true, "nex\nnextt\n\nq\n", MOVE_QUIT, 0);
}

static void expect_said(char *lines, const char *part, unsigned times)
{
	char *text = stopped_caught(prompt, lines);
	unsigned found = 0;

	for (const char *p = text; (p = strstr(p, part)); p++)
		found++;
	assert_int_equal(found, times);
	free(text);
}

/* An empty line repeats what came last; there is no event outside the trace. */
static void repeated(void **state)
{
	(void)state;
	visit.has_event = visit.on_event = true;
	visit.at = 1;
	*visit.line = '\0';
	expect_said("\n \np 77\n\n\t\n", "\n77\n", 3);
	expect_said("b 3\n\n", "there is no event before this one", 2);
	expect_said("n 3\n", "there is no event after this one", 1);
}

/* ---- what is watched ---- */

#define PRESENT 1ULL
#define LARGE	0x80ULL
#define UNUSED	0x8ff0000000000066ULL /* bits that say something else */

/* A machine's memory: four tables, a page at 0x5000; one of 2 MiB and one of 1 GiB from 0 on. */
static void write_memory(char *path)
{
	static uint64_t ram[8 * 512];
	int fd = mkstemp(path);

	ram[512] = 0x2000 | PRESENT | UNUSED;
	ram[513] = 0 | PRESENT | LARGE; /* there are none of that size */
	ram[1024] = 0x3000 | PRESENT;
	ram[1025] = 0 | PRESENT | LARGE;
	ram[1536 + 2] = 0x4000 | PRESENT;
	ram[1536 + 3] = 0 | PRESENT | LARGE;
	ram[2048] = 0x5000 | PRESENT | UNUSED;
	ram[2049] = 0x6000;	      /* not present */
	ram[2050] = 0x8000 | PRESENT; /* where no memory is */
	assert_true(fd >= 0);
	assert_int_equal(write(fd, ram, sizeof(ram)), sizeof(ram));
	close(fd);
}

static void expect_watch(char *lines, int kind, uint64_t physical, unsigned bytes)
{
	expect_move(2, true, lines, kind, physical);
	assert_int_equal(visit.move.bytes, bytes);
	assert_int_equal(visit.move.from, 100 + (kind == MOVE_WRITE));
}

/* Bytes of a page, and no more than it has; those of an address that is not mapped are refused. */
static void watched(void **state)
{
	static char path[] = "/tmp/trapline-unit.XXXXXX";

	(void)state;
	write_memory(path);
	strcpy(visit.origin.boot.machine.memory_path, path);
	visit.r[GDB_CR3] = 0x1000 | 0x18;
	visit.count = 100;
	expect_watch("watch 0x400010\n", MOVE_WRITE, 0x5010, 8);
	expect_watch("bw 0x400ff8\n", MOVE_WRITER, 0x5ff8, 8);
	expect_watch("w 0x400ffc\n", MOVE_WRITE, 0x5ffc, 4);
	expect_watch("w 0x400fff 8\n", MOVE_WRITE, 0x5fff, 1);
	expect_watch("w 0x400000 + 16 2\n", MOVE_WRITE, 0x5010, 2);
	expect_watch("w 0x601234 1\n", MOVE_WRITE, 0x1234, 1);
	expect_watch("w 0x40001234\n", MOVE_WRITE, 0x1234, 8);
	expect_move(2, true, "w 0x401000\nw 0x402000\nw 0x800000\n", MOVE_QUIT, 0);
	expect_move(2, true, "w 0x608000\nw 0x8000000000\nw 0x400010 9\n", MOVE_QUIT, 0);
	unlink(path);
	expect_move(2, true, "w 0x400010\n", MOVE_QUIT, 0);
}

static void instructions(void **state)
{
	(void)state;
	visit.count = 100;
	expect_move(2, true, "step\n", MOVE_COUNT, 101);
	expect_move(2, true, "s 50\n", MOVE_COUNT, 150);
	expect_move(2, true, "back-step\n", MOVE_COUNT, 99);
	expect_move(2, true, "bs 100\n", MOVE_COUNT, 0);
	expect_move(2, true, "bs 101\n", MOVE_QUIT, 0);
	expect_move(2, true, "until middle\n", MOVE_CALL, KERNEL_TEXT + 0x40);
	assert_int_equal(visit.move.from, 101);
	expect_move(2, true, "u start + 4\n", MOVE_CALL, KERNEL_TEXT + 4);
	expect_move(2, true, "u\nu nothing\n", MOVE_QUIT, 0);
}

static size_t lines_of(char *command)
{
	char *text = stopped_caught(prompt, command);
	size_t n = 0;

	for (const char *p = text; (p = strstr(p, "UNKNOWN EVENT")); p++)
		n++;
	free(text);
	return n;
}

/* The trace around here, as far as there is any. */
static void around(void **state)
{
	char *text;

	(void)state;
	visit.has_event = visit.on_event = true;
	visit.at = 1;
	assert_int_equal(lines_of("trace\n"), 4);
	assert_int_equal(lines_of("t 1\n"), 3);
	assert_int_equal(lines_of("t 2\n"), 4);
	visit.at = 3;
	assert_int_equal(lines_of("t 1\n"), 2);
	text = stopped_caught(prompt, "t 1\n");
	assert_non_null(strstr(text, "\n       3 "));
	assert_non_null(strstr(text, "\n=>     4 "));
	free(text);
	visit.on_event = false;
	text = stopped_caught(prompt, "t 1\n");
	assert_non_null(strstr(text, "\n>      4 "));
	free(text);
	text = stopped_caught(prompt, "p/x 255\nprint 255\np/x 1 +\n");
	assert_non_null(strstr(text, "\n0xff\n"));
	assert_non_null(strstr(text, "\n255\n"));
	free(text);
}

/* ---- files ---- */

/* The file of the area that has the address, from its begin to before its end; and where in it. */
static void files(void **state)
{
	uint64_t own = 0;
	struct goto_file *f = goto_file_at(&visit, 0x400000, &own);
	char name[64];

	(void)state;
	assert_string_equal(f->path, "/bin/own");
	assert_int_equal(own, 0x1000);
	f = goto_file_at(&visit, 0x401fff, &own);
	assert_int_equal(own, 0x2fff);
	assert_int_equal(visit.files, 1); /* known by now */
	assert_null(goto_file_at(&visit, 0x3fffff, &own));
	assert_null(goto_file_at(&visit, 0x402000, &own));
	assert_null(goto_file_at(&visit, 0x600000, &own)); /* an area without a file */
	assert_null(goto_file_at(&visit, KERNEL_TEXT, &own));
	goto_name(&visit, 0x400010, name, sizeof(name));
	assert_string_equal(name, "0x1010 (/bin/own)");
	goto_name(&visit, KERNEL_TEXT + 0x41, name, sizeof(name));
	assert_string_equal(name, "middle+0x1");
	goto_name(&visit, 0x123, name, sizeof(name));
	assert_string_equal(name, "0x123");
	areas[7] = 8; /* it leads nowhere */
	assert_null(goto_file_at(&visit, 0x3fffff, &own));
	areas[7] = MM + 8;
}

int visit_tests(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(named),
	    cmocka_unit_test(matched), cmocka_unit_test(events), cmocka_unit_test(instructions),
	    cmocka_unit_test(around), cmocka_unit_test(repeated), cmocka_unit_test(watched),
	    cmocka_unit_test(files)};

	return unit_group("visit", tests, COUNT_OF(tests), begin, over);
}
