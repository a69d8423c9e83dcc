/*
 * The ring buffer at every instruction boundary. One event is written, from reserve to commit or
 * discard; at one boundary of its instructions something else runs whole, as an interrupt or
 * another CPU would have it: a nested writer, a reader, a swap. For every boundary there is, for
 * every fill level around the edge of a sub-buffer, both modes, and each thing to come in between.
 * After each, all hits are accounted for, and what is read is whole, in order and at its time.
 *
 * ring_steps.pairs does it twice over: what comes in between is itself interrupted at every
 * boundary. `make steps` runs all of that, or a part, in twenty minutes; here it is a sample.
 */
#include "kernel/base/cmdline.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/kernel/arch/stepper.h"
#include "tests/kernel/ring/scene.h"
#include "trace/host_context.h"

#define BIG 1960 /* two of them and a small one fit in a sub-buffer */

/* ---- What is stepped: one event ---- */

static void op_call(void *unused)
{
	(void)unused;
	scene_write(16);
}

static void op_big(void *unused)
{
	(void)unused;
	scene_write(BIG);
}

static void op_inline(void *unused)
{
	unsigned cpu = host_cpu();
	u32 hit = scene_hit();
	struct ring_buffer_event *ev = rb_reserve(scene_rb, cpu, 16);

	(void)unused;
	if (ev) {
		scene_fill(rb_data(ev, 16), 16, hit);
		rb_commit(scene_rb, cpu, ev, rb_size(16));
	}
	scene_done(hit, ev);
}

/* The short way refuses, uncounted, what is not short. */
static void op_try(void *unused)
{
	unsigned cpu = host_cpu();
	u32 hit = scene_hit();
	struct ring_buffer_event *ev = rb_try_reserve(scene_rb, cpu, 16);

	(void)unused;
	if (ev) {
		scene_fill(rb_data(ev, 16), 16, hit);
		rb_commit(scene_rb, cpu, ev, rb_size(16));
	} else {
		scene_not_hit();
	}
	scene_done(hit, ev);
}

static void op_write(void *unused)
{
	u32 hit = scene_hit();
	u32 data[10];

	(void)unused;
	scene_fill(data, sizeof(data), hit);
	scene_done(hit, ring_buffer_write(scene_rb, sizeof(data), data) ? NULL : (void *)data);
}

static void op_discard(void *unused)
{
	u32 hit = scene_hit();
	struct ring_buffer_event *ev = ring_buffer_lock_reserve(scene_rb, 16);

	(void)unused;
	if (ev) {
		scene_discarded(hit);
		ring_buffer_discard_commit(scene_rb, ev);
	}
	scene_done(hit, ev);
}

static void op_discard_inline(void *unused)
{
	unsigned cpu = host_cpu();
	u32 hit = scene_hit();
	struct ring_buffer_event *ev = rb_reserve(scene_rb, cpu, 60);

	(void)unused;
	if (ev) {
		scene_discarded(hit);
		rb_discard(scene_rb, cpu, ev, rb_size(60));
	}
	scene_done(hit, ev);
}

/* The tail leaves the sub-buffer that the reader has, without an event: trace/ring/map.c. */
static void op_leave(void *unused)
{
	(void)unused;
	rb_leave_page(&scene_rb->cpu_buffers[host_cpu()]);
}

/* ---- What comes in between ---- */

static void nested(void (*op)(void *))
{
	struct host_context ctx;

	host_enter(&ctx);
	op(NULL);
	host_preempt_enable();
}

static void hook_write(void *unused)
{
	(void)unused;
	nested(op_inline);
}

static void hook_discard(void *unused)
{
	(void)unused;
	nested(op_discard);
}

/* Into the next sub-buffer at least. */
static void hook_cross(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 3; i++)
		nested(op_big);
}

/* Once round the ring and on. */
static void hook_round(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 2 * scene_rb->count + 3; i++)
		nested(op_big);
}

static void hook_consume(void *unused)
{
	(void)unused;
	scene_consume();
}

static void hook_consume_all(void *unused)
{
	(void)unused;
	while (scene_consume())
		;
}

