/* Records as text: columns in all forms, events' own words, headers. */
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/clock.h"
#include "trace/event/comm.h"
#include "trace/event/file.h"
#include "trace/event/ftrace.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"
#include "trace/output/bprintf.h"
#include "trace/output/output.h"
#include "trace/output/print.h"
#include "trace/output/printk.h"
#include "trace/trace.h"

static char text[8192];

/* The line of a record that nobody made: pid 77777 has no name. */
static const char *line_of(const void *rec, u32 len, u64 options, u64 ts, u64 next_ts, bool latency)
{
	static struct trace_array tr;
	struct trace_out out;
	struct seq s;

	tr.clock = options & TRACE_OPT_BLOCK ? &trace_clocks[2]
					     : &trace_clocks[0]; /* "counter" has no ns */
	seq_init(&s, text, sizeof(text) - 1);
	trace_out_init(&out, &s, options);
	struct trace_line line = {&tr, rec, len, 3, ts, next_ts, 5, latency, 0};
	trace_print_line(&out, &line);
	text[s.len] = '\0';
	return text;
}

static struct rec_bputs puts_record(u8 flags, u8 preempt)
{
	return (struct rec_bputs){
	    .ent = {TRACE_BPUTS, flags, preempt, 77777}, .ip = 0, .str = "x\n"};
}

static void flag_columns(void)
{
	static const struct {
		u8 flags, preempt;
		const char *shown;
	} rows[] = {
	    {0, 0, "....."},
	    {TRACE_FLAG_IRQS_OFF, 0, "d...."},
	    {TRACE_FLAG_IRQS_OFF | TRACE_FLAG_BH_OFF, 0, "D...."},
	    {TRACE_FLAG_BH_OFF, 0, "b...."},
	    {TRACE_FLAG_IRQS_NOSUPPORT, 0, "X...."},
	    {TRACE_FLAG_NEED_RESCHED, 0, ".n..."},
	    {TRACE_FLAG_PREEMPT_RESCHED, 0, ".p..."},
	    {TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED, 0, ".N..."},
	    {TRACE_FLAG_HARDIRQ, 0, "..h.."},
	    {TRACE_FLAG_SOFTIRQ, 0, "..s.."},
	    {TRACE_FLAG_HARDIRQ | TRACE_FLAG_SOFTIRQ, 0, "..H.."},
	    {TRACE_FLAG_NMI, 0, "..z.."},
	    {TRACE_FLAG_NMI | TRACE_FLAG_HARDIRQ, 0, "..Z.."},
	    {TRACE_FLAG_NMI | TRACE_FLAG_SOFTIRQ, 0, "..z.."},
	    {0, 1, "...1."},
	    {0, 15, "...f."},
	    {0, 0xa2, "...2a"},
	};

	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rec_bputs rec = puts_record(rows[i].flags, rows[i].preempt);
		char expected[80];
		fmt_snprintf(expected, sizeof(expected),
		    "           <...>-77777   [003] %s     1.234567: 0: x\n", rows[i].shown);
		EXPECT_STR(
		    line_of(&rec, sizeof(rec), trace_options_default(), 1234567890, 0, false),
		    expected);
	}
}

