/*
 * The flight recorder's memory over a reset, without one: what is recorded into kept memory is
 * copied elsewhere, as if found at the next start, and read back. The rings that lie in it are
 * those of the spare buffer, which a snapshot makes the main one.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/host/lastboot_tools.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/export/tools.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/parts.h"
#include "trace/host_lock.h"
#include "trace/output/dump.h"
#include "trace/persist/lastboot.h"

#include <stdlib.h>

/* Long texts: only where they begin to differ is of interest. */
static void expect_text(const char *is, const char *should)
{
	size_t at = 0;

	while (is[at] && is[at] == should[at])
		at++;
	if (is[at] == should[at])
		return;
	while (at && is[at - 1] != '\n')
		at--;
	ktap_fail(__FILE__, __LINE__, "\"%.120s\" != \"%.120s\"", is + at, should + at);
}

/*
 * `trace` of the instance is what `trace` was, to the letter; the array's name is all that is not
 * in it.
 */
static void expect_same(void)
{
	char *before = lb_keep_text(trace_get("trace", NULL));

	EXPECT_EQ(lb_reset(), 8);
	expect_text(trace_get("instances/lastboot/trace", NULL), before);
	free(before);
}

/* Where nothing more will come, a reader that waits is at the end. */
static void expect_end(const char *path)
{
	static u64 page[PAGE_SIZE / 8];
	struct tracefs_node node;
	struct tracefs_file *f;
	u64 pos = 0;

	EXPECT_EQ(trace_walk(path, &node), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ, &f), 0);
	while (tracefs_read(f, page, sizeof(page), &pos) > 0)
		;
	tracefs_release(f);
	pos = 0;
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ, &f), 0);
	EXPECT_EQ(tracefs_read(f, page, sizeof(page), &pos), 0);
	EXPECT_EQ(tracefs_splice(f, page, sizeof(page), &pos, true), 0);
	tracefs_release(f);
}

static void exact(void)
{
	lb_begin();
	lb_hit(0, 30);
	expect_same();
	EXPECT(strstr(lb_report(), "generation 7, clock local, the same kernel"));
	EXPECT(strstr(lb_report(),
	    "cpu0: 45 events in 1 sub-buffers; damaged: 0, not in kept memory: 0, "
	    "overwritten before: 0 events"));
	EXPECT_EQ(trace_put("instances/lastboot/tracing_on", "1"), -EPERM);
	EXPECT_EQ(trace_put("instances/lastboot/tracing_on", "0"), 0);
	expect_end("instances/lastboot/trace_pipe");
	expect_end("instances/lastboot/per_cpu/cpu3/trace_pipe_raw");
	EXPECT_EQ(trace_put("instances/lastboot/trace_marker", "x"), -EBADF);
	EXPECT_EQ(trace_put("instances/lastboot/trace_clock", "mono"), -EPERM);
	EXPECT_EQ(trace_put("instances/lastboot/trace", ""), 0);
	EXPECT(!strstr(trace_get("instances/lastboot/trace", NULL), "unit_numbers"));
	lb_end();
}

static void hit_all(void *arg)
{
	lb_hit((unsigned)(u64)arg, 50);
}

static void all_cpus(void)
{
	lb_begin();
	for (unsigned cpu = 1; cpu < HOST_CPUS; cpu++)
		machine_run(cpu, hit_all, (void *)(u64)(cpu * 1000));
	lb_hit(0, 50);
	for (unsigned cpu = 1; cpu < HOST_CPUS; cpu++)
		machine_join(cpu);
	expect_same();
	lb_end();
}

/* Round the ring several times, at each fill of a sub-buffer. */
static void overwritten(void)
{
	lb_begin();
	for (unsigned round = 0; round < 40; round++) {
		lb_hit(round * 37, 37);
		expect_same();
		lb_forget();
	}
	EXPECT(!strstr(lb_report(), "overwritten before: 0 events\ncpu1: "));
	lb_end();
}

/* What was read is gone, also from the middle of a sub-buffer. */
static void partly_read(void)
{
	lb_begin();
	for (unsigned n = 0; n < 120; n += 11) {
		EXPECT_EQ(trace_put("trace", ""), 0);
		lb_hit(0, 150);
		lb_consume(n);
		expect_same();
		lb_forget();
	}
	lb_end();
}

