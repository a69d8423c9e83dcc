/*
 * The ring buffer when there is no memory: each allocation fails once, and the call that failed has
 * changed nothing. A leak is what the sanitizer finds.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/ring/tools.h"
#include "trace/host_cpus.h"

#define NO_END 100000

static void alloc_fails(void)
{
	struct ring_buffer *rb;
	unsigned nth = 0;

	do {
		machine_fail_alloc(++nth);
		rb = ring_make(2, 0);
	} while (!rb && nth < NO_END);
	machine_fail_alloc(0);
	EXPECT(rb && nth > host_cpu_count() * 6); /* a ring: itself, its slots, four pages */
	ring_buffer_free(rb);
}

/*
 * Events that the CPU's own ring holds stay readable, all sizes stay the same, until there is
 * memory for all.
 */
static void resize_is_whole(size_t to, unsigned allocations)
{
	struct ring_buffer *rb = ring_make(3, 0);
	unsigned nth = 0;
	int result;

	ring_fill(rb, RB_PAGE_DATA);
	do {
		machine_fail_alloc(++nth);
		result = ring_buffer_resize(rb, to * RB_PAGE_DATA, -1);
		for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++)
			EXPECT_EQ(ring_buffer_size(rb, cpu), (result ? 3 : to) * RB_PAGE_DATA);
	} while (result == -ENOMEM && nth < NO_END);
	machine_fail_alloc(0);
	EXPECT_EQ(result, 0);
	EXPECT_EQ(nth, 1 + allocations);
	EXPECT_EQ(ring_stats(rb).disabled, 0);
	ring_skip(rb, RB_PAGE_DATA);
	EXPECT(ring_buffer_empty(rb));
	ring_buffer_free(rb);
}

/* Of each lane the slots and two pages, each asked for and allocated. */
static void order_is_whole(void)
{
	struct ring_buffer *rb = ring_make(3, 0), *other = ring_make(2, 0);
	unsigned nth = 0;
	int result;

	ring_fill(rb, RB_PAGE_DATA);
	do {
		machine_fail_alloc(++nth);
		result = ring_buffer_set_order(rb, other, 2);
		EXPECT_EQ(ring_buffer_order(rb), result ? 0 : 2);
		EXPECT_EQ(ring_buffer_order(other), result ? 0 : 2);
		EXPECT_EQ(ring_buffer_empty(rb), !result);
	} while (result == -ENOMEM && nth < NO_END);
	machine_fail_alloc(0);
	EXPECT_EQ(result, 0);
	EXPECT(nth > 1 + host_cpu_count() * 2 * 9); /* slots and four pages, each asked for first */
	ring_buffer_free(rb);
	ring_buffer_free(other);
}

static void resize_fails(void)
{
	resize_is_whole(5, 1 + host_cpu_count() * 6);
	resize_is_whole(2, 1 + host_cpu_count() * 2);
	resize_is_whole(3, 1);
}

/*
 * The tail is at the end of a page that a reader has taken away. The page comes back, as the next
 * one to be written: no writer may take it for the one that it is in.
 */
static void page_of_the_tail_comes_back(void)
{
	struct ring_buffer *rb = ring_make(2, 0);
	struct ring_buffer_page *page = ring_buffer_alloc_page();
	u32 number = 7;

	ring_fill(rb, RB_PAGE_DATA);
	EXPECT_EQ(ring_buffer_read_page(rb, &page, PAGE_SIZE, ring_cpu(), true), 0);
	EXPECT_EQ(page->commit & RB_COMMIT_BYTES, RB_PAGE_DATA);
	machine_next_block(page);
	EXPECT_EQ(ring_buffer_resize(rb, 3 * RB_PAGE_DATA, ring_cpu()), 0);
	EXPECT_EQ(ring_buffer_resize(rb, 4 * RB_PAGE_DATA, ring_cpu()), 0);
	for (u32 i = 0; i < 3 * RB_PAGE_DATA / 8; i++, number++)
		EXPECT_EQ(ring_put(rb, &number, sizeof(number)), 0);
	EXPECT_EQ(ring_stats(rb).entries, 3 * RB_PAGE_DATA / 8);
	for (u32 i = 0; i < 3 * RB_PAGE_DATA / 8; i++) {
		u64 ts, lost;
		struct ring_buffer_event *ev = ring_buffer_consume(rb, ring_cpu(), &ts, &lost);

		EXPECT(ev && *(u32 *)ring_buffer_event_data(ev) == 7 + i && !lost);
		if (!ev)
			break;
	}
	EXPECT(ring_buffer_empty(rb));
	ring_buffer_free(rb);
}

static void iterator_fails(void)
{
	struct ring_buffer *rb = ring_make(2, 0);

	machine_fail_alloc(1);
	EXPECT(!ring_buffer_read_start(rb, ring_cpu()));
	EXPECT_EQ(ring_put(rb, "abc", 4), 0); /* recording goes on */
	EXPECT_EQ(ring_buffer_resize(rb, 3 * RB_PAGE_DATA, -1), 0);
	ring_buffer_free(rb);
}

static void mapping_fails(void)
{
	struct ring_buffer *rb = ring_make(4, 0);

	for (unsigned nth = 1; nth <= 4; nth++) {
		machine_fail_alloc(nth);
		EXPECT_EQ(ring_buffer_map(rb, 1), -ENOMEM);
		EXPECT_EQ(ring_buffer_map_pages(rb, 1), 0);
	}
	machine_fail_alloc(5);
	EXPECT_EQ(ring_buffer_map(rb, 1), 0);
	machine_fail_alloc(0);
	ring_buffer_unmap(rb, 1);
	ring_buffer_free(rb);
}

static const struct ktap_case cases[] = {
    {"ring_memory.alloc_fails", alloc_fails},
    {"ring_memory.resize_fails", resize_fails},
    {"ring_memory.order_is_whole", order_is_whole},
    {"ring_memory.page_of_the_tail_comes_back", page_of_the_tail_comes_back},
    {"ring_memory.iterator_fails", iterator_fails},
    {"ring_memory.mapping_fails", mapping_fails},
    {NULL, NULL},
};
const struct ktap_suite suite_ring_memory = {cases};
