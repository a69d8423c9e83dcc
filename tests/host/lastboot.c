/*
 * The flight recorder's memory over a reset, without one: what is recorded into kept memory is copied elsewhere, as if found at the
 * next start, and read back. The rings that lie in it are those of the spare buffer, which a snapshot makes the main one.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/unit/prng.h"
#include "tests/unit/trace_tools.h"
#include "trace/builtin.h"
#include "trace/comm.h"
#include "trace/dump.h"
#include "trace/kept.h"
#include "trace/lastboot.h"
#include "trace/ring_buffer_priv.h"

#include <stdlib.h>

#define SIZE  (1UL << 20)
#define PAGES (SIZE / PAGE_SIZE)

static char *region, *copy;

static char *keep_text(const char *text)
{
	size_t n = strlen(text) + 1;

	return memcpy(malloc(n), text, n);
}

static void begin(void)
{
	region = aligned_alloc(PAGE_SIZE, SIZE);
	copy = aligned_alloc(PAGE_SIZE, SIZE);
	memset(region, 0x5a, SIZE);
	trace_fresh();
	EXPECT_EQ(trace_put("buffer_size_kb", "20"), 0);
	machine_kept(region, SIZE);
	host_lock();
	EXPECT(kept_start(7));
	kept_update();
	kept_note_event(trace_event_by_id(TRACE_PRINT));
	kept_note_event(trace_event_by_id(TRACE_STACK));
	kept_note_event(trace_event_by_id(TRACE_RAW_DATA));
	host_unlock();
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	EXPECT_EQ(trace_put("events/unit/unit_text/enable", "1"), 0);
}

/* What this boot is told at its start; the instance is there if anything is. */
static u64 find(const void *mem, size_t size)
{
	machine_kept((void *)mem, size);
	host_lock();
	u64 generation = trace_lastboot_find();
	trace_lastboot_offer();
	host_unlock();
	machine_kept(region, SIZE);
	return generation;
}

static u64 reset(void)
{
	memcpy(copy, region, SIZE);
	return find(copy, SIZE);
}

static const char *report(void)
{
	static char text[4096];
	struct seq s;

	seq_init(&s, text, sizeof(text) - 1);
	trace_lastboot_show(&s);
	text[s.len] = '\0';
	return text;
}

static bool is_there(void)
{
	struct tfs_node node;

	return trace_walk("instances/lastboot", &node) == 0;
}

static void forget(void)
{
	trace_drop_instance("lastboot");
}

static void end(void)
{
	forget();
	EXPECT_EQ(trace_put("set_event", ""), 0);
	EXPECT_EQ(trace_put("snapshot", "1"), 0); /* exchanges them again */
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	host_lock();
	trace_comm_exit(); /* its table may lie there */
	kept_stop();
	host_unlock();
	machine_kept(NULL, 0);
	free(region);
	free(copy);
	trace_fresh();
}

static void hit(unsigned from, unsigned n)
{
	for (unsigned i = from; i < from + n; i++) {
		trace_unit_numbers(i, i, i, i);
		if (i % 3 == 0)
			trace_unit_text("comm", "text of no fixed length", "x");
		if (i % 7 == 0)
			EXPECT_EQ(trace_put("trace_marker_raw", "mark it"), 0);
	}
}

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

/* `trace` of the instance is what `trace` was, to the letter; the array's name is all that is not in it. */
static void expect_same(void)
{
	char *before = keep_text(trace_get("trace", NULL));

	EXPECT_EQ(reset(), 8);
	expect_text(trace_get("instances/lastboot/trace", NULL), before);
	free(before);
}

static void exact(void)
{
	begin();
	hit(0, 30);
	expect_same();
	EXPECT(strstr(report(), "generation 7, clock local, the same kernel"));
	EXPECT(
	    strstr(report(), "cpu0: 45 events in 1 sub-buffers; damaged: 0, not in kept memory: 0, "
			     "overwritten before: 0 events"));
	EXPECT_EQ(trace_put("instances/lastboot/tracing_on", "1"), -EPERM);
	EXPECT_EQ(trace_put("instances/lastboot/trace_marker", "x"), -EBADF);
	EXPECT_EQ(trace_put("instances/lastboot/trace_clock", "mono"), -EPERM);
	EXPECT_EQ(trace_put("instances/lastboot/trace", ""), 0);
	EXPECT(!strstr(trace_get("instances/lastboot/trace", NULL), "unit_numbers"));
	end();
}

