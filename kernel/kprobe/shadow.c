/*
 * Shadow stacks: making them, and dropping records whose functions were left otherwise than by
 * their return. shadow.h has the words.
 *
 * A shadow stack is made for every task once somebody follows calls, and for each new one from then
 * on; it is as large as the task's own stack, so that the latter runs out first.
 */
/* hot: runs with each event */
#include "kernel/kprobe/shadow.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/errno.h"
#include "kernel/mem/mem.h"
#include "kernel/task/sched.h"

/* For each 16 bytes of the task's stack, the least a call takes, a record and what is below it. */
#define SHADOW_SIZE                                                                                \
	(KERNEL_STACK_SIZE / 16 *                                                                  \
	    (sizeof(struct shadow_record) + sizeof(struct kretprobe_instance)))

static bool in_use; /* [A] tasks need shadow stacks */

static SHADOW_INLINE bool same_stack(u64 a, u64 b)
{
	u64 top = this_cpu_read(kernel_rsp);

	return top - a <= KERNEL_STACK_SIZE && top - b <= KERNEL_STACK_SIZE;
}

static __noprobe void shadow_drop(struct shadow *s, struct shadow_record *r, bool ended)
{
	WRITE_ONCE(s->top, shadow_below(r));
	if (r->owner & 1)
		hook_dropped(r, ended);
	else
		kretprobe_dropped(r);
}

__noprobe void shadow_drop_stale(struct shadow *s, u64 slot)
{
	bool own = shadow_is_return(*(u64 *)slot);
	struct shadow_record *r;

	while ((r = s->top)->slot < slot || (r->slot == slot && !own))
		if (same_stack(r->slot, slot))
			shadow_drop(s, r, false);
		else
			break;
}

__noprobe struct shadow_record *shadow_first(struct shadow *s, u64 slot)
{
	struct shadow_record *r;

	shadow_drop_stale(s, slot);
	r = s->top;
	return r->slot ? r : shadow_below(r);
}

/*
 * What stood at `slot` of the current task's stack before it was taken; 0: not known. Slot 0: of
 * the innermost call.
 */
u64 __noprobe kernel_probe_returns_to(u64 slot)
{
	struct shadow *s = shadow_of(current());

	for (struct shadow_record *r = s ? s->top : NULL; r && r->owner; r = shadow_below(r))
		if (r->slot == slot || !slot)
			return r->ret;
	return 0;
}

u64 __noprobe kernel_probe_real_return(u64 slot)
{
	u64 ret = *(const u64 *)slot,
	    real = shadow_is_return(ret) ? kernel_probe_returns_to(slot) : 0;

	return real ? real : ret;
}

/* ---- tasks ---- */

static int shadow_make(struct task *t)
{
	size_t room = SHADOW_SIZE + sizeof(struct shadow_record);
	struct shadow *s = t->arch.shadow ? NULL : kzalloc(sizeof(*s) + room);

	if (t->arch.shadow)
		return 0;
	if (!s)
		return -ENOMEM;
	s->top = (struct shadow_record *)s->bytes;
	s->top->slot = UINT64_MAX;
	s->last = s->bytes + room - sizeof(struct shadow_record);
	if (!atomic_cas(&t->arch.shadow, NULL, s))
		kfree(s);
	return 0;
}

/* Without memory its returns are missed, and counted so. */
static void shadow_task_begins(struct task *t)
{
	if (atomic_load(&in_use))
		shadow_make(t);
}

static void shadow_task_ends(struct task *t)
{
	struct shadow *s = t->arch.shadow;
	struct shadow_record *r;

	while (s && (r = s->top)->owner)
		shadow_drop(s, r, true);
	kfree(s);
}

static const struct task_hooks task_hooks = {shadow_task_begins, shadow_task_ends};

/* New tasks see in_use, or are found here. */
int shadow_stacks_make(void)
{
	struct task *t = NULL;
	int err = 0;

	if (atomic_load(&in_use))
		return 0;
	task_hooks_set(&task_hooks);
	atomic_store(&in_use, true);
	for (unsigned cpu = 0; cpu < cpu_count() && !err; cpu++)
		err = shadow_make(sched_idle_task(cpu));
	while ((t = task_next(t)))
		if (shadow_make(t))
			err = -ENOMEM;
	if (err)
		atomic_store(&in_use, false);
	preempt_disable();
	if (shadow_of(current())) /* other CPUs learn of it when they switch */
		this_cpu_write(shadow, shadow_of(current()));
	preempt_enable();
	return err;
}
