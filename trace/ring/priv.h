/*
 * The files of the ring buffer share this header: the packed words (defined at the head of ring.c)
 * with their accessors, and the structures of a buffer. Apart from those files only
 * trace/ring/write.h includes it.
 */
#pragma once

#include "kernel/abi/trace_mmap.h"
#include "kernel/lib/atomic.h"
#include "trace/host_clock.h"
#include "trace/host_context.h"
#include "trace/ring/ring.h"

/* ---- Number of a sub-buffer: lap:28 index:24 ---- */

#define RB_INDEX_BITS 24
#define RB_INDEX_MASK ((1UL << RB_INDEX_BITS) - 1)
#define RB_GEN_BITS   28
#define RB_GEN_MASK   ((1UL << RB_GEN_BITS) - 1)
/* Not 0: the lap before the first must differ from that of a page never written. */
#define RB_FIRST_GEN  1

static inline u64 rb_number_make(u64 gen, u64 index)
{
	return (gen & RB_GEN_MASK) << RB_INDEX_BITS | index;
}

static inline u64 rb_number_index(u64 number)
{
	return number & RB_INDEX_MASK;
}

static inline u64 rb_number_gen(u64 number)
{
	return number >> RB_INDEX_BITS;
}

/* ---- Slot: page:36 (bits 12 to 47 of its address) lap:28 ---- */

static inline u64 rb_slot_make(const struct ring_buffer_page *page, u64 gen)
{
	return (u64)page << 16 | gen;
}

static inline struct ring_buffer_page *rb_slot_page(u64 slot)
{
	return (struct ring_buffer_page *)((s64)slot >> 16 & ~(PAGE_SIZE - 1));
}

static inline u64 rb_slot_gen(u64 slot)
{
	return slot & RB_GEN_MASK;
}

/* ---- Tail: crossings:16 address:48. The address just after a page: that page is full. ---- */

static inline u64 rb_tail_make(u64 crossings, const void *address)
{
	return crossings << 48 | ((u64)address & ((1UL << 48) - 1));
}

static inline u64 rb_tail_moves(u64 tail)
{
	return tail >> 48;
}

static inline struct ring_buffer_event *rb_tail_event(u64 tail)
{
	return (struct ring_buffer_event *)((s64)(tail << 16) >> 16);
}

#define RB_NO_TAIL (-1UL) /* no tail is this: they are multiples of 4 */

/*
 * Bytes left in the sub-buffer; 0 for the tail of an empty ring, which is 0. `mask` is minus the
 * sub-buffer size: it selects the address bits that identify a sub-buffer.
 */
static inline u64 rb_tail_room(u64 tail, u64 mask)
{
	return -tail & ~mask;
}

/*
 * The same as a test: `tail - 1`, sign-extended by the mask, is minus (room + 1). It needs no
 * second test for a full page, and no addition for a constant size.
 */
static inline bool rb_tail_fits(u64 tail, u64 size, u64 mask)
{
	s64 room = (tail - 1) | mask;

	return __builtin_constant_p(size) ? room < -(s64)size : room + (s64)size < 0;
}

/*
 * ---- account: a page's `commit` in the ring, lap:12 padding:17 events:16 bytes:19 ----
 *
 * Padding in words of 4 bytes; the lap without its upper bits. There is room for the largest
 * sub-buffer, 512 KiB, full of the smallest event, 8 bytes, or of padding.
 */

#define RB_COMMIT_EVENT	  (1UL << 19)
#define RB_COMMIT_PADDING 35
#define RB_COMMIT_GEN	  52

static inline u64 rb_commit_fresh(u64 gen)
{
	return gen << RB_COMMIT_GEN;
}

static inline u64 rb_commit_bytes(u64 commit_word)
{
	return commit_word & (RB_COMMIT_EVENT - 1);
}

static inline u64 rb_commit_events(u64 commit_word)
{
	return commit_word >> 19 & 0xffff;
}

/* Encodes a number of padding bytes for an account. */
static inline u64 rb_commit_padding(u64 bytes)
{
	return bytes / 4 << RB_COMMIT_PADDING;
}

