/*
 * The ring buffer under load: on each CPU a task that writes, a timer interrupt, and NMIs that it
 * sends itself, half of them while it has an event reserved; and a reader on the next CPU, which
 * takes whole sub-buffers. First refusing when full, then overwriting. Every event says which of
 * its context it is, and how many of these were not kept before it: so a reader can tell each gap
 * from each event, at once when nothing is overwritten, and in sum with what the ring says was
 * overwritten.
 *
 * `soak=N` on the command line: N million events are to be taken, a twentieth of them nested ones
 * of NMIs; without it, few. `soak_host`: each page goes through the mailbox below to a checker on
 * the host (tests/drive/ringcheck.c), which finds the mailbox in the guest's memory and judges for
 * itself.
 */
#include "arch/arch.h"
#include "kernel/base/cmdline.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"
#include "tests/kernel/threads.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"
#include "trace/ring/write.h"

#define CPUS	    4
#define CONTEXTS    3
#define RING_PAGES  32
#define BURST	    32 /* events of the task between two looks at whether to stop */
#define BURSTS	    64
#define NMI_EVERY   40	   /* events of the task; each NMI writes two */
#define TIMER_NS    200000 /* between interrupts */
#define SLOTS	    32
#define EXTRA_MAX   24 /* words after a record; one record in 16 has any */
#define GIVE_UP_NS  (600 * 1000000000UL)
#define RECORD_SIGN 0x50a10000u

enum { IN_TASK, IN_IRQ, IN_NMI };

struct record {
	u32 seq;     /* of its context, on its CPU, from 0 */
	u32 skipped; /* how many before it were not kept: refused or discarded */
	u32 where;   /* RECORD_SIGN, context at bit 8, CPU */
	u32 check;   /* the three others, mixed */
	u32 extra[]; /* all seq */
};

/*
 * One page of memory that the host looks at. Little-endian; the layout is also in
 * tests/drive/ringcheck.c.
 */
struct mailbox {
	u64 sign[4];
	u64 cpus;
	u64 finished; /* guest: the totals are there */
	u64 verdict;  /* host: 1 right, 2 wrong */
	struct queue {
		u64 head, tail; /* pages given, pages looked at */
		u64 hits[CONTEXTS], skipped[CONTEXTS];
		u64 overrun;
		u64 pages[SLOTS]; /* physical addresses */
	} queues[CPUS];
};
/* Inverted: the host looks for the sign at the beginning of each page, and may meet this first. */
static const u64 mailbox_sign_inverted[4] = {
    ~0x6c70617254206e69UL, ~0x6b616f7320676e72UL, ~0x786f626c69616d20UL, ~0x0a312065676170UL};

/* One CPU. */
static struct soak_cpu {
	u64 seq[CONTEXTS], skipped[CONTEXTS]; /* [C] */
	struct timer timer;
	u64 task_events; /* [C] */
	/* The reader of this CPU's ring. */
	struct ring_buffer_page *pages[SLOTS];
	u64 expect[CONTEXTS], skipped_seen[CONTEXTS], missing[CONTEXTS], taken[CONTEXTS];
	u64 stamp;
	u64 overrun, refused; /* by the rings' own counts */
} __aligned(64) cpus[CPUS];

static struct ring_buffer *rb;
static struct mailbox *box;
static unsigned cpu_total;
static bool stop, with_host, may_miss; /* [A] */
static u32 writers;		       /* [A] tasks that write */
static u64 taken, taken_nmi;	       /* [A] */

/* ---- Writers ---- */

static u32 mix(const struct record *r)
{
	return (r->seq * 2654435761u) ^ (r->skipped << 7) ^ r->where;
}

/*
 * Between host_enter() and host_preempt_enable(); false: not kept. `sent`: an NMI comes while the
 * event is reserved.
 */
static bool write_one(unsigned cpu, unsigned context, bool sent)
{
	struct soak_cpu *c = &cpus[cpu];
	u32 seq = c->seq[context]++, extra = seq % 16 ? 0 : seq / 16 % EXTRA_MAX;
	struct ring_buffer_event *ev = rb_reserve(rb, cpu, sizeof(struct record) + extra * 4);
	struct record *r;

	if (!ev) {
		c->skipped[context]++;
		return false;
	}
	if (sent)
		nmi_send(cpu);
	r = ring_buffer_event_data(ev);
	r->seq = seq;
	r->skipped = c->skipped[context];
	r->where = RECORD_SIGN | context << 8 | cpu;
	r->check = mix(r);
	for (u32 i = 0; i < extra; i++)
		r->extra[i] = seq;
	if (unlikely(seq % 37 == 5)) {
		c->skipped[context]++;
		rb_discard(rb, cpu, ev, ring_buffer_event_length(ev));
		return true;
	}
	rb_commit(rb, cpu, ev, ring_buffer_event_length(ev));
	return true;
}

static void write_two(unsigned context)
{
	struct host_context ctx;

	host_enter(&ctx);
	write_one(ctx.cpu, context, false);
	write_one(ctx.cpu, context, false);
	host_preempt_enable();
}

static bool on_nmi(struct regs *r)
{
	(void)r;
	write_two(IN_NMI);
	return true;
}

