/*
 * The ring buffer: words, steps, and the writer. write.h has the writer's fast path, reader.c the
 * reader, iter.c the iterators, control.c and resize.c everything that stops recording first,
 * pages.c where pages come from, stats.c the counts.
 *
 * Who calls this file: writers, in any context (task < softirq < irq < NMI, each interrupting the
 * ones before at any instruction), on their own CPU, between host_enter() and
 * host_preempt_enable().
 *
 * WORDS
 *   ring       one CPU's: `count` sub-buffers, written one after the other, for ever round
 *   sub-buffer a block of memory, aligned to its size, which is the same for all of a ring: header
 *              (time of the first event, account) and room for events. Mostly a page of the
 *              machine, with room for 4080 bytes; it is called page here in any case
 *   number     which sub-buffer, counted for ever: lap and index
 *   tail       where the next event goes (an address, with a count of crossings), and the time of
 *              the last event: 16 bytes that change together
 *   slot       one word per index: the page there, and the lap it holds data of or is free for. Lap
 *              equal to that of the writer's next visit: free. One less: unread data.
 *   sum        one word per index: events in all sub-buffers before that number, for who wants to
 *              know how many there are
 *   account    one word in the page: bytes committed, events committed, words of padding, lap. An
 *              event adds to it when it is committed. Finished: all bytes are accounted for,
 *              nothing in it is under construction.
 *   reserved   given to a writer (the tail has moved over it); committed: the writer has said that
 *              it is written
 *   overwritten  before anybody read it
 *
 * WRITING AN EVENT
 *   W1 count this writer in (lane.depth). From here on until W7 the lane keeps its ring.
 *   W2 read the tail: address, and time of the last event.
 *   W3 read the clock; delta = now - last. (The fast path in write.h reads the clock first and
 *      `last` after it. A nested writer in between makes W4 fail, or delta too large.)
 *   W4 move the tail over the event and set its time to now, by one 16-byte compare-exchange. If a
 *      nested writer came in between, it has reserved and left: again from W2. So the events lie in
 *      the order of their times, deltas add up, and no writer ever sees the time of an event other
 *      than the last one before it.
 *   W5 the bytes are ours: write the header; the caller writes the data.
 *   W6 add size and one event to the page's account, by one add. Whoever is interrupted anywhere
 *      adds later; the order of the adds does not matter.
 *   W7 count this writer out.
 *
 * When the event does not fit after the tail, the writer crosses into the next number:
 *   C0 the tail's number is `number`, or the one after it when a writer was interrupted within C5:
 *      then it is set right. The tail must still be what it was at W2, before anything is set and
 *      after, else again from W2.
 *   C1 look at the slot of the next number. Lap is ours: free, go to C4. Neither ours nor the one
 *      before: nested writers have gone on since C0, and a reader took the sub-buffer or they came
 *      round: again from W2.
 *   C2 unread data in it. Not overwriting: refuse. Not finished (an interrupted writer still writes
 *      there): refuse.
 *   C3 evict: change the slot's lap to ours by compare-exchange, count what was in it. This is the
 *      one place where this CPU and a reader on another may want the same thing, so it is a
 *      compare-exchange with a lock prefix: once in a sub-buffer, only when overwriting what nobody
 *      has read. If the reader won, it left a fresh page: the slot is free now.
 *   C4 give the page a fresh account of our lap, by compare-exchange from the old one: a nested
 *      writer may have done it, and may have written there. A reader may have taken it since and be
 *      ending it for its new owner; so this one is locked, too, for without the prefix it stores
 *      even when it fails. It comes with C3 only: a reader leaves fresh accounts.
 *   C5 as W4, to the start of the next page. The winner sets `number`, pads the rest of the page it
 *      left and accounts for it, and writes the time of the new one.
 *   C6 the new number's sum is that of the one before and the events of the page that was left.
 *      Where a reader has taken that page, it does not matter what is added: nobody asks for a sum
 *      of it any more. Where a writer that this one interrupted still writes there, its event would
 *      be missing: the number is `unsure`, and who counts looks at the page itself.
 *
 * A delta that needs more than 27 bits is put in front as TIME_EXTENT (59 bits), and one that
 * cannot be right (the clock went back) as TIME_STAMP with the whole time: 12 bytes, array[0] its
 * low and array[1] its high half. Both are accounted for at once. The writer that crosses into a
 * sub-buffer gives it its time, and its event the delta 0.
 *
 * Discarding: if nobody reserved after the event, the tail goes back over it (16-byte
 * compare-exchange, undoing the time too). If it was its sub-buffer's first, the sub-buffer stays,
 * empty, with its time; the next one to be first has a delta from that. Otherwise it becomes
 * PADDING that says its length. That needs a delta that is not 0; where the delta is 0, 1 is
 * written, with len = 1 to say so, and readers do not count it.
 *
 * BOUNDS. Depth: RB_MAX_DEPTH. W2-W4 repeats only when a nested writer reserved in between, at most
 * MAX_TRIES. C1-C4 repeats once: the reader can take a slot from us only once. Everything else is
 * straight. A lap has 28 bits and the tail counts 65536 crossings: a compare-exchange could mistake
 * one for another only if its CPU stood still between two instructions while interrupts filled
 * 65536 sub-buffers within one tick of the clock (tail), or the ring went round 268 million times.
 * An account has 12 bits of its lap. It is believed only together with its slot or the tail: C4
 * would take another lap's for the one it saw only if interrupts took the ring round 4096 times
 * between two of its instructions.
 *
 * ORDER. x86 shows stores in program order. Account after data (W6 after W5); eviction before reuse
 * (C3 before C5); counts of overwritten events before that of overwritten pages. All local_* and
 * atomic_* operations keep the compiler from moving accesses.
 */
