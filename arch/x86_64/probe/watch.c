/*
 * Watchpoints: the four debug registers of each CPU (Intel SDM volume 3, chapter 18), all CPUs
 * alike. Contexts are those of arch/watch.h.
 *
 * A register's place is one word, and `generation` counts the changes of all. A CPU that follows
 * switches DR7 off, loads the places, and switches it on; it begins again if the count has changed
 * meanwhile, be it by an NMI on this CPU. So no lock is needed, and events may move watchpoints.
 *
 * A debug trap goes through these steps. Before step 3 and after step 4 it touches only data that
 * cannot be watched (__nowatch, the stacks of traps), and the stack below the interrupted code's,
 * where a lost hit does no harm.
 *   1. entry.S switches DR7 off, still on the trap's own stack, and leaves that stack
 *   2. watch_trap() marks the CPU as `watching` and reads the values
 *   3. it switches DR7 on: an access from here on traps, finds the mark and counts as missed
 *   4. it calls kernel_watch_hit() for each register that was hit
 *   5. it switches DR7 off, clears the mark, and switches DR7 on
 * The trap comes after the access, so the interrupted code always gets on.
 */
#include "arch/x86_64/probe/watch.h"
#include "arch/x86_64/cpu/percpu.h"
#include "arch/x86_64/cpu/regs.h"
#include "arch/x86_64/cpu/sections.h"
#include "arch/x86_64/cpu/stacks.h"
#include "arch/x86_64/irq/ipi.h"
#include "arch/x86_64/irq/trap.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

#define DR7_OFF	   0x400u /* a bit that is always set */
#define DR6_STEP   (1u << 14)
#define DR6_HITS   ((1u << ARCH_WATCHES) - 1)
#define PORTS	   0x10000u
#define OP_INS	   0x6c /* of a byte; the next is of more, and so with outs */
#define OP_OUTS	   0x6e
#define OP_REP	   0xf3
#define IN_HANDLER (NMI_UNIT + HARDIRQ_UNIT) /* as Linux counts a debug trap of the kernel */

static struct {
	u64 inverse; /* [A] the place with its bits turned round: 0 is ARCH_WATCH_NOWHERE */
	u32 control; /* kind and length, as DR7 has them at bit 16 */
	u8 len;
	bool taken;
} watches[ARCH_WATCHES] __nowatch;
static u64 generation __nowatch; /* [A] */

static u64 __noprobe watch_addr(unsigned n)
{
	return ~atomic_load_relaxed(&watches[n].inverse);
}

/* ---- what may be watched ---- */

static const char *watch_port_refused(u64 port, unsigned len)
{
	if (len != 1 && len != 2 && len != 4)
		return "A port has 1, 2 or 4 bytes";
	if (port >= PORTS)
		return "There is no such port";
	return port % len ? "The port is not a multiple of the length" : NULL;
}

const char *arch_watch_refused(enum arch_watch_kind kind, u64 addr, unsigned len)
{
	if (kind == ARCH_WATCH_PORT)
		return watch_port_refused(addr, len);
	if (len != 1 && len != 2 && len != 4 && len != 8)
		return "This memory access length is not supported";
	if (addr < DIRECT_MAP_BASE)
		return "The address is not the kernel's";
	if (addr % len)
		return "The address is not a multiple of the length";
	if (addr - (u64)__nowatch_start < (u64)(__nowatch_end - __nowatch_start) ||
	    stacks_hold(addr))
		return "The debug trap itself needs this word";
	return NULL;
}

/* ---- this CPU ---- */

/* The value of DR7 that enables the registers with a place; 0: no register has one. */
static u64 __noprobe watch_control(const u64 addr[ARCH_WATCHES])
{
	u64 dr7 = 0;

	for (unsigned n = 0; n < ARCH_WATCHES; n++)
		if (addr[n] != ARCH_WATCH_NOWHERE)
			dr7 |= 2UL << 2 * n | (u64)watches[n].control << (16 + 4 * n);
	return dr7 ? dr7 | DR7_OFF : 0;
}

/* Interrupts off. */
static void __noprobe watch_load(void)
{
	u64 now, addr[ARCH_WATCHES];

	do {
		now = atomic_load(&generation);
		for (unsigned n = 0; n < ARCH_WATCHES; n++)
			addr[n] = watch_addr(n);
		u64 dr7 = watch_control(addr);
		write_dr7(DR7_OFF);
		write_dr0(addr[0]);
		write_dr1(addr[1]);
		write_dr2(addr[2]);
		write_dr3(addr[3]);
		private_write(dr7, dr7);
		private_write(watch_generation, now);
		write_dr7(dr7 | DR7_OFF);
	} while (atomic_load(&generation) != now);
}

/* Repeats if an NMI moves a watchpoint between the two instructions. */
static void __noprobe watch_on(void)
{
	u64 dr7;

	do {
		dr7 = private_read(dr7);
		write_dr7(dr7 | DR7_OFF);
	} while (private_read(dr7) != dr7);
}

void watch_cpu_init(void)
{
	watch_load();
}

void __noprobe watch_follow(void)
{
	if (private_read(watch_generation) != atomic_load(&generation))
		watch_load();
}

static u64 __noprobe watch_place(unsigned n)
{
	switch (n) {
	case 0:
		return read_dr0();
	case 1:
		return read_dr1();
	case 2:
		return read_dr2();
	default:
		return read_dr3();
	}
}