static void resized(void)
{
	static const char *const sizes[] = {"40", "9", "100", "12", "20"};

	lb_begin();
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		lb_hit(i * 1000, 300);
		EXPECT_EQ(trace_put("buffer_size_kb", sizes[i]), 0);
		lb_hit(i * 1000 + 500, 60);
		expect_same();
		EXPECT(strstr(lb_report(), "not in kept memory: 0"));
		lb_forget();
	}
	lb_end();
}

static void clocks(void)
{
	static const char *const names[] = {"mono", "counter", "x86-tsc", "tai", "uptime"};

	lb_begin();
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		EXPECT_EQ(trace_put("trace_clock", names[i]), 0);
		lb_hit(0, 20);
		expect_same();
		char shown[32];
		fmt_snprintf(shown, sizeof(shown), "[%s]", names[i]);
		EXPECT(strstr(trace_get("instances/lastboot/trace_clock", NULL), shown));
		lb_forget();
	}
	EXPECT_EQ(trace_put("trace_clock", "local"), 0);
	lb_end();
}

/* The clock of an instance is not that of the records that are kept. */
static void clock_of_an_instance(void)
{
	lb_begin();
	EXPECT_EQ(trace_make_instance("other"), 0);
	EXPECT_EQ(trace_put("instances/other/trace_clock", "counter"), 0);
	lb_hit(0, 20);
	expect_same();
	EXPECT(strstr(trace_get("instances/lastboot/trace_clock", NULL), "[local]"));
	lb_forget();
	EXPECT_EQ(trace_drop_instance("other"), 0);
	lb_end();
}

/* Of a sub-buffer that programs read raw, only a copy leaves. */
static void read_raw(void)
{
	struct ring_buffer_page *page = ring_buffer_alloc_page();

	lb_begin();
	lb_hit(0, 300);
	EXPECT_EQ(ring_buffer_read_page(trace_global->buffer, &page, PAGE_SIZE, 0, true), 0);
	EXPECT((u64)page - (u64)lb_region >= LB_SIZE);
	expect_same();
	lb_end();
	ring_buffer_free_page(page);
}

static bool dat_has(const char *text)
{
	size_t n = strlen(text);

	for (u64 at = 0; at + n <= dat_file()->size; at++)
		if (!memcmp(dat_file()->data + at, text, n))
			return true;
	return false;
}

/* trace.dat of the instance has its records, with the formats and names of that boot. */
static void dat(void)
{
	lb_begin();
	lb_hit(0, 300);
	EXPECT_EQ(lb_reset(), 8);
	struct trace_array *tr = trace_array_find("lastboot");
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "0"), 0);
	dat_read("instances/lastboot/trace.dat", 4096);
	u64 entries = ring_buffer_entries(tr->buffer);
	EXPECT(entries > 300);
	EXPECT_EQ(dat_check(tr, tr->buffer), entries);
	EXPECT(dat_has("name: unit_numbers\n"));
	EXPECT(dat_has(" T first_function\n0000000000001100 t second_function\n"));
	dat_release();
	lb_end();
}

static void formats(void)
{
	lb_begin();
	lb_hit(0, 3);
	char *before = lb_keep_text(trace_get("events/unit/unit_text/format", NULL));
	lb_reset();
	EXPECT_STR(trace_get("instances/lastboot/events/unit/unit_text/format", NULL), before);
	int err;
	trace_get("instances/lastboot/events/unit/unit_bytes/format", &err);
	EXPECT_EQ(err, -ENOENT); /* was never on */
	trace_get("instances/lastboot/events/unit/nosuch/id", &err);
	EXPECT_EQ(err, -ENOENT);
	free(before);
	lb_end();
}

/*
 * Another kernel: what it printed by code that is not this one's is printed field by field, and
 * stacks have its names.
 */
