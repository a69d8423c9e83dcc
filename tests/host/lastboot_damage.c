/* The flight recorder's memory, damaged: each says what is refused, and leaves the rest. */
#include "kernel/lib/string.h"
#include "tests/host/lastboot_tools.h"
#include "tests/host/machine.h"
#include "tests/unit/prng.h"
#include "tests/unit/trace/tools.h"
#include "trace/host_lock.h"
#include "trace/persist/lastboot.h"
#include "trace/ring/priv.h"

#include <stdlib.h>

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

	lb_begin();
	lb_hit(0, 10);
	for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
		memcpy(lb_copy, lb_region, LB_SIZE);
		lb_copy[wrong[i].at] = wrong[i].to;
		if (wrong[i].sealed)
			lb_seal();
		lb_find(lb_copy, LB_SIZE);
		EXPECT(strstr(lb_report(), "nothing survived: "));
		EXPECT(strstr(lb_report(), wrong[i].why));
		EXPECT(!lb_is_there());
	}
	EXPECT_EQ(lb_find(NULL, 0), 1);
	EXPECT(strstr(lb_report(), "no memory is kept"));
	memcpy(lb_copy, lb_region, LB_SIZE);
	lb_find(lb_copy, LB_SIZE - PAGE_SIZE);
	EXPECT(strstr(lb_report(), "does not fit"));
	EXPECT_EQ(trace_put("trace", ""), 0);
	lb_reset();
	EXPECT(strstr(lb_report(), "its rings hold no event"));
	EXPECT(!lb_is_there());
	lb_end();
}

static struct kept_symbols *symbols(void)
{
	return (void *)(lb_copy + lb_header()->symbols_at);
}

static void seal_symbols(void)
{
	lb_header()->symbols_sum = kept_sum(symbols(), lb_header()->symbols_size);
	lb_seal();
}

static struct kept_text *first_text(void)
{
	return (void *)(lb_copy + lb_header()->texts_at);
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
		if (lb_header()->rings[i].page && !lb_header()->rings[i].cpu)
			return (void *)(lb_copy + (u64)lb_header()->rings[i].page * PAGE_SIZE);
	return NULL;
}

static void all_rings(u32 page, u32 cpu)
{
	for (unsigned i = 0; i < KEPT_RINGS; i++)
		lb_header()->rings[i] = (struct kept_ring){.page = page, .cpu = cpu};
}

#define DAMAGE(name, what)                                                                         \
	static void name(void)                                                                     \
	{                                                                                          \
		what;                                                                              \
	}

DAMAGE(symbols_damaged, symbols()->tables[1] ^= 1)
DAMAGE(symbols_absurd, symbols()->count = ~0U; seal_symbols())
DAMAGE(symbols_none, symbols()->count = 0; symbols()->names_size = 1; symbols()->tables[0] = 0;
       seal_symbols())
DAMAGE(symbols_name_behind, symbols()->tables[symbols()->count] = symbols()->names_size;
       seal_symbols())
DAMAGE(symbols_names_absurd, symbols()->names_size = ~0U; seal_symbols())
DAMAGE(symbols_short, lb_header()->symbols_size = 4; lb_seal())
DAMAGE(symbols_no_end, ((char *)symbols())[lb_header()->symbols_size - 1] = 'x'; seal_symbols())
DAMAGE(texts_absurd, lb_header()->texts_used = ~0u)
DAMAGE(texts_none, lb_header()->texts_used = 0)
DAMAGE(texts_full, lb_header()->texts_full = 1; lb_header()->texts_used = 0)
DAMAGE(text_damaged, first_text()->system[0] ^= 1)
DAMAGE(text_size_0, first_text()->size = 0)
DAMAGE(text_size_absurd, first_text()->size = 0xfffffff8)
DAMAGE(text_size_odd, first_text()->size -= 3; seal_text())
DAMAGE(text_format_behind, first_text()->format_at = 0xffff; seal_text())
DAMAGE(text_no_format, first_text()->format_at = 0; seal_text())
DAMAGE(text_no_end, ((char *)first_text())[first_text()->size - 1] = 'x'; seal_text())
DAMAGE(text_other_id, first_text()->id ^= 0x4000; seal_text())
DAMAGE(comms_behind, lb_header()->comms_page = ~0u)
DAMAGE(comms_absurd, lb_header()->comms_page = lb_header()->pool_at; lb_header()->comms_size = ~0u)
DAMAGE(rings_none, all_rings(0, 0))
DAMAGE(rings_behind, all_rings(~0u, 0))
DAMAGE(rings_in_header, all_rings(1, 0))
DAMAGE(rings_no_cpu, all_rings(lb_header()->rings[0].page, MAX_CPUS))
DAMAGE(rings_cpu_down, all_rings(lb_header()->rings[0].page, HOST_CPUS))
DAMAGE(ring_no_slots, ring()->slots = NULL)
DAMAGE(ring_slots_odd, ring()->slots = (u64 *)((char *)ring()->slots + 4))
DAMAGE(ring_slots_at_end, ring()->slots = (u64 *)(lb_header()->base + LB_SIZE - 8))
DAMAGE(ring_count_0, ring()->count = 0)
DAMAGE(ring_count_absurd, ring()->count = ~0UL)
DAMAGE(ring_next_absurd, ring()->next = ~0UL)
DAMAGE(ring_offset_absurd, ring()->offset = ~0UL)
DAMAGE(ring_end_absurd, ring()->end = ~0UL)
DAMAGE(ring_overrun_absurd, ring()->overrun_events = ~0UL)
DAMAGE(clock_absurd, lb_header()->clock_mult = 0;
       memset(lb_header()->clock, 'x', sizeof(lb_header()->clock)))

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
    {"names: absurdly long", symbols_names_absurd, "names of functions damaged", true, true},
    {"names: no room for their count", symbols_short, "names of functions damaged", true, true},
    {"names: the last has no end", symbols_no_end, "names of functions damaged", true, true},
    {"formats: more than their room", texts_absurd, " formats", true, true},
    {"formats: none", texts_none, "its rings hold no event", false, false},
    {"formats: had no room", texts_full, "0 formats, 1 names of tasks; formats had no room", true,
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
    {"ring: overwritten absurd", ring_overrun_absurd, "overwritten before: 0 events", true, true},
    {"clock absurd", clock_absurd, "clock xxxxxxxxxxxxxxx,", true, true},
};