static void hit_all(void *arg)
{
	hit((unsigned)(u64)arg, 50);
}

static void all_cpus(void)
{
	begin();
	for (unsigned cpu = 1; cpu < HOST_CPUS; cpu++)
		machine_run(cpu, hit_all, (void *)(u64)(cpu * 1000));
	hit(0, 50);
	for (unsigned cpu = 1; cpu < HOST_CPUS; cpu++)
		machine_join(cpu);
	expect_same();
	end();
}

/* Round the ring several times, at each fill of a sub-buffer. */
static void overwritten(void)
{
	begin();
	for (unsigned round = 0; round < 40; round++) {
		hit(round * 37, 37);
		expect_same();
		forget();
	}
	EXPECT(!strstr(report(), "overwritten before: 0 events\ncpu1: "));
	end();
}

static int consume(unsigned n)
{
	u64 ts, lost;

	while (n-- && ring_buffer_consume(trace_global->buffer, 0, &ts, &lost))
		;
	return 0;
}

/* What was read is gone, also from the middle of a sub-buffer. */
static void partly_read(void)
{
	begin();
	for (unsigned n = 0; n < 120; n += 11) {
		EXPECT_EQ(trace_put("trace", ""), 0);
		hit(0, 150);
		consume(n);
		expect_same();
		forget();
	}
	end();
}

static void resized(void)
{
	static const char *const sizes[] = {"40", "9", "100", "12", "20"};

	begin();
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		hit(i * 1000, 300);
		EXPECT_EQ(trace_put("buffer_size_kb", sizes[i]), 0);
		hit(i * 1000 + 500, 60);
		expect_same();
		EXPECT(strstr(report(), "not in kept memory: 0"));
		forget();
	}
	end();
}

static void clocks(void)
{
	static const char *const names[] = {"mono", "counter", "x86-tsc", "tai", "uptime"};

	begin();
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		EXPECT_EQ(trace_put("trace_clock", names[i]), 0);
		hit(0, 20);
		expect_same();
		char shown[32];
		snprintf(shown, sizeof(shown), "[%s]", names[i]);
		EXPECT(strstr(trace_get("instances/lastboot/trace_clock", NULL), shown));
		forget();
	}
	EXPECT_EQ(trace_put("trace_clock", "local"), 0);
	end();
}

/* Of a sub-buffer that programs read raw, only a copy leaves. */
static void read_raw(void)
{
	struct ring_buffer_page *page = ring_buffer_alloc_page();

	begin();
	hit(0, 300);
	EXPECT_EQ(ring_buffer_read_page(trace_global->buffer, &page, PAGE_SIZE, 0, true), 0);
	EXPECT((u64)page - (u64)region >= SIZE);
	expect_same();
	end();
	ring_buffer_free_page(page);
}

static void formats(void)
{
	begin();
	hit(0, 3);
	char *before = keep_text(trace_get("events/unit/unit_text/format", NULL));
	reset();
	EXPECT_STR(trace_get("instances/lastboot/events/unit/unit_text/format", NULL), before);
	int err;
	trace_get("instances/lastboot/events/unit/unit_bytes/format", &err);
	EXPECT_EQ(err, -ENOENT); /* was never on */
	trace_get("instances/lastboot/events/unit/nosuch/id", &err);
	EXPECT_EQ(err, -ENOENT);
	free(before);
	end();
}

static struct kept_header *head(void)
{
	return (struct kept_header *)copy;
}

static void seal(void)
{
	head()->sum = kept_sum(head(), offsetof(struct kept_header, sum));
}

