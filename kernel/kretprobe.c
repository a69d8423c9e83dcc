/*
 * Return probes. A probe at a function's entry takes the return address from the stack, keeps it in a record on the current
 * task's shadow stack, and puts probe_return() there instead; that comes here, and goes where it should have gone.
 *
 * Words: a record belongs to the slot, the address in the task's stack where the return address stood. Records of nested calls
 * lie one above the other, those of interrupts and NMIs on top: whoever pushes pops before it returns. A record is stale when
 * its function was left otherwise than by its return; it is found under one for an outer slot and dropped.
 *
 * A shadow stack is made for every task once there is a return probe, and for each new one from then on; it is as large as the
 * task's own stack, so that the latter runs out first. The stack belongs to its task: no locks. An NMI may come between any two
 * instructions; it finds `top` either before or after.
 */
#include "kernel/kprobe_site.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/sym.h"
#include "kernel/task/sched.h"
#include "kernel/task/task.h"

#define SHADOW_SIZE KERNEL_STACK_SIZE

/* What records point at: a probe may be gone before its calls have returned. Made once, used again, never freed. */
struct kretprobe_holder {
	struct kretprobe *rp;	       /* [A] NULL: gone */
	u32 refs;		       /* [A] records, and the probe itself */
	struct kretprobe_holder *next; /* [I] of all */
};

/* Above its data. */
struct record {
	u64 slot; /* 0: being made */
	u64 ret;
	struct kretprobe_holder *holder;
	u64 size; /* with the data below */
};

struct shadow {
	u64 top; /* bytes in use [the task's own] */
	u8 bytes[SHADOW_SIZE - sizeof(u64)];
};

static struct kretprobe_holder *holders; /* [A] only added to */
static bool in_use; /* [A] there was a return probe: tasks need shadow stacks */

/* ---- the shadow stack ------------------------------------------------------------------------------------------------ */

static __noprobe struct record *top_record(struct shadow *s)
{
	return s->top ? (struct record *)(s->bytes + s->top) - 1 : NULL;
}

static __noprobe struct record *below(struct shadow *s, struct record *r)
{
	u8 *bottom = (u8 *)(r + 1) - r->size;

	return bottom > s->bytes ? (struct record *)bottom - 1 : NULL;
}

/* NULL: full. Room for `size` bytes of data in *data. */
static __noprobe struct record *push(struct shadow *s, size_t size, void **data)
{
	u64 bytes = ALIGN_UP(size, 8) + sizeof(struct record);
	u8 *at = s->bytes + s->top;

	if (bytes > sizeof(s->bytes) - s->top)
		return NULL;
	s->top += bytes;
	struct record *r = (struct record *)(at + bytes) - 1;
	r->slot = 0;
	r->size = bytes;
	*data = at;
	return r;
}

static __noprobe void pop(struct shadow *s, struct record *r)
{
	struct kretprobe_holder *h = r->holder;

	s->top -= r->size;
	if (h)
		atomic_sub(&h->refs, 1);
}

static inline bool same_stack(u64 a, u64 b)
{
	u64 top = this_cpu_read(kernel_rsp);

	return top - a <= KERNEL_STACK_SIZE && top - b <= KERNEL_STACK_SIZE;
}

/*
 * Drops what functions left behind that cannot return any more: below `slot`, and those of the slot itself where something else
 * stands there now.
 */
static __noprobe void drop_stale(struct shadow *s, u64 slot)
{
	bool own = *(u64 *)slot == (u64)probe_return;
	struct record *r;

	while ((r = top_record(s)) && (r->slot < slot || (r->slot == slot && !own)) &&
	       same_stack(r->slot, slot))
		pop(s, r);
}

/* ---- hit ------------------------------------------------------------------------------------------------------------- */

/* The real return address of the slot, whoever has taken it. */
static __noprobe u64 real_return(struct shadow *s, u64 slot)
{
	u64 ret = *(u64 *)slot;
	struct record *r = top_record(s);

	return ret == (u64)probe_return && r && r->slot == slot ? r->ret : ret;
}

