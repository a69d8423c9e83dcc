/*
 * Return probes. A probe at a function's entry takes the return address from the stack, keeps it in
 * a record on the current task's shadow stack, and puts probe_return() there instead; that comes
 * here, and goes where it should have gone.
 *
 * Words: a record belongs to the slot, the address in the task's stack where the return address
 * stood. Records of nested calls lie one above the other, those of interrupts and NMIs on top:
 * whoever pushes pops before it returns. A record is stale when its function was left otherwise
 * than by its return; it is found under one for an outer slot and dropped.
 *
 * A shadow stack is made for every task once there is a return probe, and for each new one from
 * then on; it is as large as the task's own stack, so that the latter runs out first. The stack
 * belongs to its task: no locks. An NMI may come between any two instructions; it finds `top`
 * either before or after.
 */
/* hot: runs with each event */
#include "kernel/base/sym.h"
#include "kernel/kprobe/site.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/sched.h"
#include "kernel/task/task.h"

/* A record for each 16 bytes of the task's stack, the least a call takes. */
#define SHADOW_SIZE (KERNEL_STACK_SIZE / 16 * sizeof(struct record))

/* Into code that may not be probed. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/*
 * What records point at: a probe may be gone before its calls have returned. Made once, used again,
 * never freed.
 */
struct kretprobe_holder {
	struct kretprobe *rp;	       /* [A] NULL: gone */
	u32 refs;		       /* [A] records, and the probe itself */
	struct kretprobe_holder *next; /* [I] of all */
};

/* Above its data. */
struct record {
	u64 slot;
	u64 size; /* with the data below */
	struct kretprobe_holder *holder;
	struct kretprobe_instance ri;
};

/* The lowest record is of no call: its slot lies above all others. */
struct shadow {
	struct record *top; /* [the task's own] */
	u8 *end;
	u8 bytes[];
};

static struct kretprobe_holder *holders; /* [A] only added to */
static bool in_use; /* [A] there was a return probe: tasks need shadow stacks */

/* ---- the shadow stack ---- */

static ALWAYS_INLINE struct record *below(struct record *r)
{
	return (struct record *)((u8 *)r - r->size);
}

static ALWAYS_INLINE void pop(struct shadow *s, struct record *r)
{
	struct kretprobe_holder *h = r->holder;

	WRITE_ONCE(s->top, below(r));
	atomic_sub(&h->refs, 1);
}

static ALWAYS_INLINE bool same_stack(u64 a, u64 b)
{
	u64 top = this_cpu_read(kernel_rsp);

	return top - a <= KERNEL_STACK_SIZE && top - b <= KERNEL_STACK_SIZE;
}

/*
 * Drops what functions left behind that cannot return any more: below `slot`, and those of the slot
 * itself where something else stands there now.
 */
static __noprobe void kretprobe_drop_stale(struct shadow *s, u64 slot)
{
	bool own = *(u64 *)slot == (u64)probe_return;
	struct record *r;

	while ((r = s->top)->slot < slot || (r->slot == slot && !own))
		if (same_stack(r->slot, slot))
			pop(s, r);
		else
			break;
}

/* ---- hit ---- */

/*
 * Follows the call whose return address, `ret`, stands in the slot; false: no room. An NMI that
 * comes before `top` is raised may use the same bytes and has left them when it returns, so `slot`
 * and `size` are written after; until then the record says slot 0.
 */
static ALWAYS_INLINE struct record *push(struct shadow *s, struct kretprobe *rp, u64 slot, u64 ret)
{
	u64 size = ALIGN_UP(rp->data_size, 8) + sizeof(struct record);
	struct record *r = (struct record *)((u8 *)s->top + size);

	if (unlikely((u8 *)(r + 1) > s->end))
		return NULL;
	r->size = size;
	r->slot = 0;
	WRITE_ONCE(s->top, r);
	r->size = size;
	r->ri =
	    (struct kretprobe_instance){.rp = rp, .ret_addr = ret, .data = (u8 *)(r + 1) - size};
	r->holder = rp->holder;
	atomic_add(&r->holder->refs, 1);
	WRITE_ONCE(r->slot, slot);
	return r;
}

static __noinline int kretprobe_entry_slow(
    struct kretprobe *rp, struct shadow *s, struct regs *regs)
{
	u64 slot = regs->rsp, ret = *(u64 *)slot;
	struct record *r = NULL;

	if (s) {
		kretprobe_drop_stale(s, slot);
		/* Taken already, by another probe or by whoever jumped here. */
		if (s->top->slot == slot)
			ret = s->top->ri.ret_addr;
		r = push(s, rp, slot, ret);
	}
	if (!r)
		atomic_add(&rp->nmissed, 1);
	else if (rp->entry_handler && rp->entry_handler(&r->ri, regs))
		pop(s, r);
	else
		*(u64 *)slot = (u64)probe_return;
	return 0;
}

static int kretprobe_entry(struct kprobe *p, struct regs *regs)
{
	struct kretprobe *rp = container_of(p, struct kretprobe, kp);
	struct shadow *s = current()->trace;
	u64 slot = regs->rsp;

	if (unlikely(!s || s->top->slot <= slot || rp->entry_handler ||
		     !push(s, rp, slot, *(u64 *)slot)))
		return kretprobe_entry_slow(rp, s, regs);
	*(u64 *)slot = (u64)probe_return;
	return 0;
}

/*
 * All records of the slot are of this return: of several probes, or of a function and who jumped to
 * it at its end.
 */
