/*
 * How trapline explore judges a run by its status and its output, which runs it ends, and the
 * command that it prints; and what it makes of its own command line.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/trapline/sample.h"
#include "tests/trapline/stopped.h"
#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/explore/options.h"
#include "tools/trapline/machine/machine.h"

static struct runs runs;
static char *words[] = {"-e", "a b", "--", "it's", "", NULL};

static int begin(void **state)
{
	(void)state;
	runs = (struct runs){.directory = "/tmp/trapline-unit.XXXXXX",
	    .words = words,
	    .append = "",
	    .limit_ms = 2000,
	    .jobs = 3};
	return !mkdtemp(runs.directory);
}

static int over(void **state)
{
	(void)state;
	return rmdir(runs.directory);
}

/* ---- the end of a run ---- */

/* A process that ends with a status, or by SIGKILL if that is negative; -1000: it does not. */
static int child(int status)
{
	int pid = fork();

	if (pid)
		return pid;
	while (status == -1000)
		pause();
	if (status < 0)
		kill(getpid(), SIGKILL);
	_exit(status);
}

static void write_file(unsigned number, const char *suffix, const char *text)
{
	FILE *f = fopen(runs_file(&runs, number, suffix), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void write_output(unsigned number, const char *text)
{
	write_file(number, "out", text);
}

static struct run_result result_of(int status, const char *output)
{
	struct run_result result = {.end = RUN_TROUBLE};

	write_output(7, output);
	runs.job[1] = (struct job){.pid = child(status), .number = 7, .seeds = {.first = 5}};
	runs.busy = 1;
	struct job job = runs_wait(&runs, &result);
	assert_int_equal(job.seeds.first, 5);
	assert_int_equal(runs.busy, 0);
	assert_int_equal(runs.job[1].pid, 0);
	assert_int_equal(result.number, 7);
	runs_forget(&runs, 7);
	return result;
}

static void judged(void **state)
{
	static const struct {
		int status;
		const char *output;
		unsigned wanted; /* bits; 0: all */
		enum run_end end;
		const char *what;
	} cases[] = {{0, "fine\n", 0, RUN_GOOD, ""}, {1, "", 0, RUN_EXIT, "ended with status 1"},
	    {1, "", 1 << RUN_PANIC, RUN_GOOD, "ended with status 1"}, {-9, "", 0, RUN_TROUBLE, ""},
	    {EXIT_OWN, "", 1 << RUN_PANIC, RUN_TROUBLE, ""},
	    {0, "x\nexplore: not over after 2 s\ny\n", 0, RUN_HANG, "hangs: not over after 2 s"},
	    {EXIT_DIED, "explore: not over after 2 s\n", 0, RUN_HANG, "hangs: not over after 2 s"},
	    {0, "explore: not over after ", 0, RUN_HANG, "hangs: not over after "},
	    {0, "explore: not over after 2 s", 0, RUN_HANG, "hangs: not over after 2 s"},
	    {EXIT_TIMEOUT, "", 0, RUN_HANG, "hangs: it was ended from outside (--timeout)"},
	    {EXIT_DIED, "", 0, RUN_PANIC, "ended the machine before its end"},
	    {EXIT_DIED, "[1] Kernel panic - no\nmore\n", 0, RUN_PANIC, "Kernel panic - no"},
	    {EXIT_DIED, "Kernel panic - rv: monitor wip fails\n", 0, RUN_MONITOR,
		"Kernel panic - rv: monitor wip fails"},
	    {EXIT_DIED, "Kernel panic - rv: monitor wip fails\n", 1 << RUN_PANIC, RUN_PANIC,
		"Kernel panic - rv: monitor wip fails"},
	    {0, "not balanced: a = b\n", 0, RUN_LEDGER,
		"left a ledger that is not balanced: a = b"},
	    {0, "not balanced: a = b\n", 1 << RUN_EXIT, RUN_GOOD,
		"left a ledger that is not balanced: a = b"},
	    {2, "not balanced: a = b\n", 0, RUN_EXIT, "ended with status 2"}};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		runs.wanted = cases[i].wanted ? cases[i].wanted : ~0u;
		struct run_result result = result_of(cases[i].status, cases[i].output);
		if (result.end != cases[i].end)
			print_error("%d '%s'\n", cases[i].status, cases[i].output);
		assert_int_equal(result.end, cases[i].end);
		assert_string_equal(result.what, cases[i].what);
		assert_int_equal(result.seed, 0);
	}
}

/* An event ends the search if a pattern names it, of a run that is good otherwise. */
static void events(void **state)
{
	static char *patterns[] = {"my:nothing", "*:oth*"};

	(void)state;
	runs.wanted = 1 << RUN_EXIT | 1 << RUN_EVENT;
	runs.events = patterns;
	for (unsigned n = 0; n <= 2; n++) {
		assert_int_equal(sample_begin(NULL), 0);
		assert_int_equal(rename(sample_file("a", "[local] mono", 1,
					    "0 0 0 lost 3;5 0 7 unknown;6 0 7 ev 1;"
					    "2000000007 0 7 other 1"),
				     runs_file(&runs, 7, "dat")),
		    0);
		assert_int_equal(sample_over(NULL), 0);
		runs.event_count = n;
		struct run_result result = result_of(n ? 0 : 1, "");
		assert_int_equal(result.end, n == 2 ? RUN_EVENT : n ? RUN_GOOD : RUN_EXIT);
		if (n == 2)
			assert_string_equal(result.what, "recorded my:other at 2.000000007");
	}
	runs.event_count = 0;
}

static void last_seed(void **state)
{
	(void)state;
	runs.wanted = ~0u;
	assert_int_equal(result_of(0, "a\nthe last seed was 1234\nb\n").seed, 1234);
	assert_int_equal(result_of(0, "the last seed was 12").seed, 12);
	assert_int_equal(result_of(0, "the last seed was").seed, 0);
	assert_int_equal(result_of(EXIT_OWN, "the last seed was 4294967297\n").seed, 4294967297);
}

/* Of those under way the ones with a later seed are ended, and leave no file; then all. */
static void dropped(void **state)
{
	int pid[3];

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		pid[i] = child(-1000);
		write_output(i, "x");
		runs.job[i] = (struct job){.pid = pid[i], .number = i, .seeds = {.first = 9 + i}};
	}
	runs.busy = runs.count = 3;
	assert_false(runs_have_room(&runs));
	runs_drop_beyond(&runs, 10);
	assert_int_equal(runs.busy, 2);
	assert_int_equal(runs.job[2].pid, 0);
	assert_int_equal(kill(pid[2], 0), -1);
	assert_int_equal(access(runs_file(&runs, 2, "out"), F_OK), -1);
	assert_int_equal(kill(pid[1], 0), 0);
	assert_int_equal(access(runs_file(&runs, 1, "out"), F_OK), 0);
	runs_drop_beyond(&runs, 0);
	assert_int_equal(runs.busy, 0);
	assert_int_equal(kill(pid[0], 0), -1);
	runs.count = 0;
}