static void hook_read_page(void *unused)
{
	(void)unused;
	scene_read_page();
}

/*
 * A nested writer that goes on to the next sub-buffer, and no further, and a reader on another CPU.
 */
static void hook_cross_consume(void *unused)
{
	nested(op_big);
	nested(op_big);
	hook_consume_all(unused);
}

static void hook_round_read(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 2 * scene_rb->count + 3; i++) {
		nested(op_big);
		if (i % 2)
			scene_read_page();
	}
}

static void hook_write_discard(void *unused)
{
	hook_write(unused);
	hook_discard(unused);
	hook_write(unused);
}

static void hook_swap_cpu(void *unused)
{
	(void)unused;
	ring_buffer_swap_cpu(scene_rb, scene_other, host_cpu());
}

static void hook_swap(void *unused)
{
	struct host_context ctx;

	hook_write(unused);
	host_enter(&ctx);
	ring_buffer_swap(scene_rb, scene_other);
	host_preempt_enable();
	hook_write(unused);
}

static void hook_off_on(void *unused)
{
	ring_buffer_record_off(scene_rb);
	hook_write(unused);
	ring_buffer_record_on(scene_rb);
}

struct part {
	const char *name;
	void (*fn)(void *);
	bool main; /* else: only together with one that is, but for `make steps` */
};

static const struct part ops[] = {
    {"inline", op_inline, true},
    {"big", op_big, true},
    {"discard", op_discard, true},
    {"call", op_call, false},
    {"try", op_try, false},
    {"write", op_write, false},
    {"discard_inline", op_discard_inline, false},
};
static const struct part hooks[] = {
    {"write", hook_write, true},
    {"round", hook_round, true},
    {"cross_consume", hook_cross_consume, true},
    {"discard", hook_discard, false},
    {"cross", hook_cross, false},
    {"consume", hook_consume, false},
    {"consume_all", hook_consume_all, false},
    {"read_page", hook_read_page, false},
    {"round_read", hook_round_read, false},
    {"write_discard", hook_write_discard, false},
    {"swap_cpu", hook_swap_cpu, false},
    {"swap", hook_swap, false},
    {"off_on", hook_off_on, false},
};

/* ---- Depth 1 ---- */

static char label[128];

static void label_make(
    const struct scene *s, const struct part *op, const struct part *hook, u64 at)
{
	fmt_snprintf(label, sizeof(label),
	    "flags %u count %u room %llu behind %d time %d %s, %s at %llu", s->flags, s->count,
	    (unsigned long long)s->room, s->behind, s->time, op->name, hook->name,
	    (unsigned long long)at);
}

/* Is there room for all, whenever hook_cross_consume() comes? */
static bool room_for_all(const struct scene *s, const struct part *op, const struct part *hook)
{
	return !s->flags && s->behind != BEHIND_UNREAD && op->fn != op_big &&
	       hook->fn == hook_cross_consume;
}

/* `op` interrupted at `at`; false: it has no such boundary. */
static bool once(const struct scene *s, const struct part *op, const struct part *hook, u64 at)
{
	bool reached;

	scene_restore();
	reached = scene_step(op->fn, at, hook->fn);
	label_make(s, op, hook, at);
	scene_check(label, false);
	if (scene_refused() && room_for_all(s, op, hook))
		ktap_fail(__FILE__, __LINE__, "%s: refused, though there is room", label);
	return reached;
}

static u64 every_boundary(const struct scene *s, const struct part *op, const struct part *hook)
{
	u64 at = 0;

	while (once(s, op, hook, at))
		at++;
	return at;
}

/* Parts that are not main are tried with those that are; `all`: all with all. */
static u64 all_parts(const struct scene *s, bool all)
{
	u64 boundaries = 0;

	scene_make(s);
	for (unsigned i = 0; i < ARRAY_SIZE(ops); i++) {
		for (unsigned j = 0; j < ARRAY_SIZE(hooks); j++) {
			if (all || ops[i].main || hooks[j].main)
				boundaries += every_boundary(s, &ops[i], &hooks[j]);
		}
	}
	scene_end();
	return boundaries;
}

