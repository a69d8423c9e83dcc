/*
 * What hits of probes and of watchpoints record: values of the stack, of returns, of arrays; the
 * old value of a watched word; and where triggers move a watchpoint to, or leave it.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/host/kprobe_tools.h"
#include "tests/unit/trace/types/sample.h"
#include "trace/event/file.h"
#include "trace/host_lock.h"
#include "trace/probe/probe.h"
#include "trace/tracefs/inject.h"

#define EVENTS "dynamic_events"
#define SRC    "events/synthetic/src/"

/* The arguments in a line of the trace. */
static const char *arguments_in(const char *line)
{
	const char *at = strstr(line, ") ");

	return at ? at + 2 : line;
}

/* Words of the stack are counted from where it points, and what is not there is 0. */
static void stack(void)
{
	u64 words[] = {11, 22, 33, 44};
	struct machine_regs regs = {.sp = (u64)words};

	kprobe_begin("p:x do_mkdirat a=$stack0:u64 b=$stack1:u64 c=$stack3:u64 d=+8($stack):u64");
	EXPECT_STR(kprobe_hit(false, &regs), "a=11 b=22 c=44 d=22");
	regs.sp = 8;
	EXPECT_STR(kprobe_hit(false, &regs), "a=0 b=0 c=0 d=0");
	kprobe_end();
}

/* A return records what the arguments were at the entry: from the seventh on they are on the stack.
 */
static void returns(void)
{
	u64 words[] = {11, 22, 33, 44};
	struct machine_regs regs = {.di = 5, .r9 = 6, .ax = 9, .sp = (u64)words};
	char profile[100];

	kprobe_begin(
	    "r:x do_mkdirat a=$arg1:u64 f=$arg6:u64 g=$arg7:u64 i=$arg9:u64 v=$retval:u64");
	EXPECT_STR(kprobe_hit(true, &regs), "a=5 f=6 g=22 i=44 v=9");
	regs.sp = 8;
	EXPECT_STR(kprobe_hit(true, &regs), "a=5 f=6 g=0 i=0 v=9");
	fmt_snprintf(profile, sizeof(profile), "%lu               0\n", 2UL);
	EXPECT(strstr(trace_get("kprobe_profile", NULL), profile));
	kprobe_end();
}

/* A place that joins an event which is on is hit at once, and the first one still is. */
static void second_place(void)
{
	struct machine_regs regs = {.di = 5};

	kprobe_begin("p:x do_mkdirat a=%di:u64");
	EXPECT_EQ(trace_append("kprobe_events", "p:x do_rmdir a=%di:u64"), 0);
	machine_probe_hit("do_rmdir", 0, false, &regs);
	EXPECT(strstr(trace_nth_event(0), "a=5"));
	machine_probe_hit("do_mkdirat", 0, false, &regs);
	EXPECT(strstr(trace_nth_event(1), "a=5"));
	kprobe_end();
}

/* Each element of an array of strings is its own, those that cannot be read too. */
static void strings(void)
{
	static const char *texts[] = {"one", "three", (const char *)8, "four"};
	struct machine_regs regs = {.di = (u64)texts, .si = 16};

	kprobe_begin("p:x do_mkdirat s=+0(%di):string[4] t=+0(%si):symstr u=+0(+8(%di)):string");
	EXPECT_STR(kprobe_hit(false, &regs),
	    "s={\"one\",\"three\",(fault),\"four\"} t=(fault) u=\"three\"");
	kprobe_end();
}

/* An array of characters is text to a filter, one of small numbers is not. */
static void text_in_filters(void)
{
	struct machine_regs regs = {.di = (u64) "abc"};

	kprobe_begin("p:x do_mkdirat c=+0(%di):char[3] n=+0(%di):u8[3]");
	EXPECT_EQ(trace_put("events/kprobes/x/filter", "n == \"abc\""), -EINVAL);
	EXPECT_EQ(trace_put("events/kprobes/x/filter", "c == \"abd\""), 0);
	EXPECT(!strstr(kprobe_hit(false, &regs), "c={"));
	EXPECT_EQ(trace_put("events/kprobes/x/filter", "c == \"abc\""), 0);
	EXPECT_STR(kprobe_hit(false, &regs), "c={'a','b','c'} n={97,98,99}");
	kprobe_end();
}

