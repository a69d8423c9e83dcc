/*
 * A ring in somebody's memory: its sub-buffers as pages that a program maps read-only, and reads
 * without their being copied. Task context. The words are those of ring.c and reader.c.
 *
 * WHICH PAGES. All that a ring has: `count` in its slots, the reader's `page` and `spare`. They
 * change places when the reader takes one, so a mapping is by page, not by place: at the first map
 * each page gets an id (page[]), and the id of the page in each place is kept from then on
 * (page_id, spare_id, slot_id[]; taking rotates the three). A page in front of all, the meta page,
 * says which id is the reader's; it is as large as a sub-buffer.
 *
 * As long as anybody maps a ring it keeps its pages: resizing and swapping are refused (-EBUSY),
 * and reading a sub-buffer copies it instead of taking it away. Resetting is fine.
 *
 * WHAT A PROGRAM SEES. A page in the ring has a header that is the writer's (its account, see
 * priv.h) and events that come and go; it is nobody's business. The reader's page has the header of
 * a finished page: time, bytes and what was lost before. It gets that when it is given, and keeps
 * it while it is `page` and while it is `spare`: until the second page after it is given. (Another
 * reader of the ring may bring that about, and leave a page that is being written in its place; the
 * next call of get_reader makes that good.)
 *
 * GIVING THE NEXT PAGE (get_reader)
 *   G1 let the reader have a page with unread events, by its usual steps. There is none: it keeps
 *      the page it has.
 *   G2 the writer is still in it (`open`): send it on. On its CPU, with interrupts off and no event
 *      reserved, an event is reserved as if it did not fit (C0 to C5), with the time of the last
 *      one, and discarded; the rest of the page becomes padding. It is free to go there: whoever
 *      reads the tail's page has read all others. Nested writers (NMI) may come in between, as
 *      always. Then the page is finished. Again from G1, for another reader may have had it
 *      meanwhile.
 *   G3 end the page as for a new owner, if that was not done yet. All its events count as read.
 *   G4 write the meta page.
 * So a program that asks often costs the writer a crossing each time, and the rest of a sub-buffer
 * that the ring does not miss because the reader holds it. Copying the events instead would have
 * cost them; leaving the writer in the page would have shown the program a header that is none.
 *
 * BOUNDS. G2 is tried LEAVE_TRIES times: each time some event was under construction, or somebody
 * had the reader lock. Then nothing new is given, for now.
 *
 * WHO PROTECTS WHAT. ring->map: [R]; map->users: by the caller (host_lock()). page[] does not
 * change while there are users, so a page fault may look there without a lock.
 */
/* hot: runs with each event */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"
#include "trace/ring/priv.h"

#define LEAVE_TRIES 1000

/* ---- Making and ending ---- */

static void map_free(struct rb_map *map)
{
	if (!map)
		return;
	host_block_free(map->meta, map->order);
	host_free(map->slot_id);
	host_free(map->page);
	host_free(map);
}

static struct rb_map *map_alloc(u64 count, unsigned order)
{
	struct rb_map *map = host_alloc(sizeof(*map));

	if (!map)
		return NULL;
	map->pages = count + 2;
	map->order = order;
	map->meta = host_block_alloc(order);
	map->slot_id = host_alloc(count * sizeof(*map->slot_id));
	map->page = host_alloc(map->pages * sizeof(*map->page));
	if (map->meta && map->slot_id && map->page)
		return map;
	map_free(map);
	return NULL;
}

/* The reader's page is number 0; those that it will take follow in their order. */
static void number_pages(struct rb_map *map, const struct rb_ring *ring)
{
	u64 index = rb_number_index(ring->next);

	map->page[0] = ring->page;
	for (u32 id = 1; id <= ring->count; id++, index = (index + 1) % ring->count) {
		map->page[id] = rb_slot_page(READ_ONCE(ring->slots[index]));
		map->slot_id[index] = id;
	}
	map->spare_id = ring->count + 1;
	map->page[map->spare_id] = ring->spare;
}

