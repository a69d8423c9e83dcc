/*
 * What convert and report make of a trace whose values are at their edges: the lines, the JSON, the
 * streams of CTF and the packets of Perfetto, byte by byte. tests/drive/export-test has other
 * people's programs read what a machine recorded; the values here do not come up there.
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/convert/convert.h"
#include "tools/trapline/lib/output.h"
#include "tools/trapline/trace/text.h"
#include "trace/export/dat_page.h"

#define COMMON                                                                                     \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FIELD(text, at, bytes, sign)                                                               \
	"\tfield:" text ";\toffset:" at ";\tsize:" bytes ";\tsigned:" sign ";\n"

enum {
	ODD = 300,
	SWITCH,
	TIMER_ENTRY,
	TIMER_EXIT,
	PRINT,
	IRQ_ENTRY,
	IRQ_EXIT,
	CALL,
	RETURN,
	STAMP,
	NO_FORMAT = 999
};

static const struct {
	int id;
	const char *system, *name, *fields;
} formats[] = {
    {ODD, "my", "odd",
	FIELD("s8 tiny", "8", "1", "1") FIELD("unsigned long big", "16", "8", "0") FIELD(
	    "__data_loc char[] text", "24", "4", "0") FIELD("__data_loc s16[] list", "28", "4", "1")
	    FIELD("unsigned char raw[3]", "32", "3", "0") FIELD("char * fmt", "40", "8", "0")
		FIELD("x64 mask", "48", "8", "0") FIELD("unsigned long ip", "56", "8", "0")
		    FIELD("u64 list2[1]", "64", "8", "0")},
    {SWITCH, "sched", "sched_switch",
	FIELD("int prev_pid", "8", "4", "1") FIELD("int next_pid", "12", "4", "1")
	    FIELD("char next_comm[8]", "16", "8", "0")},
    {TIMER_ENTRY, "irq_vectors", "local_timer_entry", FIELD("int vector", "8", "4", "1")},
    {TIMER_EXIT, "irq_vectors", "local_timer_exit", FIELD("int vector", "8", "4", "1")},
    {PRINT, "ftrace", "print",
	FIELD("unsigned long ip", "8", "8", "0") FIELD("char buf[]", "16", "0", "0")},
    {IRQ_ENTRY, "irq", "irq_handler_entry", FIELD("int irq", "8", "4", "1")},
    {IRQ_EXIT, "irq", "irq_handler_exit", FIELD("int irq", "8", "4", "1")},
    {CALL, "ftrace", "funcgraph_entry",
	FIELD("unsigned long func", "8", "8", "0") FIELD("int depth", "16", "4", "1")},
    {RETURN, "ftrace", "funcgraph_exit",
	FIELD("unsigned long func", "8", "8", "0") FIELD("int depth", "16", "4", "1")
	    FIELD("u64 calltime", "24", "8", "0") FIELD("u64 rettime", "32", "8", "0")},
    {STAMP, "my", "stamp",
	FIELD("s64 least", "8", "8", "1") FIELD("int common_later", "16", "4", "1")
	    FIELD("__rel_loc char[] near", "20", "4", "0") FIELD("x16 half", "24", "2", "0")
		FIELD("unsigned char odd", "26", "3", "0") FIELD("u16 pair[2]", "30", "4", "0")
		    FIELD("__data_loc char[] end", "40", "4", "0") FIELD("__data_loc x16[] halves",
			"44", "4", "0") FIELD("u32 rest[]", "32", "0", "0")},
    /* A second one of an id is not used. */
    {ODD, "my", "other", ""},
};

static const char symbols[] = "ffffffff80100000 t begin_here\n"
			      "ffffffff80100040 T next_one\t[mod]\n";
static const char printks[] = "0xffffffff80200010 : \"later\"\n"
			      "0xffffffff80200000 : \"of\\t%d \\\"q\\\"\\n\"\n";
static const char comms[] = "7 a \"job\"\n12 idle-no\n";
static const char stats[] = "CPU: 0\nentries: 70\noverrun: 3\ncommit overrun: 4\nbytes: 5\n"
			    "dropped events: 6\n\nCPU: 1\nentries: 71\nread events: 9\n\n"
			    "Ledger:\nall 1\n\n\"balanced\"\n";

struct odd {
	uint16_t type;
	uint8_t flags, preempt;
	int32_t pid;
	int8_t tiny;
	uint64_t big;
	uint32_t text, list;
	uint8_t raw[3];
	uint64_t fmt, mask, ip, list2;
	char rest[16];
};

struct switched {
	uint16_t type;
	uint8_t flags, preempt;
	int32_t pid, prev_pid, next_pid;
	char next_comm[8];
};

static struct trace trace;
static union {
	struct ring_buffer_page page;
	uint8_t bytes[PAGE_BYTES];
} pages[2][3];
static struct dat_page page;

static void put_odd(uint64_t time, const struct odd *odd)
{
	assert_true(dat_page_put(&page, odd, sizeof(*odd), time));
}

static void put_switch(uint64_t time, int32_t from, int32_t to, const char *comm)
{
	struct switched s = {.type = SWITCH, .pid = from, .prev_pid = from, .next_pid = to};

	memcpy(s.next_comm, comm, strnlen(comm, sizeof(s.next_comm)));
	assert_true(dat_page_put(&page, &s, sizeof(s), time));
}

static void put_timer(uint64_t time, int id, uint8_t flags)
{
	int32_t r[] = {id | flags << 16, 7, 236};

	assert_true(dat_page_put(&page, r, sizeof(r), time));
}

static void put_print(uint64_t time, const char *text)
{
	struct {
		int32_t type, pid;
		uint64_t ip;
		char buf[24];
	} r = {PRINT, 7, 0, ""};

	memcpy(r.buf, text, strlen(text));
	assert_true(dat_page_put(&page, &r, sizeof(r), time));
}

static void put_call(uint64_t time, int id)
{
	struct {
		int32_t type, pid;
		uint64_t func;
		int32_t depth;
		uint64_t calltime, rettime;
	} r = {id, 0, 0xffffffff80100000, 0, time - 300, time};

	assert_true(dat_page_put(&page, &r, sizeof(r), time));
}

/* Texts and arrays that end where the record does; of a shorter one they lie outside. */
static void put_stamp(uint64_t time, size_t size)
{
	struct {
		int32_t type, pid;
		int64_t least;
		int32_t later;
		uint32_t near;
		uint16_t half;
		uint8_t odd[4];
		uint16_t pair[2];
		char text[6];
		uint32_t end, halves;
	} r = {STAMP, 7, INT64_MIN, -2, 4 << 16 | 10, 0xfff0, {1, 2, 3, 0}, {1, 65535}, "near",
	    4 << 16 | 44, 4 << 16 | 34};

	_Static_assert(sizeof(r) == 48, "as the format has it");
	assert_true(dat_page_put(&page, &r, size, time));
}

#define FIRST 1000000001ULL

