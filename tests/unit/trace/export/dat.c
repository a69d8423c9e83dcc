/*
 * trace.dat: what is in it, in which format, against what the rings hold; losses; the cut;
 * instances and snapshots.
 */
#include "kernel/abi/trace_export.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/prng.h"
#include "tests/unit/trace/export/tools.h"
#include "trace/event/clock.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"

static struct ring_buffer *buffer(void)
{
	return trace_global->buffer;
}

static void an_empty_one(void)
{
	trace_fresh();
	dat_read("trace.dat", 4096);
	EXPECT_EQ(dat_take_header(), 1 << 2 | 1 << 4 | 1 << 5 | 1 << 9 | 1 << 11);
	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++) {
		struct dat_cpu_walk w = dat_walk(cpu);
		EXPECT_EQ(w.at, dat_file()->size);
		EXPECT_EQ(w.end, w.at);
	}
	dat_release();
}

/* Every length around where the format changes, at every fill of a page. */
static void lengths(void)
{
	static const u32 sizes[] = {
	    8, 12, 24, 28, 29, 32, 36, 108, 112, 113, 116, 120, 1000, 2037, RB_MAX_DATA};

	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		trace_fresh();
		EXPECT_EQ(trace_put("trace_clock", "counter"), 0);
		for (unsigned n = 0; n < 400 && n * sizes[i] < 80000; n++)
			dat_record(sizes[i]);
		dat_read("trace.dat", 4103);
		u64 all = ring_buffer_entries(buffer());
		EXPECT_EQ(dat_check(trace_global, buffer()), all);
	}
	dat_release();
	trace_fresh();
}

/* Lengths and times at random, some back in time, some discarded. */
static u64 fake_now;

static u64 fake_clock(void)
{
	return fake_now;
}

static u64 below(u64 *state, u64 n)
{
	return prng_next(state) % n;
}

static void random_records(void)
{
	u64 r = 20261121;

	ktap_note("seed %lu", r);

	for (unsigned round = 0; round < 20; round++) {
		trace_fresh();
		host_lock();
		ring_buffer_set_clock(buffer(), fake_clock);
		host_unlock();
		fake_now = 1UL << 30;
		for (unsigned n = 0; n < 300; n++) {
			static const u8 bits[] = {3, 10, 26, 27, 28, 40};
			u64 by = below(&r, 1UL << bits[below(&r, sizeof(bits))]);
			fake_now += below(&r, 20) || by >= 1UL << 29 ? by : -by;
			dat_record(8 + below(&r, below(&r, 10) ? 120 : 1000));
		}
		fake_now = 1UL << 60; /* the cut is behind all of them */
		dat_read("trace.dat", 1 + below(&r, 10000));
		EXPECT_EQ(dat_check(trace_global, buffer()), ring_buffer_entries(buffer()));
	}
	dat_release();
	host_lock();
	ring_buffer_set_clock(buffer(), trace_global->clock->read);
	host_unlock();
	trace_fresh();
}

/* The file's pages are as large as the sub-buffers, and as full. */
static void larger_pages(void)
{
	u64 r = 20261123;

	ktap_note("seed %lu", r);
	for (unsigned order = 1; order <= RB_ORDER_MAX; order++) {
		char kb[] = {'0' + (4 << order) / 100, '0' + (4 << order) / 10 % 10,
		    '0' + (4 << order) % 10, '\0'};
		trace_fresh();
		EXPECT_EQ(trace_put("buffer_size_kb", "3000"), 0);
		EXPECT_EQ(trace_put("buffer_subbuf_size_kb", kb), 0);
		for (unsigned n = 0; n < 500; n++)
			dat_record(8 + below(&r, below(&r, 4) ? 120 : 3000));
		dat_read("trace.dat", 1 + below(&r, 70000));
		EXPECT_EQ(dat_page_size(), PAGE_SIZE << order);
		EXPECT_EQ(dat_check(trace_global, buffer()), 500);
	}
	dat_release();
	trace_fresh();
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "4"), 0);
}

/*
 * What was overwritten is told before the first record; what is in the file and what is not come to
 * all there was.
 */
static void overwritten(void)
{
	u64 records, lost, unknown;

	trace_fresh();
	EXPECT_EQ(trace_put("buffer_size_kb", "16"), 0);
	for (unsigned n = 1; n <= 3000; n++) {
		dat_record(40);
		if (n % 250)
			continue;
		dat_read("trace.dat", 4096);
		dat_sum(&records, &lost, &unknown);
		EXPECT_EQ(unknown, 0);
		EXPECT_EQ(records + lost, n);
		EXPECT_EQ(lost, ring_buffer_overruns(buffer()));
	}
	dat_release();
	trace_fresh();
}