static void on_timer(struct timer *t)
{
	write_two(IN_IRQ);
	if (!atomic_load_relaxed(&stop))
		timer_start(t, clock_ns() + TIMER_NS);
}

static bool write_burst(unsigned cpu)
{
	struct soak_cpu *c = &cpus[cpu];
	struct host_context ctx;
	bool kept = true;

	host_enter(&ctx);
	for (unsigned i = 0; i < BURST; i++) {
		u64 n = c->task_events++;

		if (n % (2 * NMI_EVERY) == NMI_EVERY)
			nmi_send(cpu);
		kept &= write_one(cpu, IN_TASK, n % (2 * NMI_EVERY) == 0);
	}
	host_preempt_enable();
	return kept;
}

static void writer(void *arg)
{
	unsigned cpu = (unsigned long)arg;
	struct soak_cpu *c = &cpus[cpu];

	timer_setup(&c->timer, on_timer);
	timer_start(&c->timer, clock_ns() + TIMER_NS);
	for (unsigned n = 0; !atomic_load_relaxed(&stop); n++) {
		/* to the reader of another CPU's ring: mostly it keeps up */
		if (!write_burst(cpu) || n % BURSTS == 0)
			sched_yield_current();
	}
	timer_cancel(&c->timer);
	/* An NMI sent last may be on its way still; with it, it is the last. */
	host_synchronize();
	atomic_sub(&writers, 1);
}

/* ---- Readers ---- */

static void wrong(unsigned cpu, const char *what, const struct record *r)
{
	static u32 complaints;

	if (atomic_add(&complaints, 1) <= 10)
		ktap_fail(__FILE__, __LINE__, "CPU %u: %s: seq %u skipped %u where %x", cpu, what,
		    r->seq, r->skipped, r->where);
}

static void check_record(unsigned cpu, const struct record *r, u64 length)
{
	struct soak_cpu *c = &cpus[cpu];
	unsigned context = r->where >> 8 & 0xff;
	s64 gap;

	if (r->where != (RECORD_SIGN | context << 8 | cpu) || context >= CONTEXTS ||
	    r->check != mix(r)) {
		wrong(cpu, "not a record", r);
		return;
	}
	if (length != sizeof(*r)) {
		for (u32 i = 0; i < (length - sizeof(*r)) / 4; i++)
			if (r->extra[i] != r->seq)
				wrong(cpu, "torn", r);
	}
	gap = (s64)(r->seq - c->expect[context]) - (s64)(r->skipped - c->skipped_seen[context]);
	if (unlikely(gap)) {
		if (gap < 0 || !may_miss)
			wrong(cpu, "unexplained gap", r);
		c->missing[context] += gap;
	}
	c->expect[context] = r->seq + 1;
	c->skipped_seen[context] = r->skipped;
	c->taken[context]++;
}

/* Returns how many events of NMIs there were. */
static u64 check_page(unsigned cpu, struct ring_buffer_page *page, u64 *events)
{
	struct soak_cpu *c = &cpus[cpu];
	u64 before = c->taken[IN_NMI];
	struct rb_page_iter w;

	rb_page_iter_start(&w, page, 0);
	*events = 0;
	while (rb_page_iter_next(&w)) {
		check_record(cpu, w.data, w.length);
		if (w.stamp < c->stamp)
			wrong(cpu, "time", w.data);
		c->stamp = w.stamp;
		++*events;
	}
	return c->taken[IN_NMI] - before;
}

/* A page that the host has done with, too. */
static bool slot_is_free(unsigned cpu)
{
	struct queue *q = &box->queues[cpu];

	return q->head - atomic_load(&q->tail) < SLOTS;
}

/* Takes what is there; false: nothing. */
static bool read_one(unsigned cpu)
{
	struct queue *q = &box->queues[cpu];
	struct ring_buffer_page **page = &cpus[cpu].pages[q->head % SLOTS];
	u64 events, nmis;

	if (!slot_is_free(cpu) || ring_buffer_read_page(rb, page, PAGE_SIZE, cpu, false))
		return false;
	nmis = check_page(cpu, *page, &events);
	q->pages[q->head % SLOTS] = host_page_phys(*page);
	atomic_store(&q->head, q->head + 1);
	if (!with_host)
		q->tail = q->head;
	atomic_add(&taken, events);
	atomic_add(&taken_nmi, nmis);
	return true;
}

static void reader(void *arg)
{
	unsigned cpu = (unsigned long)arg;

	while (atomic_load(&writers)) {
		if (!read_one(cpu))
			sched_yield_current();
	}
	while (!ring_buffer_empty_cpu(rb, cpu))
		if (!read_one(cpu))
			sched_yield_current();
}

/* ---- The balance ---- */

static u64 sum(const u64 *v)
{
	return v[0] + v[1] + v[2];
}

