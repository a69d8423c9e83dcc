/*
 * The flight recorder's memory at its edges: texts of formats that just fit, or are there twice;
 * names of functions and tasks; clocks; a start without memory.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/host/lastboot_tools.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/export/tools.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/ftrace.h"
#include "trace/event/parts.h"
#include "trace/host_lock.h"
#include "trace/persist/prevboot.h"

static struct kept_header *now(void)
{
	return (struct kept_header *)lb_region;
}

static u32 texts_in(const struct kept_header *h)
{
	u32 n = 0, at = 0;

	while (kept_next_text(h, &at))
		n++;
	return n;
}

/* A format is there as a whole or not at all, however little room is left, and once. */
static void texts_that_fit(void)
{
	u32 texts, first, kept = 0, refused = 0;

	lb_begin();
	struct trace_event_call *call = trace_event_by_id(TRACE_PRINT);
	first = now()->texts_used;
	texts = texts_in(now());
	host_lock();
	kept_note_event(call);
	EXPECT_EQ(now()->texts_used, first);
	for (u32 room = 0; room < 1200; room += 8) {
		u64 *behind = (u64 *)(lb_region + now()->texts_at + first + room);

		now()->texts_full = 0;
		now()->texts_size = first + room;
		*behind = 0x1234;
		now()->texts_used = first;
		call->flags &= ~TRACE_CALL_NOTED;
		kept_note_event(call);
		EXPECT_EQ(*behind, 0x1234);
		EXPECT_EQ(texts_in(now()), texts + !now()->texts_full);
		EXPECT((now()->texts_used > first) == !now()->texts_full);
		kept += !now()->texts_full;
		refused += now()->texts_full;
	}
	host_unlock();
	EXPECT(kept && refused > 20);
	lb_end();
}

/* The text of an event in the copy, to be changed; text_seal() makes its sum right. */
static struct kept_text *text_of(const char *name)
{
	const struct kept_text *t;
	char head[64];
	u32 at = 0;

	fmt_snprintf(head, sizeof(head), "name: %s\n", name);
	while ((t = kept_next_text(lb_header(), &at)))
		if (str_has_prefix(t->system + t->format_at, head))
			return (struct kept_text *)t;
	EXPECT(!"it has such a text");
	return NULL;
}

static void text_seal(struct kept_text *t)
{
	t->sum = kept_sum(&t->size, t->size - sizeof(t->sum));
}

/* A number that was given twice is the last event's; a text with another number is none. */
static void numbers_of_texts(void)
{
	lb_begin();
	lb_hit(1, 2);
	memcpy(lb_copy, lb_region, LB_SIZE);
	struct kept_text *t = text_of("unit_numbers"), *again;
	again = (void *)(lb_copy + lb_header()->texts_at + lb_header()->texts_used);
	memcpy(again, t, t->size);
	lb_header()->texts_used += t->size;
	memcpy(strstr(again->system + again->format_at, "unit_numbers"), "last_numbers", 12);
	text_seal(again);
	lb_find(lb_copy, LB_SIZE);
	EXPECT(strstr(trace_get("instances/lastboot/trace", NULL), ": last_numbers: "));
	EXPECT(!strstr(trace_get("instances/lastboot/trace", NULL), ": unit_numbers: "));
	dat_read("instances/lastboot/trace.dat", 4096);
	EXPECT_EQ(dat_check(trace_array_find("lastboot"), trace_array_find("lastboot")->buffer),
	    ring_buffer_entries(trace_array_find("lastboot")->buffer));
	dat_release();
	lb_forget();
	again->id++;
	text_seal(again);
	lb_find(lb_copy, LB_SIZE);
	EXPECT(strstr(trace_get("instances/lastboot/trace", NULL), ": unit_numbers: "));
	EXPECT(!strstr(lb_report(), "its rings hold no event"));
	lb_end();
}

/* The trace of the last boot, in which unit_numbers had another format. */
static const char *trace_with_another_format(void)
{
	memcpy(lb_copy, lb_region, LB_SIZE);
	struct kept_text *t = text_of("unit_numbers");
	*strstr(t->system + t->format_at, "a=%d") = 'A';
	text_seal(t);
	lb_find(lb_copy, LB_SIZE);
	return trace_get("instances/lastboot/trace", NULL);
}