/* Another kernel: what it printed by code that is not this one's is printed field by field, and stacks have its names. */
static void another_kernel(void)
{
	begin();
	hit(1, 1);
	EXPECT_EQ(trace_put("options/stacktrace", "0"), 0);
	memcpy(copy, region, SIZE);
	struct kept_symbols *symbols = (void *)(copy + head()->symbols_at);
	((char *)&symbols->symbol[symbols->count])[0] = 'F';
	head()->symbols_sum = kept_sum(symbols, head()->symbols_size);
	seal();
	find(copy, SIZE);
	EXPECT(strstr(report(), "another kernel"));
	EXPECT(strstr(trace_get("instances/lastboot/trace", NULL), "unit_numbers: "));
	struct trace_array *tr = trace_array_find("lastboot");
	char name[64];
	trace_past_sym_print(tr->past, name, sizeof(name), 0x1004, true);
	EXPECT_STR(name, "First_function+0x4/0x100");
	trace_past_sym_print(tr->past, name, sizeof(name), 0x12ff, false);
	EXPECT_STR(name, "third_function");
	trace_past_sym_print(tr->past, name, sizeof(name), 0x1300, true);
	EXPECT_STR(name, "0x1300");
	trace_past_sym_print(tr->past, name, sizeof(name), 0xfff, true);
	EXPECT_STR(name, "0xfff");
	end();
}

/* Everything that makes it no region says which sentence. */
static void refused(void)
{
	static const struct {
		u32 at;
		u8 to;
		bool sealed;
		const char *why;
	} wrong[] = {
	    {0, 'X', true, "something else"},
	    {offsetof(struct kept_header, version), 99, true, "another version"},
	    {offsetof(struct kept_header, ring_version), 99, true, "another version"},
	    {offsetof(struct kept_header, header_size), 99, true, "another version"},
	    {offsetof(struct kept_header, generation), 99, false, "header is damaged"},
	    {offsetof(struct kept_header, size) + 4, 99, true, "does not fit"},
	    {offsetof(struct kept_header, symbols_size) + 3, 99, true, "does not fit"},
	    {offsetof(struct kept_header, texts_at) + 3, 99, true, "does not fit"},
	    {offsetof(struct kept_header, pool_at) + 3, 99, true, "does not fit"},
	    {offsetof(struct kept_header, base), 99, true, "does not fit"},
	    {offsetof(struct kept_header, symbols_at), 4, true, "does not fit"},
	    {offsetof(struct kept_header, texts_at), 4, true, "does not fit"},
	};

	begin();
	hit(0, 10);
	for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
		memcpy(copy, region, SIZE);
		copy[wrong[i].at] = wrong[i].to;
		if (wrong[i].sealed)
			seal();
		find(copy, SIZE);
		EXPECT(strstr(report(), "nothing survived: "));
		EXPECT(strstr(report(), wrong[i].why));
		EXPECT(!is_there());
	}
	EXPECT_EQ(find(NULL, 0), 1);
	EXPECT(strstr(report(), "no memory is kept"));
	memcpy(copy, region, SIZE);
	find(copy, SIZE - PAGE_SIZE);
	EXPECT(strstr(report(), "does not fit"));
	EXPECT_EQ(trace_put("trace", ""), 0);
	reset();
	EXPECT(strstr(report(), "its rings hold no event"));
	EXPECT(!is_there());
	end();
}

/* ---- Damage by table: each says what is refused, and leaves the rest. ---- */

static struct kept_symbols *symbols(void)
{
	return (void *)(copy + head()->symbols_at);
}

static void seal_symbols(void)
{
	head()->symbols_sum = kept_sum(symbols(), head()->symbols_size);
	seal();
}

static struct kept_text *first_text(void)
{
	return (void *)(copy + head()->texts_at);
}

static void seal_text(void)
{
	struct kept_text *t = first_text();

	t->sum = kept_sum(&t->size, t->size - sizeof(t->sum));
}

/* The struct of the ring that has this CPU's events. */
static struct rb_ring *ring(void)
{
	for (unsigned i = 0; i < KEPT_RINGS; i++)
		if (head()->rings[i].page && !head()->rings[i].cpu)
			return (void *)(copy + (u64)head()->rings[i].page * PAGE_SIZE);
	return NULL;
}

static void all_rings(u32 page, u32 cpu)
{
	for (unsigned i = 0; i < KEPT_RINGS; i++)
		head()->rings[i] = (struct kept_ring){.page = page, .cpu = cpu};
}

#define DAMAGE(name, what)                                                                         \
	static void name(void)                                                                     \
	{                                                                                          \
		what;                                                                              \
	}

