/*
 * Replacing instructions while all CPUs may run them. text_patch(): task context, one at a time by
 * patch_lock. text_patch_int3(): breakpoint, any context, no lock.
 *
 * Words: a site is the place of one instruction; its head is its first byte, its tail the rest. A
 * batch is up to BATCH sites, sorted by address. A step does one thing at all sites of the batch,
 * opening each page once, and then waits until every CPU has taken an interrupt since: from then on
 * none runs what was there before the step.
 *
 *   1. the batch is published: from now on text_patch_int3() knows what its sites become
 *   2. heads become int3                    (sites of one byte skip 2 and 3: nobody can see half of
 * them)
 *   3. tails become the new ones            (nobody runs them: who comes there traps at the head)
 *   4. heads become the new ones
 *   5. the batch is withdrawn
 *
 * Who traps meanwhile goes on as the new code says. With more than one CPU each step is done twice:
 * an emulator that translates a page while it is written (QEMU's TCG before 8.1) may keep the old
 * code after the first time, not after the second.
 */
#include "arch/x86_64/probe/text_patch.h"

#include "arch/x86_64/cpu/msr.h"
#include "arch/x86_64/cpu/regs.h"
#include "arch/x86_64/cpu/sections.h"
#include "arch/x86_64/mm/paging.h"
#include "kernel/lib/atomic.h"

#define BATCH 128

enum {
	OP_INT3 = 0xcc,
	OP_JMP = 0xe9,
	OP_CALL = 0xe8,
	OP_NOP = 0x0f,
	OP_PREFIX_66 = 0x66,
	OP_PREFIX_CS = 0x2e,
	OP_PREFIX_GS = 0x65,
	OP_CLI = 0xfa,
	OP_STI = 0xfb,
	MODRM_ADD = 0x04, /* of 0x83: add, else sub */
};

static const struct text_patch
    *batch[BATCH];	/* [patch_lock]; read by text_patch_int3() while it is published */
static u32 batch_count; /* [A] 0: none published */
static u32 patch_lock;	/* [A] */
static struct text_patch_stats stats; /* [patch_lock] but for traps */

const struct text_patch_stats *text_patch_stats(void)
{
	return &stats;
}

/* ---- steps: each works on one site through `at`, the writable view of its first byte ---- */

static inline void text_patch_write_int3(u8 *at, const struct text_patch *p)
{
	if (p->len > 1)
		WRITE_ONCE(*at, OP_INT3);
}

static inline void text_patch_write_tail(u8 *at, const struct text_patch *p)
{
	if (likely(p->len == sizeof(u32) + 1)) {
		__builtin_memcpy(at + 1, p->bytes + 1, sizeof(u32));
		return;
	}
	for (unsigned i = 1; i < p->len; i++)
		WRITE_ONCE(at[i], p->bytes[i]);
}

static inline void text_patch_write_head(u8 *at, const struct text_patch *p)
{
	WRITE_ONCE(*at, p->bytes[0]);
}

typedef void (*step_fn)(u8 *at, const struct text_patch *p);

static u64 page_of(const struct text_patch *p)
{
	return ALIGN_DOWN((u64)p->addr, PAGE_SIZE);
}

/* All sites of the batch that begin in the page of site `i`; returns the index after them. */
static inline __attribute__((always_inline)) unsigned write_page(
    step_fn step, unsigned i, unsigned n)
{
	u64 page = page_of(batch[i]);
	u64 flags = irq_save();
	u8 *alias = paging_alias_open((void *)page);
	for (; i < n && page_of(batch[i]) == page; i++)
		step(alias + ((u64)batch[i]->addr - page), batch[i]);
	paging_alias_close();
	irq_restore(flags);
	stats.pages++;
	return i;
}

static void text_patch_serialize(void *unused)
{
	(void)unused;
	cpuid(0, 0);
}