/* The first page of CPU 0: values. */
static void fill_values(void)
{
	struct odd odd = {.type = ODD,
	    .flags = 1 | 8 | 16 | 0x80,
	    .preempt = 0x21,
	    .pid = 7,
	    .tiny = -1,
	    .big = (1ULL << 53) - 1,
	    .text = 8 << 16 | 72,
	    .list = 4 << 16 | 80,
	    .raw = {1, 255, 3},
	    .fmt = 0xffffffff80200000,
	    .mask = 0xf0,
	    .ip = 0xffffffff80100040,
	    .list2 = UINT64_MAX,
	    .rest = "\"\\\n\001\177\xe4" /* and a NUL */};

	odd.rest[7] = 'x';
	odd.rest[8] = odd.rest[9] = (char)0xff;
	odd.rest[10] = 2;
	dat_page_begin(&page, &pages[0][0].page, PAGE_BYTES, 0);
	put_switch(FIRST, 0, 7, "nextcomm");
	put_odd(FIRST + 4, &odd);
	/* all of the page's bits, addresses beside what is known, and a text outside the record */
	odd.flags = 2 | 4 | 0x20 | 0x40;
	odd.preempt = 0xf;
	odd.tiny = 127;
	odd.big = 1ULL << 53;
	odd.text = 17 << 16 | 72;
	odd.list = 80;
	odd.fmt++;
	odd.ip -= 1;
	put_odd(FIRST + 1000, &odd);
	put_timer(FIRST + 2000, TIMER_ENTRY, 8);
	put_timer(FIRST + 3500, TIMER_EXIT, 8);
	put_print(FIRST + 4000, "a mark\n");
	put_switch(FIRST + 1000000, 7, 0, "swapper");
	put_switch(FIRST + 1000500, 0, 12, "twelve");
	put_timer(FIRST + 1000600, TIMER_ENTRY, 8); /* ends after a gap */
	dat_page_end(&page, 0, 0);
}

static void fill(void)
{
	static const int32_t unknown[] = {NO_FORMAT, 9};
	struct odd odd = {.type = ODD, .pid = 0, .ip = 0xffffffff80100040 + (1 << 20) + 1};

	fill_values();
	dat_page_begin(&page, &pages[0][1].page, PAGE_BYTES, 0);
	put_odd(FIRST + 3000000, &odd);
	put_timer(FIRST + 3000050, TIMER_EXIT, 8);
	put_switch(FIRST + 3000100, 12, 7, "seven");
	dat_page_end(&page, 0, RB_LOST_UNKNOWN);
	/* CPU 1: what was lost before a page without records is lost before the next. */
	dat_page_begin(&page, &pages[1][0].page, PAGE_BYTES, 0);
	dat_page_end(&page, FIRST + 2000, 2);
	dat_page_begin(&page, &pages[1][1].page, PAGE_BYTES, 0);
	assert_true(dat_page_put(&page, unknown, sizeof(unknown), FIRST + 2000000));
	assert_true(dat_page_put(&page, unknown, sizeof(unknown), FIRST + 2000000));
	put_stamp(FIRST + 2000001, 48);
	put_stamp(FIRST + 2000002, 44);
	/* Perfetto finds these by itself. */
	put_timer(FIRST + 2001000, IRQ_ENTRY, 8);
	put_timer(FIRST + 2002000, IRQ_EXIT, 8);
	put_print(FIRST + 2003000, "B|7|bar");
	put_print(FIRST + 2004000, "E");
	put_call(FIRST + 2005000, CALL);
	put_call(FIRST + 2005300, RETURN);
	put_call(FIRST + 3002000, CALL); /* open at the end */
	dat_page_end(&page, 0, 3);
	/* A time before that of the record before it. */
	dat_page_begin(&page, &pages[1][2].page, PAGE_BYTES, 0);
	put_timer(FIRST + 1999000, TIMER_EXIT, 0);
	dat_page_end(&page, 0, 0);
}

static char where[] = "/tmp/trapline-unit.XXXXXX";

static int begin(void **state)
{
	char text[2048];

	(void)state;
	memset(pages, 0, sizeof(pages));
	fill();
	trace = (struct trace){.file = "made", .cpus = 2, .page_size = PAGE_BYTES};
	trace.by_id = xmalloc(65536 * sizeof(*trace.by_id));
	trace.uname = xstrndup("System node 1.0 x86 \"\\", 99);
	trace.stats = xstrndup(stats, sizeof(stats));
	trace_set_clock(&trace, "local [tai]", 11);
	for (size_t i = 0; i < COUNT_OF(formats); i++) {
		int n = snprintf(text, sizeof(text),
		    "name: %s\nID: %d\nformat:\n" COMMON
		    "%s\nprint fmt: \"%%pS\", (void *)REC->ip\n",
		    formats[i].name, formats[i].id, formats[i].fields);
		trace_add_format(&trace, formats[i].system, text, n);
	}
	trace_index(&trace);
	trace_parse_comms(&trace, comms, sizeof(comms) - 1);
	trace_parse_symbols(&trace, symbols, sizeof(symbols) - 1);
	trace_parse_printk(&trace, printks, sizeof(printks) - 1);
	trace.cpu = xmalloc(2 * sizeof(*trace.cpu));
	for (unsigned i = 0; i < 2; i++) {
		trace.cpu[i].pages = pages[i][0].bytes;
		trace.cpu[i].bytes = sizeof(pages[i]);
	}
	return 0;
}

static int over(void **state)
{
	(void)state;
	trace_close(&trace);
	return 0;
}

static char *written(void (*write)(struct trace *, FILE *), size_t *size)
{
	char *text;
	FILE *out = open_memstream(&text, size);

	write(&trace, out);
	fclose(out);
	return text;
}

static void expect(const char *got, const char *want)
{
	size_t same = 0;

	while (got[same] && got[same] == want[same])
		same++;
	if (got[same] != want[same])
		print_error("at %zu: ...%.200s\nnot:   ...%.200s\n", same, got + same, want + same);
	assert_true(got[same] == want[same]);
}

static void expect_written(void (*write)(struct trace *, FILE *), const char *want)
{
	size_t size;
	char *text = written(write, &size);

	expect(text, want);
	free(text);
}

/* ---- bytes, as they can be read ---- */

static void put_text(FILE *out, const uint8_t *p, const uint8_t *end)
{
	for (; p < end; p++)
		if (isalnum(*p) || (*p && strchr(" _.<>%()", *p)))
			putc(*p, out);
		else
			fprintf(out, "~%02x", *p);
}

static uint64_t load(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	memcpy(&v, p, bytes);
	return v;
}

static uint8_t *file_of(const char *name, size_t *size)
{
	FILE *f = fopen(name, "rb");
	uint8_t *data = xmalloc(1 << 20);

	assert_non_null(f);
	*size = fread(data, 1, (1 << 20) - 1, f);
	fclose(f);
	unlink(name);
	return data;
}

/* ---- lines ---- */