static int on_entry(struct kprobe *p, struct regs *regs)
{
	struct kretprobe *rp = container_of(p, struct kretprobe, kp);
	struct shadow *s = current()->trace;
	u64 slot = regs->rsp;
	void *data;

	if (s)
		drop_stale(s, slot);
	u64 ret = s ? real_return(s, slot) : 0;
	struct record *r = s ? push(s, rp->data_size, &data) : NULL;
	if (!r) {
		atomic_add(&rp->nmissed, 1);
		return 0;
	}
	r->ret = ret;
	r->holder = NULL;
	if (rp->entry_handler) {
		struct kretprobe_instance ri = {.rp = rp, .ret_addr = ret, .data = data};
		if (rp->entry_handler(&ri, regs)) {
			pop(s, r);
			return 0;
		}
	}
	r->holder = rp->holder;
	atomic_add(&r->holder->refs, 1);
	r->slot = slot;
	*(u64 *)slot = (u64)probe_return;
	return 0;
}

static void call_handler(struct record *r, struct regs *regs)
{
	struct kretprobe *rp = READ_ONCE(r->holder->rp);

	if (!rp || !rp->handler || READ_ONCE(rp->kp.flags) & KPROBE_FLAG_DISABLED)
		return;
	struct kretprobe_instance ri = {
	    .rp = rp, .ret_addr = r->ret, .data = (u8 *)(r + 1) - r->size};
	rp->handler(&ri, regs);
}

/* All records of the slot are of this return: of several probes, or of a function and who jumped to it at its end. */
u64 __noprobe kernel_probe_return(struct regs *regs)
{
	struct shadow *s = current()->trace;
	u64 slot = regs->rsp - 8, ret = 0;
	struct record *r;

	*(u64 *)slot = (u64)probe_return; /* the ret took it, and left it to be overwritten */
	drop_stale(s, slot);
	this_cpu_write(probing, s);
	while ((r = top_record(s)) && r->slot == slot) {
		ret = r->ret;
		regs->rip = ret;
		call_handler(r, regs);
		pop(s, r);
	}
	this_cpu_write(probing, NULL);
	return ret;
}

u64 __noprobe kernel_probe_returns_to(u64 slot)
{
	struct shadow *s = current()->trace;

	for (struct record *r = s ? top_record(s) : NULL; r; r = below(s, r))
		if (r->slot == slot || !slot)
			return r->ret;
	return 0;
}

/* ---- tasks ----------------------------------------------------------------------------------------------------------- */

static int shadow_make(struct task *t)
{
	struct shadow *s = t->trace ? NULL : kzalloc(sizeof(*s));

	if (t->trace)
		return 0;
	if (!s)
		return -ENOMEM;
	if (!atomic_cas(&t->trace, NULL, (void *)s))
		kfree(s);
	return 0;
}

/* Without memory its returns are missed, and counted so. */
void kretprobe_task_new(struct task *t)
{
	if (atomic_load(&in_use))
		shadow_make(t);
}

void kretprobe_task_free(struct task *t)
{
	struct shadow *s = t->trace;
	struct record *r;

	while (s && (r = top_record(s)))
		pop(s, r);
	kfree(s);
}

/* New tasks see in_use, or are found here. */
static int shadows_make(void)
{
	struct task *t = NULL;
	int err = 0;

	if (atomic_load(&in_use))
		return 0;
	atomic_store(&in_use, true);
	for (unsigned cpu = 0; cpu < cpu_count() && !err; cpu++)
		err = shadow_make(sched_idle_task(cpu));
	while ((t = task_next(t)))
		if (shadow_make(t))
			err = -ENOMEM;
	if (err)
		atomic_store(&in_use, false);
	return err;
}

/* ---- registering ------------------------------------------------------------------------------------------------------ */

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

static int prepare(struct kretprobe *rp)
{
	const struct kprobe *p = &rp->kp;
	u64 addr = p->addr ? (u64)p->addr + p->offset : p->offset;

	if (rp->holder || rp->data_size > KRETPROBE_DATA_MAX || p->pre_handler == on_entry)
		return -EINVAL;
	if (p->addr ? kernel_function_start(addr) != addr : p->offset != 0)
		return -EINVAL;
	rp->holder = holder_take(rp);
	if (!rp->holder)
		return -ENOMEM;
	rp->nmissed = 0;
	rp->kp.pre_handler = on_entry;
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
	return p->pre_handler == on_entry;
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

/* What has been entered returns by itself, later: its records point at the holder, which says that the probe is gone. */
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
