/*
 * Part of arch/arch.h: this CPU. Registers as entry code saves them, the words reached through %gs,
 * preemption and interrupts. Any context; what is said to be [C] is changed by its own CPU only.
 */
#pragma once

#include "kernel/lib/types.h"

/*
 * Registers as every entry path saves them, lowest address first: in the order of Linux's struct
 * pt_regs, since recipes for probes know the places (`p __x64_sys_openat dfd=+0x70($arg1):s32`).
 */
struct regs {
	u64 r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi;
	union {
		/* ~0: neither a trap or interrupt nor a call that may be done again */
		u64 orig_rax;
		struct {
			u32 error; /* error code of the trap; for a system call its number */
			u32 trap;  /* 1 + vector of the trap or interrupt; 0 for a system call */
		};
	};
	u64 rip, cs, rflags, rsp, ss;
};

/* The vector of a trap or interrupt; 256 or more: it is none. */
static inline unsigned regs_vector(const struct regs *r)
{
	return r->trap - 1;
}

/* The arguments of a system call, in their order. */
#define REGS_CALL_ARGS(r) ((const u64[6]){(r)->rdi, (r)->rsi, (r)->rdx, (r)->r10, (r)->r8, (r)->r9})

static inline bool regs_in_syscall(const struct regs *r)
{
	return !r->trap;
}

static inline bool regs_user(const struct regs *r)
{
	return (r->cs & 3) == 3;
}

/*
 * The words of a CPU that entry code and hot paths reach through %gs. One per CPU, for ever. [C]
 * only its own CPU writes. Layout is known to entry assembly: static asserts there.
 */
struct cpu_local {
	struct cpu_local *self; /* [C] 0: the flat address of this struct */
	u64 kernel_rsp;		/* [C] 8: top of the current task's kernel stack */
	u64 scratch_rsp;	/* [C] 16: ring-3 rsp during system-call entry */
	struct task *current;	/* [C] 24 */
	u32 cpu;		/* 32: number, 0..cpu_count()-1 */
	u32 preempt_count;	/* [C] 36: fields below */
	u32 need_resched;	/* 40: set by any CPU, cleared by schedule() */
	u32 apic_id;		/* 44 */
	void *probing;		/* [C] the probe whose handlers run; NULL: none do */
	u64 hook_skip;		/* [C] a bit per user of hooks that wants no calls here now */
	u64 canary;		/* 64: of this boot, the same on all CPUs (Makefile: CANARY) */
	struct shadow *shadow;	/* [C] 72: the current task's, or arch_no_shadow */
	u64 pid_common;		/* [C] the current task's */
	u64 arch[26];		/* arch/x86_64's own */
};

/* preempt_count: as Linux counts, so that trace output can show the same flags. */
#define PREEMPT_MASK 0x000000ffu
#define SOFTIRQ_MASK 0x0000ff00u
#define HARDIRQ_UNIT 0x00010000u
#define HARDIRQ_MASK 0x000f0000u
#define NMI_UNIT     0x00100000u
#define NMI_MASK     0x00f00000u

#define this_cpu_read(field)                                                                       \
	({                                                                                         \
		typeof(((struct cpu_local *)0)->field) v_;                                         \
		__asm__ volatile("mov %%gs:%c1, %0"                                                \
				 : "=r"(v_)                                                        \
				 : "i"(offsetof(struct cpu_local, field)));                        \
		v_;                                                                                \
	})

#define this_cpu_write(field, value)                                                               \
	do {                                                                                       \
		typeof(((struct cpu_local *)0)->field) v_ = (value);                               \
		__asm__ volatile(                                                                  \
		    "mov %0, %%gs:%c1" ::"r"(v_), "i"(offsetof(struct cpu_local, field))           \
		    : "memory");                                                                   \
	} while (0)

static inline struct cpu_local *this_cpu(void)
{
	return this_cpu_read(self);
}

static inline unsigned cpu_id(void)
{
	return this_cpu_read(cpu);
}