void ring_buffer_unmap(struct ring_buffer *rb, int cpu)
{
	struct rb_ring *ring = rb->cpu_buffers[cpu].ring;
	struct rb_map *map = ring->map;

	if (--map->users)
		return;
	rb_lock_reader(rb, cpu);
	ring->map = NULL;
	rb_unlock_reader(rb, cpu);
	map_free(map);
}

u64 ring_buffer_map_pages(const struct ring_buffer *rb, int cpu)
{
	const struct rb_map *map = rb->cpu_buffers[cpu].ring->map;

	return map ? (1 + (u64)map->pages) << map->order : 0;
}

void *ring_buffer_map_page(const struct ring_buffer *rb, int cpu, u64 index)
{
	const struct rb_map *map = rb->cpu_buffers[cpu].ring->map;
	u64 place = index >> map->order, part = index - (place << map->order);

	if (place == 0)
		return (u8 *)map->meta + part * PAGE_SIZE;
	return place <= map->pages ? (u8 *)map->page[place - 1] + part * PAGE_SIZE : NULL;
}

/* ---- The reader's page ---- */

/*
 * Twice: the first look may be one short (R2). What a writer evicts meanwhile is for the next time.
 */
static void rb_map_skip_overrun(struct rb_ring *ring)
{
	for (unsigned i = 0; i < 2; i++)
		rb_reader_skip(ring, rb_overrun_from_next(ring));
}

/* Events from `next` on in sub-buffers that are finished, by looking at each only once. */
static u64 sum_finished(struct rb_ring *ring)
{
	struct rb_map *map = ring->map;
	u64 overrun;

	rb_map_skip_overrun(ring);
	overrun = atomic_load(&ring->overrun_events);
	if (rb_ring_distance(ring, ring->next, map->sum_end) >= 0 &&
	    overrun - map->overrun <= map->sum) {
		map->sum -= overrun - map->overrun;
	} else {
		map->sum = 0;
		map->sum_end = ring->next;
	}
	map->overrun = overrun;
	for (;;) {
		u64 number = map->sum_end,
		    word = atomic_load(&ring->slots[rb_number_index(number)]);
		u64 commit_word = atomic_load(&rb_slot_page(word)->commit);

		if (rb_slot_gen(word) != rb_number_gen(number) ||
		    !rb_commit_is_of(commit_word, rb_number_gen(number)) ||
		    !rb_commit_is_finished(ring, commit_word))
			return map->sum;
		map->sum += rb_commit_events(commit_word);
		map->sum_end = rb_ring_next(ring, number);
	}
}

/* And in the one that is being written. */
static u64 unread(struct rb_ring *ring)
{
	u64 sum = sum_finished(ring), number = ring->map->sum_end;
	u64 commit_word =
	    atomic_load(&rb_slot_page(atomic_load(&ring->slots[rb_number_index(number)]))->commit);

	return rb_commit_is_of(commit_word, rb_number_gen(number))
		   ? sum + rb_commit_events(commit_word)
		   : sum;
}

/* G4. */
static void rb_map_update_meta(struct rb_ring *ring)
{
	struct trace_buffer_meta *meta = ring->map->meta;

	meta->overrun = atomic_load(&ring->overrun_events);
	meta->read = ring->read + ring->page_read;
	meta->entries = meta->overrun + ring->read + ring->page_events + unread(ring);
	meta->reader.id = ring->map->page_id;
	meta->reader.read = ring->offset;
}

/* G3, once for each page. */
static void end_page(struct rb_ring *ring)
{
	if (ring->map->ended == ring->page_seq)
		return;
	ring->map->ended = ring->page_seq;
	ring->map->meta->reader.lost_events = ring->lost;
	rb_reader_end_page(ring);
}

