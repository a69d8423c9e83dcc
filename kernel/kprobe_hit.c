/*
 * A probe is hit. Any context, interrupts off, NMI included; no lock. Until `probing` says that handlers run, and after that,
 * nothing here may be probed itself: it would be hit for ever. What the handlers run may: a hit there is counted as missed.
 */
#include "kernel/kprobe_site.h"
#include "kernel/lib/atomic.h"

struct probe_site *probe_buckets[PROBE_BUCKETS];

static __noprobe void count_missed(struct probe_site *s)
{
	for (struct kprobe *p = READ_ONCE(s->first); p; p = READ_ONCE(p->next))
		if (!(READ_ONCE(p->flags) & KPROBE_FLAG_DISABLED))
			atomic_add(&p->nmissed, 1);
}

/* True: a handler has set where to go on. */
static inline __attribute__((always_inline)) bool call_handlers(
    struct probe_site *s, struct regs *r)
{
	for (struct kprobe *p = READ_ONCE(s->first); p; p = READ_ONCE(p->next))
		if (likely(!(READ_ONCE(p->flags) & KPROBE_FLAG_DISABLED)) &&
		    unlikely(p->pre_handler(p, r)))
			return true;
	return false;
}

static __noprobe void call_post_handlers(struct probe_site *s, struct regs *r)
{
	this_cpu_write(probing, s);
	for (struct kprobe *p = READ_ONCE(s->first); p; p = READ_ONCE(p->next))
		if (p->post_handler && !(READ_ONCE(p->flags) & KPROBE_FLAG_DISABLED))
			p->post_handler(p, r, 0);
	this_cpu_write(probing, NULL);
}

/* With post handlers: an emulated instruction has run when it is resumed; a copied one traps when it has. */
static __noprobe void resume_trapping(struct probe_site *s, struct regs *r)
{
	arch_probe_resume(r, s->trapping);
	if (!s->trapping->slot)
		call_post_handlers(s, r);
}

/* The int3 behind a copy. */
static __noprobe bool behind_copy(struct regs *r)
{
	u64 next = arch_probe_origin(r->rip - 1);
	struct probe_site *s = probe_site_at(arch_probe_origin((r->rip - 1) & ~31UL));

	r->rip = next;
	if (s)
		call_post_handlers(s, r);
	return true;
}

bool __noprobe kernel_probe_int3(struct regs *r)
{
	struct probe_site *s = probe_site_at(r->rip - 1);

	if (unlikely(!s))
		return arch_probe_in_slot(r->rip) && behind_copy(r);
	if (unlikely(this_cpu_read(probing))) {
		count_missed(s);
	} else {
		this_cpu_write(probing, s);
		bool elsewhere = call_handlers(s, r);
		this_cpu_write(probing, NULL);
		if (unlikely(elsewhere))
			return true;
		if (unlikely(READ_ONCE(s->trapping))) {
			resume_trapping(s, r);
			return true;
		}
	}
	arch_probe_resume(r, &s->arch);
	return true;
}

u8 __noprobe kernel_probe_original(u64 addr, u8 now)
{
	struct probe_site *s = probe_site_at(addr);

	return s ? s->arch.first : now;
}