static void lines(void **state)
{
	(void)state;
	expect_written(write_text,
	    "# clock: tai\n"
	    "# system: System node 1.0 x86 \"\\\n"
	    "# all 1\n"
	    "# \"balanced\"\n"
	    "          <idle>-0       [000] .....     1.000000001: sched_switch: prev_pid=0 "
	    "next_pid=7 next_comm=nextcomm\n"
	    "         a \"job\"-7       [000] D.H12     1.000000005: odd: tiny=-1 "
	    "big=9007199254740991 text=\"\\\\\\n\\001\\177\xe4 list={-1,2} raw={1,255,3} "
	    "fmt=of\\011%d \"q\"\\n mask=0xf0 ip=next_one list2={18446744073709551615}\n"
	    "         a \"job\"-7       [000] XNzf.     1.000001001: odd: tiny=127 "
	    "big=9007199254740992 text=(fault) list={} raw={1,255,3} fmt=0xffffffff80200001 "
	    "mask=0xf0 ip=begin_here+0x3f list2={18446744073709551615}\n"
	    "         a \"job\"-7       [000] ..h..     1.000002001: local_timer_entry: "
	    "vector=236\n"
	    "         a \"job\"-7       [000] ..h..     1.000003501: local_timer_exit: vector=236\n"
	    "         a \"job\"-7       [000] .....     1.000004001: print: ip=0 buf=a mark\\n\n"
	    "         a \"job\"-7       [000] .....     1.001000001: sched_switch: prev_pid=7 "
	    "next_pid=0 next_comm=swapper\n"
	    "          <idle>-0       [000] .....     1.001000501: sched_switch: prev_pid=0 "
	    "next_pid=12 next_comm=twelve\n"
	    "         a \"job\"-7       [000] ..h..     1.001000601: local_timer_entry: "
	    "vector=236\n"
	    "                         [001] .....     1.002000001: [LOST 5 EVENTS]\n"
	    "           <...>-9       [001] .....     1.002000001: [UNKNOWN EVENT 999]\n"
	    "           <...>-9       [001] .....     1.002000001: [UNKNOWN EVENT 999]\n"
	    "         a \"job\"-7       [001] .....     1.002000002: stamp: "
	    "least=-9223372036854775808 common_later=-2 near=near half=65520 odd={1,2,3} "
	    "pair={1,65535} end=\" halves={25966,29281} rest={1701773311,29281,262188,262178}\n"
	    "         a \"job\"-7       [001] .....     1.002000003: stamp: "
	    "least=-9223372036854775808 common_later=-2 near=near half=65520 odd={1,2,3} "
	    "pair={1,65535} end=(fault) halves=(fault) rest={1701773311,29281,262188}\n"
	    "         a \"job\"-7       [001] ..h..     1.002001001: irq_handler_entry: irq=236\n"
	    "         a \"job\"-7       [001] ..h..     1.002002001: irq_handler_exit: irq=236\n"
	    "         a \"job\"-7       [001] .....     1.002003001: print: ip=0 buf=B|7|bar\n"
	    "         a \"job\"-7       [001] .....     1.002004001: print: ip=0 buf=E\n"
	    "          <idle>-0       [001] .....     1.002005001: funcgraph_entry: "
	    "func=18446744071563116544 depth=0\n"
	    "          <idle>-0       [001] .....     1.002005301: funcgraph_exit: "
	    "func=18446744071563116544 depth=0 calltime=1002005001 rettime=1002005301\n"
	    "                         [000] .....     1.003000001: [LOST EVENTS]\n"
	    "          <idle>-0       [000] .....     1.003000001: odd: tiny=0 big=0 text= list={} "
	    "raw={0,0,0} fmt=0x0 mask=0x0 ip=18446744071564165185 list2={0}\n"
	    "         a \"job\"-7       [000] ..h..     1.003000051: local_timer_exit: vector=236\n"
	    "         idle-no-12      [000] .....     1.003000101: sched_switch: prev_pid=12 "
	    "next_pid=7 next_comm=seven\n"
	    "          <idle>-0       [001] .....     1.003002001: funcgraph_entry: "
	    "func=18446744071563116544 depth=0\n"
	    "         a \"job\"-7       [001] .....     1.001999001: local_timer_exit: "
	    "vector=236\n");
}

/* A clock that counts something else than time has numbers. */
static void counter(void **state)
{
	size_t size;

	(void)state;
	trace_set_clock(&trace, "local [x86-tsc]", 15);
	char *text = written(write_text, &size);
	assert_non_null(strstr(text, "] .....      1000000001: sched_switch: "));
	assert_non_null(strstr(text, "] .....      1002000001: [LOST 5 EVENTS]\n"));
	free(text);
}

/* ---- JSON ---- */

