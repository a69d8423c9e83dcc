/*
 * The ring buffer under load: a writer on another CPU, nested writers in its interrupts and NMIs, a
 * consumer, and control calls in between. Each event carries its context's sequence number, so that
 * no event is lost or doubled unnoticed.
 */
#include "kernel/abi/trace_mmap.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "tests/unit/load.h"
#include "tests/unit/trace/ring/tools.h"
#include "trace/host_cpus.h"

#define WRITER (host_cpu_count() > 1) /* CPU */
#ifdef TRACE_HOST_INLINE	      /* the guest is slower */
#define EVENTS 100000
#else
#define EVENTS 300000
#endif
#define MAPPED_PAGES 60
#define SWAPS	     10 /* on a busy host few of the calls find the writer between two events */

struct record {
	u32 context; /* 0 task, 2 irq, 3 NMI */
	u32 seq;
	u32 words; /* that follow, all equal to seq */
	u32 data[40];
};

struct unaligned {
	u64 value;
} __packed;

static struct ring_buffer *rb;
static bool writing;	/* [A] */
static u32 next_seq[4]; /* per context: the number of hits */
static u32 stored[4];	/* and of those not refused */

static void write_one(unsigned context)
{
	u32 seq = next_seq[context]++;
	u32 words = (seq * 7 + context) % 40;
	struct ring_buffer_event *ev = ring_reserve(rb, 12 + words * 4);
	struct record *r;

	if (!ev)
		return;
	r = ring_buffer_event_data(ev);
	r->context = context;
	r->seq = seq;
	r->words = words;
	for (u32 i = 0; i < words; i++)
		r->data[i] = seq;
	if (seq % 11 == 3) {
		ring_discard(rb, ev);
		return;
	}
	ring_commit(rb, ev);
	stored[context]++;
}

static void irq(void)
{
	write_one(2);
	write_one(2);
}

static void nmi(void)
{
	write_one(3);
}

static void writer(void *unused)
{
	(void)unused;
	for (u32 i = 0; i < EVENTS; i++)
		write_one(0);
	atomic_store(&writing, false);
}

/* Until told to stop. */
static void endless_writer(void *unused)
{
	(void)unused;
	while (atomic_load(&writing))
		write_one(0);
}

static u32 seen_seq[4];
static u64 seen, lost_sum, last_ts;

static void check_record(const struct record *r, u64 ts)
{
	EXPECT(r->context < 4 && r->words < 40);
	if (r->context >= 4 || r->words >= 40)
		return;
	for (u32 i = 0; i < r->words; i++)
		EXPECT_EQ(r->data[i], r->seq);
	EXPECT(r->seq >= seen_seq[r->context]);
	seen_seq[r->context] = r->seq + 1;
	EXPECT(ts >= last_ts);
	last_ts = ts;
	seen++;
}

static bool consume_one(void)
{
	u64 ts, lost;
	struct ring_buffer_event *ev = ring_buffer_consume(rb, WRITER, &ts, &lost);

	if (!ev)
		return false;
	lost_sum += lost;
	check_record(ring_buffer_event_data(ev), ts);
	return true;
}

static void begin_with(size_t pages, unsigned flags, void (*fn)(void *))
{
	rb = ring_buffer_alloc(pages * RB_PAGE_DATA, flags, NULL);
	for (int i = 0; i < 4; i++)
		next_seq[i] = stored[i] = seen_seq[i] = 0;
	seen = lost_sum = last_ts = 0;
	machine_handlers(irq, nmi);
	atomic_store(&writing, true);
	machine_run(WRITER, fn, NULL);
}

static void begin(size_t pages, unsigned flags)
{
	begin_with(pages, flags, writer);
}

static u64 hits(void)
{
	return (u64)next_seq[0] + next_seq[2] + next_seq[3];
}

