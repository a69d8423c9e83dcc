/*
 * The unified trace buffer: per-CPU rings of sub-buffers, with the layout, names and meanings of
 * the text "tracing: unified trace buffer". A sub-buffer has 4 KiB, or the size set by
 * ring_buffer_set_order(). Writers run in any context, on their own CPU, between host_enter() and
 * host_preempt_enable(), and never wait. Readers and control functions run in task context. ring.c
 * defines the words, the steps and the bounds.
 */
#pragma once

#include "kernel/lib/types.h"

struct ring_buffer_event {
	u32 type : 2, len : 3, time_delta : 27;
	u32 array[];
};

enum ring_buffer_type {
	/* rest of the sub-buffer, or (time_delta != 0) a discarded event of length array[0] */
	RINGBUF_TYPE_PADDING,
	RINGBUF_TYPE_TIME_EXTENT, /* array[0]: bits 27.. of the delta; 8 bytes */
	/* array[0..1] and time_delta hold an absolute time; ours, see ring.c */
	RINGBUF_TYPE_TIME_STAMP,
	RINGBUF_TYPE_DATA,
};

/*
 * A sub-buffer in memory and on the wire: PAGE_SIZE << order bytes, aligned to that, with the order
 * of its buffer. The smallest one is a page of the machine, with 4080 bytes of data.
 */
#define RB_PAGE_HEADER 16
#define RB_PAGE_DATA   (PAGE_SIZE - RB_PAGE_HEADER)
#define RB_ORDER_MAX   7 /* 512 KiB, as Linux has it */
struct ring_buffer_page {
	u64 time_stamp; /* clock of the first event */
	/* bytes of committed data; RB_MISSED_EVENTS, RB_MISSED_STORED on pages given to readers */
	u64 commit;
	u8 data[];
};
#define RB_COMMIT_BYTES 0xfffffUL /* of the commit of a page that was given to a reader */
#define RB_MISSED_EVENTS                                                                           \
	(-1UL << 31) /* events were lost before this page (bit 31; Linux extends its sign) ... */
#define RB_MISSED_STORED (1UL << 30) /* ... and their number is the u64 after the committed data */
/*
 * Largest payload of one event in the smallest sub-buffer: it fits into an empty one after a time
 * stamp. Larger sub-buffers take more (ring_buffer_max_data()).
 */
#define RB_MAX_DATA	 (RB_PAGE_DATA - 8 - 16)

struct ring_buffer;
struct ring_buffer_iter;

enum {
	RB_FL_OVERWRITE = 1,
	RB_FL_KEPT = 2,	 /* its rings come from the store while that has room */
	RB_FL_ORDER = 8, /* times the order of its sub-buffers, see ring_buffer_set_order() */
};

/*
 * Backing memory for rings with RB_FL_KEPT, at a place that the host chooses so that a later boot
 * finds the rings by their structs. alloc: n adjacent zeroed pages; NULL: no room. free: returns
 * false for pages from elsewhere. ring_at: a CPU's ring, whose struct is one page, was added (true)
 * or goes away. Task context. NULL: no store.
 */
struct ring_buffer_store {
	void *(*alloc)(unsigned n);
	bool (*free)(void *p, unsigned n);
	bool (*holds)(const void *p); /* any context */
	void (*ring_at)(const void *ring, unsigned cpu, bool came);
};
void ring_buffer_set_store(const struct ring_buffer_store *store);

/*
 * size: bytes per CPU, rounded up to whole sub-buffers, at least 2. clock: NULL for the TSC. NULL:
 * no memory.
 */
struct ring_buffer *ring_buffer_alloc(size_t size, unsigned flags, u64 (*clock)(void));
void ring_buffer_free(struct ring_buffer *rb);
/*
 * Adds rings of the present size for CPUs that came up since allocation. Before this call their
 * events are not counted. 0 or -ENOMEM.
 */
int ring_buffer_add_cpus(struct ring_buffer *rb);
/*
 * cpu < 0: all. Safe while writers run; keeps the newest events that fit. -ENOMEM: nothing changed.
 * -EBUSY: an iterator is open.
 */
int ring_buffer_resize(struct ring_buffer *rb, size_t size, int cpu);
/*
 * Sets the sub-buffer size of both buffers (`other` may be NULL) to PAGE_SIZE << order bytes. The
 * rings keep their size, rounded up, and lose their contents. 0; -ENOMEM, or -EBUSY (an iterator,
 * or a program that maps a ring): nothing has changed. The caller prevents swaps between the two
 * meanwhile. Sub-buffers larger than a page do not come from the store, so a later boot does not
 * find them.
 */