static void line_forms(void)
{
	struct rec_bputs rec = puts_record(0, 0);
	u32 on = trace_options_default();
	static const struct {
		u32 flip;
		bool latency;
		u64 ts, next;
		const char *shown;
	} rows[] = {
	    {TRACE_OPT_IRQ_INFO, false, 1000, 0,
		"           <...>-77777   [003]      0.000001: 0: x\n"},
	    {0, false, 123456789012345678, 0,
		"           <...>-77777   [003] ..... 123456789.012345: 0: x\n"},
	    {TRACE_OPT_CONTEXT_INFO, false, 1000, 0, "0: x\n"},
	    {TRACE_OPT_PRINTK_MSGONLY, false, 1000, 0, "x\n"},
	    {TRACE_OPT_RECORD_TGID, false, 1000, 0,
		"           <...>-77777   (-------) [003] .....     0.000001: 0: x\n"},
	    {TRACE_OPT_BLOCK, false, 42, 0,
		"           <...>-77777   [003] .....           42: 0: x\n"},
	    {0, true, 5000000, 5000000, "   <...>-77777     3..... 5000us : 0: x\n"},
	    {0, true, 5000000, 5011000, "   <...>-77777     3..... 5000us+: 0: x\n"},
	    {0, true, 5000000, 5101000, "   <...>-77777     3..... 5000us!: 0: x\n"},
	    {0, true, 5000000, 6001000, "   <...>-77777     3..... 5000us#: 0: x\n"},
	    {0, true, 5000000, 15001000, "   <...>-77777     3..... 5000us*: 0: x\n"},
	    {0, true, 5000000, 105001000, "   <...>-77777     3..... 5000us@: 0: x\n"},
	    {0, true, 5000000, 1005001000, "   <...>-77777     3..... 5000us$: 0: x\n"},
	    {TRACE_OPT_VERBOSE, true, 5250000, 6251000,
		"           <...>   77777   3 0 00000000 00000005 [00001482] 5.250ms (+1.001ms): "
		"0: x\n"},
	    {TRACE_OPT_BLOCK, true, 7, 9, "   <...>-77777     3.....    7: 0: x\n"},
	    {TRACE_OPT_RAW, false, 1000, 0, "77777 3 1000 : 0 : x\n"},
	    {TRACE_OPT_RAW | TRACE_OPT_CONTEXT_INFO, false, 1000, 0, ": 0 : x\n"},
	    {TRACE_OPT_HEX, false, 0x1234, 0, "00012fd1 00000003 0000000000001234 type: 14\n\n"},
	    {TRACE_OPT_HEX | TRACE_OPT_RAW, false, 0x1234, 0,
		"00012fd1 00000003 0000000000001234 type: 14\n\n"},
	    {TRACE_OPT_HEX | TRACE_OPT_CONTEXT_INFO, false, 1000, 0, "type: 14\n\n"},
	    {TRACE_OPT_BIN | TRACE_OPT_CONTEXT_INFO, false, 1000, 0, "type: 14\n"},
	};

	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		EXPECT_STR(line_of(&rec, sizeof(rec), on ^ rows[i].flip, rows[i].ts, rows[i].next,
			       rows[i].latency),
		    rows[i].shown);
	line_of(&rec, sizeof(rec), on | TRACE_OPT_BIN, 0x1122, 0, false);
	EXPECT(!memcmp(text, "\xd1\x2f\x01\0\3\0\0\0\x22\x11\0\0\0\0\0\0type: 14\n", 25));
}

static void strange_records(void)
{
	struct trace_entry unknown = {60000, 0, 0, -5};
	struct rec_function fn = {{TRACE_FN, 0, 0, 0}, 0, 0};
	struct rec_stack stack = {{TRACE_STACK, 0, 0, 2147483647}, 1000, 0};
	u32 on = trace_options_default();

	trace_fresh();
	EXPECT_STR(line_of(&unknown, sizeof(unknown), on, 0, 0, false),
	    "           <XXX>--5      [003] .....     0.000000: Unknown type 60000\n");
	EXPECT_STR(line_of(&unknown, sizeof(unknown), on | TRACE_OPT_RAW, 7, 0, false),
	    "-5 3 7 60000 ?\n");
	EXPECT_STR(line_of(&unknown, sizeof(unknown), on | TRACE_OPT_HEX, 7, 0, false),
	    "fffffffb 00000003 0000000000000007 \n");
	EXPECT_STR(line_of(&fn, sizeof(fn), on, 0, 0, false),
	    "          <idle>-0       [003] .....     0.000000: 0\n");
	/* It says a thousand frames and has none. */
	EXPECT_STR(line_of(&stack, sizeof(stack), on, 0, 0, false),
	    "           <...>-2147483647 [003] .....     0.000000: <stack trace>\n");
}