/* hot: runs with each event */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/host_context.h"
#include "trace/ring/write.h"

#define EXTENT_BITS 59
#define EXTENT_SIZE 8
#define STAMP_SIZE  12
#define MAX_TRIES   1000 /* interrupts do not come that often without a break */

/* One reservation under way: what it saw at W2 and W3, and what it wants. */
struct attempt {
	u64 tail, last, now;
	u64 payload, size; /* as stored; of the event */
};

enum outcome { GOT, AGAIN, DROPPED, COMMIT_OVERRUN };

/*
 * C0. While the tail is `tail`, its page is that of `number`, or of the number after it; then its
 * writer was interrupted within C5, has not committed, and no reader can have taken the page from
 * its slot. When the tail has moved on meanwhile the page may lie anywhere: nothing may be set by
 * what is found then.
 */
static u64 tail_number(struct rb_ring *ring, u64 tail)
{
	u64 number = READ_ONCE(ring->number), next = rb_ring_next(ring, number);
	u64 slot = READ_ONCE(ring->slots[rb_number_index(next)]);

	/* - 4: the tail of a full page is the address after it */
	if (rb_slot_gen(slot) != rb_number_gen(next) ||
	    rb_slot_page(slot) != rb_page_of(rb_tail_event(tail - 4), ring->page_mask))
		return number;
	if (READ_ONCE(ring->tail.a) == tail)
		local_cmpxchg(&ring->number, number, next);
	return next;
}

/* C1 to C4. The page to cross into is *page. */
static enum outcome open_next(struct rb_ring *ring, u64 next, struct ring_buffer_page **page)
{
	u64 *slot = &ring->slots[rb_number_index(next)];
	u64 gen = rb_number_gen(next);

	for (;;) {
		u64 word = READ_ONCE(*slot); /* C1 */
		u64 commit_word = READ_ONCE(rb_slot_page(word)->commit);

		*page = rb_slot_page(word);
		if (rb_slot_gen(word) == gen) {
			if (rb_commit_is_of(commit_word, gen))
				return GOT;
			if (READ_ONCE(*slot) != word) /* the account was not this page's */
				return AGAIN;
			atomic_cas(&(*page)->commit, commit_word, rb_commit_fresh(gen)); /* C4 */
			return GOT;
		}
		if (!rb_slot_is_unread(word, next))
			return AGAIN;
		if (!READ_ONCE(ring->overwrite) ||
		    !rb_commit_is_finished(ring, commit_word)) { /* C2 */
			if (READ_ONCE(*slot) != word)
				continue; /* the reader took it just now */
			if (READ_ONCE(ring->overwrite))
				return COMMIT_OVERRUN;
			WRITE_ONCE(ring->full_slot, slot);
			WRITE_ONCE(ring->full_word, word);
			return DROPPED;
		}
		if (atomic_cas(slot, word, rb_slot_make(*page, gen))) { /* C3 */
			local_add(&ring->overrun_events, rb_commit_events(commit_word));
			local_inc(&ring->overrun_pages);
		}
	}
}

/* C5: the page that was left gets its padding. */
static void close_page(const struct rb_ring *ring, u64 tail)
{
	struct ring_buffer_event *ev = rb_tail_event(tail);
	u64 room = rb_tail_room(tail, ring->page_mask);

	if (!room) /* it is finished, and may be gone */
		return;
	rb_put_header(ev, RINGBUF_TYPE_PADDING, 0, 0);
	local_add(&rb_page_of(ev, ring->page_mask)->commit, room + rb_commit_padding(room));
}