static inline bool rb_commit_is_of(u64 commit_word, u64 gen)
{
	return !((commit_word ^ rb_commit_fresh(gen)) >> RB_COMMIT_GEN);
}

/* Where the committed events end, if nothing is under construction. */
static inline u64 rb_commit_end(u64 commit_word)
{
	return rb_commit_bytes(commit_word) - (commit_word >> RB_COMMIT_PADDING & 0x1ffff) * 4;
}

/* ---- Structures ---- */

/* The pages of a ring that programs map: see map.c. */
struct rb_map {
	u32 users;	/* mappings; the callers protect it */
	u32 pages;	/* of the ring, all */
	unsigned order; /* of each, and of the meta page */
	struct trace_buffer_meta *meta;
	struct ring_buffer_page **page; /* by id; does not change */
	u32 page_id, spare_id;		/* [R] of rb_ring.page and .spare */
	u32 *slot_id;			/* [R] of the page in each slot */
	u64 ended;			/* [R] page_seq of the page that got its last header */
	u64 sum;     /* [R] events in finished sub-buffers from rb_ring.next on, ... */
	u64 sum_end; /* [R] ... up to this number, ... */
	u64 overrun; /* [R] ... when rb_ring.overrun_events was this */
};

/*
 * One CPU's ring. Who may change a field: [W] writers, on the ring's own CPU, by local_*
 * operations; other CPUs may read it; [S] writers and the reader, by atomic_cas; [R] the holder of
 * the CPU buffer's reader lock; [X] only under the reader lock while nobody writes (recording is
 * stopped, and host_synchronize() has returned)
 */
struct rb_ring {
	struct local_pair tail; /* [W] a: where the next event goes; b: time of the last event */
	u64 number; /* [W] of the sub-buffer the tail is in, or the one before (see C5) */
	/* [S] the words; [X] the array: after the slots it has the sums, see rb_sum_at() */
	u64 *slots;
	u64 count;	/* [X] sub-buffers */
	u64 page_mask;	/* [X] minus the size of one */
	bool overwrite; /* any CPU sets it */

	u64 *full_slot, full_word, full_tail; /* [W] see rb_still_full() */
	u64 unsure; /* [W] the newest number whose events the sums may not have all */

	u64 overrun_events; /* [W] in sub-buffers overwritten unread; counted before ... */
	u64 overrun_pages;  /* [W] ... the sub-buffer itself is */
	u64 dropped, commit_overrun, too_large, nested, disabled,
	    discarded; /* [W] see struct ring_buffer_stats */

	/*
	 * The reader. `page` is the page being read, taken from the ring unless nothing was read
	 * yet.
	 */
	struct ring_buffer_page *page, *spare; /* [R] from here on */
	bool open;	      /* the writer has not finished `page`: its account is alive */
	u64 offset, end;      /* in `page`: the next unread byte, the end of what may be read */
	u64 stamp;	      /* time of the event before `offset` */
	u64 page_read;	      /* events read from `page` */
	u64 page_events;      /* events in `page` up to `end` */
	u64 page_seq;	      /* which sub-buffer is in `page`, counted from 1 without laps */
	u64 next;	      /* number of the sub-buffer to take next */
	u64 next_seq;	      /* the same, counted as page_seq */
	u64 skipped;	      /* sub-buffers before that one which were overwritten */
	u64 overrun_reported; /* overwritten events that were reported lost */
	u64 lost;	      /* to be reported with the next event */
	u64 read;	      /* events consumed, of pages before `page` */
	u64 iterators;
	struct rb_map *map; /* not NULL: programs map the ring, so it must keep its pages */
	u64 resets;
	/* `disabled` at the last reset: who is kept away by it counts there meanwhile */
	u64 disabled_before;
	struct ring_buffer_totals past; /* until the last reset */
	bool kept;			/* [X] lies in the store, its slots too */
};