/* What is recorded while it is read is not in it. */
static void the_cut(void)
{
	u64 records, lost, unknown;
	struct tracefs_file *f;

	trace_fresh();
	for (unsigned n = 0; n < 500; n++)
		dat_record(40);
	f = dat_open("trace.dat");
	dat_record(40);
	dat_start(f);
	EXPECT_EQ(trace_put("buffer_size_kb", "200"), -EBUSY);
	for (unsigned n = 0; n < 5000; n++)
		dat_record(40);
	EXPECT_EQ(dat_drain(f, 4096), 0);
	tracefs_release(f);
	dat_sum(&records, &lost, &unknown);
	EXPECT_EQ(records, 501);
	EXPECT_EQ(lost + unknown, 0);
	dat_release();
	trace_fresh();
}

/* The spare buffer as a file of its own, also while there is none; an instance's. */
static void instance_and_snapshot(void)
{
	struct trace_array *tr;
	u64 records, lost, unknown;

	trace_fresh();
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	dat_read("snapshot.dat", 4096); /* there is none: nothing is in it */
	dat_sum(&records, &lost, &unknown);
	EXPECT_EQ(records + lost + unknown, 0);
	dat_record(100);
	dat_record(100);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	dat_record(100);
	dat_read("snapshot.dat", 4096);
	EXPECT_EQ(dat_check(trace_global, trace_global->snapshot), 2);
	struct tracefs_file *f = dat_open("snapshot.dat");
	dat_start(f);
	EXPECT_EQ(trace_put("snapshot", "0"), 0); /* what was copied stays */
	EXPECT_EQ(dat_drain(f, 4096), 0);
	tracefs_release(f);
	dat_sum(&records, &lost, &unknown);
	EXPECT_EQ(records, 2);
	EXPECT_EQ(lost + unknown, 0);

	EXPECT_EQ(trace_make_instance("other"), 0);
	EXPECT_EQ(trace_put("instances/other/trace_marker", "one"), 0);
	dat_read("instances/other/trace.dat", 4096);
	host_lock();
	tr = trace_array_find("other");
	host_unlock();
	EXPECT_EQ(dat_check(tr, tr->buffer), 1);
	dat_release();
	EXPECT_EQ(trace_drop_instance("other"), 0);
	trace_fresh();
}

/*
 * Formats that readers outside the machine find: from the first use of an event on until it goes,
 * and no longer.
 */
static const struct trace_export_format *exported(const char *system, const char *name)
{
	host_lock();
	const struct trace_event_call *call = trace_event_find(system, name);
	const struct trace_export_format *f = call ? call->exported : NULL;
	host_unlock();
	return f;
}

static bool leads_to(const struct trace_export_format *from, const struct trace_export_format *f)
{
	while (from && from != f)
		from = (const void *)from->next;
	return from;
}

static void formats_outside(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("events/unit/unit_text/enable", "1"), 0);
	const struct trace_export_format *f = exported("unit", "unit_text"), *synth;
	EXPECT(f);
	if (!f)
		return;
	EXPECT_STR(f->text, "unit");
	const char *format = trace_get("events/unit/unit_text/format", NULL);
	EXPECT_EQ(f->size, strlen("unit") + 1 + strlen(format));
	EXPECT_STR(f->text + strlen("unit") + 1, format);
	EXPECT_EQ(trace_put("synthetic_events", "outside int a"), 0);
	EXPECT(!exported("synthetic", "outside")); /* nothing can be of it yet */
	EXPECT_EQ(trace_put("events/synthetic/outside/enable", "1"), 0);
	synth = exported("synthetic", "outside");
	EXPECT(synth);
	EXPECT(leads_to(synth, f));
	EXPECT_EQ(trace_put("events/synthetic/outside/enable", "0"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "!outside"), 0);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	EXPECT(leads_to(exported("unit", "unit_numbers"), f));
	EXPECT(!leads_to(exported("unit", "unit_numbers"), synth));
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"dat.an_empty_one", an_empty_one},
    {"dat.lengths", lengths},
    {"dat.random_records", random_records},
    {"dat.larger_pages", larger_pages},
    {"dat.overwritten", overwritten},
    {"dat.the_cut", the_cut},
    {"dat.instance_and_snapshot", instance_and_snapshot},
    {"dat.formats_outside", formats_outside},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_dat = {cases};