static inline __attribute__((always_inline)) void text_patch_run_step(step_fn step, unsigned n)
{
	unsigned times = cpu_count() > 1 ? 2 : 1;
	while (times--) {
		for (unsigned i = 0; i < n;)
			i = write_page(step, i, n);
		cpu_call_all(text_patch_serialize, NULL);
		stats.syncs++;
	}
}

static void run_batch(unsigned n)
{
	bool long_ones = false;
	for (unsigned i = 0; i < n; i++)
		long_ones |= batch[i]->len > 1;
	atomic_store_release(&batch_count, n); /* 1. */
	if (long_ones) {
		text_patch_run_step(text_patch_write_int3, n); /* 2. */
		text_patch_run_step(text_patch_write_tail, n); /* 3. */
	}
	text_patch_run_step(text_patch_write_head, n); /* 4. */
	atomic_store_release(&batch_count, 0);	       /* 5. */
	stats.patches += n;
}

/* Insertion: sites come nearly sorted. */
static void batch_add(unsigned n, const struct text_patch *p)
{
	for (; n > 0 && batch[n - 1]->addr > p->addr; n--)
		batch[n] = batch[n - 1];
	batch[n] = p;
}

void text_patch(const struct text_patch *p, unsigned n)
{
	preempt_disable();
	while (!atomic_cas(&patch_lock, 0, 1))
		cpu_relax();
	while (n) {
		unsigned some = MIN(n, (unsigned)BATCH);
		for (unsigned i = 0; i < some; i++)
			batch_add(i, p + i);
		run_batch(some);
		p += some;
		n -= some;
	}
	atomic_store_release(&patch_lock, 0);
	preempt_enable();
	kernel_text_patched();
}

/* ---- the breakpoint ---- */

__noprobe static u64 text_patch_branch_target(u64 at, const u8 *op)
{
	s32 distance = (s32)(op[1] | op[2] << 8 | op[3] << 16 | (u32)op[4] << 24);
	return at + 5 + distance;
}

/* Emulates a preemption toggle. The trap runs on the same CPU, so it changes the same count. */
__noprobe static bool text_patch_count(const struct text_patch *p)
{
	if (p->bytes[2] == MODRM_ADD)
		preempt_count_add(1);
	else
		preempt_count_sub(1);
	return true;
}

/*
 * Emulates the new instruction: a nop, a jump, a call or a toggle. text_patch() gets no others for
 * sites longer than a byte.
 */
__noprobe static bool text_patch_emulate(struct regs *r, u64 at, const struct text_patch *p)
{
	const u8 *op = p->bytes;

	atomic_add(&stats.traps, 1);
	while (*op == OP_PREFIX_CS)
		op++;
	r->rip = at + p->len;
	switch (*op) {
	case OP_JMP:
		r->rip = text_patch_branch_target(at, op);
		return true;
	case OP_CALL: /* this handler runs on a stack of its own, so the one below r->rsp is free */
		r->rsp -= 8;
		*(u64 *)r->rsp = at + p->len;
		r->rip = text_patch_branch_target(at + (op - p->bytes), op);
		return true;
	case OP_NOP:
	case OP_PREFIX_66:
		return true;
	case OP_CLI:
		r->rflags &= ~(u64)RFLAGS_IF;
		return true;
	case OP_STI:
		r->rflags |= RFLAGS_IF;
		return true;
	case OP_PREFIX_GS:
		return text_patch_count(p);
	}
	r->rip = at + 1;
	return false;
}

__noprobe bool text_patch_int3(struct regs *r)
{
	u64 at = r->rip - 1;
	if (regs_user(r) || at < (u64)__text_start || at >= (u64)__text_end)
		return false;
	u32 n = atomic_load_acquire(&batch_count);
	for (u32 i = 0; i < n; i++)
		if ((u64)batch[i]->addr == at)
			return batch[i]->len > 1 && text_patch_emulate(r, at, batch[i]);
	if (*(volatile u8 *)at == OP_INT3)
		return false;
	r->rip = at; /* the int3 that brought us here is gone again */
	return true;
}