/* ---- the command ---- */

static void print_command(void *schedule)
{
	runs_print_command(&runs, schedule, "out file");
}

static void expect_command(char *schedule, const char *want)
{
	char *text = stopped_caught(print_command, schedule);

	assert_string_equal(text, want);
	free(text);
}

/* A shell takes each word as it is; a seed goes in a range of its own after a rehearsal. */
static void command(void **state)
{
	(void)state;
	expect_command("sched_points=u1",
	    "trapline record --append 'sched_limit=2000 sched_points=u1' -o 'out file' -e 'a b' -- "
	    "'it'\\''s' ''\n");
	runs.rehearse = true;
	runs.append = "x=1";
	expect_command("sched_seed=12 sched_span=1,2",
	    "trapline record --append 'x=1 sched_limit=2000 sched_span=1,2' -o 'out file' "
	    "--rehearse --seeds 12..12 -e 'a b' -- 'it'\\''s' ''\n");
	expect_command("sched_points=u1",
	    "trapline record --append 'x=1 sched_limit=2000 sched_points=u1' -o 'out file' "
	    "--rehearse -e 'a b' -- 'it'\\''s' ''\n");
	runs.rehearse = false;
	runs.append = "";
}

/* ---- options ---- */

struct parsed {
	const char *line;
	struct exploring x;
	int status;
	char words[512]; /* of `record` */
};

static void parse(void *context)
{
	struct parsed *p = context;
	char text[256], *argv[32] = {"explore"};
	int argc = 1;

	snprintf(text, sizeof(text), "%s", p->line);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	optind = 0;
	p->status = explore_options(&p->x, argc, argv);
	*p->words = '\0';
	for (char **w = p->x.runs.words; w && *w; w++)
		snprintf(
		    p->words + strlen(p->words), sizeof(p->words) - strlen(p->words), "%s|", *w);
	explore_options_free(&p->x);
}

static struct parsed parsed(const char *line, int status)
{
	static char *said;
	struct parsed p = {.line = line};

	free(said);
	said = stopped_caught(parse, &p);
	if (p.status != status)
		print_error("%s: %d, %s", line, p.status, said);
	assert_int_equal(p.status, status);
	free(said);
	said = NULL;
	return p;
}

#define USUAL "-e|sched:sched_switch|-e|raw_syscalls|-e|explore|--icount|"

