/*
 * Consuming readers of the ring buffer: event by event, or a sub-buffer at a time. Task context, on
 * any CPU; one at a time per ring, by the CPU buffer's reader lock. A reader never makes a writer
 * wait: the reader waits, or tries again later.
 *
 * Two pages belong to the reader: `page`, which it reads, and `spare`. The words are those of
 * ring.c.
 *
 * WHAT MAY BE READ OF A SUB-BUFFER (looking)
 *   L1 read its account. Finished: everything up to its padding.
 *   L2 read the tail. It is in this page, as many bytes in as are committed: all of these. (What
 *      was committed at L1 was reserved then; what is reserved now is as much; committed events are
 *      never taken back. So nothing else was reserved.)
 *   L3 neither: an event in it is under construction. No more than was known before; its writer
 *      will wake us.
 *
 * WHEN `page` IS READ TO ITS END
 *   R1 the writer has not finished it: look again; there may be more, but there is no other page
 *      before it is finished.
 *   R2 look at the slot of `next`. Its lap is a later one: overwritten; go on to the oldest
 *      sub-buffer there can be, R2.
 *   R3 look at the sub-buffer. Nothing to read in it: come back later.
 *   R4 read how much was overwritten so far. Every number before `next` was either taken or
 *      overwritten, so the count of overwritten sub-buffers must come to that; while it is behind,
 *      a writer is between two instructions of C3. Then the count of overwritten events is exact
 *      for this gap: as R5 proves that `next` is still there, nothing later was overwritten.
 *   R5 change the slot, by compare-exchange, to `spare` with a fresh account, free for the next
 *      lap. The page is ours to read. If the writer is still in it, it goes on writing there and
 *      does not notice; it finds its way on by the slots. If it overwritten the page meanwhile: R2.
 *      The page we had, which is finished, is the spare one now.
 *
 * BOUNDS. R2 is begun again only when the writer has gone on by a sub-buffer meanwhile, at most
 * REFILL_TRIES times; then the reader says that there is nothing, for now. R4 waits at most
 * SETTLE_TRIES; then the number lost is told with a later gap.
 */
/* hot: runs with each event */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"
#include "trace/ring/priv.h"

#define REFILL_TRIES 1000
#define SETTLE_TRIES 10000

void rb_reader_init(
    struct rb_ring *ring, struct ring_buffer_page *page, struct ring_buffer_page *spare)
{
	ring->page = page;
	ring->spare = spare;
	ring->open = false;
	ring->offset = ring->end = 0;
	ring->page_read = ring->page_events = ring->page_seq = 0;
	ring->next = rb_number_make(RB_FIRST_GEN, 0);
	ring->skipped = 0;
	ring->next_seq = 1;
	ring->overrun_reported = ring->lost = ring->read = ring->stamp = 0;
}

void rb_reader_skip(struct rb_ring *ring, u64 pages)
{
	ring->next = rb_ring_advance(ring, ring->next, pages);
	ring->next_seq += pages;
	ring->skipped += pages;
}

/*
 * R2. The oldest sub-buffer there can be is `count` - 1 before the tail's; that one, too, may be
 * overwritten, when the writer is about to enter its slot. If `number` is one behind (C5), this is
 * one too few, and the next look finds it.
 */
u64 rb_overrun_from_next(const struct rb_ring *ring)
{
	s64 ahead = rb_ring_distance(ring, ring->next, atomic_load(&ring->number));
	u64 word = atomic_load(&ring->slots[rb_number_index(ring->next)]);

	if (ahead >= (s64)ring->count)
		return ahead - (ring->count - 1);
	return rb_slot_gen(word) != rb_number_gen(ring->next);
}

/*
 * L1 to L3. How many bytes of the page may be read: not fewer than `known`. *account: as it was
 *    then.
 */
u64 rb_readable(
    const struct rb_ring *ring, const struct ring_buffer_page *page, u64 known, u64 *commit_word)
{
	u64 now = atomic_load(&page->commit); /* L1 */

	if (rb_commit_is_finished(ring, now) || rb_tail_event(atomic_load(&ring->tail.a)) ==
						    page_event(page, rb_commit_bytes(now))) /* L2 */
		*commit_word = now;
	else
		return known; /* L3 */
	return rb_commit_end(now);
}

/* What `page` has to read, by its account. */
static void seen(struct rb_ring *ring, u64 end, u64 commit_word)
{
	ring->end = end;
	ring->page_events = rb_commit_events(commit_word);
	ring->open = !rb_commit_is_finished(ring, commit_word);
}

