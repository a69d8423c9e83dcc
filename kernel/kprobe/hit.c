/*
 * A probe is hit. Any context, interrupts off, NMI included; no lock. While `probing` is not set,
 * code here must not be probed: the probe would hit itself for ever. Code that handlers call may be
 * probed; a hit there only counts as missed.
 */
/* hot: runs with each event */
#include "kernel/kprobe/hook.h"
#include "kernel/kprobe/site.h"
#include "kernel/lib/atomic.h"

extern const char __text_start[]; /* linker.ld */

struct probe_site *probe_buckets[PROBE_BUCKETS];

static __noprobe void kprobe_count_missed(struct probe_site *s)
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

static __noprobe void kprobe_call_post_handlers(struct probe_site *s, struct regs *r)
{
	this_cpu_write(probing, s);
	for (struct kprobe *p = READ_ONCE(s->first); p; p = READ_ONCE(p->next))
		if (p->post_handler && !(READ_ONCE(p->flags) & KPROBE_FLAG_DISABLED))
			p->post_handler(p, r, 0);
	this_cpu_write(probing, NULL);
}

/*
 * With post handlers: an emulated instruction has run when it is resumed; a copied one traps when
 * it has.
 */
static __noprobe void kprobe_resume_trapping(
    struct probe_site *s, const struct arch_probe *trapping, struct regs *r)
{
	arch_probe_resume(r, trapping);
	if (!trapping->slot)
		kprobe_call_post_handlers(s, r);
}

/* The int3 after a copy. */
static __noprobe bool kprobe_behind_copy(struct regs *r)
{
	u64 next = arch_probe_origin(r->rip - 1);
	struct probe_site *s = probe_site_at(arch_probe_origin((r->rip - 1) & ~31UL));

	r->rip = next;
	if (s)
		kprobe_call_post_handlers(s, r);
	return true;
}

bool __noprobe kernel_probe_int3(struct regs *r)
{
	struct probe_site *s = probe_site_at(r->rip - 1);

	if (unlikely(!s))
		return arch_probe_in_slot(r->rip) && kprobe_behind_copy(r);
	if (unlikely(this_cpu_read(probing))) {
		kprobe_count_missed(s);
	} else {
		this_cpu_write(probing, s);
		bool elsewhere = call_handlers(s, r);
		this_cpu_write(probing, NULL);
		if (unlikely(elsewhere))
			return true;
		const struct arch_probe *trapping = READ_ONCE(s->trapping);
		if (unlikely(trapping)) {
			kprobe_resume_trapping(s, trapping, r);
			return true;
		}
	}
	arch_probe_resume(r, &s->arch);
	return true;
}

/* ---- hooks ---- */

/* The nop has run when the handlers have: post handlers follow at once. */
u64 __noprobe kernel_hook_probe(struct regs *r)
{
	u64 next = r->rip - 1 + ARCH_HOOK_LEN;
	struct probe_site *s = probe_site_at(r->rip - 1);

	if (unlikely(!s))
		return next; /* it was removed just now */
	if (unlikely(this_cpu_read(probing))) {
		kprobe_count_missed(s);
		return next;
	}
	this_cpu_write(probing, s);
	bool elsewhere = call_handlers(s, r);
	if (likely(!elsewhere)) {
		r->rip = next;
		if (unlikely(READ_ONCE(s->post)))
			kprobe_call_post_handlers(s, r);
	}
	this_cpu_write(probing, NULL);
	return r->rip;
}

/* A site may have other probes by now, and the call began before. */
static __noprobe void kprobe_call_argument_readers(struct probe_site *s, struct regs *r)
{
	const u32 mask = KPROBE_FLAG_DISABLED | KPROBE_FLAG_ARGUMENTS;

	for (struct kprobe *p = READ_ONCE(s->first); p; p = READ_ONCE(p->next))
		if ((READ_ONCE(p->flags) & mask) == KPROBE_FLAG_ARGUMENTS)
			p->pre_handler(p, r);
}

/* Has no stack frame: the handler of a site's only probe is called by a jump. */
LEAVES_BY_JUMP void __noprobe kernel_hook_probe_arguments(u64 next, struct regs *r)
{
	struct probe_site *s = probe_site_at(next - ARCH_HOOK_LEN);
	struct kprobe *p;

	if (unlikely(!s))
		return; /* it was removed just now */
	if (unlikely(this_cpu_read(probing))) {
		kprobe_count_missed(s);
		return;
	}
	this_cpu_write(probing, s);
	p = READ_ONCE(s->argument_reader);
	if (likely(p))
		p->pre_handler(p, r);
	else
		kprobe_call_argument_readers(s, r);
}

/* ---- jumps ---- */

void __noprobe kernel_probe_missed(struct regs *r)
{
	struct probe_site *s = probe_site_at(r->rip - 1);

	if (s)
		kprobe_count_missed(s);
}

int kprobe_call_several(void *site, struct regs *r)
{
	return call_handlers(site, r);
}

/* ---- the text without probes ---- */

enum { OP_INT3 = 0xcc, OP_JMP = 0xe9 };

static __noprobe void kprobe_uncover(const struct probe_site *s, u64 addr, u8 *code, unsigned n)
{
	unsigned len = READ_ONCE(s->jump) ? ARCH_JUMP_LEN : 1;

	for (unsigned i = 0; i < len; i++)
		if (s->addr + i - addr < n)
			code[s->addr + i - addr] = i ? s->arch.covered[i] : s->arch.first;
}

/*
 * Only what reads as a breakpoint or a jump may be a probe's; one that begins before addr may reach
 * beyond it. Before the text there is no memory.
 */
void __noprobe kernel_probe_original(u64 addr, u8 *code, unsigned n)
{
	for (u64 at = MAX(addr - (ARCH_JUMP_LEN - 1), (u64)__text_start); at < addr + n; at++) {
		u8 now = *(const volatile u8 *)at;
		const struct probe_site *s =
		    now == OP_INT3 || now == OP_JMP ? probe_site_at(at) : NULL;
		if (s)
			kprobe_uncover(s, addr, code, n);
	}
	hook_original(addr, code, n);
}
