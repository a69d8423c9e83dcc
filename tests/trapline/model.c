/*
 * The conclusions of a model from records. The records are made by hand, one after the other, with
 * the formats of the events.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/model/model.h"

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
	MINE,
	JOB_BEGIN,
	JOB_END,
	STEP_START,
	STEP_STOP,
	JO_END
};

static const struct {
	const char *system, *name, *fields;
} formats[] = {
    [SWITCH] = {"sched", "sched_switch",
	NUMBER("prev_pid", "8") NUMBER("next_pid", "12") NUMBER("prev_state", "16")},
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
    [JOB_BEGIN] = {"user_events", "job_begin", NUMBER("n", "8")},
    [JOB_END] = {"user_events", "job_end", NUMBER("n", "8")},
    [STEP_START] = {"user_events", "step_start", NUMBER("n", "8")},
    [STEP_STOP] = {"user_events", "step_stop", NUMBER("n", "8")},
    [JO_END] = {"user_events", "jo_end", NUMBER("n", "8")},
};

static struct trace trace;
static struct model model;
static int32_t data[64][5];
static unsigned told;
static int32_t left_as; /* the state in which a switch leaves the previous task */
#define SLEEPING 1

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
	model_begin(&model, &trace);
	told = 0;
	left_as = SLEEPING;
}

static void end(void)
{
	model_end(&model);
}

static void over(void)
{
	model_free(&model);
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
	d[4] = left_as;
	model_record(&model, &(struct record){.cpu = cpu,
				 .time = time,
				 .event = trace.by_id[event + 10],
				 .id = event + 10,
				 .pid = pid,
				 .data = (const uint8_t *)d,
				 .size = 20});
}

static void tell_gap(uint64_t time, unsigned cpu, uint64_t lost)
{
	model_record(
	    &model, &(struct record){.is_gap = true, .lost = lost, .cpu = cpu, .time = time});
}

static void expect_interval(
    size_t i, enum interval_kind kind, const char *word, uint64_t from, uint64_t to)
{
	const struct interval *s = &model.interval[i];

	assert_true(i < model.intervals);
	assert_int_equal(s->kind, kind);
	assert_int_equal(s->begin, from);
	assert_int_equal(s->end, to);
	if (word)
		assert_string_equal(model_name(&model, s), word);
}

static void expect_state(size_t i, unsigned cpu, int pid, uint64_t from, uint64_t to)
{
	const struct state *s = &model.state[i];

	assert_true(i < model.states);
	assert_int_equal(s->cpu, cpu);
	assert_int_equal(s->pid, pid);
	assert_int_equal(s->begin, from);
	assert_int_equal(s->end, to);
}

/*
 * From the first word that it shall run, on whichever CPU; not of one that ran meanwhile, nor of
 * the idle task.
 */
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
	assert_int_equal(model.intervals, 1);
	expect_interval(0, INTERVAL_WAKEUP, NULL, 100, 150);
	assert_int_equal(model.interval[0].cpu, 1);
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
	assert_int_equal(model.intervals, 1);
	expect_interval(0, INTERVAL_IRQ, "local_timer", 170, 180);
	assert_int_equal(model.unsure[INTERVAL_WAKEUP], 1);
	assert_int_equal(model.unsure[INTERVAL_IRQ], 1);
	assert_int_equal(model.unsure[INTERVAL_SYSCALL], 1);
	bool unknown;
	assert_int_equal(model_lost(&model, 1, &unknown), 8);
	assert_int_equal(model_lost(&model, 0, &unknown), 0);
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
	assert_int_equal(model.intervals, 3);
	expect_interval(0, INTERVAL_IRQ, "irq 4 ", 20, 30);
	expect_interval(1, INTERVAL_IRQ, "local_timer", 10, 40);
	expect_interval(2, INTERVAL_IRQ, "irq 4 ", 50, 55);
	assert_true(model.interval[0].depth && !model.interval[1].depth);
	model_durations(&model, INTERVAL_IRQ, WORD_ANY, &durations); /* not those within */
	assert_int_equal(durations.count, 2);
	assert_int_equal(durations_at(&durations, 50), 5);
	assert_int_equal(durations_at(&durations, 51), 30);
	assert_int_equal(durations_at(&durations, 100), 30);
	free(durations.value);
	model_durations(&model, INTERVAL_IRQ, model.interval[0].word, &durations);
	assert_int_equal(durations.count, 2);
	assert_int_equal(durations.value[1], 10);
	free(durations.value);
	over();
}