/* What the generated functions record and print. */
static void event_texts(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("set_event", "unit:*"), 0);
	trace_unit_numbers(-1, 65535, -2147483647 - 1, ~0UL);
	EXPECT_STR(
	    trace_nth_event(0), "unit_numbers: a=-1 b=65535 c=-2147483648 d=18446744073709551615");
	trace_unit_text("sixteen bytes...and", "dyn", "");
	EXPECT_STR(trace_nth_event(1), "unit_text: comm=sixteen bytes.. text=dyn mark=7 more=");
	trace_unit_text("", NULL, "x");
	EXPECT_STR(trace_nth_event(2), "unit_text: comm= text=(null) mark=7 more=x");
	trace_unit_flags(5, 0x100000003, NULL);
	EXPECT_STR(trace_nth_event(3),
	    "unit_flags: flags=ONE|FOUR kind=0x5 mask=00000001,00000003 p=0000000000000000");
	trace_unit_flags(0x12, 0, NULL);
	EXPECT_STR(trace_nth_event(4),
	    "unit_flags: flags=TWO|0x10 kind=0x12 mask=00000000,00000000 p=0000000000000000");
	trace_unit_flags(0, 0, NULL);
	EXPECT_STR(trace_nth_event(5),
	    "unit_flags: flags= kind=none mask=00000000,00000000 p=0000000000000000");
	trace_fresh();
}

static u64 lost_of(const struct trace_event_file *file)
{
	u64 lost = 0;

	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++)
		lost += file->counts[cpu].lost;
	return lost;
}

static void long_strings(void)
{
	char *big = host_alloc(5000);

	trace_fresh();
	EXPECT_EQ(trace_put("set_event", "unit:unit_text"), 0);
	memset(big, 'b', 4999);
	trace_unit_text("c", big, "");
	const char *line = trace_nth_event(0);
	EXPECT(str_has_prefix(line, "unit_text: comm=c text=bbbbbbbb"));
	/* Cut at what a field may take, and the rest of the record is right. */
	EXPECT(strstr(trace_get("trace", NULL), "bbb mark=7 more=\n"));
	/* Two of them are more than a sub-buffer holds: refused, and counted. */
	struct trace_event_file *file =
	    trace_event_file_of(trace_global, trace_event_find("unit", "unit_text"));
	u64 before = lost_of(file);
	trace_unit_text("c", big, big);
	EXPECT_EQ(lost_of(file), before + 1);
	EXPECT_STR(trace_nth_event(1), "");
	host_free(big);
	trace_fresh();
}

static void hashed_pointers(void)
{
	char plain[64], hashed[64];
	const void *p = (const void *)0xffff888000123000;

	fmt_set_pointer_hook(trace_pointer_text);
	trace_fresh();
	EXPECT_EQ(trace_put("set_event", "unit:unit_flags"), 0);
	trace_unit_flags(0, 0, p);
	strscpy(hashed, strstr(trace_nth_event(0), "p="), sizeof(hashed));
	EXPECT_EQ(trace_put("options/hash-ptr", "0"), 0);
	strscpy(plain, strstr(trace_nth_event(0), "p="), sizeof(plain));
	EXPECT_STR(plain, "p=ffff888000123000");
	EXPECT(strcmp(plain, hashed));
	EXPECT_EQ(strlen(hashed), 18);
	EXPECT(str_has_prefix(hashed, "p=00000000"));
	trace_fresh();
}

#define TITLE  "# tracer: nop\n#\n"
#define TOTALS "# entries-in-buffer/entries-written: 0/0   #P:"

static void headers(void)
{
	char expected[1024];

	trace_fresh();
	fmt_snprintf(expected, sizeof(expected),
	    TITLE TOTALS "%u\n#\n"
			 "#                                _-----=> irqs-off/BH-disabled\n"
			 "#                               / _----=> need-resched\n"
			 "#                              | / _---=> hardirq/softirq\n"
			 "#                              || / _--=> preempt-depth\n"
			 "#                              ||| / _-=> migrate-disable\n"
			 "#                              |||| /     delay\n"
			 "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
			 "#              | |         |   |||||     |         |\n",
	    host_cpu_count());
	EXPECT_STR(trace_get("trace", NULL), expected);
	EXPECT_EQ(trace_put("trace_options", "noirq-info"), 0);
	fmt_snprintf(expected, sizeof(expected),
	    TITLE TOTALS "%u\n#\n"
			 "#           TASK-PID     CPU#     TIMESTAMP  FUNCTION\n"
			 "#              | |         |         |         |\n",
	    host_cpu_count());
	EXPECT_STR(trace_get("trace", NULL), expected);
	EXPECT_EQ(trace_put("trace_options", "nocontext-info"), 0);
	EXPECT_STR(trace_get("trace", NULL), TITLE);
	EXPECT_EQ(trace_put("trace_options", "context-info"), 0);
	EXPECT_EQ(trace_put("trace_options", "latency-format"), 0);
	EXPECT_STR(trace_get("trace", NULL), TITLE); /* nothing to head */
	trace_fresh();
}

