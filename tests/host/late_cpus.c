/* CPUs that come up when a ring buffer is there: what was set before holds for them, too. */
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/ring/tools.h"
#include "trace/host_cpus.h"

/* A write on the CPU that came up. */
struct late_write {
	struct ring_buffer *rb;
	size_t length;
	int result;
};

static void write_late(void *arg)
{
	static const u8 data[2 * PAGE_SIZE];
	struct late_write *w = arg;

	w->result = ring_put(w->rb, data, w->length);
}

static bool takes(struct ring_buffer *rb, size_t length)
{
	struct late_write w = {.rb = rb, .length = length};

	host_on_cpu(1, write_late, &w);
	return !w.result;
}

/* The first CPU's. */
static struct ring_buffer *begin(unsigned flags)
{
	machine_cpus(1);
	return ring_make(3, flags);
}

static void come_up(struct ring_buffer *rb)
{
	machine_cpus(0);
	EXPECT_EQ(ring_buffer_add_cpus(rb), 0);
}

static void off(struct ring_buffer *rb)
{
	ring_buffer_record_off(rb);
}

static void on(struct ring_buffer *rb)
{
	ring_buffer_record_on(rb);
}

static const struct {
	void (*stop)(struct ring_buffer *rb), (*go_on)(struct ring_buffer *rb);
} switches[] = {
    {off, on},
    {ring_buffer_record_disable, ring_buffer_record_enable},
};

/* One that comes up while the buffer is stopped records from when the buffer goes on. */
static void while_stopped(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(switches); i++) {
		struct ring_buffer *rb = begin(0);

		switches[i].stop(rb);
		come_up(rb);
		EXPECT(!takes(rb, 8));
		switches[i].go_on(rb);
		EXPECT(takes(rb, 8));
		switches[i].stop(rb);
		EXPECT(!takes(rb, 8));
		ring_buffer_free(rb);
	}
}

/* One that comes up after the buffer went on again records at once. */
static void after_a_stop(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(switches); i++) {
		struct ring_buffer *rb = begin(0);

		switches[i].stop(rb);
		switches[i].go_on(rb);
		come_up(rb);
		EXPECT(takes(rb, 8));
		ring_buffer_free(rb);
	}
}

/* Its ring has the size of the others, and sub-buffers of theirs. */
static void sizes(void)
{
	struct ring_buffer *rb = begin(RB_FL_OVERWRITE);

	EXPECT_EQ(ring_buffer_resize(rb, 5 * RB_PAGE_DATA, -1), 0);
	EXPECT_EQ(ring_buffer_set_order(rb, NULL, 1), 0);
	come_up(rb);
	EXPECT_EQ(ring_buffer_size(rb, 1), ring_buffer_size(rb, 0));
	EXPECT(takes(rb, PAGE_SIZE + 8));
	ring_buffer_free(rb);
}

/* Events fill its large sub-buffers to the end, and each is read as it was written. */
static void large_subbuffers(void)
{
	const unsigned n = 2 * PAGE_SIZE / 1000;
	struct ring_buffer *rb = begin(0);

	EXPECT_EQ(ring_buffer_set_order(rb, NULL, 1), 0);
	come_up(rb);
	for (unsigned i = 0; i < n; i++)
		EXPECT(takes(rb, 1000 - 8));
	EXPECT_EQ(ring_buffer_entries(rb), n);
	for (unsigned i = 0; i < n; i++) {
		struct ring_buffer_event *ev = ring_buffer_consume(rb, 1, NULL, NULL);
		EXPECT(ev && ring_buffer_data_length(ev) == 1000 - 8);
	}
	EXPECT(!ring_buffer_consume(rb, 1, NULL, NULL));
	ring_buffer_free(rb);
}

/* A CPU that comes up late overwrites or drops, as options/overwrite says by then. */
static void full(void)
{
	for (unsigned overwrite = 0; overwrite < 2; overwrite++) {
		struct ring_buffer *rb = begin(overwrite ? 0 : RB_FL_OVERWRITE);

		ring_buffer_change_overwrite(rb, overwrite);
		come_up(rb);
		for (unsigned n = 0; n < 5; n++)
			EXPECT_EQ(takes(rb, 3000), overwrite || n < 3);
		ring_buffer_free(rb);
	}
}

static u64 other_clock(void)
{
	return 4711;
}

/* Its events have the times of the clock that was set last. */
static void clock(void)
{
	struct ring_buffer *rb = begin(RB_FL_OVERWRITE);
	u64 time = 0;

	ring_buffer_set_clock(rb, other_clock);
	come_up(rb);
	EXPECT(takes(rb, 8));
	EXPECT(ring_buffer_consume(rb, 1, &time, NULL));
	EXPECT_EQ(time, 4711);
	ring_buffer_free(rb);
}

static const struct ktap_case cases[] = {
    {"late_cpus.while_stopped", while_stopped},
    {"late_cpus.after_a_stop", after_a_stop},
    {"late_cpus.sizes", sizes},
    {"late_cpus.large_subbuffers", large_subbuffers},
    {"late_cpus.full", full},
    {"late_cpus.clock", clock},
    {NULL, NULL},
};
const struct ktap_suite suite_late_cpus = {cases};