/* All that was hit is taken, or was not kept, or was overwritten. */
static void balance(unsigned cpu)
{
	struct soak_cpu *c = &cpus[cpu];
	struct queue *q = &box->queues[cpu];
	struct ring_buffer_stats st;

	ring_buffer_stats(rb, cpu, &st);
	EXPECT_EQ(rb->cpu_buffers[cpu].depth, 0);
	EXPECT_EQ(st.entries, 0);
	c->overrun += st.overrun;
	c->refused +=
	    st.dropped + st.commit_overrun + st.too_large + st.nested + st.disabled + st.discarded;
	EXPECT_EQ(sum(c->skipped), c->refused);
	for (unsigned i = 0; i < CONTEXTS; i++) {
		c->missing[i] += c->seq[i] - c->expect[i] - (c->skipped[i] - c->skipped_seen[i]);
		EXPECT_EQ(c->seq[i], c->taken[i] + c->skipped[i] + c->missing[i]);
		c->expect[i] = c->seq[i];
		c->skipped_seen[i] = c->skipped[i];
		q->hits[i] = c->seq[i];
		q->skipped[i] = c->skipped[i];
	}
	EXPECT_EQ(sum(c->missing), c->overrun);
	q->overrun = c->overrun;
}

/* Until so many are taken, or none has been for a long time: however slow the machine is. */
static void wait_for(u64 end, u64 end_nmi)
{
	u64 seen = 0, give_up = clock_ns() + GIVE_UP_NS;

	while (atomic_load(&taken) < end || atomic_load(&taken_nmi) < end_nmi) {
		u64 now = atomic_load(&taken) + atomic_load(&taken_nmi);

		if (now != seen)
			give_up = clock_ns() + GIVE_UP_NS;
		else if (clock_ns() >= give_up)
			break;
		seen = now;
		sleep_ns(1000000, NULL);
	}
}

static void run_for(u64 events, u64 nmi_events, unsigned flags)
{
	struct threads threads = {0};
	u64 end = taken + events, end_nmi = taken_nmi + nmi_events;

	rb = ring_buffer_alloc(RING_PAGES * RB_PAGE_DATA, flags, NULL);
	EXPECT(rb != NULL);
	may_miss = flags & RB_FL_OVERWRITE;
	stop = false;
	writers = cpu_total;
	for (unsigned long cpu = 0; cpu < cpu_total; cpu++) {
		thread_start(&threads, writer, (void *)cpu, cpu);
		thread_start(&threads, reader, (void *)cpu, (cpu + 1) % cpu_total);
	}
	wait_for(end, end_nmi);
	atomic_store(&stop, true);
	threads_join(&threads);
	EXPECT(taken >= end && taken_nmi >= end_nmi);
	for (unsigned cpu = 0; cpu < cpu_total; cpu++)
		balance(cpu);
	ring_buffer_free(rb);
}

static bool begin(void)
{
	bool memory = true;

	cpu_total = MIN(cpu_count(), (unsigned)CPUS);
	memset(cpus, 0, sizeof(cpus));
	taken = taken_nmi = 0;
	with_host = cmdline_flag("soak_host");
	box = host_page_alloc();
	for (unsigned i = 0; i < cpu_total * SLOTS; i++)
		memory &= (cpus[i / SLOTS].pages[i % SLOTS] = ring_buffer_alloc_page()) != NULL;
	if (!box || !memory)
		return false;
	_Static_assert(sizeof(*box) <= PAGE_SIZE, "the mailbox is one page");
	box->cpus = cpu_total;
	for (unsigned i = 0; i < ARRAY_SIZE(mailbox_sign_inverted); i++)
		box->sign[i] = ~mailbox_sign_inverted[i];
	return nmi_handler_add(on_nmi) == 0;
}

static void end(void)
{
	nmi_handler_remove(on_nmi);
	atomic_store(&box->finished, 1);
	for (u64 give_up = clock_ns() + GIVE_UP_NS;
	     with_host && !atomic_load(&box->verdict) && clock_ns() < give_up;)
		sleep_ns(1000000, NULL);
	if (with_host)
		EXPECT_EQ(box->verdict, 1);
	for (unsigned i = 0; i < cpu_total * SLOTS; i++)
		ring_buffer_free_page(cpus[i / SLOTS].pages[i % SLOTS]);
	box->sign[0] = 0;
	host_page_free(box);
}

static void soak(void)
{
	u64 millions = cmdline_u64("soak", 0), events = millions ? millions * 1000000 : 20000;
	u64 start = clock_ns(), skipped = 0, overrun = 0;

	EXPECT(begin());
	run_for(events / 2, events / 40, 0);
	run_for(events - events / 2, events / 20 - events / 40, RB_FL_OVERWRITE);
	for (unsigned cpu = 0; cpu < cpu_total; cpu++) {
		skipped += sum(cpus[cpu].skipped);
		overrun += cpus[cpu].overrun;
	}
	end();
	ktap_note("%llu events taken, %llu of them of nested NMIs; %llu not kept, %llu "
		  "overwritten; %llu ms",
	    (unsigned long long)taken, (unsigned long long)taken_nmi, (unsigned long long)skipped,
	    (unsigned long long)overrun, (unsigned long long)(clock_ns() - start) / 1000000);
}

static const struct ktap_case cases[] = {
    {"ring_soak.conservation", soak},
    {NULL, NULL},
};
const struct ktap_suite suite_ring_soak = {cases};