/* Packing and unpacking gives what printing at once would. */
static void pack(char *out, size_t size, const char *fmt, ...)
{
	u32 words[64];
	va_list ap;
	struct seq s;

	va_start(ap, fmt);
	u32 n = bprintf_encode(words, ARRAY_SIZE(words), fmt, ap);
	va_end(ap);
	seq_init(&s, out, size - 1);
	EXPECT(n <= ARRAY_SIZE(words));
	bprintf_decode(&s, fmt, words, n);
	out[s.len] = '\0';
}

#define BOTH_WAYS(...)                                                                             \
	do {                                                                                       \
		char once[256], twice[256];                                                        \
		fmt_snprintf(once, sizeof(once), __VA_ARGS__);                                     \
		pack(twice, sizeof(twice), __VA_ARGS__);                                           \
		EXPECT_STR(twice, once);                                                           \
	} while (0)

static void packed_formats(void)
{
	BOTH_WAYS("plain");
	BOTH_WAYS("100%% %d %u %x", -1, 2u, 0xabc);
	BOTH_WAYS("%ld %lld %lu %llx %zu", -1L, -2LL, 3UL, 0x1234567890abcdefULL, (size_t)9);
	BOTH_WAYS("[%s][%s][%-6s][%.2s][%8.3s]", "", "abc", "abcd", "abcd", "abcdef");
	BOTH_WAYS("%5d|%-5d|%05d|%+d|%#x", 42, 42, 42, 42, 42);
	BOTH_WAYS("%*d|%-*d|%.*s", 6, 1, 6, 2, 2, "abc");
	BOTH_WAYS("%c%c %p end", 'a', 'b', (void *)0x1234);
	BOTH_WAYS("%hhd %hd %hu", (signed char)-3, (short)-4, (unsigned short)5);
}

/* Records cut short, or made of garbage, print what they have and stop. */
static void packed_garbage(void)
{
	u32 words[2] = {0x61616161, 0x62626262};
	char out[64];
	struct seq s;

	seq_init(&s, out, sizeof(out) - 1);
	bprintf_decode(&s, "a=%d b=%ld c=%d", words, 2);
	out[s.len] = '\0';
	EXPECT_STR(out, "a=1633771873 b=");
	s.len = 0;
	bprintf_decode(&s, "s=%s", words, 2); /* no end inside */
	out[s.len] = '\0';
	EXPECT_STR(out, "s=");
	s.len = 0;
	bprintf_decode(&s, "%d", words, 0);
	EXPECT_EQ(s.len, 0);
}

static void printk_lines(void)
{
	trace_fresh();
	EXPECT(trace_printk("n=%d s=%s\n", 5, "five") > 0);
	EXPECT(strstr(trace_nth_event(0), ": n=5 s=five"));
	EXPECT(trace_puts("just text\n") > 0);
	EXPECT(strstr(trace_nth_event(1), ": just text"));
	EXPECT(strstr(trace_get("printk_formats", NULL), " : \"n=%d s=%s\\n\"\n"));
	EXPECT_EQ(trace_put("trace_options", "notrace_printk"), 0);
	EXPECT_EQ(trace_printk("never %d\n", 1), 0);
	EXPECT_STR(trace_nth(2), "");
	trace_fresh();
}