/*
 * Both events of a call are one call; those of other tasks are others; an exit of another call is
 * not its end.
 */
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
	assert_int_equal(model.intervals, 3);
	expect_interval(0, INTERVAL_SYSCALL, "read", 10, 20);
	expect_interval(1, INTERVAL_SYSCALL, "write", 12, 30);
	expect_interval(2, INTERVAL_SYSCALL, "system call 60000", 40, 41);
	over();
}

/*
 * One within the other; an end of another name, and one without a begin, are moments; a gap forgets
 * what is open.
 */
static void marked(void **state)
{
	(void)state;
	begin(2);
	tell(10, 0, 7, JOB_BEGIN, 0, 0);
	tell(12, 0, 8, JOB_END, 0, 0);
	tell(15, 0, 7, STEP_START, 0, 0);
	tell(20, 1, 7, STEP_STOP, 0, 0);
	tell(21, 1, 7, STEP_STOP, 0, 0);
	tell(30, 1, 7, JOB_END, 0, 0);
	tell(40, 1, 7, JOB_BEGIN, 0, 0);
	tell_gap(45, 1, 3);
	tell(50, 1, 7, JOB_END, 0, 0);
	end();
	assert_int_equal(model.intervals, 2);
	expect_interval(0, INTERVAL_MARK, "step", 15, 20);
	expect_interval(1, INTERVAL_MARK, "job", 10, 30);
	assert_int_equal(model.interval[0].depth, 1);
	assert_int_equal(model.interval[1].depth, 0);
	assert_int_equal(model.unsure[INTERVAL_MARK], 1);
	for (size_t i = 0; i < model.marks; i++) {
		uint64_t time = model.mark[i].record.time;
		assert_int_equal(
		    model.mark[i].paired, time == 10 || time == 15 || time == 20 || time == 30);
	}
	over();
}

/* Nobody knows at the end whether what was open before a gap still is. */
static void open_before_a_gap(void **state)
{
	(void)state;
	for (int gap = 0; gap <= 1; gap++) {
		begin(2);
		tell(10, 0, 7, JOB_BEGIN, 0, 0);
		tell(11, 0, 7, RAW_ENTER, 0, 0);
		tell(12, 0, 8, MINE, 0, 0);
		if (gap)
			tell_gap(20, 1, 3);
		tell(30, 0, 8, MINE, 0, 0);
		end();
		assert_int_equal(model.intervals, 0);
		assert_int_equal(model.unsure[INTERVAL_MARK], gap);
		assert_int_equal(model.unsure[INTERVAL_SYSCALL], gap);
		over();
	}
}

/*
 * A begin of which the end is missing does not take that of the one around it; nor does too deep a
 * stack.
 */
static void marked_badly(void **state)
{
	(void)state;
	begin(1);
	tell(10, 0, 7, JOB_BEGIN, 0, 0);
	tell(11, 0, 7, STEP_START, 0, 0);
	tell(12, 0, 7, JOB_END, 0, 0);
	for (int i = 0; i < 40; i++)
		tell(20 + i, 0, 7, JOB_BEGIN, 0, 0);
	tell(70, 0, 7, JOB_END, 0, 0);
	end();
	assert_int_equal(model.intervals, 2);
	expect_interval(0, INTERVAL_MARK, "job", 10, 12);
	expect_interval(1, INTERVAL_MARK, "job", 59, 70);
	over();
}

/* As deep as there is room, and deeper: then what is around is not known. */
static void marked_deep(void **state)
{
	(void)state;
	for (int depth = 15; depth <= 17; depth++) {
		begin(1);
		for (int i = 0; i < depth; i++)
			tell(10 + i, 0, 7, JOB_BEGIN, 0, 0);
		for (int i = 0; i < depth; i++)
			tell(50 + i, 0, 7, JOB_END, 0, 0);
		end();
		assert_int_equal(model.intervals, depth <= 16 ? depth : 1);
		over();
	}
}

static void expect_text(size_t size, const char *want)
{
	char text[32];

	assert_true(size <= sizeof(text));
	semantics_mark_text(&trace, &model.mark[0].record, text, size);
	assert_string_equal(text, want);
}

