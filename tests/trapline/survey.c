/* What a survey concludes from records: told by hand, one after the other, with the formats of the events. */
#include <stdlib.h>
#include <string.h>

#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/survey.h"

#define COMMON                                                                                     \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define NUMBER(name, at) "\tfield:int " name ";\toffset:" at ";\tsize:4;\tsigned:1;\n"

enum {
	SWITCH,
	WAKING,
	WAKEUP,
	ENTRY,
	EXIT,
	TIMER_ENTRY,
	TIMER_EXIT,
	RAW_ENTER,
	RAW_EXIT,
	ENTER_READ,
	EXIT_READ,
	MINE
};

static const struct {
	const char *system, *name, *fields;
} formats[] = {
    [SWITCH] = {"sched", "sched_switch", NUMBER("prev_pid", "8") NUMBER("next_pid", "12")},
    [WAKING] = {"sched", "sched_waking", NUMBER("pid", "8")},
    [WAKEUP] = {"sched", "sched_wakeup", NUMBER("pid", "8")},
    [ENTRY] = {"irq", "irq_handler_entry", NUMBER("irq", "8")},
    [EXIT] = {"irq", "irq_handler_exit", NUMBER("irq", "8")},
    [TIMER_ENTRY] = {"irq_vectors", "local_timer_entry", NUMBER("vector", "8")},
    [TIMER_EXIT] = {"irq_vectors", "local_timer_exit", NUMBER("vector", "8")},
    [RAW_ENTER] = {"raw_syscalls", "sys_enter", NUMBER("id", "8")},
    [RAW_EXIT] = {"raw_syscalls", "sys_exit", NUMBER("id", "8")},
    [ENTER_READ] = {"syscalls", "sys_enter_read", NUMBER("__syscall_nr", "8")},
    [EXIT_READ] = {"syscalls", "sys_exit_read", NUMBER("__syscall_nr", "8")},
    [MINE] = {"user_events", "mine", NUMBER("n", "8")},
};

static struct trace trace;
static struct survey survey;
static int32_t data[64][4];
static unsigned told;

static void begin(unsigned cpus)
{
	char text[1024];

	trace = (struct trace){.file = "told", .cpus = cpus, .in_ns = true};
	trace.by_id = xmalloc(65536 * sizeof(*trace.by_id));
	for (unsigned i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		int n = snprintf(text, sizeof(text),
		    "name: %s\nID: %u\nformat:\n" COMMON "%s\nprint fmt: \"\"\n", formats[i].name,
		    i + 10, formats[i].fields);
		trace_add_format(&trace, formats[i].system, text, n);
	}
	trace_index(&trace);
	survey_begin(&survey, &trace);
	told = 0;
}

static void end(void)
{
	survey_end(&survey);
}

static void over(void)
{
	survey_free(&survey);
	trace_close(&trace);
}

/* A record of `pid` on a CPU, with up to two numbers. */
static void tell(uint64_t time, unsigned cpu, int pid, int event, int one, int two)
{
	int32_t *d = data[told++ % 64];

	d[0] = event + 10;
	d[1] = pid;
	d[2] = one;
	d[3] = two;
	survey_record(&survey, &(struct record){.cpu = cpu,
				   .time = time,
				   .event = trace.by_id[event + 10],
				   .id = event + 10,
				   .pid = pid,
				   .data = (const uint8_t *)d,
				   .size = 16});
}

static void tell_gap(uint64_t time, unsigned cpu, uint64_t lost)
{
	survey_record(
	    &survey, &(struct record){.is_gap = true, .lost = lost, .cpu = cpu, .time = time});
}

static void expect_span(size_t i, enum span_kind kind, const char *word, uint64_t from, uint64_t to)
{
	const struct span *s = &survey.span[i];

	assert_true(i < survey.spans);
	assert_int_equal(s->kind, kind);
	assert_int_equal(s->begin, from);
	assert_int_equal(s->end, to);
	if (word)
		assert_string_equal(survey.words.word[s->word], word);
}

static void expect_slice(size_t i, unsigned cpu, int pid, uint64_t from, uint64_t to)
{
	const struct slice *s = &survey.slice[i];

	assert_true(i < survey.slices);
	assert_int_equal(s->cpu, cpu);
	assert_int_equal(s->pid, pid);
	assert_int_equal(s->begin, from);
	assert_int_equal(s->end, to);
}