static void damaged(void)
{
	lb_begin();
	lb_hit(0, 30);
	for (unsigned i = 0; i < ARRAY_SIZE(damages); i++) {
		memcpy(lb_copy, lb_region, LB_SIZE);
		damages[i].damage();
		lb_find(lb_copy, LB_SIZE);
		bool said = strstr(lb_report(), damages[i].says), there = lb_is_there();
		bool all = there && strstr(lb_report(), "cpu0: 45 events in 1 sub-buffers");
		if (!said || there != damages[i].there || all != damages[i].all)
			ktap_fail(__FILE__, __LINE__, "%s: there %d, all %d: %s", damages[i].name,
			    there, all, lb_report());
		if (there) {
			trace_get("instances/lastboot/trace", NULL);
			lb_forget();
		}
	}
	lb_end();
}

/* A page that somebody else wrote into is dropped, and said; the others are as they were. */
static void damaged_page(void)
{
	lb_begin();
	lb_hit(0, 250);
	memcpy(lb_copy, lb_region, LB_SIZE);
	unsigned pages = 0;
	for (u32 i = lb_header()->pool_at; i < LB_PAGES; i++) {
		struct ring_buffer_page *page = (void *)(lb_copy + i * PAGE_SIZE);
		if ((page->commit & 0xfff) == RB_PAGE_DATA && ++pages == 2)
			memset(page->data + 2000, 0xff, 64);
	}
	EXPECT(pages >= 2);
	lb_find(lb_copy, LB_SIZE);
	EXPECT(strstr(lb_report(), "damaged: 1,"));
	EXPECT(lb_is_there());
	lb_end();
}

/* Any word may be anything: nothing but what checks out is shown, and nothing falls over it. */
static void random_damage(void)
{
	u64 seed = 0x5eed0001;

	ktap_note("seed %lx", seed);

	lb_begin();
	lb_hit(0, 400);
	lb_consume(13);
	for (unsigned round = 0; round < 500; round++) {
		memcpy(lb_copy, lb_region, LB_SIZE);
		u32 pool = lb_header()->pool_at;
		for (unsigned i = 0; i < 1 + round % 5; i++) {
			u64 at = prng_next(&seed) % 3 ? prng_next(&seed) % LB_SIZE
				 : prng_next(&seed) & 1
				     ? prng_next(&seed) % PAGE_SIZE
				     : pool * PAGE_SIZE + prng_next(&seed) % (8 * PAGE_SIZE);
			lb_copy[at] ^= 1 << prng_next(&seed) % 8;
			if (prng_next(&seed) & 1)
				memset(lb_copy + (at & ~7UL), prng_next(&seed), 8);
		}
		if (round & 1)
			lb_seal();
		lb_find(lb_copy, LB_SIZE);
		if (lb_is_there()) {
			trace_get("instances/lastboot/trace", NULL);
			trace_get("instances/lastboot/per_cpu/cpu0/trace_pipe", NULL);
			lb_forget();
		}
	}
	lb_end();
}

/* Each allocation fails once: then there is no instance and a sentence, or all is there. */
static void no_memory(void)
{
	bool whole = false;

	lb_begin();
	lb_hit(0, 100);
	char *before = lb_keep_text(trace_get("trace", NULL));
	for (unsigned nth = 1; !whole && nth < 2000; nth++) {
		memcpy(lb_copy, lb_region, LB_SIZE);
		machine_kept(lb_copy, LB_SIZE);
		host_lock();
		machine_fail_alloc(nth);
		trace_lastboot_find();
		trace_lastboot_offer();
		machine_fail_alloc(0);
		host_unlock();
		machine_kept(lb_region, LB_SIZE);
		whole =
		    lb_is_there() && !strcmp(trace_get("instances/lastboot/trace", NULL), before);
		EXPECT(lb_is_there() || strstr(lb_report(), "there is no memory"));

		lb_forget();
	}
	free(before);
	lb_end();
}

static const struct ktap_case cases[] = {
    {"lastboot.refused", refused},
    {"lastboot.damaged", damaged},
    {"lastboot.damaged_page", damaged_page},
    {"lastboot.random_damage", random_damage},
    {"lastboot.no_memory", no_memory},
    {NULL, NULL},
};
const struct ktap_suite suite_lastboot_damage = {cases};