static void another_kernel(void)
{
	lb_begin();
	lb_hit(1, 1);
	EXPECT_EQ(trace_put("options/stacktrace", "0"), 0);
	memcpy(lb_copy, lb_region, LB_SIZE);
	struct kept_symbols *symbols = (void *)(lb_copy + lb_header()->symbols_at);
	*(char *)kept_symbol_name(symbols, 0) = 'F';
	lb_header()->symbols_sum = kept_sum(symbols, lb_header()->symbols_size);
	lb_seal();
	lb_find(lb_copy, LB_SIZE);
	EXPECT(strstr(lb_report(), "another kernel"));
	EXPECT(strstr(trace_get("instances/lastboot/trace", NULL), "unit_numbers: "));
	struct trace_array *tr = trace_array_find("lastboot");
	char name[64];
	trace_prevboot_sym_print(tr->past, name, sizeof(name), 0x1004, true);
	EXPECT_STR(name, "First_function+0x4/0x100");
	trace_prevboot_sym_print(tr->past, name, sizeof(name), 0x12ff, false);
	EXPECT_STR(name, "third_function");
	trace_prevboot_sym_print(tr->past, name, sizeof(name), 0x1300, true);
	EXPECT_STR(name, "0x1300");
	trace_prevboot_sym_print(tr->past, name, sizeof(name), 0xfff, true);
	EXPECT_STR(name, "0xfff");
	lb_end();
}

/* How it ended: said, and if nobody could then, its lines are told now, and stay. */
static void how_it_ended(void)
{
	static const struct {
		u32 ended;
		const char *said;
	} rows[] = {
	    {KEPT_SILENT, "it ended without a word: "},
	    {KEPT_PANIC, "it ended by a panic\n"},
	    {KEPT_ORDERLY, "it ended as it was asked to\n"},
	    {99, NULL},
	};

	lb_begin();
	lb_hit(0, 5);
	const char *trace = trace_get("trace", NULL), *first = strstr(trace, "\n     ") + 1;
	char *before = lb_keep_text(first);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		memcpy(lb_copy, lb_region, LB_SIZE);
		lb_header()->ended = rows[i].ended;
		machine_said();
		lb_find(lb_copy, LB_SIZE);
		EXPECT(rows[i].said ? strstr(lb_report(), rows[i].said) != NULL
				    : !strstr(lb_report(), "it ended"));
		machine_said();
		host_lock();
		trace_dump_past(trace_lastboot_silent());
		host_unlock();
		const char *said = machine_said();
		const char *told = strstr(said, before);
		EXPECT((told != NULL) == (rows[i].ended == KEPT_SILENT));
		/* Once: between two rules. */
		EXPECT(!told || (str_has_prefix(told - 4, "---\n") &&
				    str_has_prefix(told + strlen(before), "---")));
		EXPECT((strstr(said, "of the last boot:\n-----") != NULL) ==
		       (rows[i].ended == KEPT_SILENT));
		EXPECT(strstr(trace_get("instances/lastboot/trace", NULL), before));
		lb_forget();
	}
	free(before);
	host_lock();
	trace_dump_past(trace_lastboot_silent()); /* there is none */
	host_unlock();
	EXPECT_STR(machine_said(), "");
	lb_end();
}

/* The first word counts: a panic that restarts the machine is a panic. */
static void ends(void)
{
	lb_begin();
	lb_hit(0, 5);
	EXPECT_EQ(((struct kept_header *)lb_region)->ended, KEPT_SILENT);
	kept_note_end(KEPT_PANIC);
	kept_note_end(KEPT_ORDERLY);
	EXPECT_EQ(((struct kept_header *)lb_region)->ended, KEPT_PANIC);
	lb_reset();
	EXPECT(strstr(lb_report(), "it ended by a panic\n"));
	lb_end();
	kept_note_end(KEPT_PANIC); /* nothing is kept: nothing happens */
}

/* The pool gives out what it has, and takes it back. */
static void pool(void)
{
	lb_begin();
	void *pages[LB_PAGES];
	unsigned n = 0;

	host_lock();
	while ((pages[n] = kept_alloc(1)))
		n++;
	EXPECT(n > 100);
	EXPECT_EQ((char *)pages[n - 1] + PAGE_SIZE, lb_region + LB_SIZE); /* to the last one */
	EXPECT(!kept_alloc(2));
	EXPECT(kept_free(pages[10], 1));
	EXPECT(kept_free(pages[12], 1));
	EXPECT(!kept_alloc(2));
	EXPECT(kept_free(pages[11], 1));
	pages[10] = kept_alloc(3);
	EXPECT(pages[10]);
	EXPECT(kept_free(pages[10], 3));
	for (unsigned i = 10; i < 13; i++)
		EXPECT(kept_alloc(1) == pages[i]);
	EXPECT(!kept_alloc(1));
	EXPECT(kept_free(pages[10], 3));
	for (unsigned i = 0; i < n; i++)
		if (i < 10 || i > 12)
			EXPECT(kept_free(pages[i], 1));
	EXPECT(!kept_free(lb_copy, 1));
	host_unlock();
	lb_end();
}

