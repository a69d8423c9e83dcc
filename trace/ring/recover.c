/*
 * Recovers a ring that an earlier run left in memory. Its writers may have stopped between any two
 * instructions, caches may have lost the last stores, and other code may have used the memory
 * since. So recovery checks every pointer before it follows it, and drops inconsistent data.
 *
 * WHAT CAN BE BELIEVED. A sub-buffer's account is added to when an event is whole (W6), so what it
 * counts was written. It says how many bytes and how many events; a walk over the events from the
 * first byte must come to exactly these, with lengths and types that exist, and records whose
 * events are known. A sub-buffer in which nothing is under construction agrees with its account to
 * its end; one that was left in the middle of an event agrees up to that event, if nothing nested
 * came after it. What agrees otherwise is not known to be anything, and dropped as a whole: with a
 * nested event after a gap nobody can say where the gap is.
 *
 * V1 the ring's own words: counts and places must lie in the image.
 * V2 the reader's page, from the first unread byte.
 * V3 from the slot that the reader wants next up to the one where the writer is, or the one after
 *    it (C5): the slot says which page, and its lap must be that of the number, in the page's
 *    account too. Each page belongs to one slot.
 * V4 the walk.
 */
#include "trace/ring/recover.h"
#include "kernel/lib/string.h"
#include "trace/ring/priv.h"

#define EVICTED_MAX (1UL << 48)
#define ANY_COUNT   (~0UL)

u32 rb_recover_version(void)
{
	return sizeof(struct rb_ring) << 16 | offsetof(struct rb_ring, page);
}

/* ---- places ---- */

static const void *rb_image_at(const struct rb_image *im, u64 address, u64 size)
{
	u64 at = address - im->base;

	return at <= im->size && size <= im->size - at ? (const char *)im->mem + at : NULL;
}

static const struct ring_buffer_page *image_page(const struct rb_image *im, u64 address)
{
	return address % PAGE_SIZE ? NULL : rb_image_at(im, address, PAGE_SIZE);
}

static u32 page_number(const struct rb_image *im, const void *page)
{
	return ((const char *)page - (const char *)im->mem) / PAGE_SIZE;
}

/* ---- V4: the events of a page ---- */

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

/*
 * The size of the event at `at`, of which there are at most `left` bytes; 0: it is none. *data: to
 * be counted.
 */
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

/*
 * All events up to `end` are whole and `count` in number: how many lie after `from`, which must be
 * where one begins; -1: not so.
 */
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

/* ---- V1 to V3: the ring ---- */

struct search {
	const struct rb_image *im;
	const struct rb_ring *ring;
	u8 *seen;
	struct rb_recovered_page *out;
	u32 room;
	struct rb_recovery *sum;
};

static void rb_recover_page(
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
	s->out[s->sum->good++] = (struct rb_recovered_page){
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
		count = rb_commit_events(page->commit);
		end = rb_commit_end(page->commit);
	}
	if (!r->page_seq || r->offset >= end) /* nothing was read yet, or all */
		return;
	if (end > RB_PAGE_DATA)
		s->sum->damaged++;
	else
		rb_recover_page(
		    s, page, r->offset, end, count, r->offset ? r->stamp : page->time_stamp);
}

/* V3 for one number. `must`: the writer has been there, so there is something. */
static void take_slot(struct search *s, const u64 *slots, u64 number, bool must)
{
	u64 word = slots[rb_number_index(number)];
	const struct ring_buffer_page *page = image_page(s->im, (u64)rb_slot_page(word));

	if (rb_slot_gen(word) != rb_number_gen(number))
		return;
	if (!page) {
		s->sum->outside += must;
		return;
	}
	u64 commit_word = page->commit, end = rb_commit_end(commit_word);
	if (!rb_commit_bytes(commit_word) && rb_commit_is_of(commit_word, rb_slot_gen(word)))
		return;
	if (!rb_commit_is_of(commit_word, rb_slot_gen(word)) || end > RB_PAGE_DATA)
		s->sum->damaged++;
	else
		rb_recover_page(s, page, 0, end, rb_commit_events(commit_word), page->time_stamp);
}

static void take_slots(struct search *s, const u64 *slots)
{
	const struct rb_ring *r = s->ring;
	s64 ahead = rb_ring_distance(r, r->next, r->number);
	u64 number = r->next;

	if (ahead >= (s64)r->count) { /* the reader has not seen that it was overtaken */
		number = rb_ring_advance(r, number, ahead - (r->count - 1));
		ahead = r->count - 1;
	}
	for (s64 i = 0; i <= ahead + 1 && i <= (s64)r->count; i++) {
		take_slot(s, slots, number, i <= ahead);
		number = rb_ring_next(r, number);
	}
}

/* V1. */
static const u64 *slots_of(const struct rb_image *im, const struct rb_ring *r)
{
	if (!r->count || r->count > im->size / PAGE_SIZE || (u64)r->slots % sizeof(u64) ||
	    r->page_mask != rb_mask_of(0))
		return NULL;
	if (rb_number_index(r->next) >= r->count || rb_number_index(r->number) >= r->count ||
	    r->offset > RB_PAGE_DATA || r->offset % 4 || r->end > RB_PAGE_DATA)
		return NULL;
	return rb_image_at(im, (u64)r->slots, r->count * sizeof(u64));
}

bool rb_recover_ring(const struct rb_image *im, u32 ring, u8 *seen, struct rb_recovered_page *out,
    u32 room, struct rb_recovery *sum)
{
	const struct rb_ring *r = rb_image_at(im, im->base + (u64)ring * PAGE_SIZE, PAGE_SIZE);
	struct search s = {im, r, seen, out, room, sum};
	const u64 *slots = r ? slots_of(im, r) : NULL;

	*sum = (struct rb_recovery){.good = 0};
	if (!slots)
		return false;
	seen[ring] = 1;
	take_readers(&s);
	take_slots(&s, slots);
	sum->overrun = r->overrun_events < EVICTED_MAX ? r->overrun_events : 0;
	sum->last = r->tail.b;
	return true;
}

/* ---- a copy of what was found ---- */

void rb_recover_copy(
    const struct rb_image *im, const struct rb_recovered_page *s, struct ring_buffer_page *to)
{
	const struct ring_buffer_page *from =
	    (const void *)((const char *)im->mem + (u64)s->page * PAGE_SIZE);
	u64 bytes = s->end - s->from, room = RB_PAGE_DATA - bytes;

	memset(to, 0, PAGE_SIZE); /* a word of 0 is padding to the end */
	memcpy(to->data, from->data + s->from, bytes);
	to->time_stamp = s->stamp;
	to->commit = rb_commit_fresh(RB_FIRST_GEN) + rb_commit_padding(room) +
		     s->events * RB_COMMIT_EVENT + RB_PAGE_DATA;
}
