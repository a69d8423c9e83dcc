/*
 * Making, ending and changing ring buffers: what needs the writers out of the way. Task context; may sleep. One control call
 * at a time on a buffer: its owner sees to that (host_lock()). Writers may run all the time, on all CPUs; readers too, unless
 * said otherwise. Writers are kept away by stopping recording and waiting until those under way have left;
 * readers by the lane's reader lock (stop_lanes()). What is hit meanwhile is refused and counted as `disabled`.
 */
#include "trace/ring_buffer_priv.h"

#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/host.h"

static size_t pages_for(size_t size)
{
	size_t count = size / RB_PAGE_DATA + (size % RB_PAGE_DATA != 0);

	return MAX(count, (size_t)2);
}

/* ---- Pages, from the store where they are to be kept and it has room ---- */

static const struct ring_buffer_store *store;

void ring_buffer_set_store(const struct ring_buffer_store *s)
{
	store = s;
}

bool rb_may_leave(const struct ring_buffer_page *page)
{
	return !store || !store->holds(page);
}

static void *page_get(bool kept)
{
	void *page = kept && store ? store->alloc(1) : NULL;

	return page ? page : host_page_alloc();
}

static void page_put(void *page)
{
	if (!store || !page || !store->free(page, 1))
		host_page_free(page);
}

static unsigned slots_pages(size_t count)
{
	return (count * sizeof(u64) + PAGE_SIZE - 1) / PAGE_SIZE;
}

static u64 *slots_get(size_t count, bool kept)
{
	u64 *slots = NULL;

	if (count > RB_INDEX_MASK)
		return NULL;
	if (kept && store)
		slots = store->alloc(slots_pages(count));
	return slots ? slots : host_alloc(count * sizeof(*slots));
}

static void slots_put(u64 *slots, size_t count)
{
	if (!store || !slots || !store->free(slots, slots_pages(count)))
		host_free(slots);
}

/* ---- Pages in a chain through their first word, while nobody uses them ---- */

struct chain {
	struct chain *next;
};

static void *chain_pop(struct chain **head)
{
	struct chain *page = *head;

	*head = page->next;
	return page;
}

static void chain_push(struct chain **head, void *page)
{
	struct chain *link = page;

	link->next = *head;
	*head = link;
}

static void chain_free(struct chain **head)
{
	while (*head)
		page_put(chain_pop(head));
}

static int chain_fill(struct chain **head, size_t count, bool kept)
{
	while (count--) {
		void *page = page_get(kept);

		if (!page) {
			chain_free(head);
			return -ENOMEM;
		}
		chain_push(head, page);
	}
	return 0;
}

/* ---- A ring ---- */

static void put_free_page(u64 *slots, size_t index, struct ring_buffer_page *page)
{
	page->time_stamp = 0;
	page->commit = account_fresh(RB_FIRST_LAP);
	slots[index] = slot_make(page, RB_FIRST_LAP);
}

static void ring_free(struct rb_ring *ring, unsigned cpu)
{
	if (ring->kept)
		store->ring_at(ring, cpu, false);
	for (size_t i = 0; i < ring->count; i++)
		page_put(slot_page(ring->slots[i]));
	page_put(ring->page);
	page_put(ring->spare);
	slots_put(ring->slots, ring->count);
	page_put(ring);
}

/* All of a ring, or its struct and slots at least, are in the store, or nothing of it is. */
static struct rb_ring *ring_alloc(size_t count, bool overwrite, bool kept, unsigned cpu)
{
	struct rb_ring *ring = page_get(kept); /* a page of its own: aligned, shared with nobody */
	struct chain *pages = NULL;

	_Static_assert(sizeof(*ring) <= PAGE_SIZE, "a ring is one page");
	kept = kept && ring && !rb_may_leave((void *)ring);
	u64 *slots = slots_get(count, kept);
	if (kept && slots && rb_may_leave((void *)slots)) {
		slots_put(slots, count);
		page_put(ring);
		return ring_alloc(count, overwrite, false, cpu);
	}
	if (!ring || !slots || chain_fill(&pages, count + 2, kept)) {
		page_put(ring);
		slots_put(slots, count);
		return NULL;
	}
	ring->slots = slots;
	ring->count = count;
	ring->overwrite = overwrite;
	ring->kept = kept;
	ring_tail_init(ring);
	for (size_t i = 0; i < count; i++)
		put_free_page(slots, i, chain_pop(&pages));
	rb_reader_init(ring, chain_pop(&pages), chain_pop(&pages));
	if (kept)
		store->ring_at(ring, cpu, true);
	return ring;
}