/* The name of an event and its fields, as far as there is room. */
static void mark_texts(void **state)
{
	(void)state;
	begin(1);
	tell(10, 0, 7, MINE, 345, 0);
	end();
	expect_text(32, "mine n=345");
	expect_text(11, "mine n=345");
	expect_text(10, "mine n=34");
	expect_text(6, "mine");
	over();
}

static void expect_waiting(unsigned i, uint64_t begin_ns, uint64_t end_ns)
{
	assert_int_equal(model.waiting[i].begin, begin_ns);
	assert_int_equal(model.waiting[i].end, end_ns);
}

/* Woken, or preempted: it waits until it runs. One that went to sleep does not. */
static void waits(void **state)
{
	(void)state;
	begin(2);
	tell(100, 0, 1, WAKING, 7, 0);
	tell(150, 1, 0, SWITCH, 0, 7);
	left_as = 0x100; /* preempted */
	tell(160, 1, 7, SWITCH, 7, 8);
	left_as = SLEEPING;
	tell(170, 1, 8, SWITCH, 8, 7);
	tell(180, 1, 7, SWITCH, 7, 0);
	tell(190, 1, 0, SWITCH, 0, 8);
	end();
	assert_int_equal(model.waitings, 2);
	expect_waiting(0, 100, 150);
	assert_int_equal(model.waiting[1].pid, 7);
	expect_waiting(1, 160, 170);
	assert_int_equal(model.intervals, 1); /* preempted is not woken */
	over();
}

/*
 * A task that was woken or preempted before a gap may have run within it, on any CPU: the model
 * tells no wait for it.
 */
static void waits_across_a_gap(void **state)
{
	(void)state;
	begin(2);
	tell(90, 1, 2, MINE, 0, 0);
	tell(100, 0, 1, WAKING, 7, 0);
	tell_gap(120, 1, 1);
	tell(150, 0, 1, SWITCH, 1, 7);
	tell(160, 0, 7, WAKING, 1, 0);
	left_as = 0x100; /* preempted */
	tell(170, 0, 7, SWITCH, 7, 1);
	tell_gap(180, 0, 1);
	tell(190, 0, 1, SWITCH, 1, 7);
	end();
	assert_int_equal(model.waitings, 1);
	expect_waiting(0, 160, 170);
	over();
}

/* Woken again before it runs, a task waits since the first time; so does one that was preempted. */
static void waits_once(void **state)
{
	(void)state;
	begin(2);
	tell(100, 0, 1, WAKING, 7, 0);
	tell(110, 0, 1, WAKEUP, 7, 0);
	tell(150, 1, 0, SWITCH, 0, 7);
	left_as = 0x100; /* preempted */
	tell(160, 1, 7, SWITCH, 7, 8);
	left_as = SLEEPING;
	tell(165, 0, 1, WAKING, 7, 0);
	tell(170, 1, 8, SWITCH, 8, 7);
	end();
	assert_int_equal(model.waitings, 2);
	expect_waiting(0, 100, 150);
	expect_waiting(1, 160, 170);
	over();
}

/*
 * Who ran before the first switch had run from the beginning; whoever runs last, to the end; nobody
 * across a gap.
 */
static void states(void **state)
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
	assert_int_equal(model.states, 5);
	expect_state(0, 1, 6, 100, 110);
	expect_state(1, 0, 5, 100, 120);
	expect_state(2, 1, 0, 110, 130);
	expect_state(3, 0, 0, 120, 170);
	expect_state(4, 1, 8, 150, 170);
	assert_int_equal(model.marks, 4);
	over();
}

/* Without switches: from the first record of a task to its last in a row. */
static void states_unswitched(void **state)
{
	(void)state;
	begin(2);
	tell(90, 1, 2, MINE, 0, 0);
	tell(100, 0, 5, MINE, 0, 0);
	tell(110, 0, 5, MINE, 0, 0);
	tell(120, 0, 6, MINE, 0, 0);
	tell(200, 1, 2, MINE, 0, 0);
	end();
	assert_int_equal(model.states, 3);
	expect_state(0, 0, 5, 100, 110);
	expect_state(1, 0, 6, 120, 120);
	expect_state(2, 1, 2, 90, 200);
	uint64_t ran = 0;
	for (size_t i = 0; i < model.tasks; i++)
		ran += model.task[i].ran;
	assert_int_equal(ran, 120);
	over();
}

