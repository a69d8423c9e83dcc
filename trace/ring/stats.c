/*
 * Statistics of a ring buffer. Task context. While writers run, the numbers are of different
 * moments; when recording is stopped they add up: hits = entries + read + overrun + dropped +
 * commit_overrun + too_large + nested + disabled + discarded.
 */
#include "trace/host_clock.h"
#include "trace/ring/priv.h"

/* Adds one sub-buffer of the ring. */
static void add_page(const struct rb_ring *ring, u64 number, struct ring_buffer_stats *st)
{
	u64 word = READ_ONCE(ring->slots[rb_number_index(number)]);
	u64 commit_word = READ_ONCE(rb_slot_page(word)->commit);

	if (rb_slot_gen(word) != rb_number_gen(number) ||
	    !rb_commit_is_of(commit_word, rb_number_gen(number)))
		return;
	st->entries += rb_commit_events(commit_word);
	st->bytes += rb_commit_end(commit_word);
	if (!st->oldest_ts && rb_commit_bytes(commit_word))
		st->oldest_ts = READ_ONCE(rb_slot_page(word)->time_stamp);
}

/* The rest of the page that the reader has. */
static void rb_add_reader(struct rb_ring *ring, struct ring_buffer_stats *st)
{
	rb_reader_look(ring);
	st->entries += ring->page_events - ring->page_read;
	st->bytes += ring->end - ring->offset;
	if (ring->offset < ring->end) {
		u64 stamp = ring->stamp;
		bool data;

		rb_event_step(page_event(ring->page, ring->offset), &stamp, &data);
		st->oldest_ts = stamp;
	}
}

/* Returns how many sub-buffers may have unread events; *number: the first of them. */
static s64 rb_unread_pages(const struct rb_ring *ring, u64 *number)
{
	s64 pages = rb_ring_distance(ring, ring->next, atomic_load(&ring->number)) + 1;

	*number = ring->next;
	if (pages > (s64)ring->count) {
		*number = rb_ring_advance(ring, *number, pages - ring->count);
		pages = ring->count;
	}
	return pages;
}

/* The ring's part of the statistics. */
static void rb_stats_add(struct rb_ring *ring, struct ring_buffer_stats *st)
{
	struct ring_buffer_stats own = {0};
	u64 number;
	s64 pages = rb_unread_pages(ring, &number);

	own.overrun = atomic_load(&ring->overrun_events);
	rb_add_reader(ring, &own);
	for (; pages > 0; pages--, number = rb_ring_next(ring, number))
		add_page(ring, number, &own);

	st->entries += own.entries;
	st->overrun += own.overrun;
	st->bytes += own.bytes;
	if (own.oldest_ts && (!st->oldest_ts || own.oldest_ts < st->oldest_ts))
		st->oldest_ts = own.oldest_ts;
	st->read += ring->read + ring->page_read;
	st->commit_overrun += READ_ONCE(ring->commit_overrun);
	st->dropped += READ_ONCE(ring->dropped);
	st->too_large += READ_ONCE(ring->too_large);
	st->nested += READ_ONCE(ring->nested);
	st->disabled += READ_ONCE(ring->disabled) - ring->disabled_before;
	st->discarded += READ_ONCE(ring->discarded);
}

void ring_buffer_stats(struct ring_buffer *rb, int cpu, struct ring_buffer_stats *st)
{
	int from = cpu < 0 ? 0 : cpu, to = cpu < 0 ? (int)rb->cpus - 1 : cpu;

	*st = (struct ring_buffer_stats){0};
	for (int i = from; i <= to; i++) {
		if (!rb_has_cpu(rb, i))
			continue;
		rb_stats_add(rb_lock_reader(rb, i), st);
		rb_unlock_reader(rb, i);
	}
}

void rb_ring_totals(struct rb_ring *ring, struct ring_buffer_totals *t)
{
	struct ring_buffer_stats st = {0};

	rb_stats_add(ring, &st);
	t->unread += st.entries;
	t->read += ring->past.read + st.read;
	t->overrun += ring->past.overrun + st.overrun;
	t->discarded += ring->past.discarded + st.discarded;
	t->cleared += ring->past.cleared;
	t->dropped += ring->past.dropped + st.dropped;
	t->commit_overrun += ring->past.commit_overrun + st.commit_overrun;
	t->too_large += ring->past.too_large + st.too_large;
	t->nested += ring->past.nested + st.nested;
	t->disabled += READ_ONCE(ring->disabled);
}

