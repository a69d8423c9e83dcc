/* See tools.h. */
#include "tests/unit/trace/ring/tools.h"
#include "kernel/lib/ktap.h"
#include "trace/host_context.h"

u64 ring_now;

static u64 ring_clock(void)
{
	return ring_now;
}

struct ring_buffer *ring_make(size_t pages, unsigned flags)
{
	return ring_buffer_alloc(pages * RB_PAGE_DATA, flags, ring_clock);
}

int ring_cpu(void)
{
	return host_cpu();
}

struct ring_buffer_event *ring_reserve(struct ring_buffer *rb, size_t length)
{
	struct host_context ctx;
	struct ring_buffer_event *ev;

	host_enter(&ctx);
	ev = ring_buffer_lock_reserve(rb, length);
	if (!ev)
		host_preempt_enable();
	return ev;
}

void ring_commit(struct ring_buffer *rb, struct ring_buffer_event *ev)
{
	ring_buffer_unlock_commit(rb, ev);
	host_preempt_enable();
}

void ring_discard(struct ring_buffer *rb, struct ring_buffer_event *ev)
{
	ring_buffer_discard_commit(rb, ev);
	host_preempt_enable();
}

int ring_put(struct ring_buffer *rb, const void *data, size_t length)
{
	struct host_context ctx;
	int result;

	host_enter(&ctx);
	result = ring_buffer_write(rb, length, data);
	host_preempt_enable();
	return result;
}

/* The next of the events that ring_fill() cuts `bytes` into. */
static u64 fill_size(u64 bytes)
{
	u64 size = MIN(bytes, 32UL);

	return bytes - size && bytes - size < 8 ? size - 8 : size;
}

void ring_fill(struct ring_buffer *rb, u64 bytes)
{
	static const u8 zero[32];

	while (bytes) {
		u64 size = fill_size(bytes);

		EXPECT_EQ(ring_put(rb, zero, size - 4), 0);
		bytes -= size;
	}
}

void ring_skip(struct ring_buffer *rb, u64 bytes)
{
	while (bytes) {
		struct ring_buffer_event *ev = ring_buffer_consume(rb, ring_cpu(), NULL, NULL);

		EXPECT(ev && ring_buffer_event_length(ev) == fill_size(bytes));
		bytes -= fill_size(bytes);
	}
}

void ring_counts_agree(struct ring_buffer *rb)
{
	struct ring_buffer_stats all;

	ring_buffer_stats(rb, -1, &all);
	EXPECT_EQ(ring_buffer_entries(rb), all.entries);
}

struct ring_buffer_stats ring_stats(struct ring_buffer *rb)
{
	struct ring_buffer_stats st;

	ring_counts_agree(rb);
	ring_buffer_stats(rb, ring_cpu(), &st);
	return st;
}

void ring_balanced(struct ring_buffer *rb, u64 hits)
{
	struct ring_buffer_stats st = ring_stats(rb);

	EXPECT_EQ(hits, st.entries + st.read + st.overrun + st.commit_overrun + st.dropped +
			    st.too_large + st.nested + st.disabled + st.discarded);
}

bool ring_consume_checked(struct ring_buffer *rb, u32 *expected, u64 *lost)
{
	u64 gap;
	struct ring_buffer_event *ev = ring_buffer_consume(rb, ring_cpu(), NULL, &gap);

	if (!ev)
		return false;
	*lost += gap;
	*expected += gap;
	EXPECT_EQ(*(u32 *)ring_buffer_event_data(ev), *expected);
	(*expected)++;
	return true;
}

u64 page_events_from(struct ring_buffer_page *page, u32 first)
{
	u64 bytes = page->commit & 0xfff, at = 0, count = 0;

	while (at < bytes) {
		struct ring_buffer_event *ev = (void *)(page->data + at);

		EXPECT_EQ(ev->type, RINGBUF_TYPE_DATA);
		EXPECT_EQ(*(u32 *)ring_buffer_event_data(ev), first + count);
		at += ring_buffer_event_length(ev);
		count++;
	}
	EXPECT_EQ(at, bytes);
	return count;
}
