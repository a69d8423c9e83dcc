/*
 * See scene.h. Each event holds its hit's number, its length, and at its end the number again,
 * turned round.
 */
#include "tests/kernel/ring/scene.h"

#include "arch/arch.h"
#include "kernel/base/panic.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/kernel/arch/stepper.h"
#include "trace/host_context.h"

#define HITS	    256
#define FILL_SMALL  20 /* an event of 16 bytes */
#define MAX_REGIONS 24
#define IMAGE_SIZE  (12 * PAGE_SIZE)

struct ring_buffer *scene_rb, *scene_other;

/* One hit since the scene was restored. */
struct hit {
	u64 from, to; /* the clock before and after */
	bool stored, discarded, seen;
};

static const struct scene *scene;
static u32 prefilled,
    prefilled_seen; /* the first are the scene's own; of these, the first were read */
static u64 refused;
/* The books of it: what was written since the scene was restored, and what was read. */
struct books {
	struct hit hits[HITS];
	u64 hit_count, seen_count, lost, last_stamp;
	u32 not_hits;
	bool lost_unknown;	       /* a page had no room for the number */
	struct ring_buffer_page *page; /* for scene_read_page() */
};
static struct books now, marked_books;
static unsigned here;
static const char *label_now = "";
static u32 hit_now;

/* Memory that is put back, and what was in it. */
struct image {
	struct {
		void *at;
		size_t size;
	} regions[MAX_REGIONS];
	unsigned region_count;
	u64 words[IMAGE_SIZE / 8] __aligned(64);
};

static struct image made; /* from which the scene is restored */
static struct ring_buffer_page *image_page;
static struct image marked; /* in the middle of something */

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			complain(__LINE__, #cond);                                                 \
	} while (0)

/* A scene is repeated many times: what goes wrong once mostly does so often. */
static void complain(int line, const char *what)
{
	static unsigned complaints;

	if (complaints++ < 20)
		ktap_note(
		    "%s: hit %u of %llu", label_now, hit_now, (unsigned long long)now.hit_count);
	if (complaints <= 20 || complaints % 1024 == 0)
		ktap_fail(__FILE__, line, "%s", what);
}

static void copy_words(u64 *to, const u64 *from, size_t bytes)
{
	size_t words = bytes / 8;

	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words)::"memory");
}

/* ---- Memory ---- */

static void remember(struct image *i, void *at, size_t size)
{
	if (i->region_count == MAX_REGIONS)
		panic("ring_scene: too many regions");
	i->regions[i->region_count].at = at;
	i->regions[i->region_count++].size = size;
}

static void remember_buffer(struct image *i, struct ring_buffer *rb, bool pages)
{
	struct rb_ring *ring = rb->cpu_buffers[here].ring;
	size_t size = pages ? PAGE_SIZE : RB_PAGE_HEADER;

	remember(i, rb->cpu_buffers, rb->cpus * sizeof(rb->cpu_buffers[0]));
	remember(i, ring, ALIGN_UP(sizeof(*ring), 8UL));
	remember(i, ring->slots, ring->count * sizeof(ring->slots[0]));
	for (u64 n = 0; n < ring->count; n++)
		remember(i, rb_slot_page(ring->slots[n]), size);
	remember(i, ring->page, size);
	remember(i, ring->spare, size);
}

/* The words of all CPU buffers. */
static void remember_rest(struct image *i, struct ring_buffer *rb)
{
	remember(i, &rb->clock, sizeof(*rb) - offsetof(struct ring_buffer, clock));
}

static void image_take(struct image *i)
{
	u64 *to = i->words;

	for (unsigned n = 0; n < i->region_count; to += i->regions[n++].size / 8) {
		if (to + i->regions[n].size / 8 > i->words + ARRAY_SIZE(i->words))
			panic("ring_scene: image too small");
		copy_words(to, i->regions[n].at, i->regions[n].size);
	}
}

static void image_put_back(const struct image *i)
{
	const u64 *from = i->words;

	for (unsigned n = 0; n < i->region_count; from += i->regions[n++].size / 8)
		copy_words(i->regions[n].at, from, i->regions[n].size);
}

/*
 * Between events the other buffer is empty and all locks are free; in the middle of one they are
 * not.
 */
static void choose_regions(void)
{
	made.region_count = marked.region_count = 0;
	remember_buffer(&made, scene_rb, true);
	remember_buffer(&made, scene_other, false);
	remember_buffer(&marked, scene_rb, true);
	remember_buffer(&marked, scene_other, true);
	remember_rest(&marked, scene_rb);
	remember_rest(&marked, scene_other);
	remember(&marked, now.page, PAGE_SIZE);
}