static void ring_reset(struct rb_ring *ring)
{
	struct ring_buffer_totals past = {0};

	rb_ring_totals(ring, &past);
	past.cleared += past.unread;
	past.unread = 0;
	ring->past = past;
	ring->resets++;
	for (size_t i = 0; i < ring->count; i++)
		put_free_page(ring->slots, i, slot_page(ring->slots[i]));
	ring_tail_init(ring);
	ring->evicted_events = ring->evicted_pages = 0;
	ring->dropped = ring->commit_overrun = ring->too_large = 0;
	ring->nested = ring->discarded = 0;
	ring->disabled_before = READ_ONCE(ring->disabled);
	rb_reader_init(ring, ring->page, ring->spare);
	if (ring->map)
		rb_map_reset(ring);
}

/* ---- A buffer ---- */

static bool change_bit(u32 *word, u32 bit, bool on)
{
	u32 before = on ? atomic_fetch_or(word, bit) : atomic_fetch_and(word, ~bit);

	return !(before & bit) == on;
}

/*
 * True if it changed. Any context, on several CPUs at once: who finds at the end that another has changed the word meanwhile goes
 * over the lanes again, so that whoever is last has seen the word as it stays.
 */
static bool set_flag(struct ring_buffer *rb, u32 flag, bool on)
{
	bool changed = change_bit(&rb->slow, flag, on), now;

	do {
		now = atomic_load(&rb->slow) & flag;
		for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
			change_bit(&rb->lanes[cpu].slow, flag, now);
	} while (!(atomic_load(&rb->slow) & flag) == now);
	return changed;
}

static void set_clock(struct ring_buffer *rb, u64 (*clock)(void))
{
	rb->clock = clock;
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
		rb->lanes[cpu].clock = clock;
	set_flag(rb, RB_SLOW_CLOCK, clock);
}

struct ring_buffer *ring_buffer_alloc(size_t size, unsigned flags, u64 (*clock)(void))
{
	struct ring_buffer *rb = host_alloc(sizeof(*rb));

	_Static_assert(sizeof(struct rb_lane) == 64, "a lane is one cache line");
	if (!rb)
		return NULL;
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
		rb->lanes[cpu].slow = RB_SLOW_NO_RING;
	set_clock(rb, clock);
	rb->count = pages_for(size);
	rb->overwrite = flags & RB_FL_OVERWRITE;
	rb->kept = flags & RB_FL_KEPT;
	if (ring_buffer_add_cpus(rb)) {
		ring_buffer_free(rb);
		return NULL;
	}
	return rb;
}

int ring_buffer_add_cpus(struct ring_buffer *rb)
{
	while (rb->cpus < host_cpu_count()) {
		struct rb_lane *lane = &rb->lanes[rb->cpus];
		struct rb_ring *ring = ring_alloc(rb->count, rb->overwrite, rb->kept, rb->cpus);

		if (!ring)
			return -ENOMEM;
		atomic_store_release(&lane->ring, ring);
		atomic_and(&lane->slow, ~RB_SLOW_NO_RING);
		atomic_store_release(&rb->cpus, rb->cpus + 1);
	}
	return 0;
}

void ring_buffer_free(struct ring_buffer *rb)
{
	if (!rb)
		return;
	ring_buffer_record_disable(rb);
	host_synchronize();
	for (unsigned cpu = 0; cpu < rb->cpus; cpu++)
		ring_free(rb->lanes[cpu].ring, cpu);
	host_free(rb);
}

/* Keeps writers and readers out of lanes `from` to `to`, with one wait for all; the caller may not sleep until start_lanes(). */
static void stop_lanes(struct ring_buffer *rb, int from, int to)
{
	for (int cpu = from; cpu <= to; cpu++)
		atomic_add(&rb->lanes[cpu].slow, RB_SLOW_ONE);
	host_synchronize();
	for (int cpu = from; cpu <= to; cpu++)
		lane_lock(rb, cpu);
}