void rb_reader_look(struct rb_ring *ring)
{
	u64 commit_word = 0, end;

	if (!ring->open)
		return;
	end = rb_readable(ring, ring->page, ring->end, &commit_word);
	if (commit_word)
		seen(ring, end, commit_word);
}

/* R4. */
u64 rb_overrun_before(const struct rb_ring *ring, u64 pages)
{
	u64 gone = ring->skipped + pages;

	for (unsigned i = 0; i < SETTLE_TRIES && atomic_load(&ring->overrun_pages) < gone; i++)
		host_relax();
	return atomic_load(&ring->overrun_events);
}

/* R4 and R5: the page of `word`, which may be read up to `end`. False: overwritten meanwhile. */
static bool take(struct rb_ring *ring, u64 word, u64 end, u64 commit_word)
{
	struct ring_buffer_page *page = rb_slot_page(word), *old = ring->page;
	u64 gen = (rb_number_gen(ring->next) + 1) & RB_GEN_MASK;
	u64 overrun = rb_overrun_before(ring, 0);

	WRITE_ONCE(ring->spare->commit, rb_commit_fresh(gen));
	if (!atomic_cas(
		&ring->slots[rb_number_index(ring->next)], word, rb_slot_make(ring->spare, gen)))
		return false;
	if (unlikely(ring->map))
		rb_map_taken(ring, commit_word);
	ring->page = page;
	ring->spare = old;
	ring->read += ring->page_read;
	ring->offset = ring->page_read = 0;
	seen(ring, end, commit_word);
	ring->page_seq = ring->next_seq;
	ring->stamp = page->time_stamp;
	if (unlikely(overrun != ring->overrun_reported)) {
		ring->lost += overrun - ring->overrun_reported;
		ring->overrun_reported = overrun;
	}
	ring->next = rb_ring_next(ring, ring->next);
	ring->next_seq++;
	return true;
}

/*
 * R2 to R5 once. 0: there is a page to look at; -ENODATA: there is none; -EAGAIN: the writer came
 *    in between.
 */
static int rb_take_next_page(struct rb_ring *ring, bool finished)
{
	u64 *slot = &ring->slots[rb_number_index(ring->next)];
	u64 word = atomic_load(slot), commit_word = 0, end;

	if (rb_slot_gen(word) != rb_number_gen(ring->next)) { /* R2 */
		rb_reader_skip(ring, rb_overrun_from_next(ring));
		return -EAGAIN;
	}
	end = rb_readable(ring, rb_slot_page(word), 0, &commit_word); /* R3 */
	if (!end || !rb_commit_is_of(commit_word, rb_slot_gen(word)) ||
	    (finished && !rb_commit_is_finished(ring, commit_word)))
		return atomic_load(slot) == word ? -ENODATA : -EAGAIN;
	return take(ring, word, end, commit_word) ? 0 : -EAGAIN;
}

/*
 * Sees to it that `page` has unread bytes; false: there are none. `finished`: only of finished
 * sub-buffers.
 */
static inline __attribute__((always_inline)) bool refill(struct rb_ring *ring, bool finished)
{
	for (unsigned tries = 0; tries < REFILL_TRIES; tries++) {
		int result;

		if (ring->open) /* R1 */
			rb_reader_look(ring);
		if (ring->offset < ring->end && !(finished && ring->open))
			return true;
		if (ring->open)
			return false;
		result = rb_take_next_page(ring, finished);
		if (result != -EAGAIN)
			return result == 0;
	}
	return false;
}

bool rb_reader_refill(struct rb_ring *ring)
{
	return refill(ring, false);
}

bool ring_buffer_has_finished(struct ring_buffer *rb, int cpu)
{
	bool has;

	if (!rb_has_cpu(rb, cpu))
		return false;
	has = refill(rb_lock_reader(rb, cpu), true);
	rb_unlock_reader(rb, cpu);
	return has;
}

/* Does an event to show lie at `offset`? */
static inline bool at_event(const struct rb_ring *ring)
{
	return ring->offset < ring->end &&
	       (*(u32 *)page_event(ring->page, ring->offset) & 3) == RINGBUF_TYPE_DATA;
}

/* Goes on to the next event to show, over what else there is; false: there is none. */
static __noinline bool rb_find_event(struct rb_ring *ring)
{
	do {
		while (ring->offset < ring->end) {
			bool data;
			u64 stamp = ring->stamp,
			    size =
				rb_event_step(page_event(ring->page, ring->offset), &stamp, &data);

			if (data)
				return true;
			ring->offset += size;
			ring->stamp = stamp;
		}
	} while (refill(ring, false));
	return false;
}