/* A part: what is outside tells who runs and since when, and is not counted. */
static void part(void **state)
{
	(void)state;
	begin(2);
	model_part(&model, 150, 300);
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
	assert_int_equal(model.first, 100); /* of the whole trace */
	assert_int_equal(model.last, 410);
	assert_int_equal(model.records, 3);
	assert_int_equal(model.marks, 1);
	assert_int_equal(model.intervals, 2);
	expect_interval(0, INTERVAL_SYSCALL, "read", 120, 250);
	expect_interval(1, INTERVAL_WAKEUP, NULL, 145, 300);
	assert_int_equal(model.gaps, 0);
	assert_int_equal(model.states, 3);
	expect_state(0, 1, 7, 150, 300);
	expect_state(1, 1, 8, 300, 300);
	expect_state(2, 0, 6, 150, 300);
	over();
}

/* What touches the part with one end is in it; so is a gap that began before it. */
static void part_edges(void **state)
{
	(void)state;
	begin(2);
	model_part(&model, 150, 300);
	tell(100, 0, 1, WAKING, 7, 0);
	tell(110, 1, 2, MINE, 0, 0);
	tell(150, 0, 1, SWITCH, 1, 7);
	tell_gap(200, 1, 1);
	tell(300, 0, 7, WAKING, 8, 0);
	tell(310, 0, 7, SWITCH, 7, 8);
	tell(320, 0, 8, WAKING, 9, 0);
	tell(330, 0, 8, SWITCH, 8, 9);
	end();
	assert_int_equal(model.intervals, 1);
	expect_interval(0, INTERVAL_WAKEUP, NULL, 300, 310);
	assert_int_equal(model.unsure[INTERVAL_WAKEUP], 1); /* 100 to 150 lies across the gap */
	assert_int_equal(model.gaps, 1);
	over();
}

/* A gap counts from the last record of its CPU, though gaps of others end before it. */
static void beside_gaps(void **state)
{
	(void)state;
	for (unsigned seen = 5; seen <= 9; seen += 4) {
		begin(2);
		if (seen == 5)
			tell(5, 1, 2, MINE, 0, 0);
		tell(8, 0, 1, WAKING, 7, 0);
		tell(9, 0, 1, SWITCH, 1, 7);
		if (seen == 9)
			tell(9, 1, 2, MINE, 0, 0);
		tell_gap(20, 0, 1);
		tell_gap(30, 1, 1);
		end();
		assert_int_equal(model.intervals, seen == 9);
		assert_int_equal(model.unsure[INTERVAL_WAKEUP], seen == 5);
		over();
	}
	begin(2); /* an interrupt is its CPU's alone */
	tell(5, 1, 2, MINE, 0, 0);
	tell(10, 0, 1, TIMER_ENTRY, 236, 0);
	tell_gap(12, 1, 1);
	tell(20, 0, 1, TIMER_EXIT, 236, 0);
	end();
	assert_int_equal(model.intervals, 1);
	over();
}

/* A time may be before that of the record before it: nothing lasts less than no time. */
static void back_in_time(void **state)
{
	(void)state;
	begin(1);
	tell(100, 0, 5, MINE, 0, 0);
	tell(50, 0, 5, SWITCH, 5, 6);
	end();
	assert_int_equal(model.last, 100);
	assert_int_equal(model.states, 1);
	expect_state(0, 0, 6, 50, 100);
	over();
}

/* The idle task never waits, and a task that has run waits no more. */
static void no_waits(void **state)
{
	(void)state;
	begin(1);
	tell(100, 0, 7, WAKING, 0, 0);
	tell(110, 0, 7, SWITCH, 7, 0);
	tell(120, 0, 0, WAKING, 7, 0);
	tell(150, 0, 0, SWITCH, 0, 7);
	tell(160, 0, 7, SWITCH, 7, 0);
	tell(170, 0, 0, SWITCH, 0, 7);
	end();
	assert_int_equal(model.waitings, 1);
	assert_int_equal(model.waiting[0].pid, 7);
	assert_int_equal(model.waiting[0].end, 150);
	over();
}