int ring_buffer_set_order(struct ring_buffer *rb, struct ring_buffer *other, unsigned order);
unsigned ring_buffer_order(const struct ring_buffer *rb);
size_t ring_buffer_page_size(const struct ring_buffer *rb); /* bytes of a sub-buffer */
size_t ring_buffer_max_data(const struct ring_buffer *rb);  /* RB_MAX_DATA for this one */
void ring_buffer_change_overwrite(struct ring_buffer *rb, bool on);
void ring_buffer_set_clock(struct ring_buffer *rb, u64 (*clock)(void)); /* resets */
/*
 * Uses another clock of the same kind for a while, without a reset; NULL: back to the TSC. Nobody
 * else may write meanwhile.
 */
void ring_buffer_borrow_clock(struct ring_buffer *rb, u64 (*clock)(void));

/*
 * Writers (inline, for the event core: trace/ring/write.h). reserve: NULL if the ring refuses the
 * event; the ring counts the reason. The caller must commit or discard each reserved event exactly
 * once, in stack order.
 */
struct ring_buffer_event *ring_buffer_lock_reserve(struct ring_buffer *rb, size_t length);
void ring_buffer_unlock_commit(struct ring_buffer *rb, struct ring_buffer_event *ev);
void ring_buffer_discard_commit(struct ring_buffer *rb, struct ring_buffer_event *ev);
int ring_buffer_write(struct ring_buffer *rb, size_t length, const void *data); /* 0 or -EBUSY */

/* Events. */
u32 rb_event_length_slow(const struct ring_buffer_event *ev); /* of what is not data */
/* `len` in bytes: it lies at bit 2 of the first word. */
static inline u32 rb_event_len_bytes(const struct ring_buffer_event *ev)
{
	return *(const u32 *)ev & 7 << 2;
}
/* Bytes that an event of type DATA, or of any type, uses in the buffer. */
static inline u32 rb_data_event_length(const struct ring_buffer_event *ev)
{
	u32 payload = rb_event_len_bytes(ev);

	return likely(payload) ? 4 + payload : 8 + ev->array[0];
}
static inline u32 ring_buffer_event_length(const struct ring_buffer_event *ev)
{
	return likely(ev->type == RINGBUF_TYPE_DATA) ? rb_data_event_length(ev)
						     : rb_event_length_slow(ev);
}
/* The payload length, rounded up to 4; 0 if the event is not data. */
static inline u32 ring_buffer_data_length(const struct ring_buffer_event *ev)
{
	u32 payload = rb_event_len_bytes(ev);

	if (ev->type != RINGBUF_TYPE_DATA)
		return 0;
	return payload ? payload : ev->array[0];
}
u64 ring_buffer_time_delta(const struct ring_buffer_event *ev);
static inline void *ring_buffer_event_data(struct ring_buffer_event *ev)
{
	return ev->len ? &ev->array[0] : &ev->array[1];
}

/*
 * Consuming readers: one at a time per CPU (locked inside). *lost: events lost right before this
 * one.
 */
struct ring_buffer_event *ring_buffer_peek(struct ring_buffer *rb, int cpu, u64 *ts, u64 *lost);
/* As peek, then advances. The event stays valid until the next consuming call on that CPU. */
struct ring_buffer_event *ring_buffer_consume(struct ring_buffer *rb, int cpu, u64 *ts, u64 *lost);
/* Consumes the event that peek returned, if that is still the next one; otherwise returns false. */
bool ring_buffer_consume_peeked(
    struct ring_buffer *rb, int cpu, const struct ring_buffer_event *peeked);
/*
 * Takes a whole sub-buffer away. `page` is a spare from ring_buffer_alloc_page(), of PAGE_SIZE; on
 * success the function exchanges it, if the ring's sub-buffers have that size. `full`: only if the
 * writer has left the sub-buffer. If the writer is still in it, or it is partly read, or larger
 * than `len`, the function copies a new header and as many whole events as fit in `len`, and zeroes
 * the rest. 0; -EAGAIN: nothing there, or nothing that fits; -EINVAL: no room for an event, or no
 * such CPU.
 */
struct ring_buffer_page *ring_buffer_alloc_page(void);
void ring_buffer_free_page(struct ring_buffer_page *page);
int ring_buffer_read_page(
    struct ring_buffer *rb, struct ring_buffer_page **page, size_t len, int cpu, bool full);
/*
 * As ring_buffer_read_page(), but always copies: the caller keeps the page. It has `size` bytes;
 * the function zeroes those without events.
 */
int ring_buffer_copy_page(struct ring_buffer *rb, struct ring_buffer_page *to, size_t size,
    size_t len, int cpu, bool full);

/*
 * Iterates over the events of a page that was taken from the ring, from `offset` on.
 * rb_page_iter_next() moves to the next data event and returns false at the end. Any context; the
 * caller owns the page.
 */