static void start_lanes(struct ring_buffer *rb, int from, int to)
{
	for (int cpu = from; cpu <= to; cpu++) {
		lane_unlock(rb, cpu);
		atomic_sub(&rb->lanes[cpu].slow, RB_SLOW_ONE);
	}
}

/* ---- Resize ---- */

/* Drops the oldest unread sub-buffers until at most `count` are left; how many are left. Writers
 * are stopped. */
static size_t keep_newest(struct rb_ring *ring, size_t count)
{
	u64 evicted = rb_evicted_from_next(ring);
	s64 unread;

	while (evicted) { /* what the reader has not noticed yet */
		rb_reader_skip(ring, evicted);
		evicted = rb_evicted_from_next(ring);
	}
	unread = ring_distance(ring, ring->next, ring->number) + 1;
	for (; unread > (s64)count; unread--) {
		u64 *slot = &ring->slots[number_index(ring->next)];

		ring->evicted_events += account_events(slot_page(*slot)->commit);
		ring->evicted_pages++;
		*slot = slot_make(slot_page(*slot), (number_lap(ring->next) + 1) & RB_LAP_MASK);
		rb_reader_skip(ring, 1);
	}
	return unread;
}

/*
 * Lays the unread sub-buffers into `slots`, from index 0 on, and fills it up with free pages; what
 * is left over comes back in *pages. The ring begins a new count of laps. Writers are stopped, the
 * reader lock is held.
 */
static u64 *lay_out(struct rb_ring *ring, u64 *slots, size_t count, struct chain **pages)
{
	size_t keep = keep_newest(ring, count), index = number_index(ring->next);
	u64 *old = ring->slots;

	for (size_t i = 0; i < ring->count; i++, index = (index + 1) % ring->count) {
		struct ring_buffer_page *page = slot_page(old[index]);

		if (i >= keep) {
			chain_push(pages, page);
			continue;
		}
		page->commit &= account_fresh(1) - 1;
		page->commit |= account_fresh(RB_FIRST_LAP);
		slots[i] = slot_make(page, RB_FIRST_LAP);
	}
	for (size_t i = keep; i < count; i++)
		put_free_page(slots, i, chain_pop(pages));
	ring->slots = slots;
	ring->count = count;
	ring->next = number_make(RB_FIRST_LAP, 0);
	ring->number =
	    keep ? number_make(RB_FIRST_LAP, keep - 1) : number_make(RB_FIRST_LAP - 1, count - 1);
	ring->full_tail = RB_NO_TAIL;
	if (!tail_room(ring->tail.a)) /* the page may be gone by now, and come back as another */
		ring->tail.a = 0;
	return old;
}

/* What one lane's resizing needs, before anything is changed; and what is left over after. */
struct resize {
	u64 *slots; /* NULL: this lane has that size already */
	size_t count;
	struct chain *pages;
};

static int resize_prepare(struct resize *r, const struct rb_ring *ring, size_t count)
{
	if (count == ring->count)
		return 0;
	r->slots = slots_get(count, ring->kept);
	r->count = count;
	if (!r->slots)
		return -ENOMEM;
	return count > ring->count ? chain_fill(&r->pages, count - ring->count, ring->kept) : 0;
}

/* Lanes `from` to `to` are stopped. */
static int resize_stopped(struct ring_buffer *rb, struct resize *r, int from, int to, size_t count)
{
	for (int cpu = from; cpu <= to; cpu++) {
		const struct rb_ring *ring = rb->lanes[cpu].ring;

		if (r[cpu - from].slots && (ring->iterators || ring->map))
			return -EBUSY;
	}
	for (int cpu = from; cpu <= to; cpu++, r++) {
		struct rb_ring *ring = rb->lanes[cpu].ring;
		size_t old = ring->count;

		if (!r->slots)
			continue;
		r->slots = lay_out(ring, r->slots, count, &r->pages);
		r->count = old;
	}
	return 0;
}

/* Lanes `from` to `to`, all or none. */
static int resize_lanes(struct ring_buffer *rb, struct resize *r, int from, int to, size_t count)
{
	bool any = false;
	int result;

	for (int cpu = from; cpu <= to; cpu++) {
		result = resize_prepare(&r[cpu - from], rb->lanes[cpu].ring, count);
		if (result)
			return result;
		any |= r[cpu - from].slots != NULL;
	}
	if (!any)
		return 0;
	stop_lanes(rb, from, to);
	result = resize_stopped(rb, r, from, to, count);
	start_lanes(rb, from, to);
	return result;
}