static u64 take_lost(struct rb_ring *ring)
{
	u64 lost = ring->lost;

	if (unlikely(lost))
		ring->lost = 0;
	return lost;
}

static inline void count_read(struct rb_ring *ring, const struct ring_buffer_event *ev, u64 stamp)
{
	ring->offset += rb_data_event_length(ev);
	ring->stamp = stamp;
	ring->page_read++;
}

static inline __attribute__((always_inline)) struct ring_buffer_event *get(
    struct ring_buffer *rb, int cpu, u64 *ts, u64 *lost, bool consume)
{
	struct ring_buffer_event *ev = NULL;
	struct rb_ring *ring;

	if (unlikely(!rb_has_cpu(rb, cpu)))
		return NULL;
	ring = rb_lock_reader(rb, cpu);
	if (likely(at_event(ring)) || rb_find_event(ring)) {
		u64 stamp;

		ev = page_event(ring->page, ring->offset);
		stamp = ring->stamp + (*(u32 *)ev >> 5);
		if (ts)
			*ts = stamp;
		if (lost)
			*lost = consume ? take_lost(ring) : ring->lost;
		if (consume)
			count_read(ring, ev, stamp);
	}
	rb_unlock_reader(rb, cpu);
	return ev;
}

struct ring_buffer_event *ring_buffer_peek(struct ring_buffer *rb, int cpu, u64 *ts, u64 *lost)
{
	return get(rb, cpu, ts, lost, false);
}

struct ring_buffer_event *ring_buffer_consume(struct ring_buffer *rb, int cpu, u64 *ts, u64 *lost)
{
	return get(rb, cpu, ts, lost, true);
}

bool ring_buffer_consume_peeked(
    struct ring_buffer *rb, int cpu, const struct ring_buffer_event *peeked)
{
	bool same = false;
	struct rb_ring *ring;

	if (!rb_has_cpu(rb, cpu))
		return false;
	ring = rb_lock_reader(rb, cpu);
	if (at_event(ring) || rb_find_event(ring)) {
		struct ring_buffer_event *ev = page_event(ring->page, ring->offset);

		same = ev == peeked;
		if (same) {
			take_lost(ring);
			count_read(ring, ev, ring->stamp + ev->time_delta);
		}
	}
	rb_unlock_reader(rb, cpu);
	return same;
}

bool ring_buffer_reads_here(struct ring_buffer *rb)
{
	u32 me = host_cpu() + 1;

	for (unsigned cpu = 0; cpu < rb->cpus; cpu++)
		if (atomic_load(&rb->cpu_buffers[cpu].lock) == me)
			return true;
	return false;
}

void ring_buffer_break_locks(struct ring_buffer *rb)
{
	for (unsigned cpu = 0; cpu < rb->cpus; cpu++)
		atomic_store(&rb->cpu_buffers[cpu].lock, 0);
}

struct ring_buffer_page *ring_buffer_alloc_page(void)
{
	return host_page_alloc();
}

void ring_buffer_free_page(struct ring_buffer_page *page)
{
	if (!page)
		return;
	host_synchronize(); /* a writer may just look at the account of a page that was taken (C1)
			     */
	host_page_free(page);
}

/* After the data, if there is room; what the page's commit has to say about it. */
static __noinline u64 rb_store_lost(struct ring_buffer_page *page, u64 size, u64 bytes, u64 lost)
{
	if (bytes + sizeof(lost) > size - RB_PAGE_HEADER)
		return RB_MISSED_EVENTS;
	memcpy(page->data + bytes, &lost, sizeof(lost));
	return RB_MISSED_EVENTS | RB_MISSED_STORED;
}

/*
 * Ends a page of that size for its new owner, who may be in ring 3: bytes of data, what was lost
 * before it, nothing of old.
 */
static void rb_finish_page(struct rb_ring *ring, struct ring_buffer_page *page, u64 size, u64 bytes)
{
	u64 lost = take_lost(ring), commit = bytes;

	if (bytes < size - RB_PAGE_HEADER)
		memset(page->data + bytes, 0, size - RB_PAGE_HEADER - bytes);
	if (unlikely(lost))
		commit |= rb_store_lost(page, size, bytes, lost);
	WRITE_ONCE(page->commit, commit); /* a writer may just look at it (C1) */
}

