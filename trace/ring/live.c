/*
 * Live readers: they read a ring while it is written, consume nothing and stop no writer. Task
 * context; any number at once, each with its own position. The words and the letters are those of
 * ring.c and reader.c.
 *
 * A sub-buffer is copied and read from the copy. It is looked for under the reader lock, so that no
 * consuming reader takes it meanwhile; writers go on. What of it is committed does not change until
 * it is overwritten, and that shows in its slot before anything else happens to it (C3). So:
 *
 *   V1 read the slot of the sub-buffer we want. Its lap says whether it is there.
 *   V2 how much of it may be read: L1 to L3. Copy that.
 *   V3 read the slot again. The same: the copy is whole. Else it was overwritten: missed; begin
 *      again with the oldest there is.
 *
 * A sub-buffer that the writer is still in is copied again from where the last copy ended. What
 * lies on the reader's page needs no V3: the reader alone gives it away.
 *
 * HOW MUCH WAS MISSED. `counted` is how many events of this ring, from its first one on, were
 * overwritten unread before we began, handed out to us since, or told missed. After a gap all
 * sub-buffers before the one we have found are gone, so what was overwritten by then (R4; between
 * V2 and V3) less what is counted is what we missed. Only what a consuming reader took away
 * meanwhile is in neither: from then on nobody knows.
 *
 * BOUNDS. V1 to V3 begin again at most LOOK_TRIES times, then there is nothing, for now. A place
 * ends one round of the ring (ROUND_MIN at least) after where the tail was when it began, so that
 * looking ends however fast others write.
 */
#include "kernel/lib/string.h"
#include "trace/host_memory.h"
#include "trace/ring/priv.h"

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
	bool limited;		    /* as ring_buffer_live_limit() says: a reset is the end */
	bool given;		    /* one was handed out: only after that can there be a gap */
	bool missed;		    /* events were overwritten since then */
	bool gap;		    /* the next sub-buffer does not follow the last */
	u64 counted;		    /* see above */
	u64 lost;		    /* events missed before `copy` and not yet reported */
	u64 next_seq;		    /* the ring's, when it began: else a reader was there */
	u64 room;		    /* bytes of `copy` */
	u8 copy[] __aligned(8);	    /* of a sub-buffer's events */
};

static u64 rb_tail_seq(const struct rb_ring *ring)
{
	return ring->next_seq + rb_ring_distance(ring, ring->next, atomic_load(&ring->number));
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
	it->last = rb_tail_seq(ring) + MAX(ring->count, (u64)ROUND_MIN);
	it->given = it->missed = it->gap = false;
	it->counted = ring->overrun_reported;
	it->lost = ring->lost;
	it->next_seq = ring->next_seq;
}

static void go_to(struct ring_buffer_live *it, u64 seq)
{
	it->seq = seq;
	it->offset = it->end = 0;
}

/* What lies before the oldest sub-buffer there can be is gone, and the one we want, too. */
static void rb_live_skip_overrun(struct ring_buffer_live *it, const struct rb_ring *ring)
{
	it->missed = it->gap = true;
	go_to(it, MAX(it->seq + 1, ring->next_seq + rb_overrun_from_next(ring)));
}

/* Copies from it->end on up to `end`. */
static void rb_live_copy(struct ring_buffer_live *it, const struct ring_buffer_page *page, u64 end)
{
	if (it->end == 0 && end)
		it->stamp = READ_ONCE(page->time_stamp);
	if (end > it->end)
		memcpy(it->copy + it->end, page->data + it->end, end - it->end);
	it->end = MAX(it->end, end);
}

enum found { MORE, END, AGAIN };

/* The reader's page: what was consumed meanwhile is stepped over. */
static enum found look_at_reader(struct ring_buffer_live *it, struct rb_ring *ring)
{
	rb_reader_look(ring);
	if (it->offset < ring->offset) {
		seat(it, ring);
		it->lost = RB_LOST_UNKNOWN;
	}
	rb_live_copy(it, ring->page, ring->end);
	if (it->offset < it->end)
		return MORE;
	if (ring->open)
		return END;
	go_to(it, ring->page_seq + 1);
	return AGAIN;
}

/* We stand after a gap. `overwritten`: events, before the sub-buffer that was found. */
static void count_gap(struct ring_buffer_live *it, const struct rb_ring *ring, u64 overrun)
{
	u64 missed = overrun - it->counted;

	it->gap = false;
	if (it->next_seq != ring->next_seq || it->lost == RB_LOST_UNKNOWN)
		it->lost = RB_LOST_UNKNOWN;
	else
		it->lost += missed;
	it->counted = overrun;
}

/* V1 to V3 for a sub-buffer from the reader's `next` on. */
static enum found look_at_slot(struct ring_buffer_live *it, struct rb_ring *ring)
{
	u64 number = rb_ring_advance(ring, ring->next, it->seq - ring->next_seq), commit_word = 0;
	u64 overrun = 0;
	u64 *slot = &ring->slots[rb_number_index(number)];

