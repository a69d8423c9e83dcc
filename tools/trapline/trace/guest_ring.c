/*
 * Reading rings from outside. The words are those of trace/ring/ring.c and docs/ring-buffer.md;
 * trace/ring/live.c does the same from inside, and these steps are its steps, without the reader
 * lock:
 *
 *   G1 read the ring's slot of the sub-buffer we want. Its lap says whether it is there.
 *   G2 how much of it is committed: all, if its account says that it is finished; as much as the
 *      account says, if the tail stands just there; else no more than we had. Copy what is new.
 *   G3 read the slot again, and the ring: the same, so the copy is whole. Else it was overwritten,
 *      or the ring was changed.
 *
 * A reader in the machine takes sub-buffers out of the ring. The one it has is looked for at the
 * ring's `page`; what it took before is not there for us, and how much that was nobody says.
 *
 * WHAT IS LOST is counted as in trace/ring/live.c: after a gap, what was overwritten by then less
 * what we counted.
 *
 * Memory is not trusted: addresses may be anything, walks have an end.
 */
#include "tools/trapline/trace/guest.h"

#include <string.h>

#define LAP_BITS	28
#define LAP_MASK	((1ULL << LAP_BITS) - 1)
#define INDEX_BITS	24
#define INDEX_MASK	((1ULL << INDEX_BITS) - 1)
#define SLOT_PAGE	(~0ULL << 12)
#define FIRST_NUMBER	(1ULL << INDEX_BITS) /* lap 1, index 0 */
/* A sub-buffer's account: bytes:19 events:16 padding:17 (in words) lap:12, from the lowest bit. */
#define ACCOUNT_BYTES	0x7ffffULL
#define ACCOUNT_PADDING 35
#define ACCOUNT_WORDS	0x1ffffULL
#define ACCOUNT_LAP	52
#define TRIES		100

/* ---- a ring ---- */

static uint64_t ring_word(const struct guest *g, const struct guest_cpu *c, uint32_t offset)
{
	return guest_word(g, c->ring + offset);
}

static uint64_t lap_of(uint64_t number)
{
	return number >> INDEX_BITS & LAP_MASK;
}

/* Is the account of the number's lap? */
static bool is_of(uint64_t account, uint64_t number)
{
	return account >> ACCOUNT_LAP == (lap_of(number) & (~0ULL >> ACCOUNT_LAP));
}

/* Bytes of a sub-buffer of the ring; 0: nothing that can be. */
static uint64_t page_size(const struct guest *g, uint64_t ring)
{
	uint64_t size = -guest_word(g, ring + g->head.ring_page_mask);

	return page_size_ok(size) ? size : 0;
}

/* Sub-buffers from one number on to another. */
static int64_t distance(uint64_t count, uint64_t from, uint64_t to)
{
	int64_t laps = (int64_t)((lap_of(to) - lap_of(from)) << (64 - LAP_BITS)) >> (64 - LAP_BITS);

	return laps * (int64_t)count + (int64_t)(to & INDEX_MASK) - (int64_t)(from & INDEX_MASK);
}

static uint64_t plus(uint64_t count, uint64_t number, int64_t n)
{
	int64_t index = (int64_t)(number & INDEX_MASK) + n, laps = index / (int64_t)count;

	index -= laps * (int64_t)count;
	if (index < 0) {
		index += count;
		laps--;
	}
	return ((lap_of(number) + laps) & LAP_MASK) << INDEX_BITS | index;
}

static uint64_t ring_of(const struct guest *g, unsigned cpu)
{
	return guest_word(g, guest_word(g, g->array + g->head.array_buffer) +
				 g->head.buffer_cpu_buffers +
				 (uint64_t)cpu * g->head.cpu_buffer_size + g->head.cpu_buffer_ring);
}

/*
 * Where to begin: the reader's sub-buffer, if it ever had one; whether it is still there is seen
 * then.
 */
static void begin(struct guest *g, struct guest_cpu *c, uint64_t ring, uint64_t count)
{
	bool again = c->begun;

	c->ring = ring;
	c->begun = true;
	c->number = ring_word(g, c, g->head.ring_next);
	if (c->number != FIRST_NUMBER)
		c->number = plus(count, c->number, -1);
	c->offset = 0;
	c->counted = 0;
	c->next_seq = ring_word(g, c, g->head.ring_next_seq);
	c->gap = true;
	c->lost_unknown |= again;
}

/* To the oldest there can be, at least one on. */
static void skip(struct guest *g, struct guest_cpu *c, uint64_t count)
{
	uint64_t tail = ring_word(g, c, g->head.ring_number);
	int64_t ahead = distance(count, c->number, tail);

	c->gap = true;
	c->offset = 0;
	c->number =
	    plus(count, c->number, ahead >= (int64_t)count ? ahead - (int64_t)(count - 1) : 1);
}

/*
 * What was overwritten before the sub-buffer that we have found, when as many sub-buffers were
 * counted as are gone.
 */
static uint64_t evicted_before(struct guest *g, struct guest_cpu *c, uint64_t count)
{
	uint64_t gone = ring_word(g, c, g->head.ring_skipped) +
			distance(count, ring_word(g, c, g->head.ring_next), c->number);

	for (unsigned i = 0; i < TRIES; i++)
		if ((int64_t)(ring_word(g, c, g->head.ring_overrun_pages) - gone) >= 0)
			break;
	return ring_word(g, c, g->head.ring_overrun_events);
}

struct found {
	uint64_t page;	  /* virtual address */
	uint64_t room;	  /* bytes of data in it */
	uint64_t watched; /* the word that says that it is there, ... */
	uint64_t value;	  /* ... and what it said */
	bool reader;
};