static void end(void)
{
	struct ring_buffer_stats st;

	machine_join(WRITER);
	machine_handlers(NULL, NULL);
	ring_counts_agree(rb);
	ring_buffer_stats(rb, WRITER, &st);
	EXPECT_EQ(hits(), st.entries + st.read + st.overrun + st.commit_overrun + st.dropped +
			      st.too_large + st.nested + st.disabled + st.discarded);
	EXPECT_EQ(stored[0] + stored[2] + stored[3], st.entries + st.read + st.overrun);
	while (consume_one())
		;
	ring_buffer_stats(rb, WRITER, &st);
	EXPECT_EQ(st.entries, 0);
	EXPECT_EQ(st.read, seen);
	EXPECT_EQ(st.overrun, lost_sum);
	EXPECT_EQ(stored[0] + stored[2] + stored[3], seen + lost_sum);
	ring_buffer_free(rb);
}

static void interrupt(void)
{
	machine_irq(WRITER);
	machine_nmi(WRITER);
}

static void consume_while_writing(size_t pages, unsigned flags)
{
	begin(pages, flags);
	while (atomic_load(&writing)) {
		interrupt();
		for (int i = 0; i < 200 && consume_one(); i++)
			;
	}
	end();
}

static void consumer(void)
{
	consume_while_writing(8, 0);
}

static void overwriting(void)
{
	consume_while_writing(3, RB_FL_OVERWRITE);
}

static void smallest(void)
{
	consume_while_writing(2, RB_FL_OVERWRITE);
}

/* Every event of a page that was given. */
static void check_events(const struct ring_buffer_page *page, u64 bytes)
{
	u64 at = 0, ts = page->time_stamp;

	while (at < bytes) {
		struct ring_buffer_event *ev = (void *)(page->data + at);

		ts += ring_buffer_time_delta(ev);
		if (ev->type == RINGBUF_TYPE_DATA)
			check_record(ring_buffer_event_data(ev), ts);
		at += ring_buffer_event_length(ev);
	}
	EXPECT_EQ(at, bytes);
}

static void pages(void)
{
	struct ring_buffer_page *page = ring_buffer_alloc_page();

	begin(6, RB_FL_OVERWRITE);
	while (atomic_load(&writing)) {
		u64 bytes;

		interrupt();
		if (ring_buffer_read_page(rb, &page, PAGE_SIZE, WRITER, false))
			continue;
		bytes = page->commit & 0xfff;
		check_events(page, bytes);
		if (page->commit & RB_MISSED_STORED)
			lost_sum += ((struct unaligned *)(page->data + bytes))->value;
		else
			EXPECT(!(page->commit & RB_MISSED_EVENTS) || bytes + 8 > RB_PAGE_DATA);
	}
	machine_join(WRITER);
	lost_sum = 0; /* where there was no room the number is not known */
	machine_handlers(NULL, NULL);
	host_synchronize();
	ring_buffer_reset(rb);
	ring_buffer_free(rb);
	ring_buffer_free_page(page);
}

/* Walks the page that the meta page names; it may not change meanwhile. */
static void check_mapped(const struct trace_buffer_meta *meta)
{
	struct ring_buffer_page *page = ring_buffer_map_page(rb, WRITER, 1 + meta->reader.id);
	u64 bytes = page->commit & 0xfffff;

	check_events(page, bytes);
	EXPECT_EQ(page->commit & 0xfffff, bytes);
	lost_sum += meta->reader.lost_events;
	EXPECT_EQ(!(page->commit & RB_MISSED_EVENTS), !meta->reader.lost_events);
}

/* Every event is in a page that was given, or counted as lost right before one, or still unread. */
static void mapping(size_t count, unsigned flags)
{
	const struct trace_buffer_meta *meta;
	unsigned given = 0;

	begin_with(count, flags, endless_writer);
	EXPECT_EQ(ring_buffer_map(rb, WRITER), 0);
	meta = ring_buffer_map_page(rb, WRITER, 0);
	while (given < MAPPED_PAGES) {
		u64 read = meta->read;

		interrupt();
		EXPECT_EQ(ring_buffer_map_get_reader(rb, WRITER), 0);
		if (meta->read == read)
			continue;
		check_mapped(meta);
		EXPECT_EQ(meta->read, seen);
		given++;
	}
	atomic_store(&writing, false);
	ring_buffer_unmap(rb, WRITER);
	end();
}