/* From the first word that it shall run, on whichever CPU; not of one that ran meanwhile, nor of the idle task. */
static void wakeups(void **state)
{
	(void)state;
	begin(2);
	tell(100, 0, 1, WAKING, 7, 0);
	tell(110, 0, 1, WAKEUP, 7, 0);
	tell(150, 1, 0, SWITCH, 0, 7);
	tell(160, 0, 1, WAKING, 7, 0); /* it runs */
	tell(170, 1, 7, SWITCH, 7, 0);
	tell(190, 1, 0, SWITCH, 0, 7);
	tell(200, 1, 7, WAKING, 0, 0);
	tell(210, 1, 7, SWITCH, 7, 0);
	end();
	assert_int_equal(survey.spans, 1);
	expect_span(0, SPAN_WAKEUP, NULL, 100, 150);
	assert_int_equal(survey.span[0].cpu, 1);
	over();
}

/* What lies across a gap is not measured, whosever CPU it was. */
static void across_gaps(void **state)
{
	(void)state;
	begin(2);
	tell(100, 0, 1, WAKING, 7, 0);
	tell(120, 1, 0, MINE, 0, 0);
	tell(150, 0, 1, SWITCH, 1, 7);
	tell(160, 0, 7, RAW_ENTER, 0, 0);
	tell(170, 0, 7, TIMER_ENTRY, 236, 0);
	tell_gap(165, 1, 3);
	tell(180, 0, 7, TIMER_EXIT, 236, 0);
	tell(190, 0, 7, RAW_EXIT, 0, 0);
	tell(200, 1, 0, TIMER_ENTRY, 236, 0);
	tell_gap(210, 1, 5);
	tell(220, 1, 0, TIMER_EXIT, 236, 0);
	end();
	assert_int_equal(survey.spans, 1);
	expect_span(0, SPAN_IRQ, "local_timer", 170, 180);
	assert_int_equal(survey.unsure[SPAN_WAKEUP], 1);
	assert_int_equal(survey.unsure[SPAN_IRQ], 1);
	assert_int_equal(survey.unsure[SPAN_CALL], 1);
	bool unknown;
	assert_int_equal(survey_lost(&survey, 1, &unknown), 8);
	assert_int_equal(survey_lost(&survey, 0, &unknown), 0);
	over();
}

/* One within another; one without its exit; an exit alone. */
static void interrupts(void **state)
{
	struct durations durations;

	(void)state;
	begin(1);
	tell(5, 0, 1, EXIT, 4, 0);
	tell(10, 0, 1, TIMER_ENTRY, 236, 0);
	tell(20, 0, 1, ENTRY, 4, 0);
	tell(25, 0, 1, ENTRY, 5, 0);
	tell(30, 0, 1, EXIT, 4, 0);
	tell(40, 0, 1, TIMER_EXIT, 236, 0);
	tell(50, 0, 1, ENTRY, 4, 0);
	tell(55, 0, 1, EXIT, 4, 0);
	end();
	assert_int_equal(survey.spans, 3);
	expect_span(0, SPAN_IRQ, "irq 4 ", 20, 30);
	expect_span(1, SPAN_IRQ, "local_timer", 10, 40);
	expect_span(2, SPAN_IRQ, "irq 4 ", 50, 55);
	assert_true(survey.span[0].inner && !survey.span[1].inner);
	survey_durations(&survey, SPAN_IRQ, WORD_ANY, &durations); /* not those within */
	assert_int_equal(durations.count, 2);
	assert_int_equal(durations_at(&durations, 50), 5);
	assert_int_equal(durations_at(&durations, 51), 30);
	assert_int_equal(durations_at(&durations, 100), 30);
	free(durations.value);
	survey_durations(&survey, SPAN_IRQ, survey.span[0].word, &durations);
	assert_int_equal(durations.count, 2);
	assert_int_equal(durations.value[1], 10);
	free(durations.value);
	over();
}

