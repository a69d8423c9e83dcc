/*
 * Reading a ring that was left in memory by a run that is over. Its writers may have been stopped between any two instructions, caches
 * may have lost what was written last, and somebody else may have used the memory since; so nothing is followed before it was checked,
 * and what does not agree with itself is dropped.
 *
 * WHAT CAN BE BELIEVED. A sub-buffer's account is added to when an event is whole (W6), so what it counts was written. It says how
 * many bytes and how many events; a walk over the events from the first byte must come to exactly these, with lengths and types that
 * exist, and records whose events are known. A sub-buffer in which nothing is under construction agrees with its account to its end;
 * one that was left in the middle of an event agrees up to that event, if nothing nested came behind it. What agrees otherwise is
 * not known to be anything, and dropped as a whole: with a nested event behind a gap nobody can say where the gap is.
 *
 * V1 the ring's own words: counts and places must lie in the image.
 * V2 the reader's page, from the first unread byte.
 * V3 from the slot that the reader wants next up to the one where the writer is, or the one behind it (C5): the slot says which page,
 *    and its lap must be that of the number, in the page's account too. Each page belongs to one slot.
 * V4 the walk.
 */
#include "trace/ring_buffer_salvage.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/ring_buffer_write.h"

#define EVICTED_MAX (1UL << 48)
#define ANY_COUNT   (~0UL)

u32 rb_salvage_version(void)
{
	return sizeof(struct rb_ring) << 16 | offsetof(struct rb_ring, page);
}

/* ---- places ------------------------------------------------------------------------------------------------------- */

static const void *image_at(const struct rb_image *im, u64 address, u64 size)
{
	u64 at = address - im->base;

	return at <= im->size && size <= im->size - at ? (const char *)im->mem + at : NULL;
}

static const struct ring_buffer_page *image_page(const struct rb_image *im, u64 address)
{
	return address % PAGE_SIZE ? NULL : image_at(im, address, PAGE_SIZE);
}

static u32 page_number(const struct rb_image *im, const void *page)
{
	return ((const char *)page - (const char *)im->mem) / PAGE_SIZE;
}

/* ---- V4: the events of a page --------------------------------------------------------------------------------------- */

static u32 load32(const u8 *at)
{
	u32 v;

	memcpy(&v, at, sizeof(v));
	return v;
}

/* The record of a data event: is there room for the common fields, and does it say what it is? */
static bool is_record(const struct rb_image *im, const u8 *payload, u64 size)
{
	u16 id;

	memcpy(&id, payload, sizeof(id));
	return size >= 8 && im->known(im->arg, id);
}

/* The size of the event at `at`, of which there are at most `left` bytes; 0: it is none. *data: to be counted. */
static u64 event_size(const struct rb_image *im, const u8 *at, u64 left, bool *data)
{
	u64 head = 4, payload;
	u32 word = load32(at);

	*data = (word & 3) == RINGBUF_TYPE_DATA;
	switch (word & 3) {
	case RINGBUF_TYPE_TIME_EXTENT:
		return left >= 8 ? 8 : 0;
	case RINGBUF_TYPE_TIME_STAMP:
		return left >= 12 ? 12 : 0;
	case RINGBUF_TYPE_PADDING:
		if (!(word >> 5) || left < 8)
			return 0;
		payload = load32(at + 4);
		return payload >= 4 && payload % 4 == 0 && payload <= left - 4 ? 4 + payload : 0;
	default:
		payload = word & 7 << 2;
		if (!payload) {
			if (left < 8)
				return 0;
			head = 8;
			payload = load32(at + 4);
		}
		if (!payload || payload % 4 || payload > left - head ||
		    !is_record(im, at + head, payload))
			return 0;
		return head + payload;
	}
}

/* All events up to `end` are whole and `count` in number: how many lie behind `from`, which must be where one begins; -1: not so. */
static long walk(
    const struct rb_image *im, const struct ring_buffer_page *page, u64 from, u64 end, u64 count)
{
	u64 at = 0, events = 0, before = 0;
	bool data, met = !from;

	while (at < end) {
		u64 size = event_size(im, page->data + at, end - at, &data);
		if (!size)
			return -1;
		at += size;
		events += data;
		if (at == from) {
			met = true;
			before = events;
		}
	}
	return met && (count == ANY_COUNT || events == count) ? (long)(events - before) : -1;
}

/* ---- V1 to V3: the ring ---------------------------------------------------------------------------------------------- */

struct search {
	const struct rb_image *im;
	const struct rb_ring *ring;
	u8 *seen;
	struct rb_salvaged *out;
	u32 room;
	struct rb_salvage *sum;
};

static void take(
    struct search *s, const struct ring_buffer_page *page, u64 from, u64 end, u64 count, u64 stamp)
{
	u32 number = page_number(s->im, page);
	long events =
	    s->seen[number] || s->sum->good == s->room ? -1 : walk(s->im, page, from, end, count);

	if (events < 0) {
		s->sum->damaged++;
		return;
	}
	s->seen[number] = 1;
	if (!events)
		return;
	s->out[s->sum->good++] = (struct rb_salvaged){
	    .page = number, .from = from, .end = end, .events = events, .stamp = stamp};
	s->sum->events += events;
}

