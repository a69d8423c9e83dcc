/*
 * Why a span took its time: causes made by hand, record by record, and what the first part says;
 * random schedules, whose parts add up.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/explain/explain.h"

#define COMMON                                                                                     \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define NUMBER(name, at) "\tfield:int " name ";\toffset:" at ";\tsize:4;\tsigned:1;\n"
#define RECORDS		 4096
#define MAIN		 1

static const struct {
	const char *word; /* in the scripts below */
	const char *system, *name, *fields;
} formats[] = {
    {"sw", "sched", "sched_switch",
	NUMBER("prev_pid", "8") NUMBER("next_pid", "12") NUMBER("prev_state", "16")},
    {"wake", "sched", "sched_waking", NUMBER("pid", "8")},
    {"new", "sched", "sched_wakeup_new", NUMBER("pid", "8")},
    {"in", "raw_syscalls", "sys_enter", NUMBER("id", "8")},
    {"out", "raw_syscalls", "sys_exit", NUMBER("id", "8")},
    {"timer", "irq_vectors", "local_timer_entry", NUMBER("vector", "8")},
    {"end", "irq_vectors", "local_timer_exit", NUMBER("vector", "8")},
    {"irq", "irq", "irq_handler_entry", NUMBER("irq", "8")},
    {"irqend", "irq", "irq_handler_exit", NUMBER("irq", "8")},
    {"mark", "user_events", "mine", NUMBER("n", "8")},
};
#define FORMATS	 (sizeof(formats) / sizeof(formats[0]))
#define FIRST_ID 10
#define HARDIRQ	 8

static struct trace trace;
static struct timeline timeline;
static int32_t data[RECORDS][5];
static unsigned told;

static int begin(void **state)
{
	static const char comms[] = "1 main\n2 two\n3 three\n4 four\n";
	char text[1024];

	(void)state;
	trace = (struct trace){.file = "told", .cpus = 2, .in_ns = true};
	trace.by_id = xmalloc(65536 * sizeof(*trace.by_id));
	for (unsigned i = 0; i < FORMATS; i++) {
		int n = snprintf(text, sizeof(text),
		    "name: %s\nID: %u\nformat:\n" COMMON "%s\nprint fmt: \"\"\n", formats[i].name,
		    i + FIRST_ID, formats[i].fields);
		trace_add_format(&trace, formats[i].system, text, n);
	}
	trace_index(&trace);
	trace_parse_comms(&trace, comms, sizeof(comms) - 1);
	timeline_begin(&timeline, &trace);
	told = 0;
	return 0;
}

static int over(void **state)
{
	(void)state;
	timeline_free(&timeline);
	trace_close(&trace);
	return 0;
}

static void tell(
    uint64_t time, unsigned cpu, int pid, const char *word, bool in_irq, const int32_t number[3])
{
	int32_t *d = data[told++ % RECORDS];
	unsigned i = 0;

	while (i < FORMATS && strcmp(formats[i].word, word) != 0)
		i++;
	assert_in_range(i, 0, FORMATS - 1);
	d[0] = i + FIRST_ID;
	d[1] = pid;
	memcpy(d + 2, number, 3 * sizeof(*number));
	timeline_record(&timeline, &(struct record){.cpu = cpu,
				       .time = time,
				       .event = trace.by_id[i + FIRST_ID],
				       .id = i + FIRST_ID,
				       .flags = in_irq ? HARDIRQ : 0,
				       .pid = pid,
				       .data = (const uint8_t *)d,
				       .size = 20});
}

/*
 * Lines apart by semicolons: TIME CPU PID EVENT NUMBER...; after "!" the record was made in an
 * interrupt. "gap" is one on that CPU.
 */
static void play(const char *script)
{
	unsigned time, cpu;
	int pid;
	char event[16];

	for (const char *line = script; line; line = strchr(line, ';')) {
		int32_t n[3] = {0, 0, 0};
		line += *line == ';';
		assert_in_range(sscanf(line, "%u %u %d %15[a-z!] %d %d %d", &time, &cpu, &pid,
				    event, &n[0], &n[1], &n[2]),
		    4, 7);
		bool in_irq = event[0] == '!';
		if (!strcmp(event, "gap"))
			timeline_record(&timeline,
			    &(struct record){.is_gap = true, .lost = 1, .cpu = cpu, .time = time});
		else
			tell(time, cpu, pid, event + in_irq, in_irq, n);
	}
	timeline_end(&timeline);
}