/* A value can be recorded as the text of its symbol. */
static void symbols(void)
{
	struct machine_regs regs = {.di = 0x1104};

	kprobe_begin("p:x do_mkdirat s=%di:symstr");
	EXPECT_STR(kprobe_hit(false, &regs), "s=\"sym_1104+0x0/0x10\"");
	kprobe_end();
}

/* Any number of registers, while the event is asked something: the record is built beside it. */
static void many_registers(void)
{
	struct machine_regs regs = {.di = 7};
	char line[256] = "p:x do_mkdirat";

	for (unsigned n = 1; n <= 24; n++) {
		memcpy(line + strlen(line), " %di", 5);
		kprobe_begin(line);
		EXPECT_EQ(trace_put("events/kprobes/x/filter", "arg1 == 7"), 0);
		const char *text = kprobe_hit(false, &regs);
		EXPECT_EQ(strlen(text), 9 * n - 1 + n - MIN(n, 9U));
		EXPECT(str_has_prefix(text, "arg1=0x7"));
		kprobe_end();
	}
}

/*
 * Texts of another event's fields that do not all fit: the last that does is cut to what room there
 * is, and ends in the record, where a filter finds it.
 */
static void texts_of_fields(void)
{
	char line[700] = "e:x synthetic.src", value[300] = "d=\"", filter[40];
	const u32 last = (RB_MAX_DATA - 8 - 24 * 4) / 251;

	trace_fresh();
	memset(value + 3, 'x', 250);
	value[253] = '"';
	for (unsigned i = 0; i < 24; i++)
		fmt_snprintf(line + strlen(line), 20, " t%u=$d:string", i);
	EXPECT_EQ(trace_put("synthetic_events", "src char[] d"), 0);
	EXPECT_EQ(trace_append(EVENTS, line), 0);
	EXPECT_EQ(trace_put("events/eprobes/x/enable", "1"), 0);
	for (u32 n = last; n < last + 2; n++) {
		EXPECT_EQ(trace_put("trace", ""), 0);
		fmt_snprintf(filter, sizeof(filter), "t%u ~ \"xx*\"", n);
		EXPECT_EQ(trace_put("events/eprobes/x/filter", filter), 0);
		trace_put(SRC "inject", value);
		EXPECT_EQ(*trace_nth_event(0) != '\0', n == last);
	}
	EXPECT_EQ(trace_put("events/eprobes/x/enable", "0"), 0);
	EXPECT_EQ(trace_append(EVENTS, "-:x"), 0);
	EXPECT_EQ(trace_put("synthetic_events", ""), 0);
	trace_fresh();
}

/* Counts the trace's lines of hits at these offsets in the function. */
static unsigned hits_at(const u64 *offsets, unsigned n)
{
	struct machine_regs regs = {.di = 1};
	unsigned lines = 0;

	EXPECT_EQ(trace_put("trace", ""), 0);
	for (unsigned i = 0; i < n; i++)
		machine_probe_hit("do_mkdirat", offsets[i], false, &regs);
	while (*trace_nth_event(lines))
		lines++;
	return lines;
}

