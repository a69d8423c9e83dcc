/*
 * The whole contract between the machine (arch/x86_64) and the rest of the kernel, in both directions. Part 1 is what the
 * machine offers; part 2 is what the kernel must provide to it. Contexts: "any" includes irq and NMI.
 *
 * Address space (x86-64, 4-level):
 *   0000000000001000 - 00007fffffffefff   ring 3
 *   ffff888000000000 +64 TiB              direct map of all RAM, never executable; kernel text and rodata read-only here too
 *   ffffc90000000000 +32 TiB              kernel mappings: stacks with guard pages, device registers, vmalloc
 *   ffffffff80000000 +1 GiB               the kernel image, linked 1 MiB above its start; W^X by section
 */
#pragma once

#include "kernel/lib/types.h"

#define DIRECT_MAP_BASE	  0xffff888000000000UL
#define KERNEL_MAP_BASE	  0xffffc90000000000UL
#define KERNEL_MAP_END	  0xffffe90000000000UL
#define KERNEL_IMAGE_BASE 0xffffffff80000000UL
#define USER_END	  0x00007ffffffff000UL /* first address ring 3 may not use */
#define KERNEL_STACK_SIZE 16384UL /* of every task and idle loop; an unmapped page lies below */

/* How far above 1 MiB the loader put the image; set before anything asks. */
extern u64 kernel_image_offset;

static inline void *phys_to_virt(u64 pa)
{
	return (void *)(pa + DIRECT_MAP_BASE);
}

static inline u64 virt_to_phys(const void *va)
{
	u64 a = (u64)va;
	return a >= KERNEL_IMAGE_BASE ? a - KERNEL_IMAGE_BASE + kernel_image_offset
				      : a - DIRECT_MAP_BASE;
}

/*
 * Registers as every entry path saves them, lowest address first. The six system-call arguments lie side by side in their
 * order, so that `arg` is what a system-call handler gets.
 */
struct regs {
	u64 r15, r14, r13, r12, rbp, rbx, r11, rcx, rax;
	union {
		struct {
			u64 rdi, rsi, rdx, r10, r8, r9;
		};
		u64 arg[6];
	};
	u64 vector; /* trap or irq vector; ~0 for a system call */
	u64 error;  /* error code of the trap; for a system call its number (Linux: orig_ax) */
	u64 rip, cs, rflags, rsp, ss;
};

static inline bool regs_user(const struct regs *r)
{
	return (r->cs & 3) == 3;
}

/* ---- Part 1a: this CPU ------------------------------------------------------------------------------------------- */

/*
 * The words of a CPU that entry code and hot paths reach through %gs. One per CPU, for ever. [C] only its own CPU writes.
 * Layout is known to entry assembly: static asserts there.
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
	u64 arch[26];		/* arch/x86_64's own */
};

/* preempt_count: as Linux counts, so that trace output can show the same flags. */
#define PREEMPT_MASK 0x000000ffu
#define SOFTIRQ_UNIT 0x00000100u
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

static inline void preempt_disable(void)
{
	preempt_count_add(1);
	barrier();
}

void preempt_resched(void); /* kernel/task: schedule() if it is wanted and allowed */

static inline void preempt_enable(void)
{
	barrier();
	preempt_count_sub(1);
	if (unlikely(this_cpu_read(need_resched)))
		preempt_resched();
}

/* For places (tracing) where a switch must not happen even if one is due: the next irq return or enable does it. */
static inline void preempt_enable_no_resched(void)
{
	barrier();
	preempt_count_sub(1);
}

static inline void irq_enable(void)
{
	__asm__ volatile("sti" ::: "memory");
}

