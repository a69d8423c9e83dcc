/*
 * The ring buffer's control calls at every instruction boundary: one event is single-stepped, and
 * at one boundary a task on another CPU begins to reset, resize, iterate or lock. It gets as far as
 * it can, waits for the writer, which goes on, and then acts. For every boundary there is that the
 * other CPU can tell from the one before; for all of them if `steps=` is on the command line.
 */
#include "kernel/base/cmdline.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/task/task.h"
#include "tests/kernel/arch/stepper.h"
#include "tests/kernel/ring/scene.h"
#include "tests/kernel/threads.h"

static void write_event(void *unused)
{
	(void)unused;
	scene_write(16);
}

/*
 * Control calls of a task on another CPU: it gets as far as it can at the boundary, and on when the
 * event is done.
 */
struct control {
	const char *name;
	void (*fn)(void);
	bool resets;
};

static const struct control *control;
static u32 control_go, control_done; /* [A] */
static int writer_cpu;

static void reset_cpu(void)
{
	ring_buffer_reset_cpu(scene_rb, writer_cpu);
}

static void reset_all(void)
{
	ring_buffer_reset(scene_rb);
}

static void set_clock(void)
{
	ring_buffer_set_clock(scene_rb, NULL);
}

static void grow(void)
{
	EXPECT_EQ(ring_buffer_resize(scene_rb, 5 * RB_PAGE_DATA, -1), 0);
}

static void shrink(void)
{
	EXPECT_EQ(ring_buffer_resize(scene_rb, 2 * RB_PAGE_DATA, writer_cpu), 0);
}

static void iterate(void)
{
	struct ring_buffer_iter *it = ring_buffer_read_start(scene_rb, writer_cpu);
	struct ring_buffer_stats st;
	u64 n = 0;

	EXPECT_EQ(scene_rb->cpu_buffers[writer_cpu].depth, 0);
	while (ring_buffer_read(it, NULL))
		n++;
	ring_buffer_stats(scene_rb, writer_cpu, &st);
	EXPECT_EQ(n, st.entries);
	ring_buffer_read_finish(it);
}

static void lock_unlock(void)
{
	ring_buffer_lock(scene_rb);
	EXPECT_EQ(scene_rb->cpu_buffers[writer_cpu].depth, 0);
	ring_buffer_unlock(scene_rb);
}

static const struct control controls[] = {
    {"reset_cpu", reset_cpu, true},
    {"reset", reset_all, true},
    {"set_clock", set_clock, true},
    {"grow", grow, false},
    {"shrink", shrink, false},
    {"iterate", iterate, false},
    {"lock", lock_unlock, false},
};

static void control_task(void *unused)
{
	(void)unused;
	while (!atomic_load(&control_go))
		sched_yield_current();
	control->fn();
	atomic_store(&control_done, 1);
}

/* Goes on when the call has shut the way in, and waits. */
static void hook_control(void *unused)
{
	(void)unused;
	atomic_store(&control_go, 1);
	while (!atomic_load(&scene_rb->cpu_buffers[writer_cpu].slow) && !atomic_load(&control_done))
		__builtin_ia32_pause();
}

static bool control_once(const struct scene *s, u64 at)
{
	struct threads threads = {0};
	char label[96];
	bool reached;

	control_go = control_done = 0;
	scene_make(s);
	thread_start(&threads, control_task, NULL, !writer_cpu);
	reached = scene_step(write_event, at, hook_control);
	atomic_store(&control_go, 1);
	threads_join(&threads);
	fmt_snprintf(label, sizeof(label), "flags %u room %llu behind %d: %s at %llu", s->flags,
	    (unsigned long long)s->room, s->behind, control->name, (unsigned long long)at);
	scene_check(label, control->resets);
	scene_end();
	return reached;
}

static void control_calls(void)
{
	static const struct scene places[] = {
	    {.count = 3, .room = 16, .behind = BEHIND_UNREAD},
	    {.flags = RB_FL_OVERWRITE, .count = 3, .room = 16, .behind = BEHIND_UNREAD},
	    {.count = 3, .room = 100, .behind = BEHIND_READ},
	};
	bool all = cmdline_get("steps");
	u64 boundaries = 0;

	if (cpu_count() < 2)
		return ktap_skip("one CPU");
	preempt_disable();
	writer_cpu = cpu_id();
	preempt_enable();
	EXPECT_EQ(task_set_affinity(current(), 1UL << writer_cpu), 0);
	stepper_begin();
	if (!all)
		stepper_skip_private();
	for (control = controls; control < controls + ARRAY_SIZE(controls); control++) {
		for (unsigned i = 0; i < ARRAY_SIZE(places); i++) {
			for (u64 at = 0; control_once(&places[i], at); at++)
				boundaries++;
		}
	}
	stepper_end();
	ktap_note("%llu boundaries, all covered", (unsigned long long)boundaries);
	EXPECT(boundaries > 500);
	task_set_affinity(current(), -1UL);
}

static const struct ktap_case cases[] = {
    {"ring_steps.control", control_calls},
    {NULL, NULL},
};
const struct ktap_suite suite_ring_steps_control = {cases};
