/*
 * Non-consuming iterators over a ring. Task context. From start to finish recording is disabled on
 * that CPU and all events are committed, so the ring's contents do not change. Consuming readers
 * may still remove events; the iterator then continues at the oldest remaining one. The returned
 * event is a copy, valid until the next call.
 *
 * A position is the sequence number of a sub-buffer and an offset into it. The unread events are:
 * what is left of the reader's page (which may be the tail's), then the sub-buffers from the
 * reader's `next` to the tail's.
 */
#include "kernel/lib/string.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"
#include "trace/ring/priv.h"

struct ring_buffer_iter {
	struct ring_buffer *rb;
	int cpu;
	u64 seq, offset;	/* the next event lies there or after */
	u64 stamp;		/* time of the event before it */
	u8 copy[] __aligned(8); /* as much as a sub-buffer has */
};

static void seat(struct ring_buffer_iter *it, const struct rb_ring *ring)
{
	it->seq = ring->page_seq;
	it->offset = ring->offset;
	it->stamp = ring->stamp;
}

/* The page with sequence number it->seq and the end of its events; NULL: there is none. */
static struct ring_buffer_page *find_page(
    const struct ring_buffer_iter *it, const struct rb_ring *ring, u64 *end)
{
	u64 number, commit_word;
	struct ring_buffer_page *page;

	if (it->seq == ring->page_seq) {
		*end = ring->end;
		return ring->page;
	}
	number = rb_ring_advance(ring, ring->next, it->seq - ring->next_seq);
	page = rb_slot_page(ring->slots[rb_number_index(number)]);
	commit_word = page->commit;
	if (rb_slot_gen(ring->slots[rb_number_index(number)]) != rb_number_gen(number) ||
	    !rb_commit_is_of(commit_word, rb_number_gen(number)))
		return NULL;
	*end = rb_commit_end(commit_word);
	return page;
}

/*
 * Never before the oldest sub-buffer: what was overwritten before the iterator stopped the writer
 * is gone.
 */
static void rb_iter_skip_overrun(struct ring_buffer_iter *it, const struct rb_ring *ring)
{
	u64 number = ring->next, oldest = ring->next_seq, pages = rb_overrun_from_next(ring);

	oldest += pages;
	if (pages > 1) {
		number = rb_ring_advance(ring, number, pages);
		oldest +=
		    rb_slot_gen(ring->slots[rb_number_index(number)]) != rb_number_gen(number);
	}
	if (it->seq < oldest) {
		it->seq = oldest;
		it->offset = 0;
	}
}

/* Brings the position up to date with what consuming readers did. */
static void follow(struct ring_buffer_iter *it, const struct rb_ring *ring)
{
	if (it->seq < ring->page_seq || (it->seq == ring->page_seq && it->offset < ring->offset))
		seat(it, ring);
}

/* The next event to show, with its time and size; the position stands at it. */
static struct ring_buffer_event *find_event(
    struct ring_buffer_iter *it, const struct rb_ring *ring, u64 *stamp, u64 *size)
{
	u64 tail_seq =
	    ring->next_seq + rb_ring_distance(ring, ring->next, atomic_load(&ring->number));

	follow(it, ring);
	for (;;) {
		u64 end = 0;
		struct ring_buffer_page *page = find_page(it, ring, &end);
		struct ring_buffer_event *ev;
		bool data;

		if (page && it->offset < end) {
			if (it->offset == 0)
				it->stamp = page->time_stamp;
			ev = page_event(page, it->offset);
			*stamp = it->stamp;
			*size = rb_event_step(ev, stamp, &data);
			if (data)
				return ev;
			it->stamp = *stamp;
			it->offset += *size;
			continue;
		}
		/* `next` lies one after the tail when the tail's sub-buffer is the reader's. */
		if (it->seq >= tail_seq || ring->next_seq > tail_seq)
			return NULL;
		it->seq = MAX(it->seq + 1, ring->next_seq);
		it->offset = 0;
		rb_iter_skip_overrun(it, ring);
	}
}

static struct ring_buffer_event *rb_iter_get(struct ring_buffer_iter *it, u64 *ts, bool move)
{
	struct rb_ring *ring = rb_lock_reader(it->rb, it->cpu);
	struct ring_buffer_event *ev, *copy = NULL;
	u64 stamp, size;

	rb_reader_look(ring);
	ev = find_event(it, ring, &stamp, &size);
	if (ev) {
		copy = (void *)it->copy;
		memcpy(copy, ev, size);
		if (ts)
			*ts = stamp;
		if (move) {
			it->offset += size;
			it->stamp = stamp;
		}
	}
	rb_unlock_reader(it->rb, it->cpu);
	return copy;
}

struct ring_buffer_iter *ring_buffer_read_start(struct ring_buffer *rb, int cpu)
{
	struct ring_buffer_iter *it;
	struct rb_ring *ring;
	u64 size;

	if (!rb_has_cpu(rb, cpu))
		return NULL;
	ring = rb_lock_reader(rb, cpu);
	ring->iterators++; /* from here on its sub-buffers keep their size */
	size = rb_page_data(ring->page_mask);
	rb_unlock_reader(rb, cpu);
	it = host_alloc(sizeof(*it) + size);
	if (!it) {
		rb_lock_reader(rb, cpu)->iterators--;
		rb_unlock_reader(rb, cpu);
		return NULL;
	}
	it->rb = rb;
	it->cpu = cpu;
	ring_buffer_record_disable_cpu(rb, cpu);
	host_synchronize();
	ring_buffer_iter_reset(it);
	return it;
}

void ring_buffer_read_finish(struct ring_buffer_iter *it)
{
	ring_buffer_record_enable_cpu(it->rb, it->cpu);
	rb_lock_reader(it->rb, it->cpu)->iterators--;
	rb_unlock_reader(it->rb, it->cpu);
	host_free(it);
}

struct ring_buffer_event *ring_buffer_iter_peek(struct ring_buffer_iter *it, u64 *ts)
{
	return rb_iter_get(it, ts, false);
}

struct ring_buffer_event *ring_buffer_read(struct ring_buffer_iter *it, u64 *ts)
{
	return rb_iter_get(it, ts, true);
}

void ring_buffer_iter_reset(struct ring_buffer_iter *it)
{
	struct rb_ring *ring = rb_lock_reader(it->rb, it->cpu);

	rb_reader_look(ring);
	seat(it, ring);
	rb_unlock_reader(it->rb, it->cpu);
}

bool ring_buffer_iter_empty(struct ring_buffer_iter *it)
{
	return !ring_buffer_iter_peek(it, NULL);
}