static inline void irq_disable(void)
{
	__asm__ volatile("cli" ::: "memory");
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
static inline u64 irq_save(void)
{
	u64 f = irq_flags();
	irq_disable();
	return f;
}

static inline void irq_restore(u64 flags)
{
	if (flags & 0x200)
		irq_enable();
}

static inline void cpu_relax(void)
{
	__asm__ volatile("pause" ::: "memory");
}

/* Call with interrupts off: turns them on and sleeps until one comes, with no gap between. Returns with them on. */
static inline void cpu_idle_wait(void)
{
	__asm__ volatile("sti; hlt" ::: "memory");
}

/* System management interrupts this CPU has had since its reset; false: it does not count them. Any context. */
bool arch_smi_count(u64 *n);

unsigned cpu_count(void); /* CPUs that are up; they are numbered without holes */
struct cpu_local *cpu_local_of(unsigned cpu);

/* ---- Part 1b: time ----------------------------------------------------------------------------------------------- */

static inline u64 cycles(void)
{
	u32 lo, hi;
	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (u64)hi << 32 | lo;
}

/* Nanoseconds since kernel entry, from the TSC. Any context. Two multiplications and no division. */
u64 clock_ns(void);
/* A TSC reading (or difference from kernel entry) to nanoseconds since kernel entry. */
u64 cycles_to_ns(u64 tsc);
/* cycles_to_ns(t) is (t - *base) * *mult >> 32; *mult is 0 before the clock is measured. */
void clock_line(u64 *base, u64 *mult);
/* Nanoseconds from 1970 to kernel entry, from the CMOS clock. */
u64 clock_boot_unix_ns(void);
void delay_us(unsigned us); /* busy */

struct clock_info {
	u64 tsc_khz;
	const char *reference;	  /* "hpet", "pm-timer", "pit", "cpuid", "hypervisor" */
	u32 error_ppm;		  /* spread of the calibration's rounds */
	s64 skew[MAX_CPUS];	  /* cycles a CPU's TSC is ahead of CPU 0's, measured at boot */
	u64 skew_error[MAX_CPUS]; /* half of the shortest round trip seen, cycles */
};
const struct clock_info *clock_info(void);

/* The next timer interrupt of this CPU, `ns` from now (at least 1 us); calls kernel_timer_tick(). One-shot. */
void timer_arm(u64 ns);

/* ---- Part 1c: other CPUs ------------------------------------------------------------------------------------------ */

enum ipi { IPI_RESCHEDULE, IPI_CALL, IPI_COUNT };

void ipi_send(unsigned cpu, enum ipi what); /* any context; delivered as kernel_ipi() there */
void nmi_send(unsigned cpu);		    /* delivered as kernel_nmi() there; own CPU allowed */
void nmi_all_others(void);
/* Runs fn(arg) on every other CPU, and here last, and waits for all. Task context, interrupts on; serialised inside. */
void cpu_call_all(void (*fn)(void *), void *arg);
void cpu_call(unsigned cpu, void (*fn)(void *), void *arg);

/* How often each came to a CPU since boot; the last is the NMI. [C] only that CPU writes. */
enum { IRQ_COUNT_NMI = 5, IRQ_COUNTS };
struct irq_counts {
	u64 n[IRQ_COUNTS]; /* by enum vector_kind, then IRQ_COUNT_NMI */
};
const struct irq_counts *irq_counts(unsigned cpu);

/* ---- Part 1d: pages and address spaces ---------------------------------------------------------------------------- */

enum { PROT_R = 1, PROT_W = 2, PROT_X = 4, PROT_USER = 8, PROT_NOCACHE = 16, PROT_COMBINE = 32 };

/* Kernel mappings. `prot` without PROT_USER. All CPUs see the change when these return. Task context. 0 or -ENOMEM. */
int kernel_map(u64 va, u64 pa, u64 size, unsigned prot);
void kernel_unmap(u64 va, u64 size);
/* Maps device registers, uncached; NULL if out of room. */
void *device_map(u64 pa, u64 size);
/* Maps a framebuffer: writes are gathered and come in any order; what is read is not kept. NULL if out of room. */
void *screen_map(u64 pa, u64 size);
/* Like device_map() but cached and read-only: ACPI tables. */
const void *firmware_map(u64 pa, u64 size);
/* May the kernel read this byte now? Walks the page tables; any context. */
bool kernel_readable(const void *p, size_t n);

struct aspace; /* the page tables of one ring-3 address space */
struct aspace *aspace_create(void);
void aspace_destroy(struct aspace *as); /* frees the tables, not the pages mapped */
/* One page, replaces; 0 or -ENOMEM. prot 0 keeps the page where aspace_lookup() and aspace_unmap() find it, but the CPU sees
 * nothing there in any ring (mprotect to PROT_NONE). */
int aspace_map(struct aspace *as, u64 va, u64 pa, unsigned prot);
/* The first mapped page (prot 0 too) at or above va and below end, skipping empty tables; end if there is none. */
u64 aspace_next(struct aspace *as, u64 va, u64 end);
/* Removes one page's mapping; returns its physical address or 0. Needs aspace_flush() before the page is used again. */
u64 aspace_unmap(struct aspace *as, u64 va);
/* What is mapped at va: physical address (0: nothing) and protection. */
u64 aspace_lookup(struct aspace *as, u64 va, unsigned *prot);
void aspace_flush(struct aspace *as, u64 va, u64 size); /* on all CPUs that have it loaded */
void aspace_switch(struct aspace *as);			/* NULL: the kernel's own tables */

/* ---- Part 1e: ring-3 memory. 0 or -EFAULT; never more than n bytes touched; the range is checked. ------------------- */

/* Task context; may sleep in a page fault. */
int copy_from_user(void *dst, u64 src, size_t n);
int copy_to_user(u64 dst, const void *src, size_t n);
/* The bytes that could not be copied: 0 for all. No byte that could be was read in vain. */
size_t copy_from_user_left(void *dst, u64 src, size_t n);
int get_user_u32(u32 *dst, u64 src); /* in one read, if it is aligned */
/* Copies up to and with the NUL; length without it, -EFAULT, or -ENAMETOOLONG when size bytes held none. */
long strncpy_from_user(char *dst, u64 src, size_t size);
/* The same from any context: a page that is not there is -EFAULT and never faulted in. */
int copy_from_user_nofault(void *dst, u64 src, size_t n);
/* Kernel memory that may not be there (bad pointers in probes). Any context. */
int copy_from_kernel_nofault(void *dst, const void *src, size_t n);
int copy_to_kernel_nofault(void *dst, const void *src, size_t n);

/* ---- Part 1f: tasks ----------------------------------------------------------------------------------------------- */

struct arch_task {
	u64 rsp;	      /* kernel stack pointer while not running */
	u64 stack_top;	      /* top of the kernel stack: where struct regs of ring 3 ends */
	u64 fs_base, gs_base; /* of ring 3 */
	struct aspace *as;    /* NULL: kernel thread */
	void *
	    fpu; /* 64-byte aligned save area, arch_fpu_size() bytes; NULL: kernel thread (uses no FPU) */
	u32 work; /* [A] the kernel's bits; not 0: kernel_user_exit_work() is called before ring 3 is entered */
	u64 private[8];
};

size_t arch_fpu_size(void);
void arch_fpu_init(void *area);
/* The current task's live registers into an area (fork, signal frames) ... */
void arch_fpu_save(void *area);
/* ... and back. The area may have been in ring 3's hands: what would fault is made harmless in it first. */
void arch_fpu_load(void *area);
/* First run of the task: fn(arg) on its kernel stack, interrupts off, preempt_count 1 (the switcher's). */
void arch_task_init(struct arch_task *t, u64 stack_top, void (*fn)(void *), void *arg);
/* Saves prev and runs next, with stacks, address space, fs base and FPU. Interrupts off. struct arch_task begins struct task;
 * the scheduler has set this CPU's `current` already, kernel_rsp is set here. */
void arch_switch(struct arch_task *prev, struct arch_task *next);
/* The ring-3 registers of a task whose stack this is (valid while it is inside the kernel or before its first entry). */
static inline struct regs *task_regs(const struct arch_task *t)
{
	return (struct regs *)t->stack_top - 1;
}
/* A system call may change any register of its frame (sigreturn, execve) but cs and ss: the exit path takes sysret only where
 * it gives exactly the frame (rcx == rip, r11 == rflags, rip canonical), else iret. */
/* Leaves to ring 3 with task_regs() of the current task; does not return. Interrupts off. */
void __noreturn arch_enter_user(void);
/* Clean registers for a new program. */
void arch_user_regs_init(struct regs *r, u64 entry, u64 stack);
int arch_set_fs_base(
    struct arch_task *t, u64 base); /* of the current task; -EPERM if not canonical user */

/* ---- Part 1g: kernel text ----------------------------------------------------------------------------------------- */

/*
 * A branch that is off costs one 5-byte nop. Sites are kept in a section, {site, target, key}; static_key_set() patches all
 * sites of a list of keys, a page at a time, with the int3-first protocol (each step twice where TCG needs it).
 */
struct static_key {
	u32 enabled; /* what the sites are patched for: 0 or 1 */
};

#define static_branch(key)                                                                         \
	({                                                                                         \
		__label__ yes_, out_;                                                              \
		bool on_ = false;                                                                  \
		__asm__ goto("1: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n\t"                           \
			     ".pushsection __static_branch, \"a\"\n\t"                             \
			     ".balign 8\n\t.quad 1b, %l[yes_], %c0\n\t.popsection"                 \
			     :                                                                     \
			     : "i"(key)                                                            \
			     :                                                                     \
			     : yes_);                                                              \
		goto out_;                                                                         \
yes_:                                                                                              \
		on_ = true;                                                                        \
out_:                                                                                              \
		unlikely(on_);                                                                     \
	})

struct static_branch_site {
	u64 site, target;
	struct static_key *key;
};

/* keys[i] becomes states[i] (0 or 1), all in one pass. Task context; serialised inside. */
void static_key_set_many(struct static_key *const *keys, const u8 *states, unsigned n);
static inline void static_key_set(struct static_key *key, bool on)
{
	u8 state = on;
	static_key_set_many(&key, &state, 1);
}

struct text_patch {
	void *addr;
	u8 len; /* 1..16; longer than 1: the new code is one nop, jmp rel32 or call rel32, or begins with a probe's int3 */
	u8 bytes[16];
};
/* Replaces instructions while all CPUs run. int3 hits on a half-patched site resume as if the new code were there.
 * Task context; serialised inside. */
void text_patch(const struct text_patch *p, unsigned n);
/* How much was patched since boot; `pages` counts each page opened in each step, `traps` who ran into a half-patched site. */
struct text_patch_stats {
	u64 patches, pages, syncs;
	u64 traps; /* [A] */
};
const struct text_patch_stats *text_patch_stats(void);

/* Code that runs before a breakpoint is known to be a probe's, and entry code: may not be probed, holds no patched site. */
#define __noprobe __attribute__((section(".noprobe.text"), noinline))

/*
 * Probes: an int3 in place of the first byte of an instruction, and how the interrupted code goes on as if it were not there: by
 * doing what the instruction does (the simple ones and all that change %rip), or by running a copy of it elsewhere, in a slot, which
 * ends in a jump back; or, for who wants to know when it has run, in another int3.
 * Prepare and release: task context, one at a time (kernel/kprobe.c's lock). The others: any context.
 */
#define ARCH_JUMP_LEN 5
struct arch_probe {
	u64 addr, next; /* the instruction, and the one behind it */
	void (*resume)(struct regs *r, const struct arch_probe *p); /* [A] */
	u64 slot;	       /* where the copy stands; 0: it is emulated */
	u64 target;	       /* of a branch; of ret what it drops */
	s32 disp;	       /* operand in memory: disp(base, index, 1 << scale) */
	u8 base, index, scale; /* numbers of registers; 16: none */
	u8 condition;	       /* of jcc; of a loop its opcode's low bits */
	bool memory, wide;     /* operand: in memory, not in register `base`; 64 bits of it count */
	u8 first;	       /* the byte that the int3 replaces */
	u8 len;
	/* Of a jump in its place: see below. */
	u8 region;		   /* bytes of the instructions that it covers; 0: not known */
	u8 covered[ARCH_JUMP_LEN]; /* what stands where the jump is to be */
	u64 detour;		   /* 0: none */
	void (*plain)(struct regs *r, const struct arch_probe *p); /* resume without a detour */
};

/*
 * May there be a probe at addr, and how? 0, -EILSEQ (no instruction begins there), -ENOMEM (no free slot), -EINVAL: then *why says
 * it in words. trap_behind: the slot ends in an int3. What holds a slot is to be released.
 */
int arch_probe_prepare(struct arch_probe *p, u64 addr, bool trap_behind, const char **why);
/* Why nothing there may be probed; NULL: the instructions that may be, may be. Any context. */
const char *arch_probe_refused(u64 addr);
/* When no CPU can be in its slot any more: see arch_probe_sync(). */
void arch_probe_release(struct arch_probe *p);
/* Sets r to go on with what the int3 replaced, or behind it. */
static inline void arch_probe_resume(struct regs *r, const struct arch_probe *p)
{
	READ_ONCE(p->resume)(r, p);
}
#define ARCH_PROBE_BATCH 64
/* Puts the int3s in, or takes them out: at most ARCH_PROBE_BATCH. Task context. */
void arch_probe_arm(struct arch_probe *const *p, unsigned n, bool on);
/* Nobody comes into p's slot and detour any more, but for those who have just trapped. */
void arch_probe_leave(const struct arch_probe *p);
/*
 * Returns when no CPU is where it was before the call: in a handler of a breakpoint or jump, or in a slot or detour that was left.
 * Nobody is preempted in any (arch_probe_in_slot()). Task context.
 */
void arch_probe_sync(void);
bool arch_probe_in_slot(u64 rip);
/* The address that a slot's code stands for; rip itself where there is no slot. */
u64 arch_probe_origin(u64 rip);
/*
 * A jump in place of the breakpoint: it leads to a detour, which saves the registers, calls a function with interrupts off, runs
 * copies of the instructions that the jump covers, and jumps back behind them. Task context, under the same lock as prepare.
 */
/* Why there can be none, for good; NULL: there can, and p->region says what it covers. Looks at the whole function. */
const char *arch_jump_check(struct arch_probe *p);
/*
 * Makes the detour: from now on, who traps at p goes on in its copies. fn(arg, regs) is what it calls; regs->rip is as after a
 * breakpoint, and what fn makes of it, or returns, means nothing. 0, -ENOMEM. Nobody may be in an older detour of p:
 * arch_jump_leave().
 */
int arch_jump_open(struct arch_probe *p, int (*fn)(void *arg, struct regs *r), void *arg);
/* As before. Who is in the detour goes on. */
void arch_jump_close(struct arch_probe *p);
void arch_jump_leave(
    const struct arch_probe *p);	      /* as arch_probe_leave(), but of the detour alone */
void arch_jump_release(struct arch_probe *p); /* when nobody can be in it */
/* Is that inside what the jump covers, or on the way there? */
bool arch_jump_inside(const struct arch_probe *p, u64 rip);
/* Puts jumps in place of breakpoints, or breakpoints in place of jumps: at most ARCH_PROBE_BATCH. */
void arch_jump_arm(struct arch_probe *const *p, unsigned n, bool on);

/* Return probes: where a hooked function returns to (entry.S). Calls kernel_probe_return(). */
void probe_return(void);

/* ---- Part 1h: looking back ---------------------------------------------------------------------------------------- */

/*
 * Return addresses, innermost first, from `r` (r->rip first) or, when r is NULL, from the caller on. Goes across irq, trap
 * and NMI frames; stops at the end of known stacks; never faults on a bad frame. Any context.
 */
unsigned stack_trace(const struct regs *r, u64 *out, unsigned max);
/* The same of ring 3 by frame pointers, from the current task's saved registers. Any context. */
unsigned stack_trace_user(u64 *out, unsigned max);
/* Registers of the innermost interrupted context of this CPU, or NULL. */
const struct regs *irq_regs(void);
#define ARCH_CONTROL_REGISTERS 4
/* CR0, CR2, CR3, CR4 of this CPU, for a register dump. Any context. */
void arch_control_registers(u64 out[ARCH_CONTROL_REGISTERS]);

/* ---- Part 1i: ports of the PC's old devices. Any context. --------------------------------------------------------- */

static inline u8 port_in8(u16 port)
{
	u8 v;
	__asm__ volatile("inb %1, %0" : "=a"(v) : "Nd"(port) : "memory");
	return v;
}

static inline u16 port_in16(u16 port)
{
	u16 v;
	__asm__ volatile("inw %1, %0" : "=a"(v) : "Nd"(port) : "memory");
	return v;
}

static inline u32 port_in32(u16 port)
{
	u32 v;
	__asm__ volatile("inl %1, %0" : "=a"(v) : "Nd"(port) : "memory");
	return v;
}

static inline void port_out8(u16 port, u8 v)
{
	__asm__ volatile("outb %0, %1" ::"a"(v), "Nd"(port) : "memory");
}

static inline void port_out16(u16 port, u16 v)
{
	__asm__ volatile("outw %0, %1" ::"a"(v), "Nd"(port) : "memory");
}

static inline void port_out32(u16 port, u32 v)
{
	__asm__ volatile("outl %0, %1" ::"a"(v), "Nd"(port) : "memory");
}

/* n bytes to the same port, one after the other. */
static inline void port_write8(u16 port, const void *data, size_t n)
{
	__asm__ volatile("rep outsb" : "+S"(data), "+c"(n) : "d"(port) : "memory");
}

/* ---- Part 1j: what a CPU tells of itself -------------------------------------------------------------------------- */

/* A model-specific register of a CPU that is up. 0, -ENODEV (no such CPU), -EIO (the CPU refused: no such register, or no such
 * value). Seen by the msr events. Task context, interrupts on. */
int arch_msr_read(unsigned cpu, u32 msr, u64 *value);
int arch_msr_write(unsigned cpu, u32 msr, u64 value);
/* CPUID of this CPU: eax, ebx, ecx, edx. Any context. */
void arch_cpuid(u32 leaf, u32 subleaf, u32 out[4]);
/* What comes at an interrupt vector: "Page fault", "Local timer interrupts"; NULL: a device's line, *gsi says which, or (~0)
 * nothing. Any context. */
const char *arch_vector_name(unsigned vector, unsigned *gsi);

/* ---- Part 1k: the end --------------------------------------------------------------------------------------------- */

/* What this CPU's caches have goes to memory: a reset may drop it. Any context. */
void arch_write_back(void);
void __noreturn machine_reboot(void);
void __noreturn machine_poweroff(void);
/* QEMU's isa-debug-exit: the exit status is (code << 1) | 1. Powers off where there is no such device. */
void __noreturn machine_exit(u8 code);
void __noreturn machine_halt(void);
/* Stops all other CPUs for good (panic). Any context. */
void machine_stop_others(void);

/* ---- Part 2: what the kernel provides ------------------------------------------------------------------------------ */

struct boot_info;
void __noreturn kernel_main(
    const struct boot_info *bi); /* first C of the boot CPU; its stack, gs, IDT, paging are ready */
void __noreturn kernel_ap_main(void); /* the same for another CPU; interrupts off */
/* A step of the boot is done; the text stays where it is. Boot CPU, from the first C instruction on, even without %gs. */
void kernel_boot_step(const char *step);
/* The same in the start of another CPU, once kernel_main() runs. */
void kernel_boot_cpu(unsigned cpu, u32 apic_id, const char *step);

/* Page frames for page tables and stacks: one zeroed page, physical address, 0 if none. Any context but NMI. */
u64 arch_page_alloc(void);
void arch_page_free(u64 pa);

void kernel_syscall(struct regs *r);		  /* number in r->error, result to r->rax */
bool kernel_page_fault(struct regs *r, u64 addr); /* r->error has the bits; false: not resolved */
void kernel_user_trap(
    struct regs *r, int signo, int code, u64 addr); /* a fault of ring 3 that nothing resolved */
void __noreturn kernel_trap_fatal(
    struct regs *r, const char *what); /* a fault of the kernel itself */
/* First thing after a breakpoint in ring 0, outside of entry code. True: it was a probe's, and r is set to go on. */
bool kernel_probe_int3(struct regs *r);
/* A hooked function has returned: r has its registers, r->rsp as behind the ret. Where it is to return to. Interrupts off. */
u64 kernel_probe_return(struct regs *r);
/* What stood at `slot` of the current task's stack before probe_return; 0: not known. slot 0: of the innermost. */
u64 kernel_probe_returns_to(u64 slot);
/* n bytes read from addr on become what they are without probes. Any context. */
void kernel_probe_original(u64 addr, u8 *code, unsigned n);
/* A detour is entered while handlers run on this CPU. Interrupts off. */
void kernel_probe_missed(struct regs *r);
bool kernel_int3(struct regs *r);	/* true: it was a probe's; else SIGTRAP or fatal */
bool kernel_debug_trap(struct regs *r); /* r->error holds DR6 */
u64 kernel_function_start(u64 addr);	/* of the function that holds it; 0: none. Any context */
u64 kernel_function_end(u64 addr);	/* the address behind it */
void kernel_irq(unsigned irq);		/* a device line (global system interrupt number) */
void kernel_timer_tick(struct regs *r);
void kernel_ipi(enum ipi what);
void kernel_nmi(struct regs *r);
/* Told around the handler of an interrupt that is no device's, before and after; and of each IPI sent, MSR touched. */
enum vector_kind {
	VECTOR_TIMER,
	VECTOR_RESCHEDULE,
	VECTOR_CALL,
	VECTOR_ERROR,
	VECTOR_SPURIOUS,
	VECTOR_KINDS
};
void kernel_vector_entry(enum vector_kind kind, unsigned vector);
void kernel_vector_exit(enum vector_kind kind, unsigned vector);
void kernel_ipi_raised(u64 cpus, enum ipi what);
void kernel_msr_touched(u32 msr, u64 value, bool write, bool failed);
/* Interrupt and trap frames: called by entry code around every handler. */
void kernel_irq_enter(struct regs *r, unsigned vector);
void kernel_irq_exit(
    struct regs *r, unsigned vector); /* may switch tasks when it interrupted preemptible code */
void kernel_user_exit_work(struct regs *
	r); /* before leaving to ring 3 when arch_task.work is set, interrupts off: signals, resched */

/* ---- Part 3: called once, at boot, by kernel/machine.c, which knows the drivers ------------------------------------- */

/* What ACPI told (drivers/acpi.h), in the machine's terms. */
struct machine_info {
	u64 entry_tsc; /* clock_ns() counts from here */
	u32 start_page; /* a free one below 640 KiB, where other CPUs begin; 0: none, they stay off */
	u64 lapic_base;
	u32 cpu_count; /* usable ones, boot CPU among them */
	u32 apic_ids[MAX_CPUS];
	u32 ioapic_count;
	struct {
		u32 id, gsi_base;
		u64 base;
	} ioapic[8];
	struct {
		u32 gsi;
		bool active_low, level;
	} isa_irq[16]; /* identity, edge, high where nothing overrides */
	u32 lint_nmi;  /* LINT input the NMI is wired to: 0 or 1; on all CPUs */
	bool has_8259;
};

/* A clock of known rate to calibrate the TSC and APIC timer against. */
struct ref_clock {
	const char *name; /* "hpet", "pm-timer", "pit" */
	u64 hz;
	u64 mask; /* of its counter */
	u64 (*read)(void);
};

/*
 * Interrupt controllers and clock of the boot CPU. NULL, or a sentence about what is missing. refs: best first, n may be 0
 * (then CPUID or the hypervisor must tell). unix_ns: 1970 to now by the CMOS clock.
 */
const char *arch_machine_init(
    const struct machine_info *mi, const struct ref_clock *const *refs, unsigned n, u64 unix_ns);
unsigned arch_smp_boot(
    unsigned max); /* brings up at most `max` CPUs in all, measures skew; returns how many are up */
/* Routes global system interrupt `gsi` to CPU 0: kernel_irq(gsi) follows. 0 or -ENODEV. */
int arch_irq_route(unsigned gsi);
void arch_irq_mask(unsigned gsi); /* it comes no more. Any context but NMI, CPU 0 */
unsigned arch_isa_gsi(unsigned isa);
bool arch_irq_is_level(unsigned gsi); /* level-triggered, by the tables; else edge */