/* C6. Nested writers may have marked a later number already. */
static void rb_add_sum(struct rb_ring *ring, u64 number, u64 next)
{
	u64 word = READ_ONCE(ring->slots[rb_number_index(number)]), gen = rb_number_gen(number);
	u64 commit_word = READ_ONCE(rb_slot_page(word)->commit);
	u64 sum = *rb_sum_at(ring, number), unsure = READ_ONCE(ring->unsure);

	if (rb_slot_gen(word) == gen && rb_commit_is_of(commit_word, gen)) {
		sum += rb_commit_events(commit_word);
		if (unlikely(!rb_commit_is_finished(ring, commit_word)) &&
		    rb_ring_distance(ring, unsure, number) > 0)
			local_cmpxchg(&ring->unsure, unsure, number);
	}
	WRITE_ONCE(*rb_sum_at(ring, next), rb_sum_make(rb_number_gen(next), sum));
}

/* C0 to C6. */
static enum outcome rb_move_tail(
    struct rb_ring *ring, const struct attempt *a, struct ring_buffer_event **ev)
{
	u64 number = tail_number(ring, a->tail), next = rb_ring_next(ring, number);
	u64 tail = a->tail, last = a->last;
	struct ring_buffer_page *page;
	enum outcome result;

	if (READ_ONCE(ring->tail.a) != a->tail)
		return AGAIN;
	result = open_next(ring, next, &page);
	if (result == DROPPED)
		WRITE_ONCE(ring->full_tail, a->tail);
	if (result != GOT)
		return result;
	if (!local_cmpxchg_pair(&ring->tail, &tail, &last,
		rb_tail_make(rb_tail_moves(tail) + 1, page->data + a->size), a->now)) /* C5 */
		return AGAIN;
	local_cmpxchg(&ring->number, number, next);
	close_page(ring, a->tail);
	WRITE_ONCE(page->time_stamp, a->now);
	rb_add_sum(ring, number, next);
	*ev = rb_put_data(page_event(page, 0), a->payload, 0);
	return GOT;
}

/*
 * The event keeps nested writers, who may go round the ring, from taking the new sub-buffer before
 * it has its time.
 */
static struct ring_buffer_event *cross_from(
    struct rb_ring *ring, const struct ring_buffer_page *page)
{
	struct ring_buffer_event *ev = NULL;
	enum outcome result = AGAIN;

	for (unsigned tries = 0; tries < MAX_TRIES && result == AGAIN; tries++) {
		struct attempt a = {.tail = READ_ONCE(ring->tail.a),
		    .last = READ_ONCE(ring->tail.b),
		    .payload = rb_payload(4),
		    .size = rb_size(4)};

		a.now = a.last;
		if (!rb_tail_room(a.tail, ring->page_mask) ||
		    rb_page_of(rb_tail_event(a.tail), ring->page_mask) != page)
			break;
		result = rb_move_tail(ring, &a, &ev);
	}
	return ev;
}

void rb_leave_page(struct rb_cpu_buffer *cpu_buffer)
{
	struct ring_buffer_event *ev;

	local_inc(&cpu_buffer->depth);
	ev = cross_from(cpu_buffer->ring, cpu_buffer->ring->page);
	if (ev && !rb_take_back(cpu_buffer->ring, ev, rb_size(4)))
		rb_discard_slow(cpu_buffer, ev, rb_size(4));
	else
		local_dec(&cpu_buffer->depth);
}

/* The event goes where the tail is, with its time in front if that takes more than a delta. */
static enum outcome reserve_here(
    struct rb_ring *ring, const struct attempt *a, struct ring_buffer_event **ev)
{
	u64 tail = a->tail, last = a->last, delta = a->now - last, front = 0;
	struct ring_buffer_event *time = rb_tail_event(a->tail);

	if (delta >> EXTENT_BITS)
		front = STAMP_SIZE;
	else if (delta >> RB_DELTA_BITS)
		front = EXTENT_SIZE;
	if (!rb_tail_fits(a->tail, front + a->size, ring->page_mask))
		return rb_move_tail(ring, a, ev);
	if (!local_cmpxchg_pair(&ring->tail, &tail, &last, tail + front + a->size, a->now)) /* W4 */
		return AGAIN;
	if (front == STAMP_SIZE) {
		rb_put_header(time, RINGBUF_TYPE_TIME_STAMP, 0, 0);
		time->array[0] = (u32)a->now;
		time->array[1] = a->now >> 32;
	} else if (front) {
		rb_put_header(
		    time, RINGBUF_TYPE_TIME_EXTENT, 0, delta & ((1UL << RB_DELTA_BITS) - 1));
		time->array[0] = delta >> RB_DELTA_BITS;
	}
	if (front)
		local_add(&rb_page_of(time, ring->page_mask)->commit, front);
	*ev = rb_put_data((void *)((u8 *)time + front), a->payload, front ? 0 : delta);
	return GOT;
}

