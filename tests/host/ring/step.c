/*
 * The ring buffer with nested writers at every instruction boundary: one event is written with the
 * CPU's trap flag on, and at the n-th trap an "interrupt" writes one event, or more than the ring
 * holds. For every n there is, at the edge of a sub-buffer. The same for readers that are
 * interrupted. (Pairs of interrupts, a reset, a swap: tests/kernel/.) Nothing is lost uncounted,
 * what is read is whole and in order, and the ring goes on afterwards.
 */
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "kernel/lib/ktap.h"
#include "tests/unit/trace/ring/tools.h"
#include "trace/host_context.h"

#define TRAP_FLAG 0x100
#define PAGES	  2

/* What the interrupt writes. */
struct burst {
	unsigned events;
	size_t length;
	bool read; /* and a reader elsewhere keeps pace, so that pages come back into the ring */
};

static struct ring_buffer *rb;
static const struct burst *burst;
static volatile u32 traps, target; /* traps so far; the one to interrupt at */
static u32 written, refused, consumed;
static u64 lost_sum;
static u8 seen[4096];
static u64 (*clock)(void); /* NULL: the TSC */
static unsigned fill_laps; /* before it begins: so that it finds the ring full of unread events */

static void put(size_t length)
{
	static u8 data[RB_MAX_DATA];

	memcpy(data, &written, sizeof(written));
	if (length > 4)
		data[length - 1] = 0x5a;
	if (ring_put(rb, data, length))
		refused++;
	written++;
}

/* Reads all there is: each number once, whole. */
static void drain(void)
{
	struct ring_buffer_event *ev;
	u64 lost, ts, last = 0;

	while ((ev = ring_buffer_consume(rb, ring_cpu(), &ts, &lost))) {
		u8 *data = ring_buffer_event_data(ev);
		u32 number = *(u32 *)data, length = ring_buffer_data_length(ev);

		lost_sum += lost;
		EXPECT(number < written && !seen[number % sizeof(seen)]++);
		EXPECT(length == 4 || memchr(data + 4, 0x5a, length - 4));
		EXPECT((s64)(ts - last) >= 0 || !last);
		last = ts;
		consumed++;
	}
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)sig;
	(void)info;
	if (++traps != target)
		return;
	uc->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	for (unsigned i = 0; i < burst->events; i++) {
		put(burst->length);
		if (burst->read)
			drain();
	}
}

static void trap_flag(bool on)
{
	if (on)
		__asm__ volatile("pushfq; orl $0x100, (%%rsp); popfq" ::: "memory", "cc");
	else
		__asm__ volatile("pushfq; andl $~0x100, (%%rsp); popfq" ::: "memory", "cc");
}

/* The interrupted writer. Its number is taken first: `written` counts hits, in any order. */
static void put_stepped(unsigned flags, size_t length)
{
	struct host_context ctx;
	struct ring_buffer_event *ev;
	u32 number = written++;

	host_enter(&ctx);
	trap_flag(true);
	ev = ring_buffer_lock_reserve(rb, length);
	if (ev) {
		u8 *data = ring_buffer_event_data(ev);

		*(u32 *)data = number;
		data[length - 1] = 0x5a;
		ring_buffer_unlock_commit(rb, ev);
	} else {
		EXPECT(!(flags & RB_FL_OVERWRITE)); /* nothing here is in its way for long */
		refused++;
	}
	trap_flag(false);
	host_preempt_enable();
}

/*
 * One pass: fill, write with an interrupt at trap `n`, look. False when there is no such trap any
 * more.
 */
static bool pass(unsigned flags, u64 fill, size_t length, u32 n)
{
	struct ring_buffer_stats st;

	ring_buffer_reset(rb);
	written = refused = consumed = traps = 0;
	lost_sum = 0;
	memset(seen, 0, sizeof(seen));
	target = n;
	for (unsigned i = 0; i < fill_laps * PAGES; i++)
		put(RB_MAX_DATA);
	for (; fill >= 32; fill -= 32)
		put(28);
	if (fill)
		put(fill - 4);
	put_stepped(flags, length);
	ring_balanced(rb, written);
	st = ring_stats(rb);
	EXPECT_EQ(st.dropped + st.commit_overrun + st.nested, refused);
	drain();
	EXPECT_EQ(consumed + lost_sum + refused, written);
	put(8);
	put(RB_MAX_DATA); /* it goes on, into the next sub-buffer too */
	put(RB_MAX_DATA);
	EXPECT_EQ(st.dropped + st.commit_overrun + st.nested, refused);
	drain();
	EXPECT_EQ(consumed + lost_sum + refused, written);
	return traps >= n;
}

/* All boundaries of the way of one event; how many there are. */
static u32 boundaries(unsigned flags, u64 fill, size_t length)
{
	u32 n = 1;

	rb = ring_buffer_alloc(PAGES * RB_PAGE_DATA, flags, clock);
	while (pass(flags, fill, length, n))
		n++;
	ring_buffer_free(rb);
	return n - 1;
}

static void every_boundary(const struct burst *with, unsigned flags, u64 fill)
{
	struct sigaction sa = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO}, old;

	sigaction(SIGTRAP, &sa, &old);
	burst = with;
	EXPECT(boundaries(flags, fill, 12) > 50);
	sigaction(SIGTRAP, &old, NULL);
}

/* More than the ring holds: what the interrupted writer saw is laps old when it goes on. */
static void nested_laps(void)
{
	static const struct burst laps = {2 * PAGES, RB_MAX_DATA, false};

	every_boundary(&laps, RB_FL_OVERWRITE, RB_PAGE_DATA - 16); /* fits */
	every_boundary(&laps, RB_FL_OVERWRITE, RB_PAGE_DATA - 8);
	every_boundary(&laps, 0, RB_PAGE_DATA - 16);
}