void rb_map_taken(struct rb_ring *ring, u64 commit_word)
{
	struct rb_map *map = ring->map;
	u64 index = rb_number_index(ring->next);
	u32 taken = map->slot_id[index];

	map->slot_id[index] = map->spare_id;
	map->spare_id = map->page_id;
	map->page_id = taken;
	/* A page that was not in the sum lay after its end; then the next look begins a new one. */
	map->sum -= rb_commit_events(commit_word);
}

void rb_map_reset(struct rb_ring *ring)
{
	ring->map->ended = ~0UL;
	ring->map->sum = ring->map->sum_end = ring->map->overrun = 0;
	ring->page->time_stamp = 0;
	end_page(ring);
	rb_map_update_meta(ring);
}

struct leave {
	struct ring_buffer *rb;
	int cpu;
};

/*
 * G2, on the writer's CPU with interrupts off. Whether it worked is seen by looking at the page
 * again.
 */
static void rb_map_leave_page(void *arg)
{
	const struct leave *l = arg;
	struct rb_cpu_buffer *cpu_buffer = &l->rb->cpu_buffers[l->cpu];

	if (cpu_buffer->depth || !rb_trylock_reader(cpu_buffer, l->cpu))
		return;
	if (cpu_buffer->ring->open)
		rb_leave_page(cpu_buffer);
	atomic_store_release(&cpu_buffer->lock, 0);
}

/* Does `look` under the reader lock until no writer is in the reader's page: until it says so. */
static void rb_map_retry_until_idle(
    struct ring_buffer *rb, int cpu, bool (*look)(struct rb_ring *ring))
{
	struct leave l = {rb, cpu};

	for (unsigned tries = 0; tries < LEAVE_TRIES; tries++) {
		bool done = look(rb_lock_reader(rb, cpu));

		rb_unlock_reader(rb, cpu);
		if (done)
			return;
		host_on_cpu(cpu, rb_map_leave_page, &l);
	}
}

/*
 * The page that the reader has when the ring is mapped: what is unread of it is still to be given.
 */
static bool rb_map_publish(struct rb_ring *ring)
{
	rb_reader_look(ring);
	if (!ring->open)
		end_page(ring);
	rb_map_update_meta(ring);
	return !ring->open;
}

int ring_buffer_map(struct ring_buffer *rb, int cpu)
{
	struct rb_ring *ring = rb_has_cpu(rb, cpu) ? rb->cpu_buffers[cpu].ring : NULL;
	struct rb_map *map;

	if (!ring)
		return -EINVAL;
	if (ring->map) {
		ring->map->users++;
		return 0;
	}
	map = map_alloc(ring->count, rb->order);
	if (!map)
		return -ENOMEM;
	map->users = 1;
	map->meta->meta_page_size = map->meta->subbuf_size = ring_buffer_page_size(rb);
	map->meta->meta_struct_len = sizeof(*map->meta);
	map->meta->nr_subbufs = map->pages;
	map->ended = ~0UL;
	ring = rb_lock_reader(rb, cpu); /* a snapshot may have put another here, of the same size */
	number_pages(map, ring);
	ring->map = map;
	rb_unlock_reader(rb, cpu);
	rb_map_retry_until_idle(rb, cpu, rb_map_publish);
	return 0;
}

/* G1, G3, G4. False: the writer is still in the page. */
static bool rb_map_next_page(struct rb_ring *ring)
{
	if (!ring->map) /* the last user left meanwhile */
		return true;
	rb_reader_refill(ring); /* G1 */
	if (ring->open)
		return false;
	end_page(ring); /* G3 */
	ring->offset = ring->end;
	ring->page_read = ring->page_events;
	rb_map_update_meta(ring); /* G4 */
	return true;
}

int ring_buffer_map_get_reader(struct ring_buffer *rb, int cpu)
{
	if (!rb_has_cpu(rb, cpu) || !rb->cpu_buffers[cpu].ring->map)
		return -ENODEV;
	rb_map_retry_until_idle(rb, cpu, rb_map_next_page);
	return 0;
}