/* An event of 16 bytes takes 20, with a time in front 28 or 32: it fits, or it does not. */
static const struct scene scenes[] = {
    {.count = 2, .room = 16},
    {.count = 2, .room = 20},
    {.count = 2, .room = 100},
    {.count = 2, .room = ROOM_FRESH},
    {.count = 2, .room = RB_PAGE_DATA},
    {.count = 2, .room = 16, .behind = BEHIND_READ},
    {.count = 2, .room = 20, .behind = BEHIND_READ},
    {.count = 2, .room = 16, .behind = BEHIND_UNREAD},
    {.count = 2, .room = 20, .behind = BEHIND_UNREAD},
    {.count = 2, .room = 24, .behind = BEHIND_UNREAD, .time = TIME_FAR},
    {.count = 2, .room = 28, .time = TIME_FAR},
    {.count = 2, .room = 28, .behind = BEHIND_READ, .time = TIME_BACK},
    {.count = 2, .room = 32, .time = TIME_BACK},
};

/*
 * With a thread per CPU the emulator is slower at this, and it shows no more: a few scenes.
 * `make steps` tries each boundary, other runs leave out those that hooks cannot tell apart.
 */
static void edges(unsigned flags)
{
	unsigned stride = cmdline_flag("hosttime") ? 5 : 1;
	bool all = cmdline_get("steps");
	u64 boundaries = 0;

	stepper_begin();
	if (!all)
		stepper_skip_private();
	for (unsigned i = 0; i < ARRAY_SIZE(scenes); i += stride) {
		struct scene s = scenes[i];

		s.flags = flags;
		boundaries += all_parts(&s, all);
	}
	stepper_end();
	ktap_note("%llu boundaries, all covered", (unsigned long long)boundaries);
	EXPECT(boundaries > 1000);
}

static void producer(void)
{
	edges(0);
}

static void overwrite(void)
{
	edges(RB_FL_OVERWRITE);
}

/* ---- A tail that is sent on: under the reader lock, so nobody reads in between ---- */

static void leaving(void)
{
	static const struct part op = {"leave", op_leave, true};
	static const struct part writers[] = {
	    {"write", hook_write, true},
	    {"discard", hook_discard, true},
	    {"write_discard", hook_write_discard, true},
	    {"cross", hook_cross, true},
	    {"round", hook_round, true},
	};
	u64 boundaries = 0;

	stepper_begin();
	for (unsigned i = 0; i < ARRAY_SIZE(scenes) * 2; i++) {
		struct scene s = scenes[i / 2];

		if (s.behind != BEHIND_READ)
			continue;
		s.flags = i % 2 ? RB_FL_OVERWRITE : 0;
		scene_make(&s);
		for (unsigned j = 0; j < ARRAY_SIZE(writers); j++)
			boundaries += every_boundary(&s, &op, &writers[j]);
		scene_end();
	}
	stepper_end();
	ktap_note("%llu boundaries, all covered", (unsigned long long)boundaries);
	EXPECT(boundaries > 1000);
}

/* ---- Depth 2 ---- */

/*
 * What comes in between, itself interrupted. To step anew to each boundary would take most of the
 * time: pair_branch() marks the boundary, the third part and all after it run and are checked, and
 * then all goes back to the mark, from which the second part is stepped on. In memory, as it must
 * outlive that. The clock does not go back: after BRANCHES_NS of this the scene begins anew.
 */
#define BRANCHES_NS 20000000UL

static struct {
	const struct part *second, *third;
	u64 from, count; /* boundaries of the second: where to begin; done */
	u64 first_ns;	 /* when the first branch of this run was taken; 0: none was */
	const void *stack_end;
	bool branched;
} pair;

static bool pair_branch(void *unused)
{
	scene_mark();
	if (stepper_mark(pair.stack_end)) {
		scene_return();
		pair.branched = false;
		return true;
	}
	if (!pair.first_ns)
		pair.first_ns = clock_ns();
	pair.branched = true;
	pair.third->fn(unused);
	return false;
}