struct rb_page_iter {
	u8 *at, *end; /* the next event; where they end */
	void *data;   /* of the present event */
	u64 length;   /* of its data, as ring_buffer_data_length() */
	u64 stamp;    /* its time */
};
static inline void rb_page_iter_start(
    struct rb_page_iter *w, struct ring_buffer_page *page, u64 offset)
{
	*w = (struct rb_page_iter){.at = page->data + offset,
	    .end = page->data + (page->commit & RB_COMMIT_BYTES),
	    .stamp = page->time_stamp};
}
/* rb_page_iter_next() for all but small data. */
bool rb_page_iter_next_slow(struct rb_page_iter *w);
/*
 * The set of values of the low five bits (type and len) of an event with at most 28 bytes of data.
 */
#define RB_SMALL_DATA 0x88888880u
static inline __attribute__((always_inline)) bool rb_page_iter_next(struct rb_page_iter *w)
{
	u64 word, length;

	if (unlikely(w->at >= w->end))
		return false;
	word = *(u32 *)w->at;
	if (unlikely(!(RB_SMALL_DATA >> (word & 31) & 1))) {
		struct rb_page_iter odd = *w; /* so that *w itself may live in registers */
		bool found = rb_page_iter_next_slow(&odd);

		*w = odd;
		return found;
	}
	length = word & 7 << 2;
	w->data = w->at + 4;
	w->length = length;
	w->stamp += word >> 5;
	w->at += 4 + length;
	return true;
}

/*
 * A CPU's ring as pages for a program to map: kernel/abi/trace_mmap.h describes the pages, map.c
 * the mechanism. ring_buffer_map() adds a user; resizing and swapping return -EBUSY until the last
 * user is gone. 0, -ENOMEM, -EINVAL: no such CPU. Only users may call the other functions.
 * map_page: index 0 is the meta page; NULL: past the end; needs no lock.
 */
int ring_buffer_map(struct ring_buffer *rb, int cpu);
void ring_buffer_unmap(struct ring_buffer *rb, int cpu);
u64 ring_buffer_map_pages(const struct ring_buffer *rb, int cpu); /* 0: not mapped */
void *ring_buffer_map_page(const struct ring_buffer *rb, int cpu, u64 index);
/*
 * Makes the meta page name the next sub-buffer with unread events, and counts these as read. Task
 * context, may wait for that CPU. 0, also if nothing is new; -ENODEV: not mapped.
 */
int ring_buffer_map_get_reader(struct ring_buffer *rb, int cpu);

/*
 * Iterators: non-consuming; the CPU's recording is disabled from start to finish, as the text says.
 */
struct ring_buffer_iter *ring_buffer_read_start(struct ring_buffer *rb, int cpu);
void ring_buffer_read_finish(struct ring_buffer_iter *it);
struct ring_buffer_event *ring_buffer_iter_peek(struct ring_buffer_iter *it, u64 *ts);
struct ring_buffer_event *ring_buffer_read(struct ring_buffer_iter *it, u64 *ts);
void ring_buffer_iter_reset(struct ring_buffer_iter *it);
bool ring_buffer_iter_empty(struct ring_buffer_iter *it);

/*
 * Looking on while others write: as an iterator, but nothing is disabled. What is overwritten
 * before it was looked at is missed: *missed says so of the event after the gap. The event is a
 * copy, valid until the next call. NULL: no more for now; nor ever, one round of the ring (a MiB at
 * least) after where the tail was at the start, or when the ring was exchanged.
 */
struct ring_buffer_live;
struct ring_buffer_live *ring_buffer_live_start(
    struct ring_buffer *rb, int cpu); /* NULL: no memory, no such CPU */
void ring_buffer_live_finish(struct ring_buffer_live *it);
/*
 * The same in two steps, for a caller that cannot allocate when it reads. alloc only allocates
 * memory (NULL: none), for sub-buffers of up to `page_size` bytes. restart begins an iteration, any
 * number of times, in any context in which this CPU is in no reader; false: no such CPU, or its
 * sub-buffers are larger.
 */
struct ring_buffer_live *ring_buffer_live_alloc(size_t page_size);
bool ring_buffer_live_restart(struct ring_buffer_live *it, struct ring_buffer *rb, int cpu);
/*
 * The number of events lost right before the last one returned (or RB_LOST_UNKNOWN), since the
 * previous call.
 */
u64 ring_buffer_live_lost(struct ring_buffer_live *it);
struct ring_buffer_event *ring_buffer_live_next(struct ring_buffer_live *it, u64 *ts, bool *missed);
/*
 * The same by whole sub-buffers. limit: makes the iteration end with the tail's present sub-buffer,
 * or at a reset; returns the maximum number of sub-buffers until then. page: copies the committed
 * events of the next sub-buffer that it has not yet returned to *page, whose commit is the bytes
 * alone. *lost: the number of events lost before these, since the last sub-buffer or the last
 * consumed event. False: no more.
 */