/* G1. False: it is not there. */
static bool find_page(struct guest *g, struct guest_cpu *c, uint64_t count, struct found *f)
{
	uint64_t slots = ring_word(g, c, g->head.ring_slots);

	f->watched = slots + (c->number & INDEX_MASK) * 8;
	f->value = guest_word(g, f->watched);
	f->page = (uint64_t)((int64_t)f->value >> 16) & SLOT_PAGE;
	f->reader = false;
	if ((f->value & LAP_MASK) == lap_of(c->number) && slots)
		return true;
	f->watched = c->ring + g->head.ring_page;
	f->value = f->page = guest_word(g, f->watched);
	f->reader = true;
	return f->page && plus(count, c->number, 1) == ring_word(g, c, g->head.ring_next) &&
	       is_of(guest_word(g, f->page + 8), c->number);
}

enum look { LOOK_MORE, LOOK_END, LOOK_AGAIN };

/* Events and the last time of what was copied, which begins after a record at `time`. */
static void count_records(
    struct guest_cpu *c, uint8_t *page, uint32_t size, uint32_t bytes, bool evictable)
{
	struct page_walk w;
	uint64_t commit = bytes;

	memcpy(page, &c->time, 8);
	memcpy(page + 8, &commit, 8);
	page_begin(&w, RECORDS_OWN, page, size);
	while (page_next(&w)) {
		c->seen++;
		c->counted += evictable;
	}
	c->time = w.time;
}

/* We stand after a gap. `overwritten`: events, before what was found. */
static void count_gap(struct guest *g, struct guest_cpu *c, uint64_t overwritten)
{
	c->gap = false;
	if (c->next_seq != ring_word(g, c, g->head.ring_next_seq))
		c->lost_unknown = true;
	else
		c->lost += overwritten - c->counted;
	c->counted = overwritten;
}

/* G2 and G3, and on to the next sub-buffer when this one is finished. */
static enum look copy_new(
    struct guest *g, struct guest_cpu *c, uint64_t count, const struct found *f, uint8_t *page)
{
	uint64_t account = guest_word(g, f->page + 8), bytes = account & ACCOUNT_BYTES,
		 padding = (account >> ACCOUNT_PADDING & ACCOUNT_WORDS) * 4;
	bool finished = bytes == f->room;
	uint64_t tail = ring_word(g, c, g->head.ring_tail), overwritten = 0, first = c->offset;

	if (!is_of(account, c->number)) /* the writer is about to enter it, or it was given away */
		return f->reader ? LOOK_AGAIN : LOOK_END;
	uint64_t end = bytes - padding;
	if (!finished && (tail << 16 >> 16) != ((f->page + PAGE_HEADER + bytes) << 16 >> 16))
		end = first;
	if (end > f->room || end < first)
		return LOOK_AGAIN;
	uint64_t time = guest_word(g, f->page);
	if (end > first &&
	    !guest_fetch(g, f->page + PAGE_HEADER + first, page + PAGE_HEADER, end - first))
		return LOOK_AGAIN;
	if (c->gap && !f->reader)
		overwritten = evicted_before(g, c, count);
	if (guest_word(g, f->watched) != f->value ||
	    ring_word(g, c, g->head.ring_count) != count) /* G3 */
		return LOOK_AGAIN;
	if (c->gap && !f->reader)
		count_gap(g, c, overwritten);
	if (!first)
		c->time = time;
	if (end > first)
		count_records(c, page, f->room + PAGE_HEADER, end - first, !f->reader);
	c->offset = end;
	if (finished) {
		c->number = plus(count, c->number, 1);
		c->offset = 0;
	}
	return end > first ? LOOK_MORE : finished ? LOOK_AGAIN : LOOK_END;
}

static enum look look(struct guest *g, unsigned cpu, uint8_t *page, uint32_t most)
{
	struct guest_cpu *c = &g->cpu[cpu];
	uint64_t ring = ring_of(g, cpu);
	struct found f = {.room = 0};

	if (!ring)
		return LOOK_END;
	uint64_t count = guest_word(g, ring + g->head.ring_count);
	uint64_t size = page_size(g, ring);
	if (count < 2 || count > INDEX_MASK || !size || size > most)
		return LOOK_END;
	if (!c->begun || c->ring != ring)
		begin(g, c, ring, count);
	if (distance(count, c->number, ring_word(g, c, g->head.ring_number)) < 0)
		return LOOK_END;
	f.room = size - PAGE_HEADER;
	if (find_page(g, c, count, &f))
		return copy_new(g, c, count, &f, page);
	if (distance(count, c->number, ring_word(g, c, g->head.ring_next)) > 0 && c->seen)
		c->lost_unknown = true; /* a reader took it */
	skip(g, c, count);
	return LOOK_AGAIN;
}

uint32_t guest_page_size(const struct guest *g)
{
	uint32_t most = PAGE_BYTES;

	for (unsigned cpu = 0; cpu < g->cpus; cpu++) {
		uint64_t ring = ring_of(g, cpu), size = ring ? page_size(g, ring) : 0;

		most = size > most ? size : most;
	}
	return most;
}

bool guest_next(
    struct guest *g, unsigned cpu, uint8_t *page, uint32_t size, uint64_t *lost, bool *unknown)
{
	struct guest_cpu *c = &g->cpu[cpu];
	enum look result = LOOK_AGAIN;

	memset(page, 0, size);
	for (unsigned i = 0; i < TRIES && result == LOOK_AGAIN; i++)
		result = look(g, cpu, page, size);
	if (result != LOOK_MORE)
		return false;
	*lost = c->lost;
	c->lost_told += c->lost;
	*unknown = c->lost_unknown;
	c->lost = 0;
	c->lost_unknown = false;
	return true;
}