static void json(void **state)
{
	(void)state;
	expect_written(write_json,
	    "{\"traceEvents\":[\n"
	    "{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"ts\":0.000,\"name\":\"process_name\",\"args\":{"
	    "\"name\":\"CPUs\"}},\n"
	    "{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"ts\":0.000,\"name\":\"process_name\",\"args\":{"
	    "\"name\":\"Tasks\"}},\n"
	    "{\"ph\":\"M\",\"pid\":2,\"tid\":0,\"ts\":0.000,\"name\":\"process_name\",\"args\":{"
	    "\"name\":\"Interrupts\"}},\n"
	    "{\"ph\":\"M\",\"pid\":3,\"tid\":0,\"ts\":0.000,\"name\":\"process_name\",\"args\":{"
	    "\"name\":\"Marks\"}},\n"
	    "{\"ph\":\"M\",\"pid\":4,\"tid\":0,\"ts\":0.000,\"name\":\"process_name\",\"args\":{"
	    "\"name\":\"Functions\"}},\n"
	    "{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"ts\":0.000,\"name\":\"thread_name\",\"args\":{"
	    "\"name\":\"<idle>\"}},\n"
	    "{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"ts\":0.000,\"name\":\"thread_name\",\"args\":{"
	    "\"name\":\"CPU 0\"}},\n"
	    "{\"ph\":\"M\",\"pid\":2,\"tid\":0,\"ts\":0.000,\"name\":\"thread_name\",\"args\":{"
	    "\"name\":\"CPU 0\"}},\n"
	    "{\"ph\":\"M\",\"pid\":4,\"tid\":2147483648,\"ts\":0.000,\"name\":\"thread_name\","
	    "\"args\":{\"name\":\"<idle> on CPU 0\"}},\n"
	    "{\"ph\":\"M\",\"pid\":0,\"tid\":1,\"ts\":0.000,\"name\":\"thread_name\",\"args\":{"
	    "\"name\":\"CPU 1\"}},\n"
	    "{\"ph\":\"M\",\"pid\":2,\"tid\":1,\"ts\":0.000,\"name\":\"thread_name\",\"args\":{"
	    "\"name\":\"CPU 1\"}},\n"
	    "{\"ph\":\"M\",\"pid\":4,\"tid\":2147483649,\"ts\":0.000,\"name\":\"thread_name\","
	    "\"args\":{\"name\":\"<idle> on CPU 1\"}},\n"
	    "{\"ph\":\"M\",\"pid\":1,\"tid\":7,\"ts\":0.000,\"name\":\"thread_name\",\"args\":{"
	    "\"name\":\"a \\\"job\\\"\"}},\n"
	    "{\"ph\":\"M\",\"pid\":3,\"tid\":7,\"ts\":0.000,\"name\":\"thread_name\",\"args\":{"
	    "\"name\":\"a \\\"job\\\"\"}},\n"
	    "{\"ph\":\"M\",\"pid\":4,\"tid\":7,\"ts\":0.000,\"name\":\"thread_name\",\"args\":{"
	    "\"name\":\"a \\\"job\\\"\"}},\n"
	    "{\"ph\":\"M\",\"pid\":1,\"tid\":12,\"ts\":0.000,\"name\":\"thread_name\",\"args\":{"
	    "\"name\":\"idle-no\"}},\n"
	    "{\"ph\":\"M\",\"pid\":3,\"tid\":12,\"ts\":0.000,\"name\":\"thread_name\",\"args\":{"
	    "\"name\":\"idle-no\"}},\n"
	    "{\"ph\":\"M\",\"pid\":4,\"tid\":12,\"ts\":0.000,\"name\":\"thread_name\",\"args\":{"
	    "\"name\":\"idle-no\"}},\n"
	    "{\"ph\":\"i\",\"pid\":1,\"tid\":0,\"ts\":1000000.001,\"name\":\"sched_switch\",\"s\":"
	    "\"t\",\"cat\":\"sched\",\"args\":{\"common_cpu\":0,\"common_flags\":\".....\",\"prev_"
	    "pid\":0,\"next_pid\":7,\"next_comm\":\"nextcomm\"}},\n"
	    "{\"ph\":\"i\",\"pid\":1,\"tid\":7,\"ts\":1000000.005,\"name\":\"odd\",\"s\":\"t\","
	    "\"cat\":\"my\",\"args\":{\"common_cpu\":0,\"common_flags\":\"D.H12\",\"tiny\":-1,"
	    "\"big\":9007199254740991,\"text\":\"\\\"\\\\\\u000a\\u0001\\u007f\\u00e4\",\"list\":[-"
	    "1,2],\"raw\":[1,255,3],\"fmt\":\"of\\u0009%d "
	    "\\\"q\\\"\\u000a\",\"mask\":240,\"ip\":\"0xffffffff80100040\",\"list2\":["
	    "18446744073709551615]}},\n"
	    "{\"ph\":\"i\",\"pid\":1,\"tid\":7,\"ts\":1000001.001,\"name\":\"odd\",\"s\":\"t\","
	    "\"cat\":\"my\",\"args\":{\"common_cpu\":0,\"common_flags\":\"XNzf.\",\"tiny\":127,"
	    "\"big\":\"0x20000000000000\",\"text\":null,\"list\":[],\"raw\":[1,255,3],\"fmt\":"
	    "\"0xffffffff80200001\",\"mask\":240,\"ip\":\"0xffffffff8010003f\",\"list2\":["
	    "18446744073709551615]}},\n"
	    "{\"ph\":\"X\",\"pid\":2,\"tid\":0,\"ts\":1000002.001,\"name\":\"local_timer\",\"cat\":"
	    "\"irq_vectors\",\"dur\":1.500,\"args\":{\"begin\":{\"common_event\":\"local_timer_"
	    "entry\",\"common_pid\":7,\"common_cpu\":0,\"common_flags\":\"..h..\",\"vector\":236},"
	    "\"end\":{\"common_event\":\"local_timer_exit\",\"common_pid\":7,\"common_cpu\":0,"
	    "\"common_flags\":\"..h..\",\"vector\":236}}},\n"
	    "{\"ph\":\"i\",\"pid\":3,\"tid\":7,\"ts\":1000004.001,\"name\":\"a "
	    "mark\",\"s\":\"t\",\"cat\":\"ftrace\",\"args\":{\"common_event\":\"print\",\"common_"
	    "cpu\":0,\"common_flags\":\".....\",\"ip\":0,\"buf\":\"a mark\\u000a\"}},\n"
	    "{\"ph\":\"X\",\"pid\":0,\"tid\":0,\"ts\":1000000.001,\"name\":\"nextcomm\",\"dur\":"
	    "1000.000,\"args\":{\"pid\":7}},\n"
	    "{\"ph\":\"i\",\"pid\":1,\"tid\":7,\"ts\":1001000.001,\"name\":\"sched_switch\",\"s\":"
	    "\"t\",\"cat\":\"sched\",\"args\":{\"common_cpu\":0,\"common_flags\":\".....\",\"prev_"
	    "pid\":7,\"next_pid\":0,\"next_comm\":\"swapper\"}},\n"
	    "{\"ph\":\"i\",\"pid\":1,\"tid\":0,\"ts\":1001000.501,\"name\":\"sched_switch\",\"s\":"
	    "\"t\",\"cat\":\"sched\",\"args\":{\"common_cpu\":0,\"common_flags\":\".....\",\"prev_"
	    "pid\":0,\"next_pid\":12,\"next_comm\":\"twelve\"}},\n"
	    "{\"ph\":\"i\",\"pid\":0,\"tid\":1,\"ts\":1002000.001,\"name\":\"lost "
	    "events\",\"s\":\"t\",\"cat\":\"trapline\",\"args\":{\"common_cpu\":1,\"count\":5,"
	    "\"more\":false}},\n"
	    "{\"ph\":\"i\",\"pid\":1,\"tid\":9,\"ts\":1002000.001,\"name\":\"unknown event "
	    "999\",\"s\":\"t\",\"cat\":\"unknown\",\"args\":{\"common_cpu\":1,\"common_flags\":\".."
	    "...\"}},\n"
	    "{\"ph\":\"i\",\"pid\":1,\"tid\":9,\"ts\":1002000.001,\"name\":\"unknown event "
	    "999\",\"s\":\"t\",\"cat\":\"unknown\",\"args\":{\"common_cpu\":1,\"common_flags\":\".."
	    "...\"}},\n"
	    "{\"ph\":\"i\",\"pid\":1,\"tid\":7,\"ts\":1002000.002,\"name\":\"stamp\",\"s\":\"t\","
	    "\"cat\":\"my\",\"args\":{\"common_cpu\":1,\"common_flags\":\".....\",\"least\":-"
	    "9223372036854775808,\"common_later\":-2,\"near\":\"near\",\"half\":65520,\"odd\":[1,2,"
	    "3],\"pair\":[1,65535],\"end\":\"\\\"\",\"halves\":[25966,29281],\"rest\":[1701773311,"
	    "29281,262188,262178]}},\n"
	    "{\"ph\":\"i\",\"pid\":1,\"tid\":7,\"ts\":1002000.003,\"name\":\"stamp\",\"s\":\"t\","
	    "\"cat\":\"my\",\"args\":{\"common_cpu\":1,\"common_flags\":\".....\",\"least\":-"
	    "9223372036854775808,\"common_later\":-2,\"near\":\"near\",\"half\":65520,\"odd\":[1,2,"
	    "3],\"pair\":[1,65535],\"end\":null,\"halves\":null,\"rest\":[1701773311,29281,262188]}"
	    "},\n"
	    "{\"ph\":\"X\",\"pid\":2,\"tid\":1,\"ts\":1002001.001,\"name\":\"irq 236 "
	    "\",\"cat\":\"irq\",\"dur\":1.000,\"args\":{\"begin\":{\"common_event\":\"irq_handler_"
	    "entry\",\"common_pid\":7,\"common_cpu\":1,\"common_flags\":\"..h..\",\"irq\":236},"
	    "\"end\":{\"common_event\":\"irq_handler_exit\",\"common_pid\":7,\"common_cpu\":1,"
	    "\"common_flags\":\"..h..\",\"irq\":236}}},\n"
	    "{\"ph\":\"X\",\"pid\":3,\"tid\":7,\"ts\":1002003.001,\"name\":\"bar\",\"cat\":"
	    "\"ftrace\",\"dur\":1.000,\"args\":{\"begin\":{\"common_event\":\"print\",\"common_"
	    "pid\":7,\"common_cpu\":1,\"common_flags\":\".....\",\"ip\":0,\"buf\":\"B|7|bar\"},"
	    "\"end\":{\"common_event\":\"print\",\"common_pid\":7,\"common_cpu\":1,\"common_"
	    "flags\":\".....\",\"ip\":0,\"buf\":\"E\"}}},\n"
	    "{\"ph\":\"X\",\"pid\":4,\"tid\":2147483649,\"ts\":1002005.001,\"name\":\"begin_here\","
	    "\"cat\":\"ftrace\",\"dur\":0.300,\"args\":{\"begin\":{\"common_event\":\"funcgraph_"
	    "entry\",\"common_pid\":0,\"common_cpu\":1,\"common_flags\":\".....\",\"func\":"
	    "\"0xffffffff80100000\",\"depth\":0},\"end\":{\"common_event\":\"funcgraph_exit\","
	    "\"common_pid\":0,\"common_cpu\":1,\"common_flags\":\".....\",\"func\":"
	    "\"0xffffffff80100000\",\"depth\":0,\"calltime\":1002005001,\"rettime\":1002005301}}},"
	    "\n"
	    "{\"ph\":\"i\",\"pid\":1,\"tid\":7,\"ts\":1001000.601,\"name\":\"local_timer_entry\","
	    "\"s\":\"t\",\"cat\":\"irq_vectors\",\"args\":{\"common_cpu\":0,\"common_flags\":\"..h."
	    ".\",\"vector\":236}},\n"
	    "{\"ph\":\"i\",\"pid\":0,\"tid\":0,\"ts\":1003000.001,\"name\":\"lost "
	    "events\",\"s\":\"t\",\"cat\":\"trapline\",\"args\":{\"common_cpu\":0,\"count\":0,"
	    "\"more\":true}},\n"
	    "{\"ph\":\"i\",\"pid\":1,\"tid\":0,\"ts\":1003000.001,\"name\":\"odd\",\"s\":\"t\","
	    "\"cat\":\"my\",\"args\":{\"common_cpu\":0,\"common_flags\":\".....\",\"tiny\":0,"
	    "\"big\":0,\"text\":\"\",\"list\":[],\"raw\":[0,0,0],\"fmt\":0,\"mask\":0,\"ip\":"
	    "\"0xffffffff80200041\",\"list2\":[0]}},\n"
	    "{\"ph\":\"i\",\"pid\":1,\"tid\":7,\"ts\":1003000.051,\"name\":\"local_timer_exit\","
	    "\"s\":\"t\",\"cat\":\"irq_vectors\",\"args\":{\"common_cpu\":0,\"common_flags\":\"..h."
	    ".\",\"vector\":236}},\n"
	    "{\"ph\":\"i\",\"pid\":1,\"tid\":12,\"ts\":1003000.101,\"name\":\"sched_switch\",\"s\":"
	    "\"t\",\"cat\":\"sched\",\"args\":{\"common_cpu\":0,\"common_flags\":\".....\",\"prev_"
	    "pid\":12,\"next_pid\":7,\"next_comm\":\"seven\"}},\n"
	    "{\"ph\":\"i\",\"pid\":1,\"tid\":7,\"ts\":1001999.001,\"name\":\"local_timer_exit\","
	    "\"s\":\"t\",\"cat\":\"irq_vectors\",\"args\":{\"common_cpu\":1,\"common_flags\":\"...."
	    ".\",\"vector\":236}},\n"
	    "{\"ph\":\"X\",\"pid\":0,\"tid\":0,\"ts\":1003000.101,\"name\":\"seven\",\"dur\":"
	    "1.900,\"args\":{\"pid\":7}},\n"
	    "{\"ph\":\"B\",\"pid\":4,\"tid\":2147483649,\"ts\":1003002.001,\"name\":\"begin_here\","
	    "\"cat\":\"ftrace\",\"args\":{\"begin\":{\"common_event\":\"funcgraph_entry\",\"common_"
	    "pid\":0,\"common_cpu\":1,\"common_flags\":\".....\",\"func\":\"0xffffffff80100000\","
	    "\"depth\":0}}}\n"
	    "],\"displayTimeUnit\":\"ns\",\"otherData\":{\"clock\":\"tai\",\"system\":\"System "
	    "node 1.0 x86 \\\"\\\\\",\"ledger\":\"all "
	    "1\\u000a\\u000a\\\"balanced\\\"\\u000a\"}}\n");
}