/* Of marks of one time, the one that begins an interval; an end is that of its whole name. */
static void marks_alike(void **state)
{
	(void)state;
	begin(1);
	tell(10, 0, 7, MINE, 1, 0);
	tell(10, 0, 7, JOB_BEGIN, 0, 0);
	tell(15, 0, 7, JO_END, 0, 0);
	tell(20, 0, 7, JOB_END, 0, 0);
	tell(30, 0, 7, RAW_ENTER, 0, 0);
	tell(40, 0, 7, RAW_ENTER, 0, 0); /* the exit before it is missing */
	tell(50, 0, 7, RAW_EXIT, 0, 0);
	end();
	assert_int_equal(model.intervals, 2);
	expect_interval(0, INTERVAL_MARK, "job", 10, 20);
	expect_interval(1, INTERVAL_SYSCALL, "read", 40, 50);
	assert_false(model.mark[0].paired);
	assert_true(model.mark[1].paired);
	over();
}

static char reported[256];

static void note(void *context, const struct pairing_interval *open, enum pairing_reason why)
{
	static const char *const reasons[] = {
	    [PAIRING_MISSING] = "missing", [PAIRING_GAP] = "gap", [PAIRING_OPEN] = "open"};
	size_t n = strlen(reported);

	(void)context;
	snprintf(reported + n, sizeof(reported) - n, "%s at %llu: %s; ",
	    pairing_name(&model.pairing, open->kind, open->word), (unsigned long long)open->begin,
	    reasons[why]);
}

static void begin_noting(unsigned cpus)
{
	begin(cpus);
	reported[0] = '\0';
	model.pairing.unpaired = note;
}

static void expect_reported(const char *what)
{
	assert_string_equal(reported, what);
	reported[0] = '\0';
}

/*
 * The model reports a beginning without an end as soon as another beginning or end shows that the
 * end is missing.
 */
static void ends_missing(void **state)
{
	(void)state;
	begin_noting(1);
	tell(10, 0, 7, RAW_ENTER, 0, 0);
	tell(20, 0, 7, RAW_ENTER, 1, 0);
	expect_reported("read at 10: missing; ");
	tell(25, 0, 7, RAW_EXIT, 0, 0); /* of none that is open */
	tell(28, 0, 7, RAW_EXIT, 1, 0);
	expect_reported("");
	tell(30, 0, 7, JOB_BEGIN, 0, 0);
	tell(35, 0, 7, STEP_START, 0, 0);
	tell(40, 0, 7, JOB_END, 0, 0);
	expect_reported("step at 35: missing; ");
	tell(50, 0, 7, TIMER_ENTRY, 236, 0);
	tell(55, 0, 7, ENTRY, 4, 0);
	tell(60, 0, 7, TIMER_EXIT, 236, 0);
	expect_reported("irq 4  at 55: missing; ");
	end();
	expect_reported("");
	over();
}

/* At a gap a CPU's interrupts are told, at its next record each task's calls and marks. */
static void ends_in_a_gap(void **state)
{
	(void)state;
	begin_noting(2);
	tell(10, 0, 7, RAW_ENTER, 0, 0);
	tell(20, 0, 7, JOB_BEGIN, 0, 0);
	tell(30, 0, 7, TIMER_ENTRY, 236, 0);
	tell(40, 1, 8, RAW_ENTER, 1, 0);
	tell(50, 1, 8, ENTRY, 4, 0);
	tell_gap(60, 0, 1);
	expect_reported("local_timer at 30: gap; ");
	tell(70, 0, 7, RAW_ENTER, 0, 0);
	expect_reported("job at 20: gap; read at 10: gap; ");
	end(); /* that of a task without a record since the gap, too */
	expect_reported("irq 4  at 50: open; read at 70: open; write at 40: gap; ");
	over();
}

int model_tests(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(wakeups), cmocka_unit_test(across_gaps),
	    cmocka_unit_test(interrupts), cmocka_unit_test(calls), cmocka_unit_test(marked),
	    cmocka_unit_test(marked_badly), cmocka_unit_test(open_before_a_gap),
	    cmocka_unit_test(marked_deep), cmocka_unit_test(mark_texts), cmocka_unit_test(waits),
	    cmocka_unit_test(waits_once), cmocka_unit_test(waits_across_a_gap),
	    cmocka_unit_test(states), cmocka_unit_test(states_unswitched), cmocka_unit_test(part),
	    cmocka_unit_test(part_edges), cmocka_unit_test(beside_gaps),
	    cmocka_unit_test(back_in_time), cmocka_unit_test(no_waits),
	    cmocka_unit_test(marks_alike), cmocka_unit_test(ends_missing),
	    cmocka_unit_test(ends_in_a_gap)};

	return unit_group("model", tests, COUNT_OF(tests), NULL, NULL);
}