static void usual(void **state)
{
	struct parsed p = parsed("prog -x", -1);

	(void)state;
	assert_string_equal(p.words, USUAL "--after|grep '^not balanced: ' "
					   "/sys/kernel/tracing/trace_ledger|--smp|1|--|prog|-x|");
	assert_int_equal(p.x.range.from, 1);
	assert_int_equal(p.x.range.count, 1000);
	assert_false(p.x.range.alone);
	assert_int_equal(p.x.runs.limit_ms, 2000);
	assert_int_equal(
	    p.x.runs.wanted, 1 << RUN_PANIC | 1 << RUN_HANG | 1 << RUN_EXIT | 1 << RUN_LEDGER);
	assert_in_range(p.x.runs.jobs, 1, 64);
}

/* An option replaces the usual value; of two the last one counts. */
static void given(void **state)
{
	struct parsed p =
	    parsed("--until exit --smp 3 -e irq --after A -j 2 -j 64 --seeds 5 --seeds 1000000000 "
		   "--from 9 --limit 0.001 -o F -q prog",
		-1);

	(void)state;
	assert_string_equal(p.words, "--smp|3|-e|irq|-e|explore|--icount|--after|A|--|prog|");
	assert_int_equal(p.x.range.from, 9);
	assert_int_equal(p.x.range.count, 1000000000);
	assert_true(p.x.range.quiet);
	assert_int_equal(p.x.runs.limit_ms, 1);
	assert_int_equal(p.x.runs.wanted, 1 << RUN_EXIT);
	assert_int_equal(p.x.runs.jobs, 64);
	p = parsed("--until ledger --until panic --after A --cold -p f -c echo", -1);
	assert_string_equal(p.words, "-p|f|-e|explore|--icount|--after|A\ngrep '^not balanced: ' "
				     "/sys/kernel/tracing/trace_ledger|--smp|1|--|sh|-lc|cd "
				     "/sys/kernel/tracing\necho|");
	assert_true(p.x.range.alone);
	assert_int_equal(p.x.runs.wanted, 1 << RUN_LEDGER | 1 << RUN_PANIC);
	p = parsed("--until rv=wip --until event=my:* --until event=a:b prog", -1);
	assert_string_equal(p.words,
	    "--before|echo wip >> rv/enabled_monitors && echo panic > "
	    "rv/monitors/wip/reactors|-e|rv:error_wip|" USUAL "--smp|1|--|prog|");
	assert_true(p.x.range.alone); /* the trace does not show which seed did it */
	assert_int_equal(p.x.runs.event_count, 2);
	assert_int_equal(p.x.runs.wanted, 1 << RUN_MONITOR | 1 << RUN_EVENT);
}

static void refused(void **state)
{
	static const char *const lines[] = {"", "-c echo prog", "--seeds 0 prog",
	    "--seeds 1000000001 prog", "--from 0 prog", "--from x prog", "-j 0 prog", "-j 65 prog",
	    "--limit 0 prog", "--limit 0.0009 prog", "--limit x prog", "--until prog prog",
	    "--until rv= prog", "--until rv=a/b prog", "--until event=x prog", "--until pan prog",
	    "--get x prog", "--strace prog", "--real-time prog", "--accel kvm prog", "--seeds",
	    "--nothing prog"};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(lines); i++)
		parsed(lines[i], EXIT_USAGE);
	parsed("--until nothing --help", EXIT_USAGE);
	parsed("--help", EXIT_FINE);
}

/* ---- how far the clocks go ---- */

/* The report's first line says it, if it is whole and says nothing else. */
static void span(void **state)
{
	static const struct {
		const char *report, *span;
	} rows[] = {
	    {"span 1,2,3,4,5,6\n", "1,2,3,4,5,6"},
	    {"span 1,2,3,4,5,6,7\nmore\n", "1,2,3,4,5,6,7"},
	    {"span 1,2,3,4,5,6", NULL},
	    {"span \n", NULL},
	    {"ends 1,2,3,4,5,6\n", NULL},
	    {"abc\n 1,2,3,4,5,6", NULL},
	    {"", NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char file[300];

		write_file(1, "report", rows[i].report);
		snprintf(file, sizeof(file), "%s", runs_file(&runs, 1, "report"));
		assert_int_equal(runs_take_span(&runs, file), rows[i].span != NULL);
		if (rows[i].span)
			assert_string_equal(runs.span, rows[i].span);
		unlink(file);
	}
}

int runs_tests(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(judged),
	    cmocka_unit_test(last_seed), cmocka_unit_test(events), cmocka_unit_test(dropped),
	    cmocka_unit_test(command), cmocka_unit_test(usual), cmocka_unit_test(given),
	    cmocka_unit_test(refused), cmocka_unit_test(span)};

	return unit_group("runs", tests, COUNT_OF(tests), begin, over);
}
