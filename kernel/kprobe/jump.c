/*
 * Optimised probes: breakpoints become jumps. Task context, under kprobe_lock. What a jump is:
 * arch/x86_64/probe/jump.c.
 *
 * A site may be a jump while it is wanted, no other wanted site lies under the jump, none of its
 * probes has a post handler, and the machine says nothing against it. What changes it makes it a
 * breakpoint again at once; that it becomes a jump is left to a task, which waits a little first,
 * as much is changed at a time. It, for up to ARCH_PROBE_BATCH sites at once:
 *   1. waits until nobody is in their old detours
 *   2. makes their detours: who traps goes through them, and nobody comes under the jumps-to-be any
 *      more
 *   3. looks who is there still: on each CPU, and of all tasks where they were preempted
 *   4. puts in the jumps where nobody is; the others are tried again later
 * 3. in this order: who is there was running when its CPU was asked, and is found so; or was not,
 * and then was preempted there and says so until it next gives up the CPU or is preempted
 * elsewhere.
 */
#include "kernel/kprobe/site.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/base/printk.h"
#include "kernel/task/sched.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"

#define DELAY_NS (5 * TICK_NS) /* as Linux */

struct batch {
	struct probe_site *site[ARCH_PROBE_BATCH];
	unsigned n;
	u64 busy; /* [A] a bit for each: somebody is there */
};
_Static_assert(ARCH_PROBE_BATCH <= 64, "a bit for each");

static bool forbidden;	    /* [P] by the switch */
static u32 work;	    /* [A] there may be something to do */
static bool tasks_run;	    /* [P] */
static struct task *worker; /* [P] */
static struct wait_queue work_wq = WAIT_QUEUE_INIT(work_wq);

/* ---- which ---- */

static bool has_post_handler(const struct probe_site *s)
{
	for (const struct kprobe *p = s->first; p; p = p->next)
		if (p->post_handler)
			return true;
	return false;
}

static bool is_covered(const struct probe_site *s, u64 addr)
{
	return addr > s->addr && addr < s->addr + s->arch.region;
}

static bool covers_another(const struct probe_site *s)
{
	for (u64 at = s->addr + 1; at < s->addr + s->arch.region; at++) {
		const struct probe_site *other = probe_site_at(at);
		if (other && other->wanted)
			return true;
	}
	return false;
}

static bool kprobe_may_optimize(struct probe_site *s)
{
	if (forbidden || s->hooked || !s->wanted || !s->armed || has_post_handler(s))
		return false;
	if (!s->checked) {
		s->no_jump = arch_jump_check(&s->arch);
		s->checked = true;
	}
	return !s->no_jump && !covers_another(s);
}

bool kprobe_is_optimized(struct probe_site *s)
{
	return s->jump || kprobe_may_optimize(s);
}

/* ---- back to breakpoints ---- */

static void kprobe_batch_unoptimize(struct batch *b)
{
	struct arch_probe *list[ARCH_PROBE_BATCH];
	unsigned n = 0;

	for (unsigned i = 0; i < b->n; i++)
		if (b->site[i]->jump)
			list[n++] = &b->site[i]->arch;
	arch_jump_arm(list, n, false);
	for (unsigned i = 0; i < b->n; i++) {
		WRITE_ONCE(b->site[i]->jump, false);
		arch_jump_close(&b->site[i]->arch);
	}
	b->n = 0;
}

/* A site is in the batch once: it counts as closed from then on. */
static void kprobe_batch_close(struct batch *b, struct probe_site *s)
{
	if (!s || !s->opened)
		return;
	s->opened = false;
	b->site[b->n++] = s;
	if (b->n == ARCH_PROBE_BATCH)
		kprobe_batch_unoptimize(b);
}

static void close_around(struct batch *b, struct probe_site *s)
{
	kprobe_batch_close(b, s);
	for (unsigned i = 1; s->wanted && i < ARCH_JUMP_LEN; i++) {
		struct probe_site *before = probe_site_at(s->addr - i);
		if (before && is_covered(before, s->addr))
			kprobe_batch_close(b, before);
	}
}

void kprobe_unoptimize_several(struct kprobe *const *ps, unsigned n)
{
	struct batch b = {.n = 0};

	for (unsigned i = 0; i < n; i++)
		if (ps[i]->site)
			close_around(&b, ps[i]->site);
	kprobe_batch_unoptimize(&b);
}

void kprobe_unoptimize(struct probe_site *s)
{
	struct batch b = {.n = 0};

	kprobe_batch_close(&b, s);
	kprobe_batch_unoptimize(&b);
}

void kprobe_unoptimize_all(void)
{
	struct batch b = {.n = 0};

	for (unsigned i = 0; i < PROBE_BUCKETS; i++)
		for (struct probe_site *s = probe_buckets[i]; s; s = s->next)
			kprobe_batch_close(&b, s);
	kprobe_batch_unoptimize(&b);
}

/* ---- to jumps ---- */