/* One event has probes at several places: each is on with it, and goes by itself. */
static void several_places(void)
{
	static const u64 places[] = {0, 8, 12};

	kprobe_begin("p:x do_mkdirat a=%di:u64");
	EXPECT_EQ(trace_append(EVENTS, "p:x do_mkdirat+8 a=%di:u64"), 0);
	EXPECT_EQ(hits_at(places, 3), 2);
	EXPECT_EQ(trace_append(EVENTS, "p:x do_mkdirat+8 a=%di:u64"), -EEXIST);
	EXPECT_EQ(trace_append(EVENTS, "p:x do_mkdirat+12 a=%di:u32"), -EEXIST);
	EXPECT_EQ(trace_put("events/kprobes/x/enable", "0"), 0);
	EXPECT_EQ(hits_at(places, 3), 0);
	EXPECT_EQ(trace_append(EVENTS, "p:x do_mkdirat+12 a=%di:u64"), 0);
	EXPECT_EQ(trace_put("events/kprobes/x/enable", "1"), 0);
	EXPECT_EQ(hits_at(places, 3), 3);
	EXPECT_EQ(trace_append(EVENTS, "-:x do_mkdirat"), 0);
	EXPECT_EQ(hits_at(places, 3), 2);
	EXPECT_STR(trace_get(EVENTS, NULL),
	    "p:kprobes/x do_mkdirat+8 a=%di:u64\np:kprobes/x do_mkdirat+12 a=%di:u64\n");
	EXPECT_EQ(trace_append(EVENTS, "-:x do_mkdirat+8"), 0);
	EXPECT_EQ(hits_at(places, 3), 1);
	kprobe_end();
}

/* Arrays of one event's probes have one length. Whose kind another event is, cannot join it. */
static void what_joins(void)
{
	static const struct {
		const char *line, *said;
	} rows[] = {
	    {"p:x do_mkdirat+8 a=+0(%di):u8[3]",
		"Argument type or name is different from existing probe"},
	    {"r:x do_mkdirat a=+0(%di):u8[2]", "Probe type is different from existing probe"},
	    {"t:kprobes/x unit_numbers", "Given group/event name is already used"},
	    {"f:kprobes/x do_mkdirat", "Given group/event name is already used"},
	    {"e:kprobes/x unit.unit_numbers", "Given group/event name is already used"},
	};

	kprobe_begin("p:x do_mkdirat a=+0(%di):u8[2]");
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(trace_put("error_log", ""), 0);
		EXPECT_EQ(trace_append(EVENTS, rows[i].line), -EEXIST);
		EXPECT(strstr(trace_get("error_log", NULL), rows[i].said));
	}
	EXPECT_EQ(trace_put("error_log", ""), 0);
	kprobe_end();
}

/* Registers that no argument is in, and parts of one that is. */
static void registers(void)
{
	struct machine_regs regs = {.di = 0xabc, .bx = 7, .si = 0x1122334455667788};

	kprobe_begin("p:x do_mkdirat b=%bx:u64 p=%di:b4@4/64 s=%si:x16");
	EXPECT_STR(kprobe_hit(false, &regs), "b=7 p=11 s=0x7788");
	kprobe_end();
	kprobe_begin("p:x do_mkdirat p=%di:b4@4/64");
	EXPECT_STR(kprobe_hit(false, &regs), "p=11");
	kprobe_end();
}

/* kprobe_profile counts each hit, also while the ring takes no records. */
static void profile(void)
{
	static const char *const lines[] = {
	    "p:x do_mkdirat a=%di", "p:x do_mkdirat s=+0(%di):string"};
	struct machine_regs regs = {.di = (u64) "abc"};
	char expected[100];

	fmt_snprintf(expected, sizeof(expected), "  %-44s %15u %15u\n", "x", 3, 0);
	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++) {
		kprobe_begin(lines[i]);
		machine_probe_hit("do_mkdirat", 0, false, &regs);
		machine_probe_hit("do_mkdirat", 0, false, &regs);
		EXPECT_EQ(trace_put("tracing_on", "0"), 0);
		machine_probe_hit("do_mkdirat", 0, false, &regs);
		EXPECT_EQ(trace_put("tracing_on", "1"), 0);
		EXPECT_STR(trace_get("kprobe_profile", NULL), expected);
		kprobe_end();
	}
}