DAMAGE(symbols_damaged, symbols()->symbol[1].start ^= 1)
DAMAGE(symbols_absurd, symbols()->count = ~0UL; seal_symbols())
DAMAGE(symbols_none, symbols()->count = 0; seal_symbols())
DAMAGE(symbols_name_behind, symbols()->symbol[0].name_at = 0x7fffffff; seal_symbols())
DAMAGE(symbols_short, head()->symbols_size = 4; seal())
DAMAGE(symbols_no_end, ((char *)symbols())[head()->symbols_size - 1] = 'x'; seal_symbols())
DAMAGE(texts_absurd, head()->texts_used = ~0u)
DAMAGE(texts_none, head()->texts_used = 0)
DAMAGE(texts_full, head()->texts_full = 1; head()->texts_used = 0)
DAMAGE(text_damaged, first_text()->system[0] ^= 1)
DAMAGE(text_size_0, first_text()->size = 0)
DAMAGE(text_size_absurd, first_text()->size = 0xfffffff8)
DAMAGE(text_size_odd, first_text()->size -= 3; seal_text())
DAMAGE(text_format_behind, first_text()->format_at = 0xffff; seal_text())
DAMAGE(text_no_format, first_text()->format_at = 0; seal_text())
DAMAGE(text_no_end, ((char *)first_text())[first_text()->size - 1] = 'x'; seal_text())
DAMAGE(text_other_id, first_text()->id ^= 0x4000; seal_text())
DAMAGE(comms_behind, head()->comms_page = ~0u)
DAMAGE(comms_absurd, head()->comms_page = head()->pool_at; head()->comms_size = ~0u)
DAMAGE(rings_none, all_rings(0, 0))
DAMAGE(rings_behind, all_rings(~0u, 0))
DAMAGE(rings_in_header, all_rings(1, 0))
DAMAGE(rings_no_cpu, all_rings(head()->rings[0].page, MAX_CPUS))
DAMAGE(rings_cpu_down, all_rings(head()->rings[0].page, HOST_CPUS))
DAMAGE(ring_no_slots, ring()->slots = NULL)
DAMAGE(ring_slots_odd, ring()->slots = (u64 *)((char *)ring()->slots + 4))
DAMAGE(ring_slots_at_end, ring()->slots = (u64 *)(head()->base + SIZE - 8))
DAMAGE(ring_count_0, ring()->count = 0)
DAMAGE(ring_count_absurd, ring()->count = ~0UL)
DAMAGE(ring_next_absurd, ring()->next = ~0UL)
DAMAGE(ring_offset_absurd, ring()->offset = ~0UL)
DAMAGE(ring_end_absurd, ring()->end = ~0UL)
DAMAGE(ring_evicted_absurd, ring()->evicted_events = ~0UL)
DAMAGE(clock_absurd, head()->clock_mult = 0; memset(head()->clock, 'x', sizeof(head()->clock)))