static struct kprobe *only_enabled(const struct probe_site *s)
{
	struct kprobe *found = NULL;

	for (struct kprobe *p = s->first; p; p = p->next)
		if (!(p->flags & KPROBE_FLAG_DISABLED)) {
			if (found)
				return NULL;
			found = p;
		}
	return found;
}

/* 2. The one probe's handler is called as it is; several by one for all. */
static bool site_open(struct probe_site *s)
{
	struct kprobe *p = only_enabled(s);
	int err;

	if (p)
		err = arch_jump_open(&s->arch, (int (*)(void *, struct regs *))p->pre_handler, p);
	else
		err = arch_jump_open(&s->arch, kprobe_call_several, s);
	s->opened = !err;
	return !err;
}

static void kprobe_note_inside(struct batch *b, u64 rip)
{
	for (unsigned i = 0; i < b->n; i++)
		if (arch_jump_inside(&b->site[i]->arch, rip))
			atomic_or(&b->busy, 1UL << i);
}

/*
 * The task that runs has come from where it was preempted, or is there and says so by where it is
 * now.
 */
static void kprobe_look_here(void *arg)
{
	const struct regs *r = irq_regs();

	if (r)
		kprobe_note_inside(arg, r->rip);
	WRITE_ONCE(current()->preempted_at, 0);
}

static void look(struct batch *b)
{
	struct task *t = NULL;

	b->busy = 0;
	cpu_call_all(kprobe_look_here, b);
	while ((t = task_next(t)))
		kprobe_note_inside(b, READ_ONCE(t->preempted_at));
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		kprobe_note_inside(b, READ_ONCE(sched_idle_task(cpu)->preempted_at));
}

/* 4. */
static void kprobe_batch_optimize(const struct batch *b)
{
	struct arch_probe *list[ARCH_PROBE_BATCH];
	unsigned n = 0;

	for (unsigned i = 0; i < b->n; i++) {
		if (b->busy >> i & 1)
			continue;
		WRITE_ONCE(b->site[i]->jump, true);
		list[n++] = &b->site[i]->arch;
	}
	arch_jump_arm(list, n, true);
}

/* 1. to 4.; those without room for a detour stay breakpoints. False: some are busy. */
static bool kprobe_run_batch(struct batch *b)
{
	unsigned n = 0;

	if (!b->n)
		return true;
	for (unsigned i = 0; i < b->n; i++)
		if (!b->site[i]->opened)
			arch_jump_leave(&b->site[i]->arch);
	arch_probe_sync();
	for (unsigned i = 0; i < b->n; i++)
		if (b->site[i]->opened || site_open(b->site[i]))
			b->site[n++] = b->site[i];
	b->n = n;
	look(b);
	kprobe_batch_optimize(b);
	b->n = 0;
	return !b->busy;
}

static bool kprobe_optimize_all(void)
{
	struct batch b = {.n = 0};
	bool all = true;

	for (unsigned i = 0; i < PROBE_BUCKETS; i++)
		for (struct probe_site *s = probe_buckets[i]; s; s = s->next) {
			if (s->jump || !kprobe_may_optimize(s))
				continue;
			b.site[b.n++] = s;
			if (b.n == ARCH_PROBE_BATCH)
				all &= kprobe_run_batch(&b);
		}
	return kprobe_run_batch(&b) && all;
}

bool kprobes_optimize(void)
{
	mutex_lock(&kprobe_lock);
	bool all = kprobe_optimize_all();
	mutex_unlock(&kprobe_lock);
	return all;
}

/* ---- when ---- */

static void kprobe_optimizer(void *unused)
{
	(void)unused;
	for (;;) {
		wait_event_interruptible(&work_wq, atomic_load(&work));
		sleep_ns(DELAY_NS, NULL);
		atomic_store(&work, 0);
		if (!kprobes_optimize())
			atomic_store(&work, 1);
	}
}

/* Without the task all stay breakpoints, until it can be made. */
void kprobe_kick_optimizer(void)
{
	if (forbidden || kprobes_all_off)
		return;
	atomic_store(&work, 1);
	if (tasks_run && !worker)
		worker = kthread_run(kprobe_optimizer, NULL, -1, "kprobe-opt");
	wake_up(&work_wq);
}

void kprobe_optimizer_init(void)
{
	mutex_lock(&kprobe_lock);
	tasks_run = true;
	if (atomic_load(&work))
		kprobe_kick_optimizer();
	mutex_unlock(&kprobe_lock);
}

void kprobes_optimization(bool on)
{
	mutex_lock(&kprobe_lock);
	if (forbidden == on) {
		forbidden = !on;
		if (on)
			kprobe_kick_optimizer();
		else
			kprobe_unoptimize_all();
		pr_info("kprobes: kprobe jump-optimization is %s. All kprobes are %s.",
		    on ? "enabled" : "disabled",
		    on ? "optimized if possible" : "based on software breakpoint");
	}
	mutex_unlock(&kprobe_lock);
}

bool kprobes_optimization_is_on(void)
{
	return !forbidden;
}