/* As its document has it, a legacy event is on at once, and goes while it is. */
static void legacy(void)
{
	struct machine_regs regs = {.di = 5, .si = 6};

	trace_fresh();
	EXPECT_EQ(trace_put("kprobe_events", "p:x do_mkdirat a0 a1"), 0);
	machine_probe_hit("do_mkdirat", 0, false, &regs);
	EXPECT(strstr(trace_get("trace", NULL), ": 0x5 0x6\n"));
	EXPECT_EQ(trace_put("events/kprobes/x/trigger", "traceoff if a0 == 77"), 0);
	EXPECT_EQ(trace_append("kprobe_events", "-:x"), -EBUSY);
	EXPECT_EQ(trace_put("events/kprobes/x/trigger", "!traceoff if a0 == 77"), 0);
	EXPECT_EQ(trace_append("kprobe_events", "-:x"), 0);
	machine_probe_hit("do_mkdirat", 0, false, &regs);
	EXPECT(!strstr(strstr(trace_get("trace", NULL), ": 0x5 0x6\n") + 1, ": 0x5 0x6\n"));
	trace_fresh();
}

/* A legacy event that goes is off everywhere, and so is its probe. */
static void legacy_goes(void)
{
	struct machine_regs regs = {.di = 5};

	trace_fresh();
	EXPECT_EQ(trace_put("kprobe_events", "p:x do_mkdirat a0"), 0);
	EXPECT_EQ(trace_make_instance("old"), 0);
	EXPECT_EQ(trace_put("instances/old/events/kprobes/x/enable", "1"), 0);
	machine_probe_hit("do_mkdirat", 0, false, &regs);
	EXPECT_EQ(trace_append("kprobe_events", "-:x"), 0);
	EXPECT_EQ(machine_probes(), 0);
	EXPECT(strstr(trace_get("instances/old/trace", NULL), ": 0x5\n"));
	EXPECT_EQ(trace_drop_instance("old"), 0);
	trace_fresh();
}

/* Records that came from elsewhere, and are shorter than the event: what is there is printed. */
static void short_records(void)
{
	static const struct {
		u32 size;
		const char *text;
	} rows[] = {{12, ""}, {16, ")"}, {20, ")"}, {24, ") a=3"}, {28, ") a=3 b=4"}};
	struct trace_event_file *file;
	u64 record[4] = {0, 0x10000, 3, 4};

	kprobe_begin("p:x do_mkdirat a=%di:u64 b=%si:u32");
	file = trace_event_file_of(trace_global, trace_event_find("kprobes", "x"));
	record[0] = file->call->id;
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(trace_put("trace", ""), 0);
		host_lock();
		EXPECT_EQ(tracefs_inject(file, record, rows[i].size), 0);
		host_unlock();
		const char *line = trace_nth_event(0);
		EXPECT(str_has_prefix(line, "x: "));
		EXPECT_STR(line + strcspn(line, ")"), rows[i].text);
	}
	kprobe_end();
}

/* How a probe prints its own place says nothing about the places of other events. */
static void places_of_others(void)
{
	struct machine_regs regs = {.di = 1};

	kprobe_begin("p:x do_mkdirat a=%di:u64");
	EXPECT_EQ(trace_put("trace_marker", "before"), 0);
	machine_probe_hit("do_mkdirat", 0, false, &regs);
	EXPECT_EQ(trace_put("trace_marker", "after"), 0);
	EXPECT(!strstr(trace_nth_event(0), "+0x0"));
	EXPECT(strstr(trace_nth_event(1), "+0x0"));
	EXPECT(!strstr(trace_nth_event(2), "+0x0"));
	kprobe_end();
}