/* A format that is another one now: its fields are printed, with their signs. */
static void another_format(void)
{
	lb_begin();
	trace_unit_numbers(-1, 2, -3, 4);
	const char *trace = trace_with_another_format();
	EXPECT(strstr(trace, "a=-1"));
	EXPECT(strstr(trace, "c=-3"));
	lb_end();
}

/* So are numbers that just fit their fields: they do not become negative. */
static void largest_of_another_format(void)
{
	lb_begin();
	trace_unit_numbers(127, 65535, 2147483647, ~0UL);
	trace_unit_numbers(-128, 0, -2147483647 - 1, 0);
	trace_unit_numbers(64, 32768, 1 << 30, 1UL << 63);
	const char *trace = trace_with_another_format();
	EXPECT(strstr(trace, " a=127 b=65535 c=2147483647 d=18446744073709551615\n"));
	EXPECT(strstr(trace, " a=-128 b=0 c=-2147483648 d=0\n"));
	EXPECT(strstr(trace, " a=64 b=32768 c=1073741824 d=9223372036854775808\n"));
	lb_end();
}

/* A past event whose format is another one now shows its texts, wherever they lie in the record. */
static void texts_of_another_format(void)
{
	lb_begin();
	trace_unit_text("sh", "some text", "more");
	memcpy(lb_copy, lb_region, LB_SIZE);
	struct kept_text *t = text_of("unit_text");
	*strstr(t->system + t->format_at, "comm=%s") = 'C';
	text_seal(t);
	lb_find(lb_copy, LB_SIZE);
	EXPECT(strstr(trace_get("instances/lastboot/trace", NULL),
	    ": unit_text: comm=sh text=some text mark=7 more=more\n"));
	lb_end();
}

/* A text whose format begins after its end is none, nor is what comes after it. */
static void formats_beyond_their_texts(void)
{
	u32 at = 0;

	lb_begin();
	lb_hit(0, 1);
	memcpy(lb_copy, lb_region, LB_SIZE);
	struct kept_text *t = (struct kept_text *)kept_next_text(lb_header(), &at);
	EXPECT(t && texts_in(lb_header()) > 1);
	for (u32 beyond = 0; beyond < 16; beyond += 8) {
		t->format_at = t->size - sizeof(*t) + beyond;
		text_seal(t);
		EXPECT_EQ(texts_in(lb_header()), 0);
	}
	t->format_at = t->size - sizeof(*t) - 1; /* an empty format: its end lies in the text */
	t->system[t->format_at - 1] = '\0';
	text_seal(t);
	EXPECT(texts_in(lb_header()) > 1);
	lb_end();
}

/* The name of what lies at `addr` if function number `from` + 1 lies where number `from` does. */
static const char *name_of_two(unsigned from, u64 addr)
{
	static char name[64];

	memcpy(lb_copy, lb_region, LB_SIZE);
	struct kept_symbols *symbols = (void *)(lb_copy + lb_header()->symbols_at);
	symbols->tables[from + 1] = symbols->tables[from];
	lb_header()->symbols_sum = kept_sum(symbols, lb_header()->symbols_size);
	lb_seal();
	lb_find(lb_copy, LB_SIZE);
	trace_prevboot_sym_print(
	    trace_array_find("lastboot")->past, name, sizeof(name), addr, true);
	lb_forget();
	return name;
}

/* Of functions at one place the first has the name; a kernel that lies elsewhere is another one. */
static void names_of_functions(void)
{
	lb_begin();
	lb_hit(0, 1);
	EXPECT_STR(name_of_two(1, 0x1104), "second_function+0x4/0x200");
	EXPECT_STR(name_of_two(0, 0x1004), "first_function+0x4/0x200");
	memcpy(lb_copy, lb_region, LB_SIZE);
	struct kept_symbols *symbols = (void *)(lb_copy + lb_header()->symbols_at);
	symbols->start += PAGE_SIZE;
	lb_header()->symbols_sum = kept_sum(symbols, lb_header()->symbols_size);
	lb_seal();
	lb_find(lb_copy, LB_SIZE);
	EXPECT(strstr(lb_report(), "another kernel"));
	lb_end();
}

static u64 early(void)
{
	return 1000;
}