/* ---- CTF ---- */

/* Writes CTF; `want` is what it has to say, NULL: anything. */
static void expect_said(const char *directory, bool fine, const char *want)
{
	int before = dup(STDERR_FILENO), said = creat("said", 0600);
	size_t size;

	bool nothing = say_nothing;
	say_nothing = false;
	dup2(said, STDERR_FILENO);
	bool got = write_ctf(&trace, directory);
	dup2(before, STDERR_FILENO);
	say_nothing = nothing;
	close(before);
	close(said);
	char *text = (char *)file_of("said", &size);
	if (want)
		expect(text, want);
	free(text);
	assert_int_equal(got, fine);
}

#define TURNED_BACK                                                                                \
	"trapline: 1 records have the time of the one before them: theirs was earlier, which CTF " \
	"has no place for\n"

static void ctf_metadata(void **state)
{
	size_t size;

	(void)state;
	expect_said("made/", true, TURNED_BACK);
	/* What is there is left alone. */
	expect_said("made", false, "trapline: made: is there already\n");
	char *text = (char *)file_of("made/metadata", &size);
	free(file_of("made/cpu0", &size));
	free(file_of("made/cpu1", &size));
	assert_int_equal(rmdir("made"), 0);
	expect(text,
	    "/* CTF 1.8 */\n"
	    "\n"
	    "trace {\n"
	    "\tmajor = 1;\n"
	    "\tminor = 8;\n"
	    "\tbyte_order = le;\n"
	    "\tpacket.header := struct {\n"
	    "\t\tinteger { size = 32; align = 8; signed = false; } magic;\n"
	    "\t\tinteger { size = 32; align = 8; signed = false; } stream_id;\n"
	    "\t};\n"
	    "};\n"
	    "\n"
	    "env {\n"
	    "\ttracer_name = \"trapline\";\n"
	    "\tsystem = \"System node 1.0 x86 \\\"\\\\\";\n"
	    "\ttrace_clock = \"tai\";\n"
	    "\tledger = \"all 1\\n\\n\\\"balanced\\\"\\n\";\n"
	    "};\n"
	    "\n"
	    "clock {\n"
	    "\tname = \"trace\";\n"
	    "\tfreq = 1000000000;\n"
	    "};\n"
	    "\n"
	    "stream {\n"
	    "\tid = 0;\n"
	    "\tpacket.context := struct {\n"
	    "\t\tinteger { size = 64; align = 8; signed = false; map = clock.trace.value; } "
	    "timestamp_begin;\n"
	    "\t\tinteger { size = 64; align = 8; signed = false; map = clock.trace.value; } "
	    "timestamp_end;\n"
	    "\t\tinteger { size = 64; align = 8; signed = false; } content_size;\n"
	    "\t\tinteger { size = 64; align = 8; signed = false; } packet_size;\n"
	    "\t\tinteger { size = 32; align = 8; signed = false; } events_discarded;\n"
	    "\t\tinteger { size = 32; align = 8; signed = false; } cpu_id;\n"
	    "\t};\n"
	    "\tevent.header := struct {\n"
	    "\t\tinteger { size = 16; align = 8; signed = false; } id;\n"
	    "\t\tinteger { size = 64; align = 8; signed = false; map = clock.trace.value; } "
	    "timestamp;\n"
	    "\t};\n"
	    "\tevent.context := struct {\n"
	    "\t\tinteger { size = 32; align = 8; signed = true; } _pid;\n"
	    "\t\tstring _comm;\n"
	    "\t\tstring _flags;\n"
	    "\t};\n"
	    "};\n"
	    "\n"
	    "event {\n"
	    "\tname = \"odd\";\n"
	    "\tid = 300;\n"
	    "\tstream_id = 0;\n"
	    "\tfields := struct {\n"
	    "\t\tinteger { size = 8; align = 8; signed = true; } _tiny;\n"
	    "\t\tinteger { size = 64; align = 8; signed = false; } _big;\n"
	    "\t\tstring _text;\n"
	    "\t\tinteger { size = 16; align = 8; signed = false; } __list_length;\n"
	    "\t\tinteger { size = 16; align = 8; signed = true; } _list[__list_length];\n"
	    "\t\tinteger { size = 16; align = 8; signed = false; } __raw_length;\n"
	    "\t\tinteger { size = 8; align = 8; signed = false; } _raw[__raw_length];\n"
	    "\t\tstring _fmt;\n"
	    "\t\tinteger { size = 64; align = 8; signed = false; } _mask;\n"
	    "\t\tinteger { size = 64; align = 8; signed = false; } _ip;\n"
	    "\t\tinteger { size = 16; align = 8; signed = false; } __list2_length;\n"
	    "\t\tinteger { size = 64; align = 8; signed = false; } _list2[__list2_length];\n"
	    "\t};\n"
	    "};\n"
	    "\n"
	    "event {\n"
	    "\tname = \"sched_switch\";\n"
	    "\tid = 301;\n"
	    "\tstream_id = 0;\n"
	    "\tfields := struct {\n"
	    "\t\tinteger { size = 32; align = 8; signed = true; } _prev_pid;\n"
	    "\t\tinteger { size = 32; align = 8; signed = true; } _next_pid;\n"
	    "\t\tstring _next_comm;\n"
	    "\t};\n"
	    "};\n"
	    "\n"
	    "event {\n"
	    "\tname = \"local_timer_entry\";\n"
	    "\tid = 302;\n"
	    "\tstream_id = 0;\n"
	    "\tfields := struct {\n"
	    "\t\tinteger { size = 32; align = 8; signed = true; } _vector;\n"
	    "\t};\n"
	    "};\n"
	    "\n"
	    "event {\n"
	    "\tname = \"local_timer_exit\";\n"
	    "\tid = 303;\n"
	    "\tstream_id = 0;\n"
	    "\tfields := struct {\n"
	    "\t\tinteger { size = 32; align = 8; signed = true; } _vector;\n"
	    "\t};\n"
	    "};\n"
	    "\n"
	    "event {\n"
	    "\tname = \"print\";\n"
	    "\tid = 304;\n"
	    "\tstream_id = 0;\n"
	    "\tfields := struct {\n"
	    "\t\tinteger { size = 64; align = 8; signed = false; } _ip;\n"
	    "\t\tstring _buf;\n"
	    "\t};\n"
	    "};\n"
	    "\n"
	    "event {\n"
	    "\tname = \"irq_handler_entry\";\n"
	    "\tid = 305;\n"
	    "\tstream_id = 0;\n"
	    "\tfields := struct {\n"
	    "\t\tinteger { size = 32; align = 8; signed = true; } _irq;\n"
	    "\t};\n"
	    "};\n"
	    "\n"
	    "event {\n"
	    "\tname = \"irq_handler_exit\";\n"
	    "\tid = 306;\n"
	    "\tstream_id = 0;\n"
	    "\tfields := struct {\n"
	    "\t\tinteger { size = 32; align = 8; signed = true; } _irq;\n"
	    "\t};\n"
	    "};\n"
	    "\n"
	    "event {\n"
	    "\tname = \"funcgraph_entry\";\n"
	    "\tid = 307;\n"
	    "\tstream_id = 0;\n"
	    "\tfields := struct {\n"
	    "\t\tinteger { size = 64; align = 8; signed = false; } _func;\n"
	    "\t\tinteger { size = 32; align = 8; signed = true; } _depth;\n"
	    "\t};\n"
	    "};\n"
	    "\n"
	    "event {\n"
	    "\tname = \"funcgraph_exit\";\n"
	    "\tid = 308;\n"
	    "\tstream_id = 0;\n"
	    "\tfields := struct {\n"
	    "\t\tinteger { size = 64; align = 8; signed = false; } _func;\n"
	    "\t\tinteger { size = 32; align = 8; signed = true; } _depth;\n"
	    "\t\tinteger { size = 64; align = 8; signed = false; } _calltime;\n"
	    "\t\tinteger { size = 64; align = 8; signed = false; } _rettime;\n"
	    "\t};\n"
	    "};\n"
	    "\n"
	    "event {\n"
	    "\tname = \"stamp\";\n"
	    "\tid = 309;\n"
	    "\tstream_id = 0;\n"
	    "\tfields := struct {\n"
	    "\t\tinteger { size = 64; align = 8; signed = true; } _least;\n"
	    "\t\tinteger { size = 32; align = 8; signed = true; } _common_later;\n"
	    "\t\tstring _near;\n"
	    "\t\tinteger { size = 16; align = 8; signed = false; } _half;\n"
	    "\t\tinteger { size = 16; align = 8; signed = false; } __odd_length;\n"
	    "\t\tinteger { size = 8; align = 8; signed = false; } _odd[__odd_length];\n"
	    "\t\tinteger { size = 16; align = 8; signed = false; } __pair_length;\n"
	    "\t\tinteger { size = 16; align = 8; signed = false; } _pair[__pair_length];\n"
	    "\t\tstring _end;\n"
	    "\t\tinteger { size = 16; align = 8; signed = false; } __halves_length;\n"
	    "\t\tinteger { size = 16; align = 8; signed = false; } _halves[__halves_length];\n"
	    "\t\tinteger { size = 16; align = 8; signed = false; } __rest_length;\n"
	    "\t\tinteger { size = 32; align = 8; signed = false; } _rest[__rest_length];\n"
	    "\t};\n"
	    "};\n"
	    "\n"
	    "event {\n"
	    "\tname = \"unknown\";\n"
	    "\tid = 65535;\n"
	    "\tstream_id = 0;\n"
	    "\tfields := struct {\n"
	    "\t\tinteger { size = 16; align = 8; signed = false; } _id;\n"
	    "\t};\n"
	    "};\n");
	free(text);
}