u64 __noprobe kernel_probe_return(struct regs *regs)
{
	struct shadow *s = current()->trace;
	u64 slot = regs->rsp - 8, ret = 0;
	struct record *r = s->top;

	this_cpu_write(probing, s);
	if (unlikely(r->slot != slot)) {
		*(u64 *)slot =
		    (u64)probe_return; /* the ret took it, and left it to be overwritten */
		kretprobe_drop_stale(s, slot);
	}
	while ((r = s->top)->slot == slot) {
		struct kretprobe *rp = READ_ONCE(r->holder->rp);
		regs->rip = ret = r->ri.ret_addr;
		if (likely(rp && !(READ_ONCE(rp->kp.flags) & KPROBE_FLAG_DISABLED)))
			rp->handler(&r->ri, regs);
		pop(s, r);
	}
	this_cpu_write(probing, NULL);
	return ret;
}

u64 __noprobe kernel_probe_returns_to(u64 slot)
{
	struct shadow *s = current()->trace;

	for (struct record *r = s ? s->top : NULL; r && r->holder; r = below(r))
		if (r->slot == slot || !slot)
			return r->ri.ret_addr;
	return 0;
}

/* ---- tasks ---- */

static int kretprobe_make_shadow(struct task *t)
{
	size_t room = SHADOW_SIZE + sizeof(struct record);
	struct shadow *s = t->trace ? NULL : kzalloc(sizeof(*s) + room);

	if (t->trace)
		return 0;
	if (!s)
		return -ENOMEM;
	s->top = (struct record *)s->bytes;
	s->top->slot = UINT64_MAX;
	s->end = s->bytes + room;
	if (!atomic_cas(&t->trace, NULL, (void *)s))
		kfree(s);
	return 0;
}

/* Without memory its returns are missed, and counted so. */
static void kretprobe_task_begins(struct task *t)
{
	if (atomic_load(&in_use))
		kretprobe_make_shadow(t);
}

static void kretprobe_task_ends(struct task *t)
{
	struct shadow *s = t->trace;
	struct record *r;

	while (s && (r = s->top)->holder)
		pop(s, r);
	kfree(s);
}

static const struct task_hooks task_hooks = {kretprobe_task_begins, kretprobe_task_ends};

/* New tasks see in_use, or are found here. */
static int shadows_make(void)
{
	struct task *t = NULL;
	int err = 0;

	if (atomic_load(&in_use))
		return 0;
	task_hooks_set(&task_hooks);
	atomic_store(&in_use, true);
	for (unsigned cpu = 0; cpu < cpu_count() && !err; cpu++)
		err = kretprobe_make_shadow(sched_idle_task(cpu));
	while ((t = task_next(t)))
		if (kretprobe_make_shadow(t))
			err = -ENOMEM;
	if (err)
		atomic_store(&in_use, false);
	return err;
}

/* ---- registering ---- */

static struct kretprobe_holder *holder_take(struct kretprobe *rp)
{
	struct kretprobe_holder *h;

	for (h = holders; h; h = h->next)
		if (atomic_cas(&h->refs, 0, 1))
			break;
	if (!h && (h = kzalloc(sizeof(*h)))) {
		h->refs = 1;
		do {
			h->next = atomic_load(&holders);
		} while (!atomic_cas(&holders, h->next, h));
	}
	if (h)
		atomic_store(&h->rp, rp);
	return h;
}

static void holder_drop(struct kretprobe *rp)
{
	if (!rp->holder)
		return;
	atomic_store(&rp->holder->rp, NULL);
	atomic_sub(&rp->holder->refs, 1);
	rp->holder = NULL;
}

static int kretprobe_nothing(struct kretprobe_instance *ri, struct regs *r)
{
	(void)ri;
	(void)r;
	return 0;
}

static int prepare(struct kretprobe *rp)
{
	const struct kprobe *p = &rp->kp;
	u64 addr = p->addr ? (u64)p->addr + p->offset : p->offset;

	if (rp->holder || rp->data_size > KRETPROBE_DATA_MAX || p->pre_handler == kretprobe_entry)
		return -EINVAL;
	if (p->addr ? kernel_function_start(addr) != addr : p->offset != 0)
		return -EINVAL;
	rp->holder = holder_take(rp);
	if (!rp->holder)
		return -ENOMEM;
	rp->nmissed = 0;
	if (!rp->handler)
		rp->handler = kretprobe_nothing;
	rp->kp.pre_handler = kretprobe_entry;
	rp->kp.post_handler = NULL;
	return 0;
}

static void forget(struct kretprobe *rp)
{
	rp->kp.pre_handler = NULL;
	holder_drop(rp);
}

bool kretprobe_is(const struct kprobe *p)
{
	return p->pre_handler == kretprobe_entry;
}

int register_kretprobes(struct kretprobe **rps, unsigned n)
{
	unsigned done = 0;
	int err = shadows_make();

	while (!err && done < n) {
		err = prepare(rps[done]);
		if (err)
			break;
		err = register_kprobe(&rps[done]->kp);
		if (err)
			forget(rps[done]);
		else
			done++;
	}
	if (err && done)
		unregister_kretprobes(rps, done);
	return err;
}

/*
 * What has been entered returns by itself, later: its records point at the holder, which says that
 * the probe is gone.
 */
void unregister_kretprobes(struct kretprobe **rps, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (!rps[i]->kp.site)
			continue;
		unregister_kprobe(&rps[i]->kp);
		forget(rps[i]);
	}
	arch_probe_sync(); /* no handler runs any more */
}

int register_kretprobe(struct kretprobe *rp)
{
	return register_kretprobes(&rp, 1);
}

void unregister_kretprobe(struct kretprobe *rp)
{
	unregister_kretprobes(&rp, 1);
}