/* Not volatile: within one task it never changes, so the compiler may keep it. */
static inline struct task *current_task(void)
{
	struct task *t;
	__asm__("mov %%gs:%c1, %0" : "=r"(t) : "i"(offsetof(struct cpu_local, current)));
	return t;
}

/*
 * Toggles: the instructions that turn interrupts or preemption off and on. Each is one instruction,
 * padded with prefixes that mean nothing, so that a call fits in its place: arch_toggles_watch().
 * `kind` is one of irqs_off, irqs_on, preempt_off, preempt_on. The stack pointer is an operand so
 * that the function around it has a frame.
 */
#define ARCH_TOGGLE(kind, instruction)                                                             \
	do {                                                                                       \
		register u64 rsp_ __asm__("rsp");                                                  \
		__asm__ inline volatile("771: " instruction "\n\t"                                 \
					".pushsection __toggle_" #kind ", \"a\"\n\t"               \
					".long 771b - .\n\t.popsection"                            \
					: "+r"(rsp_)                                               \
					: "i"(offsetof(struct cpu_local, preempt_count))           \
					: "memory", "cc");                                         \
	} while (0)
#define ARCH_TOGGLE_PAD ".byte 0x2e, 0x2e, 0x2e, 0x2e\n\t"

static inline void preempt_count_add(u32 n)
{
	__asm__ volatile(
	    "addl %0, %%gs:%c1" ::"er"(n), "i"(offsetof(struct cpu_local, preempt_count))
	    : "memory", "cc");
}

static inline void preempt_count_sub(u32 n)
{
	__asm__ volatile(
	    "subl %0, %%gs:%c1" ::"er"(n), "i"(offsetof(struct cpu_local, preempt_count))
	    : "memory", "cc");
}

static inline __attribute__((always_inline)) void preempt_disable(void)
{
	ARCH_TOGGLE(preempt_off, "addl $1, %%gs:%c1");
}

void preempt_resched(void); /* kernel/task: schedule() if it is wanted and allowed */

static inline __attribute__((always_inline)) void preempt_enable(void)
{
	ARCH_TOGGLE(preempt_on, "subl $1, %%gs:%c1");
	if (unlikely(this_cpu_read(need_resched)))
		preempt_resched();
}

/*
 * For places (tracing) where a switch must not happen even if one is due: the next irq return or
 * enable does it.
 */
static inline __attribute__((always_inline)) void preempt_enable_no_resched(void)
{
	ARCH_TOGGLE(preempt_on, "subl $1, %%gs:%c1");
}

static inline __attribute__((always_inline)) void irq_enable(void)
{
	ARCH_TOGGLE(irqs_on, ARCH_TOGGLE_PAD "sti");
}

static inline __attribute__((always_inline)) void irq_disable(void)
{
	ARCH_TOGGLE(irqs_off, ARCH_TOGGLE_PAD "cli");
}

static inline u64 irq_flags(void)
{
	u64 f;
	__asm__ volatile("pushfq; popq %0" : "=r"(f)::"memory");
	return f;
}

static inline bool irqs_enabled(void)
{
	return irq_flags() & 0x200;
}

/* Returns what irq_restore() needs. */
static inline __attribute__((always_inline)) u64 irq_save(void)
{
	u64 f = irq_flags();
	irq_disable();
	return f;
}

static inline __attribute__((always_inline)) void irq_restore(u64 flags)
{
	if (flags & 0x200)
		irq_enable();
}

static inline void cpu_relax(void)
{
	__asm__ volatile("pause" ::: "memory");
}

/*
 * Call with interrupts off: turns them on and sleeps until one comes, with no gap between. Returns
 * with them on.
 */
static inline void cpu_idle_wait(void)
{
	__asm__ volatile("sti; hlt" ::: "memory");
}

/*
 * System management interrupts this CPU has had since its reset; false: it does not count them. Any
 * context.
 */
bool arch_smi_count(u64 *n);

unsigned cpu_count(void); /* CPUs that are up; they are numbered without holes */
struct cpu_local *cpu_local_of(unsigned cpu);