/* "[first last] discarded cpu size: events": a line for each packet. */
static char *packets(const char *name)
{
	char *text;
	size_t size, text_size;
	FILE *out = open_memstream(&text, &text_size);
	uint8_t *data = file_of(name, &size), *p = data;

	while (p < data + size) {
		uint64_t bits = load(p + 24, 8);

		assert_int_equal(load(p, 4), 0xc1fc1fc1);
		assert_int_equal(load(p + 4, 4), 0);
		assert_int_equal(load(p + 32, 8), bits);
		assert_in_range(bits / 8, 48, data + size - p);
		fprintf(out, "[%llu %llu] lost %u cpu %u:", (unsigned long long)load(p + 8, 8),
		    (unsigned long long)load(p + 16, 8), (unsigned)load(p + 40, 4),
		    (unsigned)load(p + 44, 4));
		put_text(out, p + 48, p + bits / 8);
		putc('\n', out);
		p += bits / 8;
	}
	free(data);
	fclose(out);
	return text;
}

static void ctf_streams(void **state)
{
	size_t size;

	(void)state;
	expect_said("made", true, TURNED_BACK);
	free(file_of("made/metadata", &size));
	char *one = packets("made/cpu0"), *two = packets("made/cpu1");
	assert_int_equal(rmdir("made"), 0);
	expect(one,
	    "[1000000001 1001000601] lost 0 cpu "
	    "0:~2d~01~01~ca~9a~3b~00~00~00~00~00~00~00~00<idle>~00.....~00~00~00~00~00~07~00~00~"
	    "00nextcomm~00~2c~01~05~ca~9a~3b~00~00~00~00~07~00~00~00a "
	    "~22job~22~00D.H12~00~ff~ff~ff~ff~ff~ff~ff~1f~00~22~5c~0a~01~7f~e4~00~02~00~ff~ff~02~"
	    "00~03~00~01~ff~03of~09%d "
	    "~22q~22~0a~00~f0~00~00~00~00~00~00~00~40~00~10~80~ff~ff~ff~ff~01~00~ff~ff~ff~ff~ff~ff~"
	    "ff~ff~2c~01~e9~cd~9a~3b~00~00~00~00~07~00~00~00a "
	    "~22job~22~00XNzf.~00~7f~00~00~00~00~00~00 "
	    "~00~00~00~00~03~00~01~ff~030xffffffff80200001~00~f0~00~00~00~00~00~00~00~3f~00~10~80~"
	    "ff~ff~ff~ff~01~00~ff~ff~ff~ff~ff~ff~ff~ff.~01~d1~d1~9a~3b~00~00~00~00~07~00~00~00a "
	    "~22job~22~00..h..~00~ec~00~00~00~2f~01~ad~d7~9a~3b~00~00~00~00~07~00~00~00a "
	    "~22job~22~00..h..~00~ec~00~00~000~01~a1~d9~9a~3b~00~00~00~00~07~00~00~00a "
	    "~22job~22~00.....~00~00~00~00~00~00~00~00~00a "
	    "mark~0a~00~2d~01A~0c~aa~3b~00~00~00~00~07~00~00~00a "
	    "~22job~22~00.....~00~07~00~00~00~00~00~00~00swapper~00~2d~015~0e~aa~3b~00~00~00~00~00~"
	    "00~00~00<idle>~00.....~00~00~00~00~00~0c~00~00~00twelve~00.~01~99~0e~aa~3b~00~00~00~"
	    "00~07~00~00~00a ~22job~22~00..h..~00~ec~00~00~00\n"
	    "[1001000601 1003000001] lost 1 cpu 0:\n"
	    "[1003000001 1003000101] lost 1 cpu "
	    "0:~2c~01~c1~90~c8~3b~00~00~00~00~00~00~00~00<idle>~00.....~00~00~00~00~00~00~00~00~00~"
	    "00~00~00~00~03~00~00~00~000x0~00~00~00~00~00~00~00~00~00A~00 "
	    "~80~ff~ff~ff~ff~01~00~00~00~00~00~00~00~00~00~2f~01~f3~90~c8~3b~00~00~00~00~07~00~00~"
	    "00a "
	    "~22job~22~00..h..~00~ec~00~00~00~2d~01%~91~c8~3b~00~00~00~00~0c~00~00~00idle~2dno~00.."
	    "...~00~0c~00~00~00~07~00~00~00seven~00\n");
	expect(two,
	    "[1002000001 1002000001] lost 0 cpu 1:\n"
	    "[1002000001 1002000001] lost 5 cpu 1:\n"
	    "[1002000001 1003002001] lost 5 cpu "
	    "1:~ff~ff~81N~b9~3b~00~00~00~00~09~00~00~00<...>~00.....~00~e7~03~ff~ff~81N~b9~3b~00~"
	    "00~00~00~09~00~00~00<...>~00.....~00~e7~035~01~82N~b9~3b~00~00~00~00~07~00~00~00a "
	    "~22job~22~00.....~00~00~00~00~00~00~00~00~80~fe~ff~ff~ffnear~00~f0~ff~03~00~01~02~03~"
	    "02~00~01~00~ff~ff~22~00~02~00near~04~00~ff~ffnear~00~00~2c~00~04~00~22~00~04~005~01~"
	    "83N~b9~3b~00~00~00~00~07~00~00~00a "
	    "~22job~22~00.....~00~00~00~00~00~00~00~00~80~fe~ff~ff~ffnear~00~f0~ff~03~00~01~02~03~"
	    "02~00~01~00~ff~ff~00~00~00~03~00~ff~ffnear~00~00~2c~00~04~001~01iR~b9~3b~00~00~00~00~"
	    "07~00~00~00a ~22job~22~00..h..~00~ec~00~00~002~01QV~b9~3b~00~00~00~00~07~00~00~00a "
	    "~22job~22~00..h..~00~ec~00~00~000~019Z~b9~3b~00~00~00~00~07~00~00~00a "
	    "~22job~22~00.....~00~00~00~00~00~00~00~00~00B~7c7~7cbar~000~01~21~5e~b9~3b~00~00~00~"
	    "00~07~00~00~00a "
	    "~22job~22~00.....~00~00~00~00~00~00~00~00~00E~003~01~09b~b9~3b~00~00~00~00~00~00~00~"
	    "00<idle>~00.....~00~00~00~10~80~ff~ff~ff~ff~00~00~00~004~015c~b9~3b~00~00~00~00~00~00~"
	    "00~00<idle>~00.....~00~00~00~10~80~ff~ff~ff~ff~00~00~00~00~09b~b9~3b~00~00~00~005c~b9~"
	    "3b~00~00~00~003~01~91~98~c8~3b~00~00~00~00~00~00~00~00<idle>~00.....~00~00~00~10~80~"
	    "ff~ff~ff~ff~00~00~00~00~2f~01~91~98~c8~3b~00~00~00~00~07~00~00~00a "
	    "~22job~22~00.....~00~ec~00~00~00\n");
	free(one);
	free(two);
}