/* The fields that a writer reads first: one cache line per CPU. */
struct rb_cpu_buffer {
	struct rb_ring *ring; /* changed by swap, under the reader lock */
	u64 depth;	      /* [W] events reserved and not yet committed, innermost counted */
	/* any CPU, atomically: not 0 keeps writers off the fast path. RB_SLOW_*, and a count */
	u32 slow;
	u32 lock;	    /* the reader lock: who has it, as CPU + 1 */
	u64 (*clock)(void); /* [X] NULL: TSC */
	u64 no_ring;	    /* [W] refused because there was no ring yet */
	u64 page_mask;	    /* [X] of the ring, whichever that is */
	u64 pad[2];
};
#define RB_SLOW_OFF	(1U << 31) /* recording is off */
#define RB_SLOW_NO_RING (1U << 30) /* a CPU that was not there at allocation */
#define RB_SLOW_CLOCK	(1U << 29) /* not the TSC; all else that is not 0 means no recording */
#define RB_SLOW_ONE	32U	   /* the count's unit: more than RB_MAX_DEPTH */

struct ring_buffer {
	struct rb_cpu_buffer cpu_buffers[MAX_CPUS];
	u64 (*clock)(void); /* of all CPU buffers */
	size_t count;	    /* sub-buffers of a new CPU buffer */
	unsigned order;	    /* each has PAGE_SIZE << order bytes */
	bool overwrite, kept;
	u32 slow;      /* what the words of all CPU buffers have in common */
	unsigned cpus; /* CPU buffers that have rings: 0..cpus-1 */
};

static inline bool rb_is_set_on(const struct ring_buffer *rb)
{
	return !(READ_ONCE(rb->slow) & RB_SLOW_OFF);
}

/*
 * The most events that a CPU may have reserved and not committed: four contexts, recursion of four
 * in each.
 */
#define RB_MAX_DEPTH 16

/* In 32 bits: shorter, and there are not that many. */
static inline struct rb_cpu_buffer *rb_cpu_buffer_of(struct ring_buffer *rb, unsigned long cpu)
{
	return &rb->cpu_buffers[cpu];
}

static inline struct ring_buffer_event *page_event(const struct ring_buffer_page *page, u64 offset)
{
	return (struct ring_buffer_event *)(page->data + offset);
}

static inline u64 rb_mask_of(unsigned order)
{
	return -(PAGE_SIZE << order);
}

static inline unsigned rb_order_of(u64 mask)
{
	return __builtin_ctzl(mask) - __builtin_ctzl(PAGE_SIZE);
}

/* Bytes for events in a sub-buffer. */
static inline u64 rb_page_data(u64 mask)
{
	return -mask - RB_PAGE_HEADER;
}

static inline u64 rb_max_data(u64 mask)
{
	return rb_page_data(mask) - (RB_PAGE_DATA - RB_MAX_DATA);
}

static inline bool rb_commit_is_finished(const struct rb_ring *ring, u64 commit_word)
{
	return rb_commit_bytes(commit_word) == rb_page_data(ring->page_mask);
}

static inline u64 rb_ring_next(const struct rb_ring *ring, u64 number)
{
	if (rb_number_index(number) + 1 < ring->count)
		return number + 1;
	return rb_number_make(rb_number_gen(number) + 1, 0);
}

/*
 * True if the slot of `next` still holds unread data of the previous lap: nobody has evicted, taken
 * or entered it.
 */
static inline bool rb_slot_is_unread(u64 slot, u64 next)
{
	return ((slot + 1) & RB_GEN_MASK) == rb_number_gen(next);
}

/* The number of sub-buffers from `from` to `to`; negative if `to` is earlier. */
static inline s64 rb_ring_distance(const struct rb_ring *ring, u64 from, u64 to)
{
	s64 gens = (s64)((rb_number_gen(to) - rb_number_gen(from)) << (64 - RB_GEN_BITS)) >>
		   (64 - RB_GEN_BITS);

	return gens * (s64)ring->count + (s64)rb_number_index(to) - (s64)rb_number_index(from);
}

static inline u64 rb_ring_advance(const struct rb_ring *ring, u64 number, u64 pages)
{
	u64 index = rb_number_index(number) + pages;

	return rb_number_make(rb_number_gen(number) + index / ring->count, index % ring->count);
}

/*
 * The event sum of a sub-buffer number, lap:12 events:52. The difference of two sums is the number
 * of events from the first number up to the second, unless rb_ring.unsure lies between them. As in
 * an account, the lap tells whether the sum belongs to this number.
 */