static void hook_pair(void *unused)
{
	stepper_run_each(pair.second->fn, unused, pair.from, pair_branch, unused);
}

/* All pairs at one boundary of op; false: it has no such boundary. */
static bool pairs_at(const struct scene *s, const struct part *op, u64 at)
{
	static const struct part hook = {"pair", hook_pair, false};

	pair.from = 0;
	pair.stack_end = __builtin_frame_address(0);
	do {
		pair.branched = false;
		pair.first_ns = 0;
		/* Returns after each branch. */
		if (!once(s, op, &hook, at))
			return false;
		if (pair.branched) {
			pair.from++;
			pair.count++;
			if (clock_ns() - pair.first_ns < BRANCHES_NS)
				stepper_return();
		}
	} while (pair.branched);
	return true;
}

static u64 every_pair(const struct scene *s, const struct part *op)
{
	u64 at = 0;

	scene_make(s);
	pair.count = 0;
	while (pairs_at(s, op, at))
		at++;
	scene_end();
	return pair.count;
}

/* A reader is not interrupted by another: they are tasks that hold a lock. */
static const struct {
	struct part second, third;
} nests[] = {
    {{"write", hook_write, true}, {"cross_consume", hook_cross_consume, true}},
    {{"write", hook_write, true}, {"round", hook_round, true}},
    {{"discard", hook_discard, true}, {"write", hook_write, true}},
    {{"cross", hook_cross, true}, {"consume_all", hook_consume_all, true}},
    {{"consume_all", hook_consume_all, true}, {"round", hook_round, true}},
    {{"cross_consume", hook_cross_consume, true}, {"write", hook_write, true}},
    {{"read_page", hook_read_page, true}, {"cross", hook_cross, true}},
    {{"swap", hook_swap, true}, {"write", hook_write, true}},
    {{"write", hook_write, true}, {"swap", hook_swap, true}},
};
#define MAIN_OPS     3 /* of ops[] */
#define COMBINATIONS (ARRAY_SIZE(scenes) * 2 * MAIN_OPS * ARRAY_SIZE(nests))

static void combination(unsigned n)
{
	struct scene s = scenes[n % ARRAY_SIZE(scenes)];
	const struct part *op;
	u64 pairs;

	n /= ARRAY_SIZE(scenes);
	s.flags = n % 2 ? RB_FL_OVERWRITE : 0;
	n /= 2;
	op = &ops[n % MAIN_OPS];
	pair.second = &nests[n / MAIN_OPS].second;
	pair.third = &nests[n / MAIN_OPS].third;
	pairs = every_pair(&s, op);
	ktap_note("flags %u room %llu behind %d time %d: %s, %s, %s: %llu pairs", s.flags,
	    (unsigned long long)s.room, s.behind, s.time, op->name, pair.second->name,
	    pair.third->name, (unsigned long long)pairs);
	EXPECT(pairs > 100);
}

static void combinations(u64 from, u64 to, u64 by)
{
	for (u64 n = from; n <= MIN(to, (u64)COMBINATIONS - 1); n += by) {
		ktap_note("combination %llu of 0 to %u", (unsigned long long)n,
		    (unsigned)COMBINATIONS - 1);
		combination(n);
	}
}

/*
 * `steps=N steps_to=M` on the command line selects combinations; the default is one of each nest.
 * Boundaries that the hooks cannot tell apart are tried once.
 */
static void pairs(void)
{
	u64 from = cmdline_u64("steps", -1UL);

	stepper_begin();
	stepper_skip_private();
	if (from != -1UL)
		combinations(from, cmdline_u64("steps_to", from), 1);
	else
		combinations(2, -1UL, COMBINATIONS / ARRAY_SIZE(nests));
	stepper_end();
}

static const struct ktap_case cases[] = {
    {"ring_steps.producer", producer},
    {"ring_steps.overwrite", overwrite},
    {"ring_steps.leaving", leaving},
    {"ring_steps.pairs", pairs},
    {NULL, NULL},
};
const struct ktap_suite suite_ring_steps = {cases};
