/*
 * Return probes. A probe at a function's entry takes the return address from the stack, keeps it in
 * a record on the current task's shadow stack (shadow.h), and puts probe_return() there instead;
 * that comes here, and goes where it should have gone. A function that is followed by users of
 * hooks as well has records of both for the same slot, which this file's trampoline handles all.
 *
 * Below its record lie the call's struct kretprobe_instance and, under that, the probe's data.
 */
/* hot: runs with each event */
#include "kernel/base/sym.h"
#include "kernel/kprobe/hook.h"
#include "kernel/kprobe/shadow.h"
#include "kernel/kprobe/site.h"
#include "kernel/lib/errno.h"
#include "kernel/mem/mem.h"

/*
 * What records point at: a probe may be gone before its calls have returned. Made once, used again,
 * never freed.
 */
struct kretprobe_holder {
	struct kretprobe *rp;	       /* [A] NULL: gone */
	u32 refs;		       /* [A] records, and the probe itself */
	struct kretprobe_holder *next; /* [I] of all */
};

static struct kretprobe_holder *holders; /* [A] only added to */

/* ---- records ---- */

static SHADOW_INLINE struct kretprobe_instance *kretprobe_instance_of(struct shadow_record *r)
{
	return (struct kretprobe_instance *)r - 1;
}

static SHADOW_INLINE struct kretprobe_holder *holder_of(const struct shadow_record *r)
{
	return (struct kretprobe_holder *)r->owner;
}

__noprobe void kretprobe_dropped(struct shadow_record *r)
{
	atomic_sub(&holder_of(r)->refs, 1);
}

static SHADOW_INLINE void pop(struct shadow *s, struct shadow_record *r)
{
	struct kretprobe_holder *h = holder_of(r);

	WRITE_ONCE(s->top, shadow_below(r));
	atomic_sub(&h->refs, 1);
}

/* Follows the call whose return address, `ret`, stands in the slot; NULL: no room. */
static SHADOW_INLINE struct shadow_record *push(
    struct shadow *s, struct kretprobe *rp, u64 slot, u64 ret)
{
	u64 size = ALIGN_UP(rp->data_size, 8);
	struct kretprobe_instance *ri;
	struct shadow_record *r = shadow_push(s, (u64)rp->holder, ret, size + sizeof(*ri));

	if (unlikely(!r))
		return NULL;
	ri = kretprobe_instance_of(r);
	*ri = (struct kretprobe_instance){.rp = rp, .ret_addr = ret, .data = (u8 *)ri - size};
	atomic_add(&rp->holder->refs, 1);
	WRITE_ONCE(r->slot, slot);
	return r;
}

/* ---- hit ---- */

static __noinline int kretprobe_entry_slow(
    struct kretprobe *rp, struct shadow *s, struct regs *regs)
{
	u64 slot = regs->rsp, ret = *(u64 *)slot;
	struct shadow_record *r = NULL;

	if (s) {
		shadow_drop_stale(s, slot);
		/* Taken already, by somebody else or by whoever jumped here. */
		if (s->top->slot == slot)
			ret = s->top->ret;
		r = push(s, rp, slot, ret);
	}
	if (!r)
		atomic_add(&rp->nmissed, 1);
	else if (rp->entry_handler && rp->entry_handler(kretprobe_instance_of(r), regs))
		pop(s, r);
	else
		*(u64 *)slot = (u64)probe_return;
	return 0;
}

static int kretprobe_entry(struct kprobe *p, struct regs *regs)
{
	struct kretprobe *rp = container_of(p, struct kretprobe, kp);
	struct shadow *s = shadow_of(current());
	u64 slot = regs->rsp;

	if (unlikely(!s || s->top->slot <= slot || rp->entry_handler ||
		     !push(s, rp, slot, *(u64 *)slot)))
		return kretprobe_entry_slow(rp, s, regs);
	*(u64 *)slot = (u64)probe_return;
	return 0;
}

static SHADOW_INLINE void kretprobe_call(struct shadow_record *r, struct regs *regs)
{
	struct kretprobe *rp = READ_ONCE(holder_of(r)->rp);

	if (likely(rp && !(READ_ONCE(rp->kp.flags) & KPROBE_FLAG_DISABLED)))
		rp->handler(kretprobe_instance_of(r), regs);
}

/*
 * All records of the slot are of this return: of several probes, of a function and who jumped to it
 * at its end, of users of hooks.
 */
u64 __noprobe kernel_probe_return(struct regs *regs)
{
	struct shadow *s = shadow_of(current());
	u64 slot = regs->rsp - 8, ret = 0;
	struct shadow_record *r = s->top;

	this_cpu_write(probing, s);
	if (unlikely(r->slot != slot)) {
		*(u64 *)slot =
		    (u64)probe_return; /* the ret took it, and left it to be overwritten */
		shadow_drop_stale(s, slot);
	}
	while ((r = s->top)->slot == slot) {
		regs->rip = ret = r->ret;
		if (unlikely(r->owner & 1)) {
			hook_call_returned(
			    r, &(struct hook_returned){regs->rdx, regs->rax, regs->rflags, r->ret});
			WRITE_ONCE(s->top, shadow_below(r));
		} else {
			kretprobe_call(r, regs);
			pop(s, r);
		}
	}
	this_cpu_write(probing, NULL);
	return ret;
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
	int err = shadow_stacks_make();

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