/* The directory has the mode that mkdir() gives one. */
static void ctf_mode(void **state)
{
	mode_t before = umask(027);
	struct stat st;
	size_t size;

	(void)state;
	expect_said("made", true, TURNED_BACK);
	umask(before);
	assert_int_equal(stat("made", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
	for (const char *const *name =
		 (const char *const[]){"made/metadata", "made/cpu0", "made/cpu1", NULL};
	     *name; name++)
		free(file_of(*name, &size));
	assert_int_equal(rmdir("made"), 0);
}

/* No file for the second CPU: none is left of what was made. */
static void ctf_fails(void **state)
{
	int next = dup(STDERR_FILENO);
	struct rlimit limit, before;

	(void)state;
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = before;
	limit.rlim_cur = next + 3; /* two of expect_said(), and the first CPU's */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	expect_said("made", false, NULL);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_not_equal(access("made", F_OK), 0); /* and leave() finds nothing else */
}

/* A packet of many events ends, and the next begins where it ended. */
static void ctf_packets(void **state)
{
	enum { COUNT = 200 };
	struct odd odd = {.type = ODD, .pid = 7};
	uint8_t *many = xmalloc((size_t)COUNT * PAGE_BYTES);
	uint64_t time = FIRST, first, last, lost;
	size_t size;

	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		dat_page_begin(&page, &pages[0][0].page, PAGE_BYTES, 0);
		while (dat_page_put(&page, &odd, sizeof(odd), time))
			time += 10;
		dat_page_end(&page, 0, 0);
		memcpy(many + i * PAGE_BYTES, pages[0][0].bytes, PAGE_BYTES);
	}
	trace.cpu[0].pages = many;
	trace.cpu[0].bytes = (uint64_t)COUNT * PAGE_BYTES;
	trace.cpus = 1;
	expect_said("made", true, "");
	free(file_of("made/metadata", &size));
	uint8_t *data = file_of("made/cpu0", &size), *p = data;
	assert_int_equal(rmdir("made"), 0);
	for (last = FIRST; p < data + size; p += load(p + 32, 8) / 8) {
		first = load(p + 8, 8);
		lost = load(p + 40, 4);
		assert_int_equal(first, last);
		assert_int_equal(lost, 0);
		last = load(p + 16, 8);
		assert_in_range(load(p + 32, 8) / 8, 48, (256 << 10) + 1000);
	}
	assert_int_equal(last, time - 10);
	free(data);
	free(many);
}

/* ---- Perfetto ---- */

static uint64_t varint(const uint8_t **p, const uint8_t *end)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		assert_true(*p < end && shift < 64);
		v |= (uint64_t)(**p & 0x7f) << shift;
		if (!(*(*p)++ & 0x80))
			return v;
	}
}

/* "1:2 3'text' 4{1:5}": messages have lengths of five bytes. */
static void put_message(FILE *out, const uint8_t *p, const uint8_t *end)
{
	const char *between = "";

	while (p < end) {
		uint64_t tag = varint(&p, end), v;
		const uint8_t *begin = p;

		fprintf(out, "%s%llu", between, (unsigned long long)tag >> 3);
		between = " ";
		v = varint(&p, end);
		if ((tag & 7) == 0) {
			fprintf(out, ":%llu", (unsigned long long)v);
			continue;
		}
		assert_int_equal(tag & 7, 2);
		assert_true(v <= (uint64_t)(end - p));
		putc(p - begin == 5 ? '{' : '\'', out);
		(p - begin == 5 ? put_message : put_text)(out, p, p + v);
		putc(p - begin == 5 ? '}' : '\'', out);
		p += v;
	}
}