static void expect_sum(const struct explanation *e)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < e->parts; i++) {
		sum += e->part[i].time;
		assert_true(e->part[i].longest <= e->part[i].time);
		assert_true(!i || e->part[i].time <= e->part[i - 1].time);
	}
	assert_int_equal(sum, e->to - e->from);
}

#define READ	 0
#define S_SLEEPS 1

/*
 * Numbers of sw: the previous task, the next, the state in which the previous was left (0: it could
 * go on, 1: it sleeps, 32: it has ended). Of in and out, the system call: 0 is read, 1 write, 35
 * nanosleep, 61 wait4, 202 futex.
 */
static const struct cause {
	const char *script;
	uint64_t from, to;
	uint64_t time; /* of the largest part */
	const char *says;
} causes[] = {
    /* it runs */
    {"0 0 1 mark; 100 0 1 mark", 0, 100, 100, "main-1 ran"},
    {"0 0 1 mark; 10 0 1 in 0; 90 0 1 out 0; 100 0 1 mark", 0, 100, 80, "main-1 ran in read"},
    {"0 0 1 mark; 10 0 1 in 1; 100 0 1 mark", 0, 100, 90, "main-1 ran in write"},
    {"0 0 1 mark; 80 0 1 out 0; 100 0 1 mark", 0, 100, 80, "main-1 ran in read"},
    {"0 0 1 mark; 10 0 1 timer 236; 80 0 1 end 236; 100 0 1 mark", 0, 100, 70,
	"main-1 was interrupted by local_timer"},
    {"0 0 1 mark; 10 0 1 in 0; 20 0 1 irq 4; 80 0 1 irqend 4; 90 0 1 out 0; 100 0 1 mark", 0, 100,
	60, "main-1 was interrupted by irq 4 "},
    /* it could run */
    {"0 0 1 mark; 10 0 1 sw 1 2 0; 90 0 2 sw 2 1 1; 100 0 1 mark", 0, 100, 80,
	"main-1 could run, but two-2 had the CPU"},
    {"0 0 1 mark; 10 0 1 sw 1 2 256; 40 0 2 sw 2 3 1; 90 0 3 sw 3 1 1; 100 0 1 mark", 0, 100, 50,
	"main-1 could run, but three-3 had the CPU"},
    {"0 0 1 mark; 5 0 1 sw 1 2 1; 10 0 2 wake 1; 90 0 2 sw 2 1 0; 100 0 1 mark", 0, 100, 80,
	"main-1 could run, but two-2 had the CPU"},
    {"0 0 1 mark; 1 1 3 mark; 5 0 1 sw 1 2 1; 10 0 2 wake 1; 90 1 3 sw 3 1 1; 100 1 1 mark", 0, 100,
	80, "main-1 could run, but three-3 had the CPU"},
    {"0 0 1 mark; 10 0 1 sw 1 0 1; 15 0 0 !wake 1; 90 0 0 sw 0 1 0; 100 0 1 mark", 0, 100, 75,
	"main-1 could run, but its idle CPU had to wake"},
    {"0 0 1 mark; 10 0 1 wake 1; 20 0 1 sw 1 2 1; 90 0 2 sw 2 1 0; 100 0 1 mark", 0, 100, 70,
	"main-1 could run, but two-2 had the CPU"},
    {"0 0 1 mark; 10 0 1 sw 1 2 0; 100 0 2 mark", 0, 100, 90, "main-1 could run, but had no CPU"},
    /* it sleeps */
    {"0 0 1 mark; 5 0 1 in 35; 10 0 1 sw 1 0 1; 80 0 0 timer 236; 82 0 0 !wake 1; 84 0 0 end 236; "
     "90 0 0 sw 0 1 0; 95 0 1 out 35; 100 0 1 mark",
	0, 100, 72, "main-1 slept in nanosleep until local_timer"},
    {"0 0 1 mark; 5 0 1 in 0; 10 0 1 sw 1 0 1; 80 0 0 irq 4; 82 0 0 !wake 1; 84 0 0 irqend 4; "
     "90 0 0 sw 0 1 0; 100 0 1 mark",
	0, 100, 72, "main-1 slept in read until irq 4 "},
    {"0 0 1 mark; 10 0 1 sw 1 2 1; 80 0 2 !wake 1; 90 0 2 sw 2 1 0; 100 0 1 mark", 0, 100, 70,
	"main-1 slept until an interrupt"},
    {"0 0 1 mark; 5 0 1 in 202; 10 0 1 sw 1 0 1; 100 0 0 sw 0 2 0", 0, 100, 90,
	"main-1 waited in futex, and nothing woke it"},
    /* it waits for another one */
    {"0 0 1 mark; 5 0 1 in 0; 10 0 1 sw 1 2 1; 80 0 2 wake 1; 85 0 2 sw 2 1 1; 100 0 1 mark", 0,
	100, 70, "two-2 ran in its own code while main-1 waited for it in read"},
    {"0 0 1 mark; 5 0 1 in 61; 10 0 1 sw 1 2 1; 12 0 2 in 1; 80 0 2 wake 1; 85 0 2 sw 2 1 32; "
     "100 0 1 mark",
	0, 100, 68, "two-2 ran in write while main-1 waited for it in wait4"},
    {"0 0 1 mark; 5 0 1 in 61; 10 0 1 sw 1 2 1; 12 0 2 in 35; 15 0 2 sw 2 0 1; 70 0 0 timer 236; "
     "71 0 0 !wake 2; 72 0 0 end 236; 75 0 0 sw 0 2 0; 80 0 2 wake 1; 85 0 2 sw 2 1 1; 100 0 1 "
     "mark",
	0, 100, 56,
	"two-2 slept in nanosleep until local_timer while main-1 waited for it in wait4"},
    {"0 0 1 mark; 5 0 1 in 0; 10 0 1 sw 1 2 1; 15 0 2 in 202; 20 0 2 sw 2 3 1; 70 0 3 wake 2; "
     "75 0 3 sw 3 2 1; 80 0 2 wake 1; 85 0 2 sw 2 1 1; 100 0 1 mark",
	0, 100, 50, "three-3 ran in its own code while two-2 waited for it in futex"},
    {"0 0 1 mark; 5 0 1 in 0; 10 0 1 sw 1 2 1; 20 0 2 sw 2 3 0; 70 0 3 sw 3 2 1; 80 0 2 wake 1; "
     "85 0 2 sw 2 1 1; 100 0 1 mark",
	0, 100, 50, "two-2 could run, but three-3 had the CPU while main-1 waited for it in read"},
    {"0 0 1 mark; 5 0 1 in 202; 10 0 1 sw 1 2 1; 20 0 2 timer 236; 70 0 2 end 236; 80 0 2 wake 1; "
     "85 0 2 sw 2 1 1; 100 0 1 mark",
	0, 100, 50, "two-2 was interrupted by local_timer while main-1 waited for it in futex"},
    {"0 0 1 mark; 5 0 1 in 61; 10 0 1 sw 1 2 1; 15 0 2 sw 2 3 1; 20 0 3 sw 3 4 1; 70 0 4 wake 3; "
     "72 0 4 sw 4 3 1; 74 0 3 wake 2; 76 0 3 sw 3 2 1; 80 0 2 wake 1; 85 0 2 sw 2 1 1; 100 0 1 "
     "mark",
	0, 100, 50, "four-4 ran in its own code while three-3 waited for it"},
    /* two that wake each other: the wait of the one is not that of the other */
    {"0 0 1 mark; 2 0 1 wake 2; 5 0 1 in 0; 10 0 1 sw 1 2 1; 40 0 2 wake 1; 45 0 2 sw 2 1 1; "
     "50 0 1 wake 2; 55 0 1 sw 1 2 1; 90 0 2 wake 1; 95 0 2 sw 2 1 1; 100 0 1 mark",
	0, 100, 65, "two-2 ran in its own code while main-1 waited for it in read"},
    /* it is made, and it ends */
    {"0 0 2 mark; 80 0 2 new 1; 85 0 2 sw 2 1 1; 100 0 1 mark", 0, 100, 80,
	"two-2 ran while main-1 waited for it"},
    {"0 0 1 mark; 20 0 1 sw 1 2 32; 100 0 2 mark", 0, 100, 80, "main-1 had ended"},
    /* parts of a wait */
    {"0 0 1 mark; 5 0 1 in 0; 10 0 1 sw 1 2 1; 80 0 2 wake 1; 85 0 2 sw 2 1 1; 100 0 1 mark", 20,
	60, 40, "two-2 ran in its own code while main-1 waited for it in read"},
    {"0 0 1 mark; 5 0 1 in 0; 10 0 1 sw 1 2 1; 80 0 2 wake 1; 85 0 2 sw 2 1 1; 100 0 1 mark", 83,
	100, 15, "main-1 ran in read"},
    {"0 0 1 mark; 10 0 1 sw 1 2 0; 20 0 2 sw 2 0 1; 30 1 0 gap; 40 0 0 wake 1; 50 0 0 sw 0 1 0; "
     "100 0 1 mark",
	45, 100, 50, "main-1 ran"},
    {"0 0 2 mark; 60 0 2 sw 2 1 1; 100 0 1 mark", 0, 100, 60,
	"main-1 could run, but two-2 had the CPU"},
    /* after a gap nothing is known of before */
    {"0 0 1 mark; 10 0 1 sw 1 2 1; 40 1 0 gap; 80 0 2 mark; 90 0 2 sw 2 1 1; 100 0 1 mark", 0, 100,
	50, "main-1 could run, but two-2 had the CPU"},
    /* a new task has no call yet; the idle task wakes by interrupts; the outer interrupt counts */
    {"0 0 2 mark; 80 0 2 new 1; 85 0 2 sw 2 1 1; 90 0 1 out 56; 100 0 1 mark", 0, 100, 80,
	"two-2 ran in its own code while main-1 waited for it"},
    {"0 0 1 mark; 10 0 1 sw 1 0 1; 80 0 0 wake 1; 90 0 0 sw 0 1 0; 100 0 1 mark", 0, 100, 70,
	"main-1 slept until an interrupt"},
    {"0 0 1 mark; 10 0 1 timer 236; 20 0 1 irq 4; 60 0 1 irqend 4; 90 0 1 end 236; 100 0 1 mark", 0,
	100, 80, "main-1 was interrupted by local_timer"},
    /* tasks that wait for each other: the second wait is not taken apart again */
    {"0 0 1 mark; 5 0 1 in 0; 10 0 1 sw 1 2 1; 15 0 2 in 202; 20 0 2 sw 2 3 1; 70 1 1 wake 2; "
     "75 0 3 sw 3 2 1; 80 0 2 wake 1; 85 0 2 sw 2 1 1; 100 0 1 mark",
	0, 100, 50, "two-2 waited in futex for main-1 while main-1 waited for it in read"},
    /* a call's end after a gap: the task has been in it since then, whatever it called before */
    {"0 0 1 mark; 2 0 1 in 1; 4 0 1 out 1; 10 0 1 mark; 20 0 0 gap; 80 0 1 out 0; 100 0 1 mark", 20,
	100, 60, "main-1 ran in read"},
    /* before the first event */
    {"60 0 1 mark; 100 0 1 mark", 0, 100, 60, "main-1 has no events yet"},
    {"60 0 1 mark; 100 0 1 mark", 0, 40, 40, "main-1 has no events yet"},
};