/* ---- The scene ---- */

static void put(size_t length)
{
	struct host_context ctx;

	host_enter(&ctx);
	scene_write(length);
	host_preempt_enable();
}

/* A sub-buffer with `bytes` of events; 0: one that is begun and empty. */
static void fill_page(u64 bytes)
{
	if (!bytes) {
		u32 hit = scene_hit();
		struct ring_buffer_event *ev = ring_buffer_lock_reserve(scene_rb, 100);

		scene_discarded(hit);
		ring_buffer_discard_commit(scene_rb, ev);
		scene_done(hit, ev);
		return;
	}
	put(bytes - FILL_SMALL - 8);
	put(16);
}

static void forget(void)
{
	now.hit_count = now.seen_count = now.lost = now.last_stamp = 0;
	memset(now.hits, 0, sizeof(now.hits));
}

void scene_make(const struct scene *s)
{
	struct host_context ctx;

	scene = s;
	scene_rb = ring_buffer_alloc(s->count * RB_PAGE_DATA, s->flags, NULL);
	scene_other = ring_buffer_alloc(s->count * RB_PAGE_DATA, s->flags, NULL);
	now.page = ring_buffer_alloc_page();
	if (!scene_rb || !scene_other || !now.page)
		panic("ring_scene: no memory");
	forget();
	host_enter(&ctx);
	here = ctx.cpu;
	for (unsigned i = 1; s->behind == BEHIND_UNREAD && i < s->count; i++)
		fill_page(RB_PAGE_DATA);
	if (s->room != ROOM_FRESH)
		fill_page(RB_PAGE_DATA - s->room);
	host_preempt_enable();
	while (s->behind == BEHIND_READ && scene_consume())
		;
	prefilled = now.hit_count;
	prefilled_seen = now.seen_count;
	choose_regions();
	image_page = now.page;
	image_take(&made);
}

void scene_end(void)
{
	ring_buffer_free_page(now.page);
	ring_buffer_free(scene_rb);
	ring_buffer_free(scene_other);
}

/* The last event's time becomes what the scene wants, and with it all times of its sub-buffer. */
static void shift_time(struct rb_ring *ring)
{
	struct ring_buffer_page *last = rb_page_of(rb_tail_event(ring->tail.a - 4), rb_mask_of(0));
	u64 ago = scene->time == TIME_FAR    ? 1UL << 28
		  : scene->time == TIME_BACK ? -(1UL << 28)
					     : 100;

	u64 shift = cycles() - ago - ring->tail.b;

	if (!ring->tail.a) /* nothing was written yet */
		return;
	ring->tail.b += shift;
	last->time_stamp += shift;
	if (ring->page == last)
		ring->stamp += shift;
}

void scene_restore(void)
{
	image_put_back(&made);
	now.page = image_page;
	for (u32 i = 0; i < now.hit_count; i++)
		now.hits[i].seen = i < prefilled_seen;
	now.hit_count = prefilled;
	now.seen_count = prefilled_seen;
	now.lost = now.last_stamp = now.not_hits = 0;
	now.lost_unknown = false;
	shift_time(scene_rb->cpu_buffers[here].ring);
}

void scene_mark(void)
{
	image_take(&marked);
	marked_books = now;
}

void scene_return(void)
{
	image_put_back(&marked);
	now = marked_books;
}

/* ---- Writers ---- */

u32 scene_hit(void)
{
	u32 hit = atomic_fetch_add(&now.hit_count, 1); /* may be nested in itself */

	if (hit >= HITS)
		panic("ring_scene: too many hits");
	now.hits[hit] = (struct hit){.from = cycles(), .to = -1UL};
	return hit;
}

void scene_fill(void *data, size_t length, u32 hit)
{
	u32 *words = data;

	words[0] = hit;
	words[1] = length;
	words[length / 4 - 1] = ~hit;
}

void scene_done(u32 hit, const struct ring_buffer_event *ev)
{
	now.hits[hit].to = cycles();
	now.hits[hit].stored = ev != NULL;
}

void scene_discarded(u32 hit)
{
	now.hits[hit].discarded = true;
}

void scene_write(size_t length)
{
	u32 hit = scene_hit();
	struct ring_buffer_event *ev = ring_buffer_lock_reserve(scene_rb, length);

	if (ev) {
		scene_fill(ring_buffer_event_data(ev), length, hit);
		ring_buffer_unlock_commit(scene_rb, ev);
	}
	scene_done(hit, ev);
}