int ring_buffer_resize(struct ring_buffer *rb, size_t size, int cpu)
{
	int from = cpu < 0 ? 0 : cpu, to = cpu < 0 ? (int)rb->cpus - 1 : cpu;
	size_t count = pages_for(size);
	struct resize *r;
	int result;

	if (to >= (int)rb->cpus)
		return -EINVAL;
	r = host_alloc((to - from + 1) * sizeof(*r));
	if (!r)
		return -ENOMEM;
	result = resize_lanes(rb, r, from, to, count);
	for (int i = 0; i <= to - from; i++) {
		chain_free(&r[i].pages);
		slots_put(r[i].slots, r[i].count);
	}
	host_free(r);
	if (!result && cpu < 0)
		rb->count = count;
	return result;
}

/* ---- Reset and mode ---- */

static void reset_lanes(struct ring_buffer *rb, int from, int to)
{
	stop_lanes(rb, from, to);
	for (int cpu = from; cpu <= to; cpu++)
		ring_reset(rb->lanes[cpu].ring);
	start_lanes(rb, from, to);
}

void ring_buffer_reset_cpu(struct ring_buffer *rb, int cpu)
{
	if (cpu >= 0 && cpu < (int)rb->cpus)
		reset_lanes(rb, cpu, cpu);
}

void ring_buffer_reset(struct ring_buffer *rb)
{
	reset_lanes(rb, 0, (int)rb->cpus - 1);
}

/* Times of one clock mean nothing to another, so what is in the buffer goes. */
void ring_buffer_set_clock(struct ring_buffer *rb, u64 (*clock)(void))
{
	ring_buffer_lock(rb);
	set_clock(rb, clock);
	for (unsigned cpu = 0; cpu < rb->cpus; cpu++)
		ring_reset(rb->lanes[cpu].ring);
	ring_buffer_unlock(rb);
}

void ring_buffer_borrow_clock(struct ring_buffer *rb, u64 (*clock)(void))
{
	set_clock(rb, clock);
}

void ring_buffer_change_overwrite(struct ring_buffer *rb, bool on)
{
	rb->overwrite = on;
	for (unsigned cpu = 0; cpu < rb->cpus; cpu++)
		WRITE_ONCE(rb->lanes[cpu].ring->overwrite, on);
}

/* ---- Stopping and going on ---- */

void ring_buffer_record_disable(struct ring_buffer *rb)
{
	atomic_add(&rb->slow, RB_SLOW_ONE);
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
		atomic_add(&rb->lanes[cpu].slow, RB_SLOW_ONE);
}

void ring_buffer_record_enable(struct ring_buffer *rb)
{
	atomic_sub(&rb->slow, RB_SLOW_ONE);
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
		atomic_sub(&rb->lanes[cpu].slow, RB_SLOW_ONE);
}

void ring_buffer_record_disable_cpu(struct ring_buffer *rb, int cpu)
{
	if (cpu >= 0 && cpu < (int)rb->cpus)
		atomic_add(&rb->lanes[cpu].slow, RB_SLOW_ONE);
}

void ring_buffer_record_enable_cpu(struct ring_buffer *rb, int cpu)
{
	if (cpu >= 0 && cpu < (int)rb->cpus)
		atomic_sub(&rb->lanes[cpu].slow, RB_SLOW_ONE);
}

bool ring_buffer_record_off(struct ring_buffer *rb)
{
	return set_flag(rb, RB_SLOW_OFF, true);
}

bool ring_buffer_record_on(struct ring_buffer *rb)
{
	return set_flag(rb, RB_SLOW_OFF, false);
}

bool ring_buffer_record_is_on(struct ring_buffer *rb)
{
	return !(READ_ONCE(rb->slow) & ~RB_SLOW_CLOCK);
}

bool ring_buffer_record_is_set_on(struct ring_buffer *rb)
{
	return rb_is_set_on(rb);
}

void ring_buffer_lock(struct ring_buffer *rb)
{
	stop_lanes(rb, 0, (int)rb->cpus - 1);
}

void ring_buffer_unlock(struct ring_buffer *rb)
{
	start_lanes(rb, 0, (int)rb->cpus - 1);
}