static inline u64 *rb_sum_at(const struct rb_ring *ring, u64 number)
{
	return &ring->slots[ring->count + rb_number_index(number)];
}

static inline u64 rb_sum_make(u64 gen, u64 events)
{
	return rb_commit_fresh(gen) | (events & ((1UL << RB_COMMIT_GEN) - 1));
}

static inline u64 rb_clock(u64 (*clock)(void))
{
	return clock ? clock() : host_cycles();
}

/* Sets the tail of an empty ring: at the end of the number before the first. */
static inline void rb_ring_tail_init(struct rb_ring *ring)
{
	ring->tail = (struct local_pair){0, 0};
	ring->unsure = ring->number = rb_number_make(RB_FIRST_GEN - 1, ring->count - 1);
	ring->full_tail = RB_NO_TAIL;
}

/* The lock word names the CPU that holds it. */
static inline bool rb_trylock_reader(struct rb_cpu_buffer *cpu_buffer, unsigned cpu)
{
	return atomic_cas(&cpu_buffer->lock, 0U, cpu + 1);
}

static inline bool rb_has_cpu(const struct ring_buffer *rb, int cpu)
{
	return (unsigned)cpu < rb->cpus;
}

/* Reader lock: task context; held briefly, with preemption off. */
static inline __attribute__((always_inline)) struct rb_ring *rb_lock_reader(
    struct ring_buffer *rb, int cpu)
{
	struct host_context ctx;

	host_enter(&ctx);
	while (unlikely(!rb_trylock_reader(&rb->cpu_buffers[cpu], ctx.cpu)))
		host_relax();
	return rb->cpu_buffers[cpu].ring;
}

static inline __attribute__((always_inline)) void rb_unlock_reader(struct ring_buffer *rb, int cpu)
{
	atomic_store_release(&rb->cpu_buffers[cpu].lock, 0);
	host_preempt_enable();
}

/*
 * Steps over one event: adds its delta to *stamp and returns its size. *data: whether the event is
 * data.
 */
u64 rb_event_step(const struct ring_buffer_event *ev, u64 *stamp, bool *data);

/* Functions of the reader, for the other files. Under the reader lock. */
void rb_reader_init(
    struct rb_ring *ring, struct ring_buffer_page *page, struct ring_buffer_page *spare);
/* Brings `end` up to date with what the writer committed to an open page. */
void rb_reader_look(struct rb_ring *ring);
/*
 * The number of readable bytes of the page, at least `known`. *commit_word: the account at that
 * time, or before the call.
 */
u64 rb_readable(
    const struct rb_ring *ring, const struct ring_buffer_page *page, u64 known, u64 *commit_word);
/* Advances `next` over sub-buffers that were taken, or overwritten and counted as such. */
void rb_reader_skip(struct rb_ring *ring, u64 pages);
/* Ensures that `page` has unread bytes; false: nothing is left to read. */
bool rb_reader_refill(struct rb_ring *ring);
/*
 * Finishes `page`, which no writer is in, for a reader in place: gives it the header of a page
 * taken away.
 */
void rb_reader_end_page(struct rb_ring *ring);
/* map.c: the reader has taken the page at `next`, with that account; the ring was emptied. */
void rb_map_taken(struct rb_ring *ring, u64 commit_word);
void rb_map_reset(struct rb_ring *ring);
/*
 * If the tail is in the reader's page, moves it to the next sub-buffer, by an event that does not
 * fit and is discarded. On the buffer's CPU, interrupts off, no event reserved.
 */
void rb_leave_page(struct rb_cpu_buffer *cpu_buffer);
/* The number of sub-buffers from `next` on that the slots now show as overwritten. */
u64 rb_overrun_from_next(const struct rb_ring *ring);
/* R4: events overwritten so far, if `pages` sub-buffers from `next` on are. */
u64 rb_overrun_before(const struct rb_ring *ring, u64 pages);

/* True if the page may leave its ring for good. Pages of the store may not. */
bool rb_may_leave(const struct ring_buffer_page *page);

/*
 * Adds the ring's counts since its creation to *t. Under the reader lock, or while nobody else can
 * reach the ring.
 */
void rb_ring_totals(struct rb_ring *ring, struct ring_buffer_totals *t);
