/*
 * Looking through a ring while it is written: nothing is consumed, nobody is stopped. Task context; as many as like, each with a place
 * of its own. The words and the letters are those of ring_buffer.c and ring_buffer_reader.c.
 *
 * A sub-buffer is copied and read from the copy. It is looked for under the reader lock, so that no consuming reader takes it
 * meanwhile; writers go on. What of it is committed does not change until it is evicted, and that shows in its slot before
 * anything else happens to it (C3). So:
 *
 *   V1 read the slot of the sub-buffer we want. Its lap says whether it is there.
 *   V2 how much of it may be read: L1 to L3. Copy that.
 *   V3 read the slot again. The same: the copy is whole. Else it was evicted: missed; begin again with the oldest there is.
 *
 * A sub-buffer that the writer is still in is copied again from where the last copy ended. What lies on the reader's page needs no
 * V3: the reader alone gives it away.
 *
 * BOUNDS. V1 to V3 begin again at most LOOK_TRIES times, then there is nothing, for now. A place ends one round of the ring
 * (ROUND_MIN at least) behind where the tail was when it began, so that looking ends however fast others write.
 */
#include "trace/ring_buffer_priv.h"

#include "kernel/lib/string.h"
#include "trace/host.h"

#define LOOK_TRIES 100
#define ROUND_MIN  256 /* sub-buffers, where the ring is smaller */

struct ring_buffer_live {
	struct ring_buffer *rb;
	int cpu;
	const struct rb_ring *ring; /* when it began: a snapshot may have exchanged it */
	u64 resets;		    /* of the ring then */
	u64 seq;		    /* which sub-buffer is in `copy` ... */
	u64 offset, end;	    /* ... the next byte to look at, the end of what was copied */
	u64 stamp;		    /* time of the event before `offset` */
	u64 last;		    /* the last sub-buffer to look at */
	bool given;		    /* one was handed out: only behind that can there be a gap */
	bool missed;		    /* events were overwritten since then */
	struct ring_buffer_page copy;
};

static u64 tail_seq(const struct rb_ring *ring)
{
	return ring->next_seq + ring_distance(ring, ring->next, atomic_load(&ring->number));
}

/* To the first unread event, on what is left of the reader's page. */
static void seat(struct ring_buffer_live *it, struct rb_ring *ring)
{
	rb_reader_look(ring);
	it->seq = ring->page_seq;
	it->offset = it->end = ring->offset;
	it->stamp = ring->stamp;
}

static void begin(struct ring_buffer_live *it, struct rb_ring *ring)
{
	seat(it, ring);
	it->ring = ring;
	it->resets = ring->resets;
	it->last = tail_seq(ring) + MAX(ring->count, (u64)ROUND_MIN);
	it->given = it->missed = false;
}

static void go_to(struct ring_buffer_live *it, u64 seq)
{
	it->seq = seq;
	it->offset = it->end = 0;
}

/* What lies before the oldest sub-buffer there can be is gone, and the one we want, too. */
static void skip_evicted(struct ring_buffer_live *it, const struct rb_ring *ring)
{
	it->missed = true;
	go_to(it, MAX(it->seq + 1, ring->next_seq + rb_evicted_from_next(ring)));
}

/* Copies from it->end on up to `end`. */
static void copy(struct ring_buffer_live *it, const struct ring_buffer_page *page, u64 end)
{
	if (it->end == 0 && end)
		it->stamp = READ_ONCE(page->time_stamp);
	if (end > it->end)
		memcpy(it->copy.data + it->end, page->data + it->end, end - it->end);
	it->end = MAX(it->end, end);
}

enum found { MORE, END, AGAIN };

/* The reader's page: what was consumed meanwhile is stepped over. */
static enum found look_at_reader(struct ring_buffer_live *it, struct rb_ring *ring)
{
	rb_reader_look(ring);
	if (it->offset < ring->offset)
		seat(it, ring);
	copy(it, ring->page, ring->end);
	if (it->offset < it->end)
		return MORE;
	if (ring->open)
		return END;
	go_to(it, ring->page_seq + 1);
	return AGAIN;
}

/* V1 to V3 for a sub-buffer from the reader's `next` on. */
static enum found look_at_slot(struct ring_buffer_live *it, struct rb_ring *ring)
{
	u64 number = ring_advance(ring, ring->next, it->seq - ring->next_seq), account = 0;
	u64 *slot = &ring->slots[number_index(number)];

	if (it->seq > tail_seq(ring))
		return END;
	u64 word = atomic_load(slot); /* V1 */
	if (slot_lap(word) != number_lap(number)) {
		skip_evicted(it, ring);
		return AGAIN;
	}
	copy(it, slot_page(word), rb_readable(ring, slot_page(word), it->end, &account)); /* V2 */
	if (atomic_load(slot) != word) {						  /* V3 */
		skip_evicted(it, ring);
		return AGAIN;
	}
	if (it->offset < it->end)
		return MORE;
	if (!account_finished(account))
		return END;
	go_to(it, it->seq + 1);
	return AGAIN;
}

static enum found look(struct ring_buffer_live *it, struct rb_ring *ring)
{
	if (it->seq > it->last)
		return END;
	if (it->seq == ring->page_seq)
		return look_at_reader(it, ring);
	if (it->seq >= ring->next_seq)
		return look_at_slot(it, ring);
	if (it->seq < ring->page_seq) { /* consumed by somebody */
		seat(it, ring);
	} else {
		skip_evicted(it, ring);
	}
	return AGAIN;
}

/* Sees to it that there is something in the copy; false: there is no more. */
static bool refill(struct ring_buffer_live *it)
{
	struct rb_ring *ring = lane_lock(it->rb, it->cpu);
	enum found found = END;

	if (ring == it->ring) {
		if (it->resets != ring->resets)
			begin(it, ring);
		found = AGAIN;
		for (unsigned i = 0; i < LOOK_TRIES && found == AGAIN; i++)
			found = look(it, ring);
	}
	lane_unlock(it->rb, it->cpu);
	return found == MORE;
}

struct ring_buffer_live *ring_buffer_live_start(struct ring_buffer *rb, int cpu)
{
	struct ring_buffer_live *it;

	if (!lane_exists(rb, cpu))
		return NULL;
	it = host_alloc(sizeof(*it));
	if (!it)
		return NULL;
	it->rb = rb;
	it->cpu = cpu;
	begin(it, lane_lock(rb, cpu));
	lane_unlock(rb, cpu);
	return it;
}

void ring_buffer_live_finish(struct ring_buffer_live *it)
{
	host_free(it);
}

struct ring_buffer_event *ring_buffer_live_next(struct ring_buffer_live *it, u64 *ts, bool *missed)
{
	do {
		while (it->offset < it->end) {
			struct ring_buffer_event *ev = page_event(&it->copy, it->offset);
			bool data;

			it->offset += rb_step(ev, &it->stamp, &data);
			if (!data)
				continue;
			*ts = it->stamp;
			*missed = it->missed && it->given;
			it->missed = false;
			it->given = true;
			return ev;
		}
	} while (refill(it));
	return NULL;
}