/* Both events of a call are one call; those of other tasks are others; an exit of another call is not its end. */
static void calls(void **state)
{
	(void)state;
	begin(2);
	tell(10, 0, 7, ENTER_READ, 0, 0);
	tell(11, 0, 7, RAW_ENTER, 0, 0);
	tell(12, 1, 8, RAW_ENTER, 1, 0);
	tell(13, 1, 8, RAW_EXIT, 2, 0);
	tell(20, 1, 7, EXIT_READ, 0, 0);
	tell(21, 1, 7, RAW_EXIT, 0, 0);
	tell(30, 1, 8, RAW_EXIT, 1, 0);
	tell(31, 1, 9, RAW_EXIT, 1, 0);
	tell(40, 0, 7, RAW_ENTER, 60000, 0);
	tell(41, 0, 7, RAW_EXIT, 60000, 0);
	end();
	assert_int_equal(survey.spans, 3);
	expect_span(0, SPAN_CALL, "read", 10, 20);
	expect_span(1, SPAN_CALL, "write", 12, 30);
	expect_span(2, SPAN_CALL, "system call 60000", 40, 41);
	over();
}

/* Who ran before the first switch had run from the beginning; whoever runs last, to the end; nobody across a gap. */
static void slices(void **state)
{
	(void)state;
	begin(2);
	tell(100, 0, 5, MINE, 1, 0);
	tell(110, 1, 6, SWITCH, 6, 0);
	tell(120, 0, 5, SWITCH, 5, 0);
	tell(130, 1, 0, MINE, 1, 0);
	tell_gap(150, 1, 1);
	tell(160, 1, 8, MINE, 1, 0);
	tell(170, 0, 0, MINE, 1, 0);
	end();
	assert_int_equal(survey.slices, 5);
	expect_slice(0, 1, 6, 100, 110);
	expect_slice(1, 0, 5, 100, 120);
	expect_slice(2, 1, 0, 110, 130);
	expect_slice(3, 0, 0, 120, 170);
	expect_slice(4, 1, 8, 150, 170);
	assert_int_equal(survey.marks, 4);
	over();
}

/* Without switches: from the first record of a task to its last in a row. */
static void slices_unswitched(void **state)
{
	(void)state;
	begin(2);
	tell(90, 1, 2, MINE, 0, 0);
	tell(100, 0, 5, MINE, 0, 0);
	tell(110, 0, 5, MINE, 0, 0);
	tell(120, 0, 6, MINE, 0, 0);
	tell(200, 1, 2, MINE, 0, 0);
	end();
	assert_int_equal(survey.slices, 3);
	expect_slice(0, 0, 5, 100, 110);
	expect_slice(1, 0, 6, 120, 120);
	expect_slice(2, 1, 2, 90, 200);
	uint64_t ran = 0;
	for (size_t i = 0; i < survey.tasks; i++)
		ran += survey.task[i].ran;
	assert_int_equal(ran, 120);
	over();
}

/* A part: what is outside tells who runs and since when, and is not counted. */
static void part(void **state)
{
	(void)state;
	begin(2);
	survey_part(&survey, 150, 300);
	tell(100, 0, 5, MINE, 1, 0);
	tell(110, 0, 5, SWITCH, 5, 6);
	tell(120, 0, 6, RAW_ENTER, 0, 0);
	tell(130, 1, 7, TIMER_ENTRY, 236, 0);
	tell(140, 1, 7, TIMER_EXIT, 236, 0);
	tell(145, 1, 7, WAKING, 8, 0);
	tell(200, 0, 6, MINE, 1, 0);
	tell(250, 0, 6, RAW_EXIT, 0, 0);
	tell(300, 1, 7, SWITCH, 7, 8);
	tell(301, 1, 8, SWITCH, 8, 7);
	tell_gap(400, 1, 1);
	tell(410, 0, 6, MINE, 1, 0);
	end();
	assert_int_equal(survey.records, 3);
	assert_int_equal(survey.marks, 1);
	assert_int_equal(survey.spans, 2);
	expect_span(0, SPAN_CALL, "read", 120, 250);
	expect_span(1, SPAN_WAKEUP, NULL, 145, 300);
	assert_int_equal(survey.gaps, 0);
	assert_int_equal(survey.slices, 3);
	expect_slice(0, 1, 7, 150, 300);
	expect_slice(1, 1, 8, 300, 300);
	expect_slice(2, 0, 6, 150, 300);
	over();
}

int survey_tests(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(wakeups), cmocka_unit_test(across_gaps),
	    cmocka_unit_test(interrupts), cmocka_unit_test(calls), cmocka_unit_test(slices),
	    cmocka_unit_test(slices_unswitched), cmocka_unit_test(part)};

	return cmocka_run_group_tests_name("survey", tests, NULL, NULL);
}