static struct ring_buffer_event *refuse(struct rb_cpu_buffer *cpu_buffer, u64 *count)
{
	local_inc(count);
	local_dec(&cpu_buffer->depth);
	return NULL;
}

static struct ring_buffer_event *reserve(struct rb_cpu_buffer *cpu_buffer, size_t length)
{
	struct rb_ring *ring = READ_ONCE(cpu_buffer->ring);
	struct attempt a = {.payload = rb_payload(length), .size = rb_size(length)};
	struct ring_buffer_event *ev = NULL;

	for (unsigned tries = 0; tries < MAX_TRIES; tries++) {
		enum outcome result;

		a.tail = READ_ONCE(ring->tail.a); /* W2 */
		a.last = READ_ONCE(ring->tail.b);
		a.now = rb_clock(cpu_buffer->clock); /* W3 */
		result = reserve_here(ring, &a, &ev);
		if (result == GOT)
			return ev;
		if (result != AGAIN)
			return refuse(
			    cpu_buffer, result == DROPPED ? &ring->dropped : &ring->commit_overrun);
	}
	return refuse(cpu_buffer, &ring->nested);
}

__noinline struct ring_buffer_event *rb_reserve_slow(
    struct rb_cpu_buffer *cpu_buffer, size_t length)
{
	struct rb_ring *ring = READ_ONCE(cpu_buffer->ring);
	u32 slow = READ_ONCE(cpu_buffer->slow);

	if (slow & RB_SLOW_NO_RING)
		return refuse(cpu_buffer, &cpu_buffer->no_ring);
	if (slow & ~RB_SLOW_CLOCK)
		return refuse(cpu_buffer, &ring->disabled);
	if (length > rb_max_data(ring->page_mask))
		return refuse(cpu_buffer, &ring->too_large);
	if (READ_ONCE(cpu_buffer->depth) > RB_MAX_DEPTH)
		return refuse(cpu_buffer, &ring->nested);
	return reserve(cpu_buffer, length ? length : 1);
}

__noinline struct ring_buffer_event *rb_reserve_next(
    struct rb_cpu_buffer *cpu_buffer, size_t length, u64 tail)
{
	struct rb_ring *ring = READ_ONCE(cpu_buffer->ring);

	if (likely(rb_still_full(ring, tail)))
		return refuse(cpu_buffer, &ring->dropped);
	return rb_reserve_slow(cpu_buffer, length);
}

struct ring_buffer_event *ring_buffer_lock_reserve(struct ring_buffer *rb, size_t length)
{
	return rb_reserve(rb, host_cpu(), length);
}

void ring_buffer_unlock_commit(struct ring_buffer *rb, struct ring_buffer_event *ev)
{
	struct rb_cpu_buffer *cpu_buffer = rb_cpu_buffer_of(rb, host_cpu());
	u64 payload = rb_event_len_bytes(ev);

	if (likely(payload)) /* W6 */
		rb_commit_add(cpu_buffer, ev, 4 + payload);
	else
		rb_commit_add(cpu_buffer, ev, 8 + (u64)ev->array[0]);
	local_dec(&cpu_buffer->depth); /* W7 */
}

__noinline void rb_discard_slow(
    struct rb_cpu_buffer *cpu_buffer, struct ring_buffer_event *ev, u64 size)
{
	u64 delta = ev->time_delta;

	rb_put_header(ev, RINGBUF_TYPE_PADDING, delta ? 0 : 1, delta ? delta : 1);
	ev->array[0] = size - 4;
	local_add(&rb_page_of(ev, cpu_buffer->page_mask)->commit, size);
	local_dec(&cpu_buffer->depth);
}

void ring_buffer_discard_commit(struct ring_buffer *rb, struct ring_buffer_event *ev)
{
	rb_discard(rb, host_cpu(), ev, rb_data_event_length(ev));
}

int ring_buffer_write(struct ring_buffer *rb, size_t length, const void *data)
{
	unsigned cpu = host_cpu();
	struct ring_buffer_event *ev = rb_reserve(rb, cpu, length);

	if (!ev)
		return -EBUSY;
	memcpy(rb_data(ev, length ? length : 1), data, length);
	rb_commit(rb, cpu, ev, rb_size(length ? length : 1));
	return 0;
}