static void expect_cause(void **state, const struct cause *c)
{
	struct explanation e;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	begin(state);
	play(c->script);
	explain_span(&e, &timeline, MAIN, c->from, c->to);
	expect_sum(&e);
	explain_text(&e, &e.part[0], false, out);
	explain_waiter(&e, &e.part[0], false, out);
	fclose(out);
	assert_string_equal(text, c->says);
	assert_int_equal(e.part[0].time, c->time);
	free(text);
	explain_free(&e);
	over(state);
}

static void each_cause(void **state)
{
	assert_true(COUNT_OF(causes) >= 30);
	for (size_t i = 0; i < COUNT_OF(causes); i++)
		expect_cause(state, &causes[i]);
}

/* A waking of a task that ran keeps it from sleeping once, and not after a gap. */
static void woken_early(void **state)
{
	static const struct cause early[] = {
	    /* switched off though it was to sleep: it could run */
	    {"0 0 1 mark; 5 1 2 mark; 8 1 2 wake 1; 10 0 1 sw 1 3 1; 90 0 3 sw 3 1 1; 100 0 1 mark",
		0, 100, 80, "main-1 could run, but three-3 had the CPU"},
	    /* the second time it sleeps */
	    {"0 0 1 mark; 5 1 2 mark; 8 1 2 wake 1; 10 0 1 sw 1 3 1; 20 0 3 sw 3 1 1; 30 0 1 sw 1 "
	     "0 1; 90 0 0 !wake 1; 95 0 0 sw 0 1 0; 100 0 1 mark",
		0, 100, 60, "main-1 slept until an interrupt"},
	    /* the switch that the waking was for was lost */
	    {"0 0 1 mark; 5 1 2 mark; 8 1 2 wake 1; 10 0 1 gap; 20 0 2 sw 2 1 1; 30 0 1 sw 1 0 1; "
	     "90 0 0 !wake 1; 95 0 0 sw 0 1 0; 100 0 1 mark",
		20, 100, 60, "main-1 slept until an interrupt"},
	};

	for (size_t i = 0; i < COUNT_OF(early); i++)
		expect_cause(state, &early[i]);
}