/* The bytes that go together at `offset`: an event, or a time and the event it is for. */
static u64 unit_size(const struct rb_ring *ring)
{
	const struct ring_buffer_event *ev = page_event(ring->page, ring->offset);
	u64 size = ring_buffer_event_length(ev);

	if ((ev->type == RINGBUF_TYPE_TIME_EXTENT || ev->type == RINGBUF_TYPE_TIME_STAMP) &&
	    ring->offset + size < ring->end)
		size += ring_buffer_event_length(page_event(ring->page, ring->offset + size));
	return size;
}

/*
 * True if the page can be handed over as it is: the writer has left it, and all its events are
 * unread.
 */
static inline bool rb_is_whole(const struct rb_ring *ring, size_t len)
{
	return !ring->open && ring->offset == 0 && len >= RB_PAGE_HEADER + ring->end;
}

/* Copies such a page, and leaves it in its ring. */
static int rb_copy_whole(struct rb_ring *ring, struct ring_buffer_page *to, u64 size)
{
	to->time_stamp = ring->stamp;
	memcpy(to->data, ring->page->data, ring->end);
	rb_finish_page(ring, to, size, ring->end);
	ring->offset = ring->end;
	ring->page_read = ring->page_events;
	return 0;
}

/* Copies as many unread events to `to` as fit in `room`. 0 or -EAGAIN: not one. */
static __noinline int rb_copy_events(
    struct rb_ring *ring, struct ring_buffer_page *to, u64 size, u64 room)
{
	u64 done = 0;

	to->time_stamp = ring->stamp;
	while (ring->offset < ring->end) {
		struct ring_buffer_event *ev = page_event(ring->page, ring->offset);
		u64 stamp = ring->stamp;
		bool data;
		u64 taken;

		if (done + unit_size(ring) > room)
			break;
		taken = rb_event_step(ev, &stamp, &data);
		memcpy(to->data + done, ev, taken);
		done += taken;
		ring->offset += taken;
		ring->stamp = stamp;
		ring->page_read += data;
	}
	if (!done)
		return -EAGAIN;
	rb_finish_page(ring, to, size, done);
	return 0;
}

void rb_reader_end_page(struct rb_ring *ring)
{
	rb_finish_page(ring, ring->page, -ring->page_mask, ring->end);
}

/* Gives the reader's page, a PAGE_SIZE long, away whole for a spare one. */
static void exchange(struct rb_ring *ring, struct ring_buffer_page **page)
{
	struct ring_buffer_page *out = ring->page;

	rb_finish_page(ring, out, PAGE_SIZE, ring->end);
	ring->page = *page;
	*page = out;
	ring->end = 0; /* nothing of it was read: offset and page_read are 0 */
	ring->read += ring->page_events;
	ring->page_events = 0;
}

/* The next page or a part of it to `to`, under the reader lock; a part is copied event by event. */
static int rb_copy(struct rb_ring *ring, struct ring_buffer_page *to, size_t size, size_t len)
{
	len = MIN(len, size);
	if (rb_is_whole(ring, len))
		return rb_copy_whole(ring, to, size);
	return rb_copy_events(ring, to, size, len - RB_PAGE_HEADER);
}

int ring_buffer_copy_page(struct ring_buffer *rb, struct ring_buffer_page *to, size_t size,
    size_t len, int cpu, bool full)
{
	struct rb_ring *ring;
	int result = -EAGAIN;

	if (len <= RB_PAGE_HEADER || !rb_has_cpu(rb, cpu))
		return -EINVAL;
	ring = rb_lock_reader(rb, cpu);
	if (likely(refill(ring, full)))
		result = rb_copy(ring, to, size, len);
	rb_unlock_reader(rb, cpu);
	return result;
}

int ring_buffer_read_page(
    struct ring_buffer *rb, struct ring_buffer_page **page, size_t len, int cpu, bool full)
{
	struct rb_ring *ring;
	int result = -EAGAIN;

	if (len <= RB_PAGE_HEADER || !rb_has_cpu(rb, cpu))
		return -EINVAL;
	ring = rb_lock_reader(rb, cpu);
	if (likely(refill(ring, full))) {
		if (!ring->map && ring->page_mask == rb_mask_of(0) && rb_is_whole(ring, len) &&
		    rb_may_leave(ring->page)) {
			exchange(ring, page);
			result = 0;
		} else {
			result = rb_copy(ring, *page, PAGE_SIZE, len);
		}
	}
	rb_unlock_reader(rb, cpu);
	return result;
}