/* A clock that was not measured, wall time, and a clock of today that is not as far. */
static void clocks(void)
{
	lb_begin();
	lb_hit(0, 3);
	memcpy(lb_copy, lb_region, LB_SIZE);
	lb_header()->clock_mult = 0;
	lb_find(lb_copy, LB_SIZE);
	EXPECT(!strstr(trace_get("instances/lastboot/trace", NULL), "     0.000000: "));
	machine_clock(early);
	dat_read("instances/lastboot/trace.dat", 4096);
	machine_clock(NULL);
	EXPECT_EQ(dat_check(trace_array_find("lastboot"), trace_array_find("lastboot")->buffer),
	    ring_buffer_entries(trace_array_find("lastboot")->buffer));
	dat_release();
	lb_forget();
	strscpy(lb_header()->clock, "tai", sizeof(lb_header()->clock));
	lb_header()->unix_ns = 1700000000000000000UL;
	lb_find(lb_copy, LB_SIZE);
	/* 1.7e9 seconds and those since the host's start, in cycles: ten digits for years */
	const char *time = strstr(trace_get("instances/lastboot/trace", NULL), " 17");
	EXPECT(time && strspn(time + 1, "0123456789") == 10);
	lb_end();
}

/* Texts of the header that do not end, and an end that nobody knows. */
static void unended_header(void)
{
	lb_begin();
	lb_hit(0, 3);
	memcpy(lb_copy, lb_region, LB_SIZE);
	memset(lb_header()->release, 'r', sizeof(lb_header()->release));
	memset(lb_header()->clock, 'c', sizeof(lb_header()->clock));
	lb_header()->ended = KEPT_ORDERLY + 1;
	lb_seal();
	lb_find(lb_copy, LB_SIZE);
	const struct trace_prevboot *past = trace_array_find("lastboot")->past;
	EXPECT_EQ(strlen(past->release), sizeof(past->release) - 1);
	EXPECT_EQ(strlen(past->clock), sizeof(past->clock) - 1);
	EXPECT(!strstr(lb_report(), "it ended"));
	lb_end();
}

/* Without memory nothing is kept, and what is asked then does nothing; generations go on. */
static void without_memory(void)
{
	static char names[4096];

	lb_begin();
	lb_hit(0, 3);
	kept_note_comms(names, sizeof(names));
	EXPECT_EQ(now()->comms_page, 0);
	memcpy(lb_copy, lb_region, LB_SIZE);
	machine_fail_alloc(1);
	EXPECT_EQ(lb_find(lb_copy, LB_SIZE), 8);
	machine_fail_alloc(0);
	EXPECT(strstr(lb_report(), "there is no memory to take it into"));
	lb_end();
	lb_region = lb_copy = NULL;
	static char region[KEPT_MIN_SIZE] __aligned(PAGE_SIZE);
	machine_kept(region, sizeof(region));
	host_lock();
	machine_fail_alloc(1);
	EXPECT(!kept_start(7));
	machine_fail_alloc(0);
	EXPECT(!kept_alloc(1));
	kept_stop();
	host_unlock();
	machine_kept(NULL, 0);
}

/* Removing the instance gives back all memory of the trace, be it of few pages or of many. */
static void trace_given_back(void)
{
	static const unsigned events[] = {1, 2000};

	for (unsigned i = 0; i < ARRAY_SIZE(events); i++) {
		lb_begin();
		lb_hit(0, events[i]);
		memcpy(lb_copy, lb_region, LB_SIZE);
		lb_find(lb_copy, LB_SIZE); /* what is made once for all */
		lb_forget();
		memcpy(lb_copy, lb_region, LB_SIZE);
		long blocks = machine_blocks();
		lb_find(lb_copy, LB_SIZE);
		EXPECT(machine_blocks() > blocks);
		lb_forget();
		EXPECT_EQ(machine_blocks(), blocks);
		lb_end();
	}
}

static const struct ktap_case cases[] = {
    {"lastboot_edges.trace_given_back", trace_given_back},
    {"lastboot_edges.texts_that_fit", texts_that_fit},
    {"lastboot_edges.numbers_of_texts", numbers_of_texts},
    {"lastboot_edges.another_format", another_format},
    {"lastboot_edges.largest_of_another_format", largest_of_another_format},
    {"lastboot_edges.texts_of_another_format", texts_of_another_format},
    {"lastboot_edges.formats_beyond_their_texts", formats_beyond_their_texts},
    {"lastboot_edges.names_of_functions", names_of_functions},
    {"lastboot_edges.clocks", clocks},
    {"lastboot_edges.unended_header", unended_header},
    {"lastboot_edges.without_memory", without_memory},
    {NULL, NULL},
};
const struct ktap_suite suite_lastboot_edges = {cases};