static void perfetto(void **state)
{
	size_t size, text_size;
	char *data = written(write_perfetto, &size), *text;
	FILE *out = open_memstream(&text, &text_size);
	const uint8_t *p = (uint8_t *)data, *end = p + size;

	(void)state;
	while (p < end) {
		assert_int_equal(*p++, 1 << 3 | 2); /* packet */
		uint64_t n = varint(&p, end);

		assert_true(n <= (uint64_t)(end - p));
		put_message(out, p, p + n);
		putc('\n', out);
		p += n;
	}
	fclose(out);
	expect(text,
	    "45{1{1'System' 2'System node 1.0 x86 ~22~5c' 3'1.0' 4'x86'}} 10:1 13:1\n"
	    "5{2{1'clock' 2'tai'}} 10:1\n"
	    "5{2{1'ledger' 2'all 1~0a~0a~22balanced~22~0a'}} 10:1\n"
	    "60{1:12884901888 2'CPU 0 interrupts'} 10:1\n"
	    "8:1000002001 11{9:1 11:12884901888 22'irq_vectors' 23'local_timer'} 10:1\n"
	    "8:1000003501 11{9:2 11:12884901888} 10:1\n"
	    "60{1:4294967303 4{1:7 2:7 5'a ~22job~22'}} 10:1\n"
	    "60{1:8589934599 2'marks' 5:4294967303} 10:1\n"
	    "8:1000004001 11{9:3 11:8589934599 22'ftrace' 23'a mark'} 10:1\n"
	    "60{1:21474836481 2'CPU 1 functions when idle'} 10:1\n"
	    "8:1002005001 11{9:1 11:21474836481 22'ftrace' 23'begin_here'} 10:1\n"
	    "8:1002005301 11{9:2 11:21474836481} 10:1\n"
	    "1{1:0 2{1:1000000001 2:0 5:0 4{2:0 5'nextcomm' 6:7}} 2{1:1000000005 2:7 5:153 "
	    "327{1'odd' 2{1'tiny' 4:18446744073709551615} 2{1'big' 5:9007199254740991} 2{1'text' "
	    "3'~22~5c~0a~01~7f~e4'} 2{1'list' 3'~7b~2d1~2c2~7d'} 2{1'raw' 3'~7b1~2c255~2c3~7d'} "
	    "2{1'fmt' 3'of~09%d ~22q~22~0a'} 2{1'mask' 5:240} 2{1'ip' 5:18446744071563116608} "
	    "2{1'list2' 3'~7b18446744073709551615~7d'}}} 2{1:1000001001 2:7 5:102 327{1'odd' "
	    "2{1'tiny' 4:127} 2{1'big' 5:9007199254740992} 2{1'text' 3'(fault)'} 2{1'list' "
	    "3'~7b~7d'} 2{1'raw' 3'~7b1~2c255~2c3~7d'} 2{1'fmt' 5:18446744071564165121} 2{1'mask' "
	    "5:240} 2{1'ip' 5:18446744071563116607} 2{1'list2' 3'~7b18446744073709551615~7d'}}} "
	    "2{1:1000002001 2:7 5:8 327{1'local_timer_entry' 2{1'vector' 4:236}}} 2{1:1000003501 "
	    "2:7 5:8 327{1'local_timer_exit' 2{1'vector' 4:236}}} 2{1:1000004001 2:7 5:0 3{1:0 2'a "
	    "mark~0a'}} 2{1:1001000001 2:7 5:0 4{2:7 5'swapper' 6:0}} 2{1:1001000501 2:0 5:0 4{2:0 "
	    "5'twelve' 6:12}} 2{1:1001000601 2:7 5:8 327{1'local_timer_entry' 2{1'vector' "
	    "4:236}}}} 10:1\n"
	    "1{1:0 2{1:1003000001 2:0 327{1'lost_events' 2{1'count' 5:0} 2{1'more' 5:1}}} "
	    "2{1:1003000001 2:0 5:0 327{1'odd' 2{1'tiny' 4:0} 2{1'big' 5:0} 2{1'text' 3''} "
	    "2{1'list' 3'~7b~7d'} 2{1'raw' 3'~7b0~2c0~2c0~7d'} 2{1'fmt' 5:0} 2{1'mask' 5:0} "
	    "2{1'ip' 5:18446744071564165185} 2{1'list2' 3'~7b0~7d'}}} 2{1:1003000051 2:7 5:8 "
	    "327{1'local_timer_exit' 2{1'vector' 4:236}}} 2{1:1003000101 2:12 5:0 4{2:12 5'seven' "
	    "6:7}} 3:1} 10:1\n"
	    "1{1:1 2{1:1002000001 2:0 327{1'lost_events' 2{1'count' 5:5} 2{1'more' 5:0}}} "
	    "2{1:1002000001 2:9 5:0 327{1'unknown_event_999'}} 2{1:1002000001 2:9 5:0 "
	    "327{1'unknown_event_999'}} 2{1:1002000002 2:7 5:0 327{1'stamp' 2{1'least' "
	    "4:9223372036854775808} 2{1'common_later' 4:18446744073709551614} 2{1'near' 3'near'} "
	    "2{1'half' 5:65520} 2{1'odd' 3'~7b1~2c2~2c3~7d'} 2{1'pair' 3'~7b1~2c65535~7d'} "
	    "2{1'end' 3'~22'} 2{1'halves' 3'~7b25966~2c29281~7d'} 2{1'rest' "
	    "3'~7b1701773311~2c29281~2c262188~2c262178~7d'}}} 2{1:1002000003 2:7 5:0 327{1'stamp' "
	    "2{1'least' 4:9223372036854775808} 2{1'common_later' 4:18446744073709551614} 2{1'near' "
	    "3'near'} 2{1'half' 5:65520} 2{1'odd' 3'~7b1~2c2~2c3~7d'} 2{1'pair' "
	    "3'~7b1~2c65535~7d'} 2{1'end' 3'(fault)'} 2{1'halves' 3'(fault)'} 2{1'rest' "
	    "3'~7b1701773311~2c29281~2c262188~7d'}}} 2{1:1002001001 2:7 5:8 36{1:236}} "
	    "2{1:1002002001 2:7 5:8 37{1:236}} 2{1:1002003001 2:7 5:0 3{1:0 2'B~7c7~7cbar'}} "
	    "2{1:1002004001 2:7 5:0 3{1:0 2'E'}} 2{1:1002005001 2:0 5:0 327{1'funcgraph_entry' "
	    "2{1'func' 5:18446744071563116544} 2{1'depth' 4:0}}} 2{1:1002005301 2:0 5:0 "
	    "327{1'funcgraph_exit' 2{1'func' 5:18446744071563116544} 2{1'depth' 4:0} 2{1'calltime' "
	    "5:1002005001} 2{1'rettime' 5:1002005301}}} 2{1:1003002001 2:0 5:0 "
	    "327{1'funcgraph_entry' 2{1'func' 5:18446744071563116544} 2{1'depth' 4:0}}} "
	    "2{1:1001999001 2:7 5:0 327{1'local_timer_exit' 2{1'vector' 4:236}}} 3:1} 10:1\n"
	    "8:1003002001 11{9:1 11:21474836481 22'ftrace' 23'begin_here'} 10:1\n"
	    "34{1:2 2{1:0 2:70 3:3 4:4 5:5 8:6 9:0} 2{1:1 2:71 3:0 4:0 5:0 8:0 9:9}} 10:1\n");
	free(text);
	free(data);
}

static int enter(void **state)
{
	(void)state;
	return !mkdtemp(where) || chdir(where);
}

static int leave(void **state)
{
	(void)state;
	return chdir("/") || rmdir(where);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, over)

int forms_tests(void)
{
	static const struct CMUnitTest tests[] = {TEST(lines), TEST(counter), TEST(json),
	    TEST(ctf_metadata), TEST(ctf_streams), TEST(ctf_mode), TEST(ctf_fails),
	    TEST(ctf_packets), TEST(perfetto)};

	return unit_group("forms", tests, COUNT_OF(tests), enter, leave);
}
