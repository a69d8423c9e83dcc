/*
 * tools/trapline/machine/args.c, script.c, record/steps.c and what machine.c makes of a script's
 * words: texts in, texts out.
 */
#include "tests/trapline/trapline_unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/machine/machine.h"
#include "tools/trapline/record/record.h"

static uint64_t bytes_of(const char *text)
{
	uint64_t bytes;

	return parse_memory(text, &bytes) ? bytes : 0;
}

static void memory_sizes(void **state)
{
	(void)state;
	assert_int_equal(bytes_of("256"), 256 << 20);
	assert_int_equal(bytes_of("256M"), 256 << 20);
	assert_int_equal(bytes_of("262144k"), 256 << 20);
	assert_true(bytes_of("4G") == 4ULL << 30);
	assert_int_equal(bytes_of("16"), 16 << 20);
	assert_int_equal(bytes_of("16384K"), 16 << 20);
	assert_true(bytes_of("1024g") == 1ULL << 40);
	static const char *const bad[] = {"", "M", "15", "16385K", "-64", " 64", "64MB", "64T",
	    "64 M", "1025G", "17179869185G", "99999999999999999999", "0x100", "1e3"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(bytes_of(bad[i]), 0);
}

static void numbers(void **state)
{
	uint64_t n;

	(void)state;
	assert_true(parse_number("10", 10, &n) && n == 10);
	assert_false(parse_number("11", 10, &n));
	assert_false(
	    parse_number("", 10, &n) || parse_number("-1", 10, &n) || parse_number("1x", 10, &n));
	assert_false(parse_number("99999999999999999999", UINT64_MAX, &n));
	assert_true(parse_seconds("1.5", &n) && n == 1500000000);
	assert_true(parse_seconds(".25", &n) && n == 250000000);
	assert_true(parse_seconds("0", &n) && n == 0);
	assert_true(parse_seconds("1.001", &n) && n == 1001000000);
	assert_true(parse_seconds("1.000235235", &n) && n == 1000235235);
	assert_false(parse_seconds("", &n) || parse_seconds("-1", &n) || parse_seconds("1s", &n) ||
		     parse_seconds("inf", &n) || parse_seconds("nan", &n) ||
		     parse_seconds("1e10", &n) || parse_seconds(".", &n));
}

/* QEMU's words, one after the other. */
static void command(const struct machine_options *o, char *text, size_t size)
{
	static const struct machine_files files = {3, 4, 5, 6, 7, 8};
	char **words = machine_command(o, &files);

	*text = '\0';
	for (char **w = words; *w; w++) {
		snprintf(text + strlen(text), size - strlen(text), "%s|", *w);
		free(*w);
	}
	free(words);
}

static void qemu_words(void **state)
{
	struct machine_options o;
	char text[4000];

	(void)state;
	setenv("QEMU", "my-qemu", 1);
	machine_defaults(&o);
	unsetenv("QEMU");
	o.kernel = "k,1";
	o.append = "loglevel=7";
	assert_int_equal(machine_option(&o, "run", OPTION_SMP, "64"), -1);
	assert_int_equal(machine_option(&o, "run", OPTION_MEM, "1G"), -1);
	assert_int_equal(machine_option(&o, "run", OPTION_QEMU, "-d"), -1);
	assert_int_equal(machine_option(&o, "run", OPTION_QEMU, "int"), -1);
	command(&o, text, sizeof(text));
	assert_memory_equal(text, "my-qemu|", 8);
	static const char *const there[] = {"|-smp|64|", "|-m|1024M|",
	    "size=1024M,mem-path=/proc/self/fd/3,share=on|", "|-kernel|k,1|",
	    "|-initrd|/proc/self/fd/4|", "|-accel|tcg,thread=multi|", "|-no-reboot|",
	    "|console=ttyS0 panic=-1 shell=plain init=/trapline/main notty=ttyS1 ",
	    " notty=ttyS3 quiet loglevel=7|-d|int|", "id=control,path=/proc/self/fd/7|",
	    "|-serial|stdio|"};
	for (size_t i = 0; i < sizeof(there) / sizeof(there[0]); i++)
		assert_non_null(strstr(text, there[i]));
	o.console = o.icount = true;
	command(&o, text, sizeof(text));
	assert_non_null(strstr(text, "|-serial|mon:stdio|"));
	assert_non_null(strstr(text, "|-icount|shift=0,sleep=off|"));
	assert_non_null(strstr(text, "|console=ttyS0 panic=-1 loglevel=7|"));
	assert_null(strstr(text, "-accel"));
	assert_null(strstr(text, "/proc/self/fd/7"));
	machine_forget(&o);
}

static void refused(void **state)
{
	struct machine_options o;

	(void)state;
	say_nothing = true;
	machine_defaults(&o);
	assert_int_equal(machine_option(&o, "run", OPTION_SMP, "0"), EXIT_OWN);
	assert_int_equal(machine_option(&o, "run", OPTION_SMP, "65"), EXIT_OWN);
	assert_int_equal(machine_option(&o, "run", OPTION_MEM, "15M"), EXIT_OWN);
	assert_int_equal(machine_option(&o, "run", OPTION_TIMEOUT, "0"), EXIT_OWN);
	assert_int_equal(machine_option(&o, "run", '?', NULL), EXIT_OWN);
	assert_int_equal(o.cpus, 2);
	machine_forget(&o);
}

/* The reports of a script, in order, and the rest of a failure. */
static void reports(void **state)
{
	const char *gets[] = {"a", "b"};
	struct machine_options o = {.gets = gets, .get_count = 2};
	struct fetched fetched[2] = {{.reported = false}};
	struct machine m = {.options = &o, .status = -1, .failed_step = -1, .fetched = fetched};

	(void)state;
	say_nothing = true;
	machine_report(&m, "get 2 5"); /* there are but two */
	machine_report(&m, "get x");
	machine_report(&m, "lacks 7");
	assert_true(!m.fetching && !fetched[0].reported && !fetched[1].reported);
	machine_report(&m, "get 1 5");
	assert_true(m.fetching == &fetched[1] && fetched[1].reported && fetched[1].size == 5);
	machine_report(&m, "get 1 500"); /* it came already */
	assert_int_equal(fetched[1].size, 5);
	machine_report(&m, "lacks 0");
	assert_true(fetched[0].lacking);
	machine_report(&m, "more");
	assert_true(m.feed.asked);
	machine_report(&m, "nothing we know");
	assert_true(!m.ready && m.status < 0 && m.failed_step < 0);
	machine_report(&m, "ready");
	assert_true(m.ready);
	machine_report(&m, "exit 300");
	assert_int_equal(m.status, 300 & 255);
	machine_report(&m, "fail 7");
	machine_report(&m, "ready or not");
	machine_report(&m, "");
	assert_int_equal(m.failed_step, 7);
	assert_int_equal(m.why.size, 14);
	assert_memory_equal(m.why.data, "ready or not\n\n", 14);
	bytes_free(&m.why);
}

static int as_status(enum machine_end end, int status)
{
	struct machine_options o = {.timeout = 1};
	struct machine m = {
	    .options = &o, .end = end, .status = status, .failed_step = -1, .signal = 2};

	return machine_status(&m);
}

static void statuses(void **state)
{
	struct machine m = {
	    .end = END_OFF, .status = -1, .failed_step = -1, .may_switch_off = true};

	(void)state;
	say_nothing = true;
	assert_int_equal(as_status(END_OFF, 0), 0);
	assert_int_equal(as_status(END_OFF, 77), 77);
	assert_int_equal(as_status(END_OFF, -1), EXIT_DIED);
	assert_int_equal(as_status(END_RESET, -1), EXIT_DIED);
	assert_int_equal(as_status(END_TIMEOUT, -1), EXIT_TIMEOUT);
	assert_int_equal(as_status(END_SIGNAL, -1), 130);
	assert_int_equal(as_status(END_QEMU, -1), EXIT_OWN);
	assert_int_equal(as_status(END_NO_QEMU, -1), EXIT_OWN);
	assert_int_equal(machine_status(&m), 0);
	m.failed_step = 0;
	assert_int_equal(machine_status(&m), EXIT_OWN);
	m.failed_step = -1;
	m.output_failed = true;
	assert_int_equal(machine_status(&m), EXIT_OWN);
}

static void expect_text(struct bytes *b, const char *want)
{
	bytes_put(b, "", 1);
	assert_string_equal((const char *)b->data, want);
	bytes_free(b);
}

#define OBEY                                                                                       \
	"while read -r signal; do until read -r pid < /trapline/pid; do :; done; kill -$signal "   \
	"-$pid; done < /dev/ttyS0 > /dev/null 2>&1 3>&- &\n"

static void words(void **state)
{
	struct bytes b = {.data = NULL};
	char *const argv[] = {"./x", "it's", "", "$a\n", NULL};
	struct program p = {.argv = argv, .directory = "/house/it's"};

	(void)state;
	script_put(&b, "%s %q %d", "a b", "c'd", -3);
	expect_text(&b, "a b 'c'\\''d' -3");
	script_program(&b, &p, "before; ");
	/* the text in quotes, whose quotes are quoted again */
	expect_text(&b,
	    OBEY "echo > /proc/trapline/syscalls\nset -m\n/bin/sh -lc 'echo $$ > /trapline/pid; cd "
		 "'\\''/house/it'\\''\\'\\'''\\''s'\\'' 2> "
		 "/dev/null || "
		 "cd /; before; exec '\\''./x'\\'' "
		 "'\\''it'\\''\\'\\'''\\''s'\\'' '\\'''\\'' '\\''$a\n'\\''' < /dev/null "
		 "3>&- > /dev/ttyS1 2> /dev/ttyS2 & set +m; wait $!; status=$?\n");
	p = (struct program){.argv = NULL, .input = true};
	script_program(&b, &p, NULL);
	expect_text(&b,
	    OBEY "echo > /proc/trapline/syscalls\nset -m\n/bin/sh -lc 'echo $$ > /trapline/pid; cd "
		 "/sys/kernel/tracing; . /trapline/commands' < /trapline/input "
		 "3>&- > /dev/ttyS1 2> /dev/ttyS2 & set +m; wait $!; status=$?\n");
	p = (struct program){.argv = NULL, .deaf = true};
	script_program(&b, &p, NULL);
	expect_text(&b, "echo > /proc/trapline/syscalls\nset -m\n/bin/sh -lc 'echo $$ > "
			"/trapline/pid; cd /sys/kernel/tracing; . "
			"/trapline/commands' < /dev/null "
			"3>&- > /dev/ttyS1 2> /dev/ttyS2 & set +m; wait $!; status=$?\n");
	p = (struct program){.argv = NULL, .feed = true, .one_output = true};
	script_program(&b, &p, NULL);
	expect_text(&b, "echo > /proc/trapline/syscalls\nset -m\n/bin/sh -lc 'echo $$ > "
			"/trapline/pid; cd /sys/kernel/tracing; . "
			"/trapline/commands' <&0 "
			"3>&- > /dev/ttyS1 2>&1 & set +m; wait $!; status=$?\n");
}

/* The lines of a list of steps, without the functions before them. */
static void expect_steps(const struct steps *s, const char *want)
{
	struct bytes b = {.data = NULL};
	const char *at;

	steps_script(&b, s, &(struct program){.argv = NULL});
	bytes_put(&b, "", 1);
	at = strstr((const char *)b.data, "echo 0 > tracing_on\n");
	assert_non_null(at);
	assert_string_equal(at + strlen("echo 0 > tracing_on\n"), want);
	bytes_free(&b);
}

static void steps(void **state)
{
	struct steps s = {.count = 0};

	(void)state;
	assert_null(steps_last_event(&s));
	assert_false(steps_record(&s));
	steps_add(&s, STEP_EVENT, "all", NULL);
	steps_add(&s, STEP_CLOCK, "mono", NULL); /* settings come first, whatever the order */
	steps_add(&s, STEP_EVENT_OFF, "sched:*", NULL);
	assert_string_equal(steps_last_event(&s), "all");
	assert_true(steps_record(&s));
	expect_steps(&s,
	    "printf '%s\\n' 'mono' > trace_clock 2> /dev/null || fail 1 error_log\n"
	    "each 'events/*/enable' '1' 2> /dev/null || fail 0 available_events\n"
	    "each 'events/sched/enable' '0' 2> /dev/null || fail 2 available_events\n");
	steps_free(&s);
	steps_add(&s, STEP_DEFINE, "p:x f", NULL);
	steps_add(&s, STEP_EVENT, "kprobes", NULL);
	steps_add(&s, STEP_EVENT, "kprobes:x", NULL);
	expect_steps(&s,
	    "printf '%s\\n' 'p:x f' >> dynamic_events 2> /dev/null || fail 0 error_log\n"
	    "each 'events/kprobes/enable events/*/kprobes/enable' '1' 2> /dev/null || warn 1 "
	    "available_events\n"
	    "each 'events/kprobes/x/enable' '1' 2> /dev/null || fail 2 available_events\n");
	s.count = 0;
	steps_add(&s, STEP_EVENT, " a:b !c:d\n", NULL);
	steps_add(&s, STEP_EVENT_OFF, "a:* ", NULL);
	steps_add(&s, STEP_EVENT, "", NULL);
	expect_steps(&s, "each 'events/a/b/enable' '1' 2> /dev/null && each 'events/c/d/enable' "
			 "'0' 2> /dev/null || fail 0 available_events\n"
			 "each 'events/a/enable' '0' 2> /dev/null || fail 1 available_events\n"
			 "false || fail 2 available_events\n");
	s.count = 0;
	steps_add(&s, STEP_EVENT, "user_events !user_events:a* user_events:b", NULL);
	expect_steps(&s,
	    "echo '''*' >> user_events_enable && any 'events/user_events/enable "
	    "events/*/user_events/enable' '1' 2> /dev/null && "
	    "echo '!''a*' >> user_events_enable && any 'events/user_events/a*/enable' '0' "
	    "2> /dev/null && "
	    "echo '''b' >> user_events_enable && any 'events/user_events/b/enable' '1' "
	    "2> /dev/null || fail 0 available_events\n");
	s.missing_is_fine = true;
	s.count = 0;
	steps_add(&s, STEP_EVENT, "nosuch", NULL);
	expect_steps(&s, "each 'events/nosuch/enable events/*/nosuch/enable' '1' 2> /dev/null || "
			 "warn 0 available_events\n");
	steps_free(&s);
}

static void expect_files(enum step_kind kind, const char *event, const char *files)
{
	struct steps s = {.count = 0};
	char want[200];

	steps_add(&s, kind, "x", event);
	snprintf(want, sizeof(want), "each '%s' 'x' 2> /dev/null || fail 0 error_log\n", files);
	expect_steps(&s, want);
	steps_free(&s);
}

static void filters_and_triggers(void **state)
{
	(void)state;
	expect_files(STEP_FILTER, "sched:sched_switch", "events/sched/sched_switch/filter");
	expect_files(STEP_FILTER, "sched:", "events/sched/filter");
	expect_files(STEP_FILTER, "sched:*", "events/sched/filter");
	expect_files(STEP_FILTER, "sched:sched_w*", "events/sched/sched_w*/filter");
	expect_files(STEP_FILTER, "sched", "events/sched/filter events/*/sched/filter");
	expect_files(STEP_FILTER, ":kfree", "events/*/kfree/filter");
	expect_files(STEP_FILTER, "all", "events/*/filter");
	expect_files(STEP_TRIGGER, "sched:sched_switch", "events/sched/sched_switch/trigger");
	expect_files(STEP_TRIGGER, "sched", "events/sched/*/trigger events/*/sched/trigger");
	expect_files(STEP_TRIGGER, "all", "events/*/*/trigger");
	expect_files(STEP_FILTER, "!kmem:kfree", "events/kmem/kfree/filter");
}

int machine_tests(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(memory_sizes),
	    cmocka_unit_test(numbers), cmocka_unit_test(qemu_words), cmocka_unit_test(refused),
	    cmocka_unit_test(reports), cmocka_unit_test(statuses), cmocka_unit_test(words),
	    cmocka_unit_test(steps), cmocka_unit_test(filters_and_triggers)};

	return unit_group("machine", tests, COUNT_OF(tests), NULL, NULL);
}