/* Of two tracepoints with one event, one goes while both are on: nobody may still be at it. */
static void tracepoints(void)
{
	u64 before;

	trace_fresh();
	EXPECT_EQ(trace_append(EVENTS, "t:x unit_numbers"), 0);
	EXPECT_EQ(trace_append(EVENTS, "t:x unit_flags"), 0);
	EXPECT_EQ(trace_append(EVENTS, "t:y unit_numbers a=$arg5"), -EINVAL); /* it has four */
	EXPECT_EQ(trace_append(EVENTS, "t5:y unit_numbers"), -EINVAL);
	EXPECT(strstr(trace_get("error_log", NULL), "Maxactive is only for function exit"));
	EXPECT_EQ(trace_append(EVENTS, "t 9z"), 0); /* there may be one later */
	EXPECT(strstr(trace_get(EVENTS, NULL), "t:tracepoints/_9z 9z\n"));
	EXPECT_EQ(trace_append(EVENTS, "-:_9z"), 0);
	EXPECT_EQ(trace_put("events/tracepoints/x/enable", "1"), 0);
	trace_unit_numbers(1, 2, 3, 4);
	trace_unit_flags(1, 2, NULL);
	EXPECT_STR(trace_nth_event(2), "");
	EXPECT(*trace_nth_event(1));
	before = machine_waits();
	EXPECT_EQ(trace_append(EVENTS, "-:x unit_numbers"), 0);
	EXPECT(machine_waits() > before);
	trace_unit_numbers(1, 2, 3, 4);
	EXPECT_STR(trace_nth_event(2), "");
	trace_unit_flags(1, 2, NULL);
	EXPECT(*trace_nth_event(2));
	EXPECT_EQ(trace_put("events/tracepoints/x/enable", "0"), 0);
	EXPECT(!trace_event_find("unit", "unit_flags")->key->on); /* nobody asks for it any more */
	EXPECT_EQ(trace_append(EVENTS, "-:x"), 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
	trace_fresh();
}

/* Words that stand for others have so much room, to the byte; blanks are no line. */
static void room_for_words(void)
{
	char line[400] = "p:x do_mkdirat $arg3";

	trace_fresh();
	types_sample_use();
	EXPECT_EQ(trace_append(EVENTS, "  \t "), 0);
	for (unsigned i = 0; i < 31; i++)
		memcpy(line + strlen(line), " $arg1", 7);
	memcpy(line + strlen(line), " n=dfd", 7); /* parameters have names */
	EXPECT_EQ(trace_append(EVENTS, line), -E2BIG);
	memcpy(line, "p:x do_mkdirat", 15);
	for (unsigned i = 0; i < 14; i++)
		fmt_snprintf(line + strlen(line), 20, " n%u=thing:%%pD", i);
	EXPECT_EQ(trace_append(EVENTS, line), -ENOMEM);
	EXPECT_STR(trace_get(EVENTS, NULL), "");
	EXPECT_EQ(trace_put("error_log", ""), 0);
	types_host_use();
}

/* A word fits into what is left of that room to its last byte, or is refused; it is never cut. */
static void room_for_paths(void)
{
	char line[400];
	unsigned taken = 0, refused = 0;

	trace_fresh();
	types_sample_use();
	for (int name = 1; name <= 32; name++) {
		size_t n = fmt_snprintf(line, sizeof(line), "p:x do_mkdirat");

		for (unsigned i = 0; i < 8; i++)
			n += fmt_snprintf(line + n, sizeof(line) - n, " n%u=thing:%%pD", i);
		fmt_snprintf(line + n, sizeof(line) - n, " %.*s=thing:%%pD", name,
		    "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm");
		int err = trace_put(EVENTS, line);
		EXPECT_EQ(err, refused ? -ENOMEM : err);
		EXPECT(!err || err == -ENOMEM);
		taken += !err;
		refused += err != 0;
	}
	EXPECT(taken && refused);
	EXPECT_EQ(trace_put(EVENTS, ""), 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
	types_host_use();
}

/* ---- watchpoints ---- */

static u64 words[4];

static void watch_begin(const char *line, const char *trigger)
{
	trace_fresh();
	EXPECT_EQ(trace_put("synthetic_events", "src unsigned long p; int n"), 0);
	EXPECT_EQ(trace_append(EVENTS, line), 0);
	if (trigger)
		EXPECT_EQ(trace_append(SRC "trigger", trigger), 0);
}

static void watch_end(void)
{
	EXPECT_EQ(trace_put("events/wprobes/enable", "0"), 0);
	EXPECT_EQ(trace_append(EVENTS, "-:wprobes/"), 0);
	EXPECT_EQ(trace_put("synthetic_events", ""), 0);
	trace_fresh();
}

/* A place is shown as it was written: a symbol with its distance, to either side. */
static void places_shown(void)
{
	static const char *const rows[][2] = {
	    {"w:x w@second_function", "w:wprobes/x w@second_function:4"},
	    {"w:x rw@second_function+16:8", "w:wprobes/x rw@second_function+16:8"},
	    {"w:x r@second_function-8:1", "w:wprobes/x r@second_function-8:1"},
	    {"w:x @0x1000:2", "w:wprobes/x rw@0x1000:2"},
	    {"w:x io@0x80", "w:wprobes/x io@0x80:1"},
	    {"w:x w@-1:8", "w:wprobes/x w@-1:8"},
	};

	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(trace_put(EVENTS, rows[i][0]), 0);
		const char *shown = trace_get(EVENTS, NULL);
		EXPECT(str_has_prefix(shown, rows[i][1]));
		EXPECT_STR(shown + strlen(rows[i][1]), "\n");
		EXPECT_EQ(trace_append(EVENTS, "-:x"), 0);
	}
	trace_fresh();
}

/* Which word is watched, by an access to all that are; -1: none. */
static int watched(void)
{
	struct machine_regs regs = {0};
	char wanted[40];

	EXPECT_EQ(trace_put("trace", ""), 0);
	machine_watch_hit(&regs, 0);
	const char *text = arguments_in(trace_nth_event(0));
	for (unsigned i = 0; i < ARRAY_SIZE(words); i++) {
		fmt_snprintf(wanted, sizeof(wanted), "at=0x%lx", (u64)&words[i]);
		if (!strcmp(text, wanted))
			return i;
	}
	return *text ? -2 : -1;
}

static void inject(const void *p)
{
	char value[40];

	fmt_snprintf(value, sizeof(value), "p=%lu", (u64)p);
	trace_put(SRC "inject", value);
}

/* Each access leaves the value that the next one finds as the old one. */
static void old_values(void)
{
	struct machine_regs regs = {0};
	char line[80];

	words[1] = 3;
	fmt_snprintf(line, sizeof(line), "w:a w@0x%lx:8 v=$value:u64 o=$old:u64", (u64)&words[1]);
	watch_begin(line, NULL);
	EXPECT_EQ(trace_put("events/wprobes/a/enable", "1"), 0);
	for (u64 value = 4; value < 7; value++) {
		char wanted[40];

		EXPECT_EQ(trace_put("trace", ""), 0);
		machine_watch_hit(&regs, value);
		fmt_snprintf(wanted, sizeof(wanted), "v=%lu o=%lu", value, value - 1);
		EXPECT_STR(arguments_in(trace_nth_event(0)), wanted);
	}
	watch_end();
}

/* Of a watchpoint that was moved, the first old value is what the word there had then. */
static void old_value_of_a_new_place(void)
{
	struct machine_regs regs = {0};

	words[1] = 3;
	words[2] = 70;
	watch_begin("w:a w@-1:8 v=$value:u64 o=$old:u64", "set_wprobe:a:p");
	inject(&words[1]);
	machine_watch_hit(&regs, 4);
	EXPECT_STR(arguments_in(trace_nth_event(0)), "v=4 o=3");
	EXPECT_EQ(trace_append(SRC "trigger", "clear_wprobe:a"), 0);
	inject(&words[2]); /* the newest trigger acts first */
	EXPECT_EQ(trace_append(SRC "trigger", "!clear_wprobe:a"), 0);
	EXPECT_EQ(trace_put("trace", ""), 0);
	machine_watch_hit(&regs, 71);
	EXPECT_STR(arguments_in(trace_nth_event(0)), "v=71 o=70");
	EXPECT_EQ(trace_append(SRC "trigger", "!set_wprobe:a:p"), 0);
	watch_end();
}

/* It is moved once it watches nothing, to what can be watched; only that counts. */
static void moved(void)
{
	watch_begin("w:a rw@-1:8 at=$addr", "set_wprobe:a:p:2");
	EXPECT_EQ(watched(), -1);
	inject((char *)&words[1] + 1);
	EXPECT_EQ(watched(), -1);
	inject(&words[1]);
	EXPECT_EQ(watched(), 1);
	inject(&words[2]);
	EXPECT_EQ(watched(), 1);
	EXPECT_STR(trace_get(SRC "trigger", NULL), "set_wprobe:a:p+0:count=1\n");
	EXPECT_EQ(trace_append(SRC "trigger", "clear_wprobe:a:p"), 0);
	inject(&words[2]);
	EXPECT_EQ(watched(), 1);
	EXPECT_EQ(trace_append(SRC "trigger", "!set_wprobe:a:p"), 0);
	inject(&words[1]);
	EXPECT_EQ(watched(), -1);
	EXPECT_EQ(trace_append(SRC "trigger", "!clear_wprobe:a"), 0);
	watch_end();
}

/* No address is watched that is 0, whatever is added to it, or not whole in the record. */
static void no_address(void)
{
	struct trace_event_call *src;
	u64 record[3] = {0};

	watch_begin("w:a rw@-1:8 at=$addr", "set_wprobe:a:p+0x8000");
	inject(NULL);
	EXPECT_EQ(watched(), -1);
	record[1] = (u64)&words[2] - 0x8000;
	host_lock();
	src = trace_event_find("synthetic", "src");
	for (size_t size = 8; size < 16; size++)
		EXPECT_EQ(tracefs_inject(trace_event_file_of(trace_global, src), record, size), 0);
	host_unlock();
	EXPECT_EQ(watched(), -1);
	inject((char *)&words[2] - 0x8000);
	EXPECT_EQ(watched(), 2);
	EXPECT_EQ(trace_append(SRC "trigger", "!set_wprobe:a:p"), 0);
	watch_end();
}

/* Triggers of several watchpoints are told apart. Switched off, one goes back to its place. */
static void several(void)
{
	char line[80];

	fmt_snprintf(line, sizeof(line), "w:a w@0x%lx:8 at=$addr", (u64)&words[3]);
	watch_begin(line, "clear_wprobe:a");
	EXPECT_EQ(trace_append(EVENTS, "w:b w@-1:8 at=$addr"), 0);
	EXPECT_EQ(trace_append(SRC "trigger", "clear_wprobe:b"), 0);
	EXPECT_EQ(trace_put("events/wprobes/a/enable", "1"), 0);
	EXPECT_EQ(watched(), 3);
	inject(NULL);
	EXPECT_EQ(watched(), -1);
	EXPECT_EQ(trace_append(SRC "trigger", "!clear_wprobe:b"), 0);
	EXPECT_EQ(trace_append(SRC "trigger", "!clear_wprobe:a"), 0);
	EXPECT_EQ(trace_put("events/wprobes/a/enable", "0"), 0);
	EXPECT_EQ(trace_put("events/wprobes/a/enable", "1"), 0);
	EXPECT_EQ(watched(), 3);
	watch_end();
}

static const struct ktap_case cases[] = {
    {"probe_hits.stack", stack},
    {"probe_hits.returns", returns},
    {"probe_hits.second_place", second_place},
    {"probe_hits.strings", strings},
    {"probe_hits.text_in_filters", text_in_filters},
    {"probe_hits.symbols", symbols},
    {"probe_hits.places_shown", places_shown},
    {"probe_hits.many_registers", many_registers},
    {"probe_hits.texts_of_fields", texts_of_fields},
    {"probe_hits.several_places", several_places},
    {"probe_hits.what_joins", what_joins},
    {"probe_hits.registers", registers},
    {"probe_hits.profile", profile},
    {"probe_hits.legacy", legacy},
    {"probe_hits.legacy_goes", legacy_goes},
    {"probe_hits.short_records", short_records},
    {"probe_hits.places_of_others", places_of_others},
    {"probe_hits.tracepoints", tracepoints},
    {"probe_hits.room_for_words", room_for_words},
    {"probe_hits.room_for_paths", room_for_paths},
    {"probe_hits.old_values", old_values},
    {"probe_hits.old_value_of_a_new_place", old_value_of_a_new_place},
    {"probe_hits.moved", moved},
    {"probe_hits.no_address", no_address},
    {"probe_hits.several", several},
    {NULL, NULL},
};
const struct ktap_suite suite_probe_hits = {cases};
