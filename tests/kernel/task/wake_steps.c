/*
 * Deferred work, which every wake-up from an NMI or inside the scheduler takes, while it is
 * interrupted at each instruction boundary: by work of its own kind that is queued there. Each run
 * that was promised comes, and no other.
 */
#include "arch/arch.h"
#include "kernel/lib/ktap.h"
#include "kernel/task/irq_work.h"
#include "tests/kernel/arch/stepper.h"

struct wake_steps_work {
	struct irq_work work;
	unsigned promised, ran;
	unsigned least; /* runs: one begins after each queueing, whatever it said */
};

static void wake_steps_ran(struct irq_work *w)
{
	container_of(w, struct wake_steps_work, work)->ran++;
}

static struct wake_steps_work first, second, third;

static void wake_steps_queue(void *work)
{
	struct wake_steps_work *w = work;

	w->least = w->ran + 1;
	w->promised += irq_work_queue(&w->work);
}

static void wake_steps_queue_two(void *unused __maybe_unused)
{
	wake_steps_queue(&first);
	wake_steps_queue(&third);
}

static void wake_steps_run(void *unused __maybe_unused)
{
	irq_work_run();
}

static bool wake_steps_kept(const struct wake_steps_work *w)
{
	return READ_ONCE(w->ran) == w->promised && w->ran >= w->least && !w->work.queued;
}

/* The interrupt that runs what is left comes within some instructions. */
static bool wake_steps_all_kept(void)
{
	for (unsigned patience = 0; patience < 10000; patience++) {
		if (wake_steps_kept(&first) && wake_steps_kept(&second) && wake_steps_kept(&third))
			return true;
		cpu_relax();
	}
	return false;
}

/* One pass: two works wait; `outer` runs with `hook` at a boundary. False: no such boundary. */
static bool wake_steps_pass(
    void (*outer)(void *), bool waiting, void (*hook)(void *), void *hook_arg, u64 at)
{
	u64 flags = irq_save();

	first = second = third = (struct wake_steps_work){.work.fn = wake_steps_ran};
	if (waiting) {
		wake_steps_queue(&second);
		wake_steps_queue(&first);
	}
	bool reached = stepper_run(outer, &first, at, hook, hook_arg);
	EXPECT(first.promised >= 1);
	irq_restore(flags);
	EXPECT(wake_steps_all_kept());
	return reached;
}

static void wake_steps_all(
    void (*outer)(void *), bool waiting, void (*hook)(void *), void *hook_arg)
{
	u64 at = 0;

	stepper_begin();
	while (wake_steps_pass(outer, waiting, hook, hook_arg, at))
		at++;
	stepper_end();
	EXPECT(at > 20); /* instructions: it was stepped */
}

static void queue_and_queue(void)
{
	wake_steps_all(wake_steps_queue, false, wake_steps_queue, &second);
	wake_steps_all(wake_steps_queue, false, wake_steps_queue, &first);
	wake_steps_all(wake_steps_queue, false, wake_steps_queue_two, NULL);
	wake_steps_all(wake_steps_queue, true, wake_steps_queue_two, NULL);
}

static void run_and_queue(void)
{
	wake_steps_all(wake_steps_run, true, wake_steps_queue, &third);
	wake_steps_all(wake_steps_run, true, wake_steps_queue, &first);
	wake_steps_all(wake_steps_run, true, wake_steps_queue, &second);
	wake_steps_all(wake_steps_run, true, wake_steps_queue_two, NULL);
}

static const struct ktap_case cases[] = {
    {"wake_steps.queued_inside_queueing", queue_and_queue},
    {"wake_steps.queued_inside_a_run", run_and_queue},
    {NULL, NULL},
};
const struct ktap_suite suite_wake_steps = {cases};