bool scene_step(void (*op)(void *), u64 at, void (*hook)(void *))
{
	struct host_context ctx;
	u64 flags = irq_save();
	bool reached;

	host_enter(&ctx);
	reached = stepper_run(op, NULL, at, hook, NULL);
	host_preempt_enable();
	irq_restore(flags);
	return reached;
}

void scene_not_hit(void)
{
	now.not_hits++;
}

/* ---- Readers ---- */

/* The scene's own have the times they had, or were moved to. */
static void check_time(u32 hit, u64 stamp)
{
	if (hit < prefilled)
		return;
	CHECK(stamp >= now.hits[hit].from && stamp <= now.hits[hit].to);
	CHECK(stamp >= now.last_stamp);
	now.last_stamp = stamp;
}

static void check_event(const u32 *data, u64 length, u64 stamp)
{
	u32 hit = hit_now = data[0];

	CHECK(hit < now.hit_count && data[1] == length);
	if (hit >= now.hit_count || data[1] != length)
		return;
	CHECK(!now.hits[hit].seen && !now.hits[hit].discarded);
	CHECK(data[length / 4 - 1] == ~hit);
	now.hits[hit].seen = true;
	now.seen_count++;
	check_time(hit, stamp);
}

static bool consume_from(struct ring_buffer *rb)
{
	u64 ts, gap;
	struct ring_buffer_event *ev = ring_buffer_consume(rb, here, &ts, &gap);

	if (!ev)
		return false;
	now.lost += gap;
	check_event(ring_buffer_event_data(ev), ring_buffer_data_length(ev), ts);
	return true;
}

bool scene_consume(void)
{
	return consume_from(scene_rb);
}

bool scene_read_page(void)
{
	struct rb_page_iter w;

	if (ring_buffer_read_page(scene_rb, &now.page, PAGE_SIZE, here, false))
		return false;
	rb_page_iter_start(&w, now.page, 0);
	while (rb_page_iter_next(&w))
		check_event(w.data, w.length, w.stamp);
	if (now.page->commit & RB_MISSED_STORED) {
		u64 gap;

		memcpy(&gap, now.page->data + (now.page->commit & 0xfff), sizeof(gap));
		now.lost += gap;
	} else if (now.page->commit & RB_MISSED_EVENTS) {
		now.lost_unknown = true;
	}
	return true;
}

/* ---- The balance ---- */

static void add_stats(struct ring_buffer *rb, struct ring_buffer_stats *sum)
{
	struct ring_buffer_stats st;
	u64 *to = (u64 *)sum;
	const u64 *from = (const u64 *)&st;

	ring_buffer_stats(rb, here, &st);
	for (unsigned i = 0; i < sizeof(st) / 8; i++)
		to[i] += from[i];
}

/* Hits that were stored and not discarded. */
static u64 kept(void)
{
	u64 n = 0;

	for (u32 i = 0; i < now.hit_count; i++)
		n += now.hits[i].stored && !now.hits[i].discarded;
	return n;
}

static void drain(void)
{
	while (scene_consume())
		;
	now.last_stamp = 0;
	while (consume_from(scene_other))
		;
}

void scene_check(const char *label, bool was_reset)
{
	struct ring_buffer_stats st = {0};
	bool swapped;

	label_now = label;
	hit_now = -1U;
	drain();
	now.last_stamp = 0;
	/* there is room now; and into the next sub-buffer, so that all that was lost is told */
	for (unsigned i = 0; i < 3; i++) {
		put(1500);
		CHECK(now.hits[now.hit_count - 1].stored);
	}
	drain();
	add_stats(scene_other, &st);
	swapped = st.read + st.overrun;
	add_stats(scene_rb, &st);
	CHECK(st.entries == 0 && st.bytes == 0);
	if (!was_reset) {
		CHECK(now.hit_count - now.not_hits == st.read + st.overrun + st.commit_overrun +
							  st.dropped + st.too_large + st.nested +
							  st.disabled + st.discarded);
		CHECK(st.read == now.seen_count);
		CHECK(kept() == now.seen_count + st.overrun);
		CHECK(now.lost == st.overrun || now.lost_unknown || swapped);
	}
	CHECK(ring_buffer_record_is_on(scene_rb));
	CHECK(scene_rb->cpu_buffers[here].depth == 0 && scene_other->cpu_buffers[here].depth == 0);
	refused = st.commit_overrun + st.dropped;
}

u64 scene_refused(void)
{
	return refused;
}