/* The task of a span is the one that runs first and last, even if it sleeps between. */
static void main_task(void **state)
{
	begin(state);
	play("0 0 3 mark; 5 0 3 sw 3 1 1; 10 0 1 sw 1 2 1; 80 0 2 wake 1; 85 0 2 sw 2 1 1; 100 0 1 "
	     "mark");
	assert_int_equal(explain_main_task(&timeline, 0, 100), MAIN);
	assert_int_equal(explain_main_task(&timeline, 0, 5), 3);
	assert_int_equal(explain_main_task(&timeline, 200, 300), MAIN);
	over(state);
	begin(state); /* one that makes system calls, if there is such a one */
	play("0 0 3 mark; 5 0 3 sw 3 2 1; 10 0 2 in 0; 80 0 2 sw 2 3 0; 100 0 3 mark");
	assert_int_equal(explain_main_task(&timeline, 0, 100), 2);
	over(state);
}

/* Of a part's pieces the longest, and when it was. */
static void longest_piece(void **state)
{
	struct explanation e;

	begin(state);
	play("0 0 1 mark; 10 0 1 sw 1 2 0; 20 0 2 sw 2 1 1; 50 0 1 sw 1 2 0; 80 0 2 sw 2 1 1; "
	     "100 0 1 mark");
	explain_span(&e, &timeline, MAIN, 0, 100);
	assert_int_equal(e.parts, 2);
	assert_int_equal(e.part[0].time, 60);
	assert_int_equal(e.part[0].count, 3);
	assert_int_equal(e.part[0].longest, 30);
	assert_int_equal(e.part[0].at, 20);
	assert_int_equal(e.part[1].longest, 30);
	assert_int_equal(e.part[1].at, 50);
	explain_free(&e);
	over(state);
}