/* One that crosses into the page which the interrupted writer makes room in. */
static void nested_event(void)
{
	static const struct burst one = {1, 12, false};

	fill_laps = 1;
	every_boundary(&one, RB_FL_OVERWRITE, RB_PAGE_DATA - 8);
	fill_laps = 0;
}

static u64 now;

static u64 slow_clock(void)
{
	return now += 1UL << 28;
}

static u64 very_slow_clock(void)
{
	return now += 1UL << 59; /* comes round */
}

/* Events whose time needs a word or three of its own go where the tail is, as others do. */
static void nested_after_long(void)
{
	static const struct burst one = {1, 12, false}, two = {2, 28, false};
	static u64 (*const clocks[])(void) = {slow_clock, very_slow_clock};

	for (unsigned i = 0; i < ARRAY_SIZE(clocks); i++) {
		clock = clocks[i];
		every_boundary(&one, RB_FL_OVERWRITE, 0);
		every_boundary(&two, 0, 64);
	}
	clock = NULL;
}

/*
 * A reader takes what they write: the page that the interrupted writer saw the tail in is in
 * another number now.
 */
static void nested_laps_read(void)
{
	static const struct burst laps = {PAGES + 1, RB_MAX_DATA, true};

	every_boundary(&laps, 0, RB_PAGE_DATA - 8);
}

/* Reads a page without taking it, and at trap `n` of the first look it is overwritten. */
static bool look_pass(u32 n)
{
	struct ring_buffer_live *it;
	struct ring_buffer_event *ev;
	bool missed, first = true;
	u32 next = 0;
	u64 ts;

	ring_buffer_reset(rb);
	written = refused = traps = 0;
	for (u64 fill = PAGES * RB_PAGE_DATA; fill >= 64; fill -= 32)
		put(28);
	it = ring_buffer_live_start(rb, ring_cpu());
	target = n;
	trap_flag(true);
	ev = ring_buffer_live_next(it, &ts, &missed);
	trap_flag(false);
	for (; ev; ev = ring_buffer_live_next(it, &ts, &missed)) {
		const u8 *data = ring_buffer_event_data(ev);
		u32 number = *(const u32 *)data, length = ring_buffer_data_length(ev);

		EXPECT(number >= next && (number == next || missed || first));
		EXPECT(data[length - 1] == 0x5a);
		next = number + 1;
		first = false;
	}
	EXPECT_EQ(next, written);
	ring_buffer_live_finish(it);
	return traps >= n;
}

/* What is copied while it is overwritten is not shown. */
static void overwritten_while_copied(void)
{
	static const struct burst laps = {2 * PAGES, RB_MAX_DATA, false};
	struct sigaction sa = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO}, old;
	u32 n = 1;

	sigaction(SIGTRAP, &sa, &old);
	burst = &laps;
	rb = ring_buffer_alloc(PAGES * RB_PAGE_DATA, RB_FL_OVERWRITE, NULL);
	while (look_pass(n))
		n += n < 200 ? 1 : 301; /* most are of copying one page */
	EXPECT(n > 50);
	ring_buffer_free(rb);
	sigaction(SIGTRAP, &old, NULL);
}

/* The same of a consuming reader: what is before the gap is told exactly. */
static bool consume_pass(u32 n)
{
	struct ring_buffer_event *ev;
	u64 ts, lost;
	u32 next = 0;

	ring_buffer_reset(rb);
	written = refused = traps = 0;
	for (u64 fill = PAGES * RB_PAGE_DATA; fill >= 64; fill -= 32)
		put(28);
	target = n;
	trap_flag(true);
	ev = ring_buffer_consume(rb, ring_cpu(), &ts, &lost);
	trap_flag(false);
	for (; ev; ev = ring_buffer_consume(rb, ring_cpu(), &ts, &lost)) {
		const u8 *data = ring_buffer_event_data(ev);

		EXPECT_EQ(*(const u32 *)data, next + lost);
		EXPECT(data[ring_buffer_data_length(ev) - 1] == 0x5a);
		next = *(const u32 *)data + 1;
	}
	EXPECT_EQ(next, written);
	return traps >= n;
}

/* A page is overwritten while a reader takes it: either the writer has it, or the reader. */
static void overwritten_while_taken(void)
{
	static const struct burst laps = {2 * PAGES, RB_MAX_DATA, false}, one = {1, 12, false};
	struct sigaction sa = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO}, old;

	sigaction(SIGTRAP, &sa, &old);
	rb = ring_buffer_alloc(PAGES * RB_PAGE_DATA, RB_FL_OVERWRITE, NULL);
	for (unsigned i = 0; i < 2; i++) {
		u32 n = 1;

		burst = i ? &one : &laps;
		while (consume_pass(n))
			n++;
		EXPECT(n > 50);
	}
	ring_buffer_free(rb);
	sigaction(SIGTRAP, &old, NULL);
}

static const struct ktap_case cases[] = {
    {"ring_step.nested_laps", nested_laps},
    {"ring_step.nested_laps_read", nested_laps_read},
    {"ring_step.nested_event", nested_event},
    {"ring_step.nested_after_long", nested_after_long},
    {"ring_step.overwritten_while_copied", overwritten_while_copied},
    {"ring_step.overwritten_while_taken", overwritten_while_taken},
    {NULL, NULL},
};
const struct ktap_suite suite_ring_step = {cases};