static const struct {
	const char *name;
	void (*damage)(void);
	const char *says;
	bool there, all; /* something is shown; every event is */
} damages[] = {
    {"names of functions damaged", symbols_damaged, "names of functions damaged", true, true},
    {"names: count absurd", symbols_absurd, "names of functions damaged", true, true},
    {"names: none", symbols_none, "another kernel", true, true},
    {"names: one behind the end", symbols_name_behind, "names of functions damaged", true, true},
    {"names: no room for their count", symbols_short, "names of functions damaged", true, true},
    {"names: the last has no end", symbols_no_end, "names of functions damaged", true, true},
    {"formats: more than their room", texts_absurd, " formats", true, true},
    {"formats: none", texts_none, "its rings hold no event", false, false},
    {"formats: had no room", texts_full, "0 formats, 0 names of tasks; formats had no room", true,
	true},
    {"a format: damaged", text_damaged, " 0 formats", false, false},
    {"a format: size 0", text_size_0, " 0 formats", false, false},
    {"a format: size absurd", text_size_absurd, " 0 formats", false, false},
    {"a format: size odd", text_size_odd, " 0 formats", false, false},
    {"a format: behind its end", text_format_behind, " 0 formats", false, false},
    {"a format: not there", text_no_format, " 0 formats", false, false},
    {"a format: has no end", text_no_end, " 0 formats", false, false},
    {"a format: of another number than it says", text_other_id, " formats", true, true},
    {"names of tasks: behind the end", comms_behind, " 0 names of tasks", true, true},
    {"names of tasks: size absurd", comms_absurd, " 0 names of tasks", true, true},
    {"rings: none", rings_none, "its rings hold no event", false, false},
    {"rings: behind the end", rings_behind, "its rings hold no event", false, false},
    {"rings: in the header", rings_in_header, "its rings hold no event", false, false},
    {"rings: of no CPU", rings_no_cpu, "its rings hold no event", false, false},
    {"rings: of a CPU that is down", rings_cpu_down, "is not up: its events are not shown", true,
	false},
    {"ring: no slots", ring_no_slots, "its rings hold no event", false, false},
    {"ring: slots odd", ring_slots_odd, "its rings hold no event", false, false},
    {"ring: slots at the end", ring_slots_at_end, "its rings hold no event", false, false},
    {"ring: count 0", ring_count_0, "its rings hold no event", false, false},
    {"ring: count absurd", ring_count_absurd, "its rings hold no event", false, false},
    {"ring: next absurd", ring_next_absurd, "its rings hold no event", false, false},
    {"ring: offset absurd", ring_offset_absurd, "its rings hold no event", false, false},
    {"ring: end absurd", ring_end_absurd, "its rings hold no event", false, false},
    {"ring: evicted absurd", ring_evicted_absurd, "overwritten before: 0 events", true, true},
    {"clock absurd", clock_absurd, "clock xxxxxxxxxxxxxxx,", true, true},
};

static void damaged(void)
{
	begin();
	hit(0, 30);
	for (unsigned i = 0; i < ARRAY_SIZE(damages); i++) {
		memcpy(copy, region, SIZE);
		damages[i].damage();
		find(copy, SIZE);
		bool said = strstr(report(), damages[i].says), there = is_there();
		bool all = there && strstr(report(), "cpu0: 45 events in 1 sub-buffers");
		if (!said || there != damages[i].there || all != damages[i].all)
			ktap_fail(__FILE__, __LINE__, "%s: there %d, all %d: %s", damages[i].name,
			    there, all, report());
		if (there) {
			trace_get("instances/lastboot/trace", NULL);
			forget();
		}
	}
	end();
}

/* A page that somebody else wrote into is dropped, and said; the others are as they were. */
static void damaged_page(void)
{
	begin();
	hit(0, 250);
	memcpy(copy, region, SIZE);
	unsigned pages = 0;
	for (u32 i = head()->pool_at; i < PAGES; i++) {
		struct ring_buffer_page *page = (void *)(copy + i * PAGE_SIZE);
		if ((page->commit & 0xfff) == RB_PAGE_DATA && ++pages == 2)
			memset(page->data + 2000, 0xff, 64);
	}
	EXPECT(pages >= 2);
	find(copy, SIZE);
	EXPECT(strstr(report(), "damaged: 1,"));
	EXPECT(is_there());
	end();
}

/* Any word may be anything: nothing but what checks out is shown, and nothing falls over it. */
static void random_damage(void)
{
	u64 seed = 0x5eed0001;

	ktap_note("seed %lx", seed);

	begin();
	hit(0, 400);
	consume(13);
	for (unsigned round = 0; round < 400; round++) {
		memcpy(copy, region, SIZE);
		u32 pool = head()->pool_at;
		for (unsigned i = 0; i < 1 + round % 5; i++) {
			u64 at = prng_next(&seed) % 3 ? prng_next(&seed) % SIZE
				 : prng_next(&seed) & 1
				     ? prng_next(&seed) % PAGE_SIZE
				     : pool * PAGE_SIZE + prng_next(&seed) % (8 * PAGE_SIZE);
			copy[at] ^= 1 << prng_next(&seed) % 8;
			if (prng_next(&seed) & 1)
				memset(copy + (at & ~7UL), prng_next(&seed), 8);
		}
		if (round & 1)
			seal();
		find(copy, SIZE);
		if (is_there()) {
			trace_get("instances/lastboot/trace", NULL);
			trace_get("instances/lastboot/per_cpu/cpu0/trace_pipe", NULL);
			forget();
		}
	}
	end();
}