static uint64_t seed;

static unsigned dice(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

/*
 * What can happen, on two CPUs, to four tasks; also what no kernel does. `back`: a record may be
 * earlier than the one before it.
 */
static void random_schedule(bool back)
{
	int32_t runs[2] = {1, 2};
	uint64_t forth = 1000;

	for (unsigned i = 0; i < 300; i++) {
		unsigned cpu = dice(2), what = dice(10);
		int32_t other = 1 + dice(4);
		forth += dice(20);
		uint64_t time = back && !dice(4) ? forth - dice(500) : forth;
		if (what < 4) {
			int32_t next = runs[!cpu] == other ? 0 : other;
			tell(time, cpu, runs[cpu], "sw", false,
			    (int32_t[]){runs[cpu], next, dice(3) ? S_SLEEPS : 0});
			runs[cpu] = next;
		} else if (what < 7) {
			tell(time, cpu, runs[cpu], "wake", !dice(3), (int32_t[]){other, 0, 0});
		} else if (what < 9) {
			tell(time, cpu, runs[cpu], dice(2) ? "in" : "out", false,
			    (int32_t[]){READ, 0, 0});
		} else {
			tell(time, cpu, runs[cpu], dice(2) ? "timer" : "end", false,
			    (int32_t[]){236, 0, 0});
		}
	}
	timeline_end(&timeline);
}

static void sums(void **state)
{
	struct explanation e;

	for (uint64_t first = 1; first <= 60; first++) {
		seed = first * 0x9e3779b97f4a7c15;
		print_message("seed %llu\n", (unsigned long long)first);
		begin(state);
		random_schedule(first % 2 == 0);
		for (unsigned i = 0; i < 40; i++) {
			uint64_t from = timeline.first + dice(timeline.last - timeline.first),
				 to = from + 1 + dice(timeline.last - from + 1);
			int32_t pid = 1 + dice(4);
			if (!timeline_task(&timeline, pid))
				continue;
			explain_span(&e, &timeline, pid, from, to);
			expect_sum(&e);
			explain_free(&e);
		}
		over(state);
	}
}

int explain_tests(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_cause),
	    cmocka_unit_test(woken_early), cmocka_unit_test(main_task),
	    cmocka_unit_test(longest_piece), cmocka_unit_test(sums)};

	return unit_group("explain", tests, COUNT_OF(tests), NULL, NULL);
}