/* A buffer that was freed is not found, though its pages lie there as they were. */
static void freed_buffer(void)
{
	static const struct trace_entry mark = {.type = TRACE_PRINT};

	lb_begin();
	lb_hit(0, 30);
	struct ring_buffer *rb = ring_buffer_alloc(4 * RB_PAGE_DATA, RB_FL_KEPT, NULL);
	EXPECT_EQ(ring_buffer_write(rb, sizeof(mark), &mark), 0);
	ring_buffer_free(rb);
	expect_same();
	EXPECT(strstr(lb_report(), "cpu0: 45 events in 1 sub-buffers"));
	lb_end();
}

/* The table of names gives back the pages that it had, whichever size it has then. */
static void names_of_other_sizes(void)
{
	static const char *const sizes[] = {"4096", "8192", "1", "4096"};
	char text[ARRAY_SIZE(sizes)][128];

	lb_begin();
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct seq s;
		EXPECT_EQ(trace_put("saved_cmdlines_size", sizes[i]), 0);
		seq_init(&s, text[i], sizeof(text[i]) - 1);
		kept_show(&s);
		text[i][s.len] = '\0';
	}
	EXPECT(strcmp(text[1], text[0]) && strcmp(text[2], text[0]));
	EXPECT_STR(text[3], text[0]); /* as many pages are in use */
	lb_end();
}

/* Where its sub-buffers end no more will come: that is the end, not a reason to wait. */
static void raw_ends(void)
{
	static u64 page[PAGE_SIZE / 8];
	struct tracefs_node node;
	struct tracefs_file *f;
	unsigned pages = 0;
	u64 pos = 0;
	ssize n;

	lb_begin();
	lb_hit(0, 300);
	EXPECT_EQ(lb_reset(), 8);
	EXPECT_EQ(trace_walk("instances/lastboot/per_cpu/cpu0/trace_pipe_raw", &node), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ | TRACEFS_NONBLOCK, &f), 0);
	while ((n = tracefs_read(f, page, sizeof(page), &pos)) > 0)
		pages++;
	EXPECT_EQ(n, 0);
	EXPECT(pages > 1);
	tracefs_release(f);
	lb_end();
}

/* An instance of the last boot gets no copies of markers, and keeps none from others. */
static void markers_of_others(void)
{
	lb_begin();
	lb_hit(0, 3);
	EXPECT_EQ(lb_reset(), 8);
	EXPECT_STR(trace_get("instances/lastboot/options/copy_trace_marker", NULL), "0\n");
	EXPECT_STR(trace_get("instances/lastboot/options/trace_printk_dest", NULL), "0\n");
	EXPECT_EQ(trace_make_instance("marked"), 0);
	EXPECT_EQ(trace_put("instances/marked/options/copy_trace_marker", "1"), 0);
	EXPECT_EQ(trace_put("trace_marker", "for all"), 0);
	EXPECT(strstr(trace_get("trace", NULL), ": for all\n"));
	EXPECT(strstr(trace_get("instances/marked/trace", NULL), ": for all\n"));
	EXPECT_EQ(trace_drop_instance("marked"), 0);
	lb_end();
}

static const struct ktap_case cases[] = {
    {"lastboot.exact", exact},
    {"lastboot.all_cpus", all_cpus},
    {"lastboot.overwritten", overwritten},
    {"lastboot.partly_read", partly_read},
    {"lastboot.resized", resized},
    {"lastboot.clocks", clocks},
    {"lastboot.clock_of_an_instance", clock_of_an_instance},
    {"lastboot.read_raw", read_raw},
    {"lastboot.raw_ends", raw_ends},
    {"lastboot.dat", dat},
    {"lastboot.formats", formats},
    {"lastboot.another_kernel", another_kernel},
    {"lastboot.how_it_ended", how_it_ended},
    {"lastboot.ends", ends},
    {"lastboot.pool", pool},
    {"lastboot.freed_buffer", freed_buffer},
    {"lastboot.names_of_other_sizes", names_of_other_sizes},
    {"lastboot.markers_of_others", markers_of_others},
    {NULL, NULL},
};
const struct ktap_suite suite_lastboot = {cases};
