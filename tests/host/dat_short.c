/* trace.dat where memory is short, and on a machine whose cycles are longer than nanoseconds. */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/export/tools.h"
#include "trace/host_lock.h"

#define MOST_ALLOCATIONS 2000

static u64 now;

/* Each reading a little less than 27 bits later. */
static u64 stepped_clock(void)
{
	return now += (1UL << 27) - 5;
}

static void put(u32 n)
{
	while (n--)
		dat_record(40);
}

/*
 * Opens and reads the first byte while the n-th allocation fails, then the rest. False: it never
 * came to that.
 */
static bool with_failing(unsigned n, unsigned *refused)
{
	struct tracefs_node node;
	struct tracefs_file *f;
	u64 pos = 0;
	u8 byte;

	EXPECT_EQ(trace_walk("trace.dat", &node), 0);
	machine_fail_alloc(n);
	ssize err = tracefs_open(&node, TRACEFS_READ, &f);
	ssize got = err ? err : tracefs_read(f, &byte, 1, &pos);
	bool failed = !machine_fails_in();
	machine_fail_alloc(0);
	if (!err)
		tracefs_release(f);
	EXPECT(got == 1 || (failed && got == -ENOMEM));
	*refused += got < 0;
	return failed;
}

/*
 * Each allocation fails once: -ENOMEM, or, where a sub-buffer could not be copied, a file all the
 * same.
 */
static void each_allocation(void)
{
	unsigned n = 1, refused = 0;

	trace_fresh();
	put(300);
	while (with_failing(n, &refused) && n < MOST_ALLOCATIONS)
		n++;
	EXPECT(refused > 20);
	EXPECT(n > refused);
	dat_read("trace.dat", 4096);
	EXPECT_EQ(dat_check(trace_global, trace_global->buffer), 300);
	dat_release();
	trace_fresh();
}

/*
 * What cannot be copied is looked at when its turn comes: all of it, if nobody overwrote it
 * meanwhile.
 */
static void little_memory(void)
{
	for (u64 pages = 0; pages < 24; pages++) {
		trace_fresh();
		put(1000);
		machine_pages_free(pages * 2);
		dat_read("trace.dat", 4096);
		machine_pages_free(1 << 16);
		EXPECT_EQ(dat_check(trace_global, trace_global->buffer), 1000);
	}
	dat_release();
	trace_fresh();
}

/* Without free memory nothing is copied: what is overwritten then is in no part of the file. */
static void no_memory_at_all(void)
{
	u64 records, lost, unknown;

	trace_fresh();
	EXPECT_EQ(trace_put("buffer_size_kb", "48"), 0);
	put(1100);
	machine_pages_free(1);
	struct tracefs_file *f = dat_open("trace.dat");
	dat_start(f);
	put(4000);
	EXPECT_EQ(dat_drain(f, 4096), 0);
	tracefs_release(f);
	machine_pages_free(1 << 16);
	dat_sum(&records, &lost, &unknown);
	EXPECT_EQ(records, 0);
	dat_release();
	trace_fresh();
}

/* If somebody did, the file is as long as it said, and says what is missing. */
static void overtaken(void)
{
	u64 records, lost, unknown;

	for (u64 more = 0; more < 4000; more += 250) {
		trace_fresh();
		EXPECT_EQ(trace_put("buffer_size_kb", "48"), 0);
		put(1100); /* nearly full */
		machine_pages_free(4);
		struct tracefs_file *f = dat_open("trace.dat");
		dat_start(f);
		put(more);
		EXPECT_EQ(dat_drain(f, 4096), 0);
		tracefs_release(f);
		machine_pages_free(1 << 16);
		dat_sum(&records, &lost, &unknown);
		EXPECT_EQ(unknown, 0);
		EXPECT(records + lost <= 1100);
		EXPECT(records >= 160); /* what was copied */
		if (more == 0)
			EXPECT_EQ(records, 1100);
		if (more == 3750) /* all but the copies is gone */
			EXPECT(records < 300);
	}
	dat_release();
	trace_fresh();
}

/*
 * A delta that fits 27 bits in cycles and not in nanoseconds takes a word more: such a page becomes
 * two.
 */
static void slow_clock(void)
{
	trace_fresh();
	machine_clock_rate(3);
	host_lock();
	ring_buffer_set_clock(trace_global->buffer, stepped_clock);
	host_unlock();
	put(1000);
	dat_read("trace.dat", 4096);
	EXPECT_EQ(dat_check(trace_global, trace_global->buffer), 1000);
	dat_release();
	machine_clock_rate(1);
	host_lock();
	ring_buffer_set_clock(trace_global->buffer, NULL);
	host_unlock();
	trace_fresh();
}

static void use_clock(u64 (*clock)(void))
{
	host_lock();
	ring_buffer_set_clock(trace_global->buffer, clock);
	host_unlock();
}

/* Where one sub-buffer becomes two, the first of them alone says what was lost before. */
static void slow_clock_overwritten(void)
{
	u64 records, lost, unknown;

	trace_fresh();
	EXPECT_EQ(trace_put("buffer_size_kb", "16"), 0);
	machine_clock_rate(3);
	use_clock(stepped_clock);
	for (unsigned n = 1; n <= 5; n++) {
		put(300);
		dat_read("trace.dat", 4096);
		dat_sum(&records, &lost, &unknown);
		EXPECT_EQ(unknown, 0);
		EXPECT_EQ(records + lost, n * 300);
		EXPECT_EQ(lost, ring_buffer_overruns(trace_global->buffer));
	}
	EXPECT(lost);
	dat_release();
	machine_clock_rate(1);
	use_clock(NULL);
	trace_fresh();
}

static u64 stopped_clock(void)
{
	return now;
}

/* What is recorded in the moment of the cut is in the file: here that is all of it. */
static void in_one_moment(void)
{
	trace_fresh();
	now = 1000000;
	use_clock(stopped_clock);
	put(1000);
	dat_read("trace.dat", 4096);
	EXPECT_EQ(dat_check(trace_global, trace_global->buffer), 1000);
	dat_release();
	use_clock(NULL);
	trace_fresh();
}

/* What was copied of a snapshot that is gone is there; what was not is neither read nor made up. */
static void snapshot_that_goes(void)
{
	u64 records, lost, unknown;

	trace_fresh();
	put(1000);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	machine_pages_free(4);
	struct tracefs_file *f = dat_open("snapshot.dat");
	dat_start(f);
	machine_pages_free(1 << 16);
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	EXPECT_EQ(dat_drain(f, 4096), 0);
	tracefs_release(f);
	dat_sum(&records, &lost, &unknown);
	EXPECT(records >= 100 && records < 500);
	dat_release();
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"dat.each_allocation", each_allocation},
    {"dat.little_memory", little_memory},
    {"dat.no_memory_at_all", no_memory_at_all},
    {"dat.overtaken", overtaken},
    {"dat.slow_clock", slow_clock},
    {"dat.slow_clock_overwritten", slow_clock_overwritten},
    {"dat.in_one_moment", in_one_moment},
    {"dat.snapshot_that_goes", snapshot_that_goes},
    {NULL, NULL},
};
const struct ktap_suite suite_dat_short = {cases};