static void names(void)
{
	char comm[16];

	host_lock();
	EXPECT_EQ(trace_comm_prepare(), 0);
	EXPECT_EQ(trace_comm_resize(0), -22);
	EXPECT_EQ(trace_comm_resize(1UL << 40), -22);
	EXPECT_EQ(trace_comm_resize(2), 0);
	EXPECT_EQ(trace_comm_size(), 2);
	trace_comm_users(1, 1);
	trace_comm_switch_in(30001, 30000, "one\0\0\0\0\0\0\0\0\0\0\0\0");
	trace_comm_switch_in(30002, 30000, "two\0\0\0\0\0\0\0\0\0\0\0\0");
	trace_comm_find(30001, comm);
	EXPECT_STR(comm, "one");
	EXPECT_EQ(trace_tgid_find(30002), 30000);
	trace_comm_switch_in(30001, 30000, "uno\0\0\0\0\0\0\0\0\0\0\0\0"); /* keeps its place */
	trace_comm_find(30002, comm);
	EXPECT_STR(comm, "two");
	trace_comm_switch_in(
	    30003, 30003, "three\0\0\0\0\0\0\0\0\0\0"); /* the oldest place goes round */
	trace_comm_find(30001, comm);
	EXPECT_STR(comm, "<...>");
	trace_comm_find(30003, comm);
	EXPECT_STR(comm, "three");
	trace_comm_switch_in(0, 0, "never\0\0\0\0\0\0\0\0\0\0");
	trace_comm_find(0, comm);
	EXPECT_STR(comm, "<idle>");
	trace_comm_switch_in(40000, 1, "never\0\0\0\0\0\0\0\0\0\0"); /* no such pid */
	trace_comm_find(40000, comm);
	EXPECT_STR(comm, "<...>");
	trace_comm_rename(30003, 30003, "drei\0\0\0\0\0\0\0\0\0\0\0"); /* a task's new name */
	trace_comm_find(30003, comm);
	EXPECT_STR(comm, "drei");
	trace_comm_users(-1, -1);
	trace_comm_rename(30003, 30003, "never\0\0\0\0\0\0\0\0\0\0"); /* nobody wants names */
	trace_comm_find(30003, comm);
	EXPECT_STR(comm, "drei");
	EXPECT_EQ(trace_comm_resize(4096), 0);
	host_unlock();
}

/*
 * While no buffer records, names stay as they are: but for the task that ran when the last one was
 * switched off.
 */
static void names_stay(void)
{
	char comm[16];

	trace_fresh();
	host_lock();
	EXPECT_EQ(trace_comm_prepare(), 0);
	trace_comm_users(1, 0);
	host_preempt_disable();
	trace_comm_switch_in(30011, 30011, "before\0\0\0\0\0\0\0\0\0");
	tracing_off();
	trace_comm_switch_out(30012, 30012, "meanwhile\0\0\0\0\0\0");
	trace_comm_switch_in(30013, 30013, "later\0\0\0\0\0\0\0\0\0\0");
	trace_comm_switch_out(30013, 30013, "later\0\0\0\0\0\0\0\0\0\0");
	host_preempt_enable();
	trace_comm_find(30011, comm);
	EXPECT_STR(comm, "before");
	trace_comm_find(30012, comm);
	EXPECT_STR(comm, "meanwhile");
	trace_comm_find(30013, comm);
	EXPECT_STR(comm, "<...>");
	tracing_on();
	trace_comm_switch_in(30013, 30013, "again\0\0\0\0\0\0\0\0\0\0");
	trace_comm_find(30013, comm);
	EXPECT_STR(comm, "again");
	trace_comm_users(-1, 0);
	host_unlock();
}

static const struct ktap_case cases[] = {
    {"output.flag_columns", flag_columns},
    {"output.line_forms", line_forms},
    {"output.strange_records", strange_records},
    {"output.event_texts", event_texts},
    {"output.long_strings", long_strings},
    {"output.hashed_pointers", hashed_pointers},
    {"output.headers", headers},
    {"output.packed_formats", packed_formats},
    {"output.packed_garbage", packed_garbage},
    {"output.printk_lines", printk_lines},
    {"output.names", names},
    {"output.names_stay", names_stay},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_output = {cases};