	if (it->seq > rb_tail_seq(ring))
		return END;
	u64 word = atomic_load(slot); /* V1 */
	if (rb_slot_gen(word) != rb_number_gen(number)) {
		rb_live_skip_overrun(it, ring);
		return AGAIN;
	}
	rb_live_copy(it, rb_slot_page(word),
	    rb_readable(ring, rb_slot_page(word), it->end, &commit_word)); /* V2 */
	if (it->gap)
		overrun = rb_overrun_before(ring, it->seq - ring->next_seq);
	if (atomic_load(slot) != word) { /* V3 */
		rb_live_skip_overrun(it, ring);
		return AGAIN;
	}
	if (it->gap)
		count_gap(it, ring, overrun);
	if (it->offset < it->end)
		return MORE;
	if (!rb_commit_is_finished(ring, commit_word))
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
		it->lost = RB_LOST_UNKNOWN;
	} else {
		rb_live_skip_overrun(it, ring);
	}
	return AGAIN;
}

/* Sees to it that there is something in the copy; false: there is no more. */
static bool rb_live_refill(struct ring_buffer_live *it)
{
	struct rb_ring *ring = rb_lock_reader(it->rb, it->cpu);
	enum found found = END;

	if (ring == it->ring && rb_page_data(ring->page_mask) <= it->room) {
		if (it->resets != ring->resets && !it->limited)
			begin(it, ring);
		found = it->resets == ring->resets ? AGAIN : END;
		for (unsigned i = 0; i < LOOK_TRIES && found == AGAIN; i++)
			found = look(it, ring);
	}
	rb_unlock_reader(it->rb, it->cpu);
	return found == MORE;
}

struct ring_buffer_live *ring_buffer_live_alloc(size_t page_size)
{
	u64 room = page_size - RB_PAGE_HEADER;
	struct ring_buffer_live *it = host_alloc(sizeof(*it) + room);

	if (it)
		it->room = room;
	return it;
}

bool ring_buffer_live_restart(struct ring_buffer_live *it, struct ring_buffer *rb, int cpu)
{
	struct rb_ring *ring;
	bool fits;

	if (!rb_has_cpu(rb, cpu))
		return false;
	it->rb = rb;
	it->cpu = cpu;
	it->limited = false;
	ring = rb_lock_reader(rb, cpu);
	fits = rb_page_data(ring->page_mask) <= it->room;
	if (fits)
		begin(it, ring);
	rb_unlock_reader(rb, cpu);
	return fits;
}

struct ring_buffer_live *ring_buffer_live_start(struct ring_buffer *rb, int cpu)
{
	struct ring_buffer_live *it =
	    rb_has_cpu(rb, cpu) ? ring_buffer_live_alloc(ring_buffer_page_size(rb)) : NULL;

	if (!it || ring_buffer_live_restart(it, rb, cpu))
		return it;
	ring_buffer_live_finish(it);
	return NULL;
}

u64 ring_buffer_live_lost(struct ring_buffer_live *it)
{
	u64 lost = it->lost;

	it->lost = 0;
	return lost;
}

void ring_buffer_live_finish(struct ring_buffer_live *it)
{
	host_free(it);
}

/* The event at `offset`, which is stepped over; NULL: not one to show. */
static inline struct ring_buffer_event *rb_live_step(struct ring_buffer_live *it)
{
	struct ring_buffer_event *ev = (void *)(it->copy + it->offset);
	bool data = true;

	if (likely(ev->type == RINGBUF_TYPE_DATA)) {
		it->stamp += *(u32 *)ev >> 5;
		it->offset += rb_data_event_length(ev);
	} else {
		it->offset += rb_event_step(ev, &it->stamp, &data);
	}
	if (!data)
		return NULL;
	if (it->seq >= it->next_seq)
		it->counted++;
	it->given = true;
	return ev;
}

struct ring_buffer_event *ring_buffer_live_next(struct ring_buffer_live *it, u64 *ts, bool *missed)
{
	do {
		while (it->offset < it->end) {
			bool first = !it->given;
			struct ring_buffer_event *ev = rb_live_step(it);

			if (!ev)
				continue;
			*ts = it->stamp;
			*missed = it->missed && !first;
			it->missed = false;
			return ev;
		}
	} while (rb_live_refill(it));
	return NULL;
}

u64 ring_buffer_live_limit(struct ring_buffer_live *it)
{
	struct rb_ring *ring = rb_lock_reader(it->rb, it->cpu);
	u64 tail = rb_tail_seq(ring);

	it->limited = true;
	it->last = tail;
	rb_unlock_reader(it->rb, it->cpu);
	return tail < it->seq ? 0 : tail - it->seq + 1;
}

bool ring_buffer_live_page(struct ring_buffer_live *it, struct ring_buffer_page *page, u64 *lost)
{
	if (it->offset >= it->end && !rb_live_refill(it))
		return false;
	u64 bytes = it->end - it->offset;
	page->time_stamp = it->stamp;
	page->commit = bytes;
	memcpy(page->data, it->copy + it->offset, bytes);
	while (it->offset < it->end)
		rb_live_step(it);
	*lost = ring_buffer_live_lost(it);
	return true;
}