void ring_buffer_totals(struct ring_buffer *rb, unsigned cpu, struct ring_buffer_totals *t)
{
	t->disabled += READ_ONCE(rb->cpu_buffers[cpu].no_ring);
	if (!rb_has_cpu(rb, cpu))
		return;
	rb_ring_totals(rb_lock_reader(rb, cpu), t);
	rb_unlock_reader(rb, cpu);
}

/* Events in so many sub-buffers from `number` on, by looking at each. */
static u64 rb_count_pages(const struct rb_ring *ring, u64 number, s64 pages)
{
	u64 gen = rb_number_gen(number), index = rb_number_index(number), entries = 0;

	for (; pages > 0; pages--) {
		u64 word = READ_ONCE(ring->slots[index]);
		u64 commit_word = READ_ONCE(rb_slot_page(word)->commit);

		if (rb_slot_gen(word) == gen && rb_commit_is_of(commit_word, gen))
			entries += rb_commit_events(commit_word);
		if (unlikely(++index == ring->count)) {
			index = 0;
			gen = (gen + 1) & RB_GEN_MASK;
		}
	}
	return entries;
}

/*
 * Events from `from` on and before `to`, by the sums. False: one of them is not there, as the
 * writer is between C5 and C6, or overtakes us.
 */
static bool rb_count_by_sums(const struct rb_ring *ring, u64 from, u64 to, u64 *entries)
{
	u64 first = READ_ONCE(*rb_sum_at(ring, from)), last = READ_ONCE(*rb_sum_at(ring, to));

	*entries = rb_sum_make(0, last - first);
	return rb_commit_is_of(first, rb_number_gen(from)) &&
	       rb_commit_is_of(last, rb_number_gen(to));
}

/*
 * As rb_stats_add(), but counts only the entries, and looks at few sub-buffers: up to the one that
 * the sums are unsure of, and the tail's. Whoever opens `trace` waits for this.
 */
static u64 rb_entries(struct rb_ring *ring)
{
	struct ring_buffer_stats own = {0};
	u64 number, from, to, between = 0;
	s64 pages = rb_unread_pages(ring, &number), odd;

	rb_add_reader(ring, &own);
	odd = rb_ring_distance(ring, number, READ_ONCE(ring->unsure)) + 1;
	/* The first may have been overwritten (C3) by a writer that has not got there (C5). */
	odd = MAX(odd, (s64)1);
	if (odd < pages) {
		from = rb_ring_advance(ring, number, odd);
		to = rb_ring_advance(ring, number, pages - 1);
		if (rb_count_by_sums(ring, from, to, &between)) {
			between += rb_count_pages(ring, to, 1);
			pages = odd;
		} else {
			between = 0;
		}
	}
	return own.entries + between + rb_count_pages(ring, number, pages);
}

u64 ring_buffer_entries(struct ring_buffer *rb)
{
	u64 entries = 0;

	for (unsigned cpu = 0; cpu < rb->cpus; cpu++) {
		entries += rb_entries(rb_lock_reader(rb, cpu));
		rb_unlock_reader(rb, cpu);
	}
	return entries;
}

u64 ring_buffer_overruns(struct ring_buffer *rb)
{
	u64 overruns = 0;

	for (unsigned cpu = 0; cpu < rb->cpus; cpu++) {
		overruns += atomic_load(&rb_lock_reader(rb, cpu)->overrun_events);
		rb_unlock_reader(rb, cpu);
	}
	return overruns;
}

size_t ring_buffer_size(struct ring_buffer *rb, int cpu)
{
	if (cpu < 0 || cpu >= (int)rb->cpus)
		return 0;
	return rb->cpu_buffers[cpu].ring->count * rb_page_data(rb_mask_of(rb->order));
}

bool ring_buffer_empty_cpu(struct ring_buffer *rb, int cpu)
{
	return !ring_buffer_peek(rb, cpu, NULL, NULL);
}

bool ring_buffer_empty(struct ring_buffer *rb)
{
	for (unsigned cpu = 0; cpu < rb->cpus; cpu++) {
		if (!ring_buffer_empty_cpu(rb, cpu))
			return false;
	}
	return true;
}

bool ring_buffer_filled(const struct ring_buffer *rb, unsigned cpu, unsigned percent)
{
	const struct rb_ring *ring = READ_ONCE(rb->cpu_buffers[cpu].ring);
	s64 unread, count;

	if (!ring)
		return false;
	count = READ_ONCE(ring->count);
	unread = rb_ring_distance(ring, READ_ONCE(ring->next), READ_ONCE(ring->number)) + 1;
	return unread > 0 && MIN(unread, count) * 100 >= count * (s64)percent;
}

u64 ring_buffer_time_stamp(struct ring_buffer *rb)
{
	return rb_clock(rb->clock);
}