/* ---- hits ---- */

/*
 * False also if another CPU has moved the watchpoint since: this CPU's register is then out of
 * date.
 */
static bool __noprobe watch_is_hit(unsigned n, u64 hits)
{
	u64 addr = watch_addr(n);

	return hits >> n & 1 && addr != ARCH_WATCH_NOWHERE && watch_place(n) == addr;
}

static void __noprobe watch_count_missed(u64 hits)
{
	for (unsigned n = 0; n < ARCH_WATCHES; n++)
		if (watch_is_hit(n, hits))
			kernel_watch_missed(n);
}

/*
 * The address in memory that ins or outs moves to or from the port; 0: in and out use rax. An
 * instruction with a rep prefix may not be finished: then r->rip is still at the prefix.
 */
static u64 watch_port_memory(const struct regs *r, unsigned len)
{
	const u8 *next = (const u8 *)r->rip;
	u8 op = next[0] == OP_REP ? next[1] : next[-1];

	if ((op & ~1) == OP_INS)
		return r->rdi - len;
	return (op & ~1) == OP_OUTS ? r->rsi - len : 0;
}

static u64 watch_value(unsigned n, const struct regs *r)
{
	u64 from = watch_addr(n), value = 0;
	unsigned len = watches[n].len;

	if (watches[n].control % 4 == ARCH_WATCH_PORT)
		from = watch_port_memory(r, len);
	if (!from)
		memcpy(&value, &r->rax, len);
	else if (copy_from_kernel_nofault(&value, (const void *)from, len))
		value = 0;
	return value;
}

/* Steps 2 to 5. */
static void __noprobe watch_report(struct regs *r, u64 hits)
{
	const struct regs *outer = private_read(irq_regs);
	u64 values[ARCH_WATCHES], addr[ARCH_WATCHES];

	private_write(watching, true);
	for (unsigned n = 0; n < ARCH_WATCHES; n++) {
		addr[n] = watch_is_hit(n, hits) ? watch_place(n) : ARCH_WATCH_NOWHERE;
		values[n] = addr[n] != ARCH_WATCH_NOWHERE ? watch_value(n, r) : 0;
	}
	watch_on();
	preempt_count_add(IN_HANDLER);
	if (!regs_user(r))
		private_write(irq_regs, r);
	for (unsigned n = 0; n < ARCH_WATCHES; n++)
		if (addr[n] != ARCH_WATCH_NOWHERE)
			kernel_watch_hit(n, addr[n], values[n], r);
	private_write(irq_regs, outer);
	preempt_count_sub(IN_HANDLER);
	write_dr7(DR7_OFF);
	private_write(watching, false);
}

static bool __noprobe watch_in_entry(const struct regs *r)
{
	return r->rip - (u64)entry_text_start < (u64)(entry_text_end - entry_text_start);
}

bool __noprobe watch_trap(struct regs *r, u64 dr6)
{
	u64 hits = dr6 & DR6_HITS;

	/* A hit in entry code is only counted: the trap still runs on its own small stack. */
	if (hits && (private_read(watching) || watch_in_entry(r)))
		watch_count_missed(hits);
	else if (hits)
		watch_report(r, hits);
	watch_on();
	return hits && !(dr6 & DR6_STEP);
}

void __noprobe watch_nmi_begin(struct watch_nmi *outer)
{
	u64 dr7 = private_read(dr7);

	outer->dr7 = 0;
	if (likely(!dr7))
		return;
	outer->dr7 = read_dr7();
	outer->dr6 = read_dr6();
	write_dr6(DR6_NOTHING);
	write_dr7(dr7);
}

/*
 * If the NMI moved a watchpoint, the interrupted code finds `generation` changed and loads the new
 * place.
 */
void __noprobe watch_nmi_end(const struct watch_nmi *outer)
{
	if (likely(!outer->dr7))
		return;
	if (outer->dr7 == DR7_OFF)
		write_dr7(DR7_OFF);
	write_dr6(outer->dr6);
}

/* ---- all CPUs ---- */

static void watch_load_here(void *unused)
{
	(void)unused;
	watch_load();
}

void arch_watch_sync(void)
{
	cpu_call_all(watch_load_here, NULL);
}

int arch_watch_take(enum arch_watch_kind kind, unsigned len)
{
	for (unsigned n = 0; n < ARCH_WATCHES; n++) {
		if (watches[n].taken)
			continue;
		/* DR7's code for a length: length - 1, but 2 for 8 bytes */
		watches[n].control = kind | (len == 8 ? 2 : len - 1) << 2;
		watches[n].len = len;
		watches[n].taken = true;
		return n;
	}
	return -ENOSPC;
}

void arch_watch_give(unsigned n)
{
	atomic_store(&watches[n].inverse, ~ARCH_WATCH_NOWHERE);
	atomic_add(&generation, 1);
	arch_watch_sync();
	watches[n].taken = false;
}

void arch_watch_move(unsigned n, u64 addr)
{
	u64 flags = irq_save();

	atomic_store(&watches[n].inverse, ~addr);
	atomic_add(&generation, 1);
	watch_load();
	ipi_call_watch(); /* the task must not move to another CPU before this */
	irq_restore(flags);
}