#define RB_LOST_UNKNOWN (-1UL) /* some were lost: a consuming reader ran meanwhile */
u64 ring_buffer_live_limit(struct ring_buffer_live *it);
bool ring_buffer_live_page(struct ring_buffer_live *it, struct ring_buffer_page *page, u64 *lost);

/*
 * True if this CPU was interrupted inside a reader: the functions above would then wait for ever.
 * Any context.
 */
bool ring_buffer_reads_here(struct ring_buffer *rb);
/* Releases the locks of readers that were stopped midway. Only the caller runs from now on. */
void ring_buffer_break_locks(struct ring_buffer *rb);

/*
 * Control: the caller ensures one call at a time on a buffer (host_lock()). lock: keeps writers and
 * readers out until unlock; its holder must not sleep or call other functions on the buffer.
 */
void ring_buffer_lock(struct ring_buffer *rb);
void ring_buffer_unlock(struct ring_buffer *rb);
/* True if the writer has left a sub-buffer with unread events. Task context. */
bool ring_buffer_has_finished(struct ring_buffer *rb, int cpu);
/*
 * True if `percent` of the CPU's sub-buffers are unread; the one being written counts as full. Any
 * context; approximate while the reader moves.
 */
bool ring_buffer_filled(const struct ring_buffer *rb, unsigned cpu, unsigned percent);
size_t ring_buffer_size(
    struct ring_buffer *rb, int cpu); /* bytes of data per CPU: of all its sub-buffers */
void ring_buffer_reset_cpu(struct ring_buffer *rb, int cpu);
void ring_buffer_reset(struct ring_buffer *rb);
/*
 * Exchanges the two buffers' rings of one CPU, losing nothing. -EINVAL: sizes or orders differ;
 * -EBUSY: iterators, or never quiet.
 */
int ring_buffer_swap_cpu(struct ring_buffer *a, struct ring_buffer *b, int cpu);
/*
 * The same for all CPUs or none, from any context between host_enter() and host_preempt_enable(),
 * even if it interrupts writers. -EBUSY: iterators, or the caller interrupted a reader. Not during
 * a control call on either buffer.
 */
int ring_buffer_swap(struct ring_buffer *a, struct ring_buffer *b);
bool ring_buffer_empty(struct ring_buffer *rb);
bool ring_buffer_empty_cpu(struct ring_buffer *rb, int cpu);
void ring_buffer_record_disable(struct ring_buffer *rb); /* counts */
void ring_buffer_record_enable(struct ring_buffer *rb);
void ring_buffer_record_disable_cpu(struct ring_buffer *rb, int cpu);
void ring_buffer_record_enable_cpu(struct ring_buffer *rb, int cpu);
/* The switch of tracing_on: does not nest. Returns true if the state changed. Any context. */
bool ring_buffer_record_off(struct ring_buffer *rb);
bool ring_buffer_record_on(struct ring_buffer *rb);
bool ring_buffer_record_is_on(struct ring_buffer *rb);
bool ring_buffer_record_is_set_on(struct ring_buffer *rb);

/* cpu < 0: all. */
struct ring_buffer_stats {
	u64 entries;	    /* in the buffer, unread */
	u64 overrun;	    /* overwritten before anyone read them */
	u64 commit_overrun; /* refused: nested writer found the ring full of uncommitted events */
	u64 dropped;	    /* refused: full, not overwriting */
	u64 too_large, nested, disabled; /* refused: other reasons */
	u64 discarded;
	u64 read;      /* consumed */
	u64 bytes;     /* of the entries, headers included */
	u64 oldest_ts; /* clock of the oldest entry; 0: none */
};
void ring_buffer_stats(struct ring_buffer *rb, int cpu, struct ring_buffer_stats *st);

/*
 * The fate of every event that one CPU tried to write since its ring was created, across resets and
 * swaps.
 */
struct ring_buffer_totals {
	u64 unread, read, overrun, discarded;
	u64 cleared; /* unread when the ring was reset */
	u64 dropped, commit_overrun, too_large, nested;
	u64 disabled; /* includes events from before the CPU had a ring */
};
/* Adds them to *t. */
void ring_buffer_totals(struct ring_buffer *rb, unsigned cpu, struct ring_buffer_totals *t);
u64 ring_buffer_entries(struct ring_buffer *rb);
u64 ring_buffer_overruns(struct ring_buffer *rb);
u64 ring_buffer_time_stamp(struct ring_buffer *rb);