static void mapped(void)
{
	mapping(8, 0);
}

static void mapped_overwriting(void)
{
	mapping(2, RB_FL_OVERWRITE);
}

static void iterating(void)
{
	begin(4, RB_FL_OVERWRITE);
	while (atomic_load(&writing)) {
		struct ring_buffer_iter *it = ring_buffer_read_start(rb, WRITER);
		struct ring_buffer_event *ev;
		u64 ts, n = 0;

		seen_seq[0] = seen_seq[2] = seen_seq[3] = 0;
		last_ts = 0;
		for (; (ev = ring_buffer_read(it, &ts)); n++)
			check_record(ring_buffer_event_data(ev), ts);
		ring_buffer_read_finish(it);
		for (int i = 0; i < 20; i++)
			interrupt();
	}
	seen = last_ts = 0;
	seen_seq[0] = seen_seq[2] = seen_seq[3] = 0;
	end();
}

static void resizing(void)
{
	size_t size = 2;

	begin(4, RB_FL_OVERWRITE);
	while (atomic_load(&writing)) {
		interrupt();
		EXPECT_EQ(ring_buffer_resize(rb, (2 + size++ % 7) * RB_PAGE_DATA, WRITER), 0);
		for (int i = 0; i < 300 && consume_one(); i++)
			;
	}
	end();
}

static void resetting(void)
{
	begin(3, RB_FL_OVERWRITE);
	while (atomic_load(&writing)) {
		interrupt();
		for (int i = 0; i < 100 && consume_one(); i++)
			;
		ring_buffer_reset_cpu(rb, WRITER);
		seen = lost_sum = 0;
	}
	machine_join(WRITER);
	machine_handlers(NULL, NULL);
	ring_buffer_free(rb);
}

static bool written_enough; /* [A] */

static void patient_writer(void *unused)
{
	for (u32 i = 0; i < EVENTS; i++)
		write_one(0);
	atomic_store(&written_enough, true);
	endless_writer(unused);
}

/* Two buffers change places under the writer: each event is in one of them. */
static void swapping(void)
{
	struct ring_buffer *other = ring_buffer_alloc(4 * RB_PAGE_DATA, RB_FL_OVERWRITE, NULL),
			   *first;
	u64 swaps = 0;

	written_enough = false;
	begin_with(4, RB_FL_OVERWRITE, patient_writer);
	first = rb;
	while (swaps < SWAPS || !atomic_load(&written_enough)) {
		interrupt();
		swaps += ring_buffer_swap_cpu(first, other, WRITER) == 0;
	}
	atomic_store(&writing, false);
	machine_join(WRITER);
	machine_handlers(NULL, NULL);
	{
		struct ring_buffer_stats a, b;

		ring_counts_agree(first);
		ring_counts_agree(other);
		ring_buffer_stats(first, WRITER, &a);
		ring_buffer_stats(other, WRITER, &b);
		EXPECT_EQ(hits(), a.entries + a.overrun + a.discarded + a.commit_overrun +
				      a.nested + b.entries + b.overrun + b.discarded +
				      b.commit_overrun + b.nested);
		EXPECT_EQ(a.disabled + b.disabled, 0);
	}
	ring_buffer_free(first);
	ring_buffer_free(other);
}

static const struct ktap_case cases[] = {
    {"ring_stress.consumer", consumer},
    {"ring_stress.overwriting", overwriting},
    {"ring_stress.smallest", smallest},
    {"ring_stress.pages", pages},
    {"ring_stress.mapped", mapped},
    {"ring_stress.mapped_overwriting", mapped_overwriting},
    {"ring_stress.iterating", iterating},
    {"ring_stress.resizing", resizing},
    {"ring_stress.resetting", resetting},
    {"ring_stress.swapping", swapping},
    {NULL, NULL},
};
const struct ktap_suite suite_ring_stress = {cases};