/* V2. A page that programs had mapped says no more how many events it has. */
static void take_readers(struct search *s)
{
	const struct rb_ring *r = s->ring;
	const struct ring_buffer_page *page = image_page(s->im, (u64)r->page);
	u64 end = r->end, count = ANY_COUNT;

	if (!page) {
		s->sum->outside += r->offset < end;
		return;
	}
	if (!r->map || r->open) {
		count = account_events(page->commit);
		end = account_end(page->commit);
	}
	if (!r->page_seq || r->offset >= end) /* nothing was read yet, or all */
		return;
	if (end > RB_PAGE_DATA)
		s->sum->damaged++;
	else
		take(s, page, r->offset, end, count, r->offset ? r->stamp : page->time_stamp);
}

/* V3 for one number. `must`: the writer has been there, so there is something. */
static void take_slot(struct search *s, const u64 *slots, u64 number, bool must)
{
	u64 word = slots[number_index(number)];
	const struct ring_buffer_page *page = image_page(s->im, (u64)slot_page(word));

	if (slot_lap(word) != number_lap(number))
		return;
	if (!page) {
		s->sum->outside += must;
		return;
	}
	u64 account = page->commit, end = account_end(account);
	if (!account_bytes(account) && account_lap(account) == slot_lap(word))
		return;
	if (account_lap(account) != slot_lap(word) || end > RB_PAGE_DATA)
		s->sum->damaged++;
	else
		take(s, page, 0, end, account_events(account), page->time_stamp);
}

static void take_slots(struct search *s, const u64 *slots)
{
	const struct rb_ring *r = s->ring;
	s64 ahead = ring_distance(r, r->next, r->number);
	u64 number = r->next;

	if (ahead >= (s64)r->count) { /* the reader has not seen that it was overtaken */
		number = ring_advance(r, number, ahead - (r->count - 1));
		ahead = r->count - 1;
	}
	for (s64 i = 0; i <= ahead + 1 && i <= (s64)r->count; i++) {
		take_slot(s, slots, number, i <= ahead);
		number = ring_next(r, number);
	}
}

/* V1. */
static const u64 *slots_of(const struct rb_image *im, const struct rb_ring *r)
{
	if (!r->count || r->count > im->size / PAGE_SIZE || (u64)r->slots % sizeof(u64))
		return NULL;
	if (number_index(r->next) >= r->count || number_index(r->number) >= r->count ||
	    r->offset > RB_PAGE_DATA || r->offset % 4 || r->end > RB_PAGE_DATA)
		return NULL;
	return image_at(im, (u64)r->slots, r->count * sizeof(u64));
}

bool rb_salvage_ring(const struct rb_image *im, u32 ring, u8 *seen, struct rb_salvaged *out,
    u32 room, struct rb_salvage *sum)
{
	const struct rb_ring *r = image_at(im, im->base + (u64)ring * PAGE_SIZE, PAGE_SIZE);
	struct search s = {im, r, seen, out, room, sum};
	const u64 *slots = r ? slots_of(im, r) : NULL;

	*sum = (struct rb_salvage){.good = 0};
	if (!slots)
		return false;
	seen[ring] = 1;
	take_readers(&s);
	take_slots(&s, slots);
	sum->evicted = r->evicted_events < EVICTED_MAX ? r->evicted_events : 0;
	sum->last = r->tail.b;
	return true;
}

/* ---- a ring of what was found ------------------------------------------------------------------------------------------ */

void rb_salvage_copy(
    const struct rb_image *im, const struct rb_salvaged *s, struct ring_buffer_page *to)
{
	const struct ring_buffer_page *from =
	    (const void *)((const char *)im->mem + (u64)s->page * PAGE_SIZE);
	u64 bytes = s->end - s->from, room = RB_PAGE_DATA - bytes;

	memset(to, 0, PAGE_SIZE); /* a word of 0 is padding to the end */
	memcpy(to->data, from->data + s->from, bytes);
	to->time_stamp = s->stamp;
	to->commit = account_fresh(RB_FIRST_LAP) + room * RB_ACCOUNT_PADDING +
		     s->events * RB_ACCOUNT_EVENT + RB_PAGE_DATA;
}

int ring_buffer_adopt(
    struct ring_buffer *rb, int cpu, struct ring_buffer_page *const *pages, u32 n, u64 evicted)
{
	struct rb_ring *ring = rb->lanes[cpu].ring;
	u64 *slots = n < ring->count ? ring->slots : host_alloc(n * sizeof(*slots)), *old;

	if (!slots)
		return -ENOMEM;
	old = ring->slots;
	for (u32 i = 0; i < MIN((u64)n, ring->count); i++)
		host_page_free(slot_page(old[i]));
	for (u32 i = 0; i < n; i++)
		slots[i] = slot_make(pages[i], RB_FIRST_LAP);
	if (slots != old) {
		host_free(old);
		ring->slots = slots;
		ring->count = n;
	}
	ring->evicted_events = evicted;
	if (n) {
		ring->number = number_make(RB_FIRST_LAP, n - 1);
		ring->tail.a = tail_make(1, (const char *)pages[n - 1] + PAGE_SIZE);
	}
	return 0;
}