/* Each allocation fails once: then there is no instance and a sentence, or all is there. */
static void no_memory(void)
{
	bool whole = false;

	begin();
	hit(0, 100);
	char *before = keep_text(trace_get("trace", NULL));
	for (unsigned nth = 1; !whole && nth < 2000; nth++) {
		memcpy(copy, region, SIZE);
		machine_kept(copy, SIZE);
		host_lock();
		machine_fail_alloc(nth);
		trace_lastboot_find();
		trace_lastboot_offer();
		machine_fail_alloc(0);
		host_unlock();
		machine_kept(region, SIZE);
		whole = is_there() && !strcmp(trace_get("instances/lastboot/trace", NULL), before);
		EXPECT(is_there() || strstr(report(), "there is no memory"));

		forget();
	}
	free(before);
	end();
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

	begin();
	hit(0, 5);
	const char *trace = trace_get("trace", NULL), *first = strstr(trace, "\n     ") + 1;
	char *before = keep_text(first);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		memcpy(copy, region, SIZE);
		head()->ended = rows[i].ended;
		machine_said();
		find(copy, SIZE);
		EXPECT(rows[i].said ? strstr(report(), rows[i].said) != NULL
				    : !strstr(report(), "it ended"));
		machine_said();
		host_lock();
		trace_dump_past();
		host_unlock();
		const char *said = machine_said();
		EXPECT((strstr(said, before) != NULL) == (rows[i].ended == KEPT_SILENT));
		EXPECT((strstr(said, "of the last boot:\n-----") != NULL) ==
		       (rows[i].ended == KEPT_SILENT));
		EXPECT(strstr(trace_get("instances/lastboot/trace", NULL), before));
		forget();
	}
	free(before);
	host_lock();
	trace_dump_past(); /* there is none */
	host_unlock();
	EXPECT_STR(machine_said(), "");
	end();
}

/* The first word counts: a panic that restarts the machine is a panic. */
static void ends(void)
{
	begin();
	hit(0, 5);
	EXPECT_EQ(((struct kept_header *)region)->ended, KEPT_SILENT);
	kept_note_end(KEPT_PANIC);
	kept_note_end(KEPT_ORDERLY);
	EXPECT_EQ(((struct kept_header *)region)->ended, KEPT_PANIC);
	reset();
	EXPECT(strstr(report(), "it ended by a panic\n"));
	end();
	kept_note_end(KEPT_PANIC); /* nothing is kept: nothing happens */
}

/* The pool gives out what it has, and takes it back. */
static void pool(void)
{
	begin();
	void *pages[PAGES];
	unsigned n = 0;

	host_lock();
	while ((pages[n] = kept_alloc(1)))
		n++;
	EXPECT(n > 100);
	EXPECT(!kept_alloc(2));
	EXPECT(kept_free(pages[10], 1));
	EXPECT(kept_free(pages[12], 1));
	EXPECT(!kept_alloc(2));
	EXPECT(kept_free(pages[11], 1));
	pages[10] = kept_alloc(3);
	EXPECT(pages[10]);
	EXPECT(kept_free(pages[10], 3));
	for (unsigned i = 0; i < n; i++)
		if (i < 10 || i > 12)
			EXPECT(kept_free(pages[i], 1));
	EXPECT(!kept_free(copy, 1));
	host_unlock();
	end();
}

static const struct ktap_case cases[] = {
    {"lastboot.exact", exact},
    {"lastboot.all_cpus", all_cpus},
    {"lastboot.overwritten", overwritten},
    {"lastboot.partly_read", partly_read},
    {"lastboot.resized", resized},
    {"lastboot.clocks", clocks},
    {"lastboot.read_raw", read_raw},
    {"lastboot.formats", formats},
    {"lastboot.another_kernel", another_kernel},
    {"lastboot.refused", refused},
    {"lastboot.damaged", damaged},
    {"lastboot.damaged_page", damaged_page},
    {"lastboot.random_damage", random_damage},
    {"lastboot.no_memory", no_memory},
    {"lastboot.how_it_ended", how_it_ended},
    {"lastboot.ends", ends},
    {"lastboot.pool", pool},
    {NULL, NULL},
};
const struct ktap_suite suite_lastboot = {cases};
