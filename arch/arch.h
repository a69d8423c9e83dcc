/*
 * The whole contract between the machine (arch/x86_64) and the rest of the kernel, in both
 * directions. Part 1 is what the machine offers; part 2 is what the kernel must provide to it; part
 * 3 is called once, at boot. Contexts: "any" includes irq and NMI. The larger pieces of part 1
 * have headers of their own, which only this file includes.
 */
#pragma once

#include "arch/this_cpu.h" /* this CPU: registers, %gs, preemption, interrupts */
#include "arch/memory.h"   /* the address space, pages, address spaces, ring-3 memory */
#include "arch/port.h"	   /* ports of old devices */
#include "arch/text.h"	   /* static branches, text patching, probes */
#include "arch/watch.h"	   /* watchpoints: debug registers */

/* ---- Part 1: time ---- */

static inline u64 cycles(void)
{
	u32 lo, hi;
	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (u64)hi << 32 | lo;
}

/*
 * Nanoseconds since kernel entry, from the TSC. Any context. Two multiplications and no division.
 */
u64 clock_ns(void);
/* From the TSC to nanoseconds since kernel entry. */
struct clock_scale {
	u64 base;	  /* the TSC at kernel entry */
	u64 ns_per_cycle; /* 32.32 fixed point; 0 before the clock is measured */
};
extern struct clock_scale clock_scale; /* [I] */
/* A TSC reading to nanoseconds since kernel entry. */
/*
 * How long so many cycles last. In assembly, because the compiler aligns the stack of a function
 * that has numbers of 128 bits.
 */
static inline __attribute__((always_inline)) u64 cycles_in_ns(u64 cycles)
{
	u64 high;

	__asm__("mulq %2\n\tshrdq $32, %1, %0"
		: "+a"(cycles), "=&d"(high)
		: "rm"(clock_scale.ns_per_cycle)
		: "cc");
	return cycles;
}

static inline __attribute__((always_inline)) u64 cycles_to_ns(u64 tsc)
{
	return cycles_in_ns(tsc - clock_scale.base);
}
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

/*
 * The next timer interrupt of this CPU, `ns` from now (at least 1 us); calls kernel_timer_tick().
 * One-shot.
 */
void timer_arm(u64 ns);

/* ---- Part 1: other CPUs ---- */

enum ipi { IPI_RESCHEDULE, IPI_CALL, IPI_COUNT };

void ipi_send(unsigned cpu, enum ipi what); /* any context; delivered as kernel_ipi() there */
void nmi_send(unsigned cpu);		    /* delivered as kernel_nmi() there; own CPU allowed */
void nmi_all_others(void);
/*
 * Runs fn(arg) on every other CPU, and here last, and waits for all. Task context, interrupts on;
 * serialised inside.
 */
void cpu_call_all(void (*fn)(void *), void *arg);
void cpu_call(unsigned cpu, void (*fn)(void *), void *arg);

/* How often each came to a CPU since boot; the last is the NMI. [C] only that CPU writes. */
enum { IRQ_COUNT_NMI = 5, IRQ_COUNT_TLB, IRQ_COUNTS };
struct irq_counts {
	/* by enum vector_kind, then NMIs, then TLB flushes asked for by other CPUs */
	u64 n[IRQ_COUNTS];
};
const struct irq_counts *irq_counts(unsigned cpu);

/* ---- Part 1: tasks ---- */

struct arch_task {
	u64 rsp;	      /* kernel stack pointer while not running */
	u64 stack_top;	      /* top of the kernel stack: where struct regs of ring 3 ends */
	u64 fs_base, gs_base; /* of ring 3 */
	struct aspace *as;    /* NULL: kernel thread */
	/*
	 * 64-byte aligned save area, arch_fpu_size() bytes; NULL: kernel thread (uses no FPU)
	 */
	void *fpu;
	/*
	 * [A] the kernel's bits; not 0: kernel_user_exit_work() is called before ring 3 is entered
	 */
	u32 work;
	struct shadow *shadow; /* [A] kernel/kprobe/shadow.c's, set once; NULL: none */
	u64 private[8];
};

size_t arch_fpu_size(void);
void arch_fpu_init(void *area);
/* The current task's live registers into an area (fork, signal frames) ... */
void arch_fpu_save(void *area);
/*
 * ... and back. The area may have been in ring 3's hands: what would fault is made harmless in it
 * first.
 */
void arch_fpu_load(void *area);
/*
 * First run of the task: fn(arg) on its kernel stack, interrupts off, preempt_count 1 (the
 * switcher's).
 */
void arch_task_init(struct arch_task *t, u64 stack_top, void (*fn)(void *), void *arg);
/*
 * Saves prev and runs next, with stacks, address space, fs base and FPU. Interrupts off. struct
 * arch_task begins struct task. `task` becomes this CPU's `current` where the stack becomes its,
 * and `pid_common` the CPU's: whatever is called, probed and recorded before belongs to prev.
 */
void arch_switch(struct arch_task *prev, struct arch_task *next, struct task *task, u64 pid_common);
/*
 * The ring-3 registers of a task whose stack this is (valid while it is inside the kernel or before
 * its first entry).
 */
static inline struct regs *task_regs(const struct arch_task *t)
{
	return (struct regs *)t->stack_top - 1;
}
/*
 * A system call may change any register of its frame (sigreturn, execve) but cs and ss: the exit
 * path takes sysret only where it gives exactly the frame (rcx == rip, r11 == rflags, rip
 * canonical), else iret.
 */
/* Leaves to ring 3 with task_regs() of the current task; does not return. Interrupts off. */
void __noreturn arch_enter_user(void);
/* Clean registers for a new program. */
void arch_user_regs_init(struct regs *r, u64 entry, u64 stack);
int arch_set_fs_base(
    struct arch_task *t, u64 base); /* of the current task; -EPERM if not canonical user */

/* ---- Part 1: looking back ---- */

/*
 * Return addresses, innermost first, from `r` (r->rip first) or, when r is NULL, from the caller
 * on. Goes across irq, trap and NMI frames; stops at the end of known stacks; never faults on a bad
 * frame. Any context.
 */
unsigned stack_trace(const struct regs *r, u64 *out, unsigned max);
/* The same from the traced code on: functions of what records are left out. */
unsigned stack_trace_traced(u64 *out, unsigned max);
/* The same of ring 3 by frame pointers, from the current task's saved registers. Any context. */
unsigned stack_trace_user(u64 *out, unsigned max);
/* Registers of the innermost interrupted context of this CPU, or NULL. */
const struct regs *irq_regs(void);
#define ARCH_CONTROL_REGISTERS 4
/* CR0, CR2, CR3, CR4 of this CPU, for a register dump. Any context. */
void arch_control_registers(u64 out[ARCH_CONTROL_REGISTERS]);

/* ---- Part 1: features and registers of a CPU ---- */

/*
 * A model-specific register of a CPU that is up. 0, -ENODEV (no such CPU), -EIO (the CPU refused:
 * no such register, or no such value). Seen by the msr events. Task context, interrupts on.
 */
int arch_msr_read(unsigned cpu, u32 msr, u64 *value);
int arch_msr_write(unsigned cpu, u32 msr, u64 value);
/* CPUID of this CPU: eax, ebx, ecx, edx. Any context. */
void arch_cpuid(u32 leaf, u32 subleaf, u32 out[4]);
/*
 * What comes at an interrupt vector: "Page fault", "Local timer interrupts"; NULL: a device's line,
 * *gsi says which, or (~0) nothing. Any context.
 */
const char *arch_vector_name(unsigned vector, unsigned *gsi);

/* ---- Part 1: the end ---- */

/* What this CPU's caches have goes to memory: a reset may drop it. Any context. */
void arch_write_back(void);
void __noreturn machine_reboot(void);
void __noreturn machine_poweroff(void);
/*
 * QEMU's isa-debug-exit: the exit status is (code << 1) | 1. Powers off where there is no such
 * device.
 */
void __noreturn machine_exit(u8 code);
void __noreturn machine_halt(void);
/*
 * Goes on with fn(arg) on another stack; what was on this one is given up. Any context, interrupts
 * off.
 */
void __noreturn arch_run_on(u64 stack_top, void (*fn)(void *), void *arg);
/* A fault that no handler can be found for: a PC resets. */
void machine_triple_fault(void);
/* Stops all other CPUs for good (panic). Any context. */
void machine_stop_others(void);

/* ---- Part 2: what the kernel provides ---- */

struct boot_info;
void __noreturn kernel_main(
    const struct boot_info *bi); /* first C of the boot CPU; its stack, gs, IDT, paging are ready */
void kernel_ap_main(void);	 /* the same for another CPU; interrupts off; never returns */
/*
 * A step of the boot is done; the text stays where it is. Boot CPU, from the first C instruction
 * on, even without %gs.
 */
void kernel_boot_step(const char *step);
/* The same in the start of another CPU, once kernel_main() runs. */
void kernel_boot_cpu(unsigned cpu, u32 apic_id, const char *step);

/*
 * Page frames for page tables and stacks: one zeroed page, physical address, 0 if none. Any context
 * but NMI.
 */
u64 arch_page_alloc(void);
void arch_page_free(u64 pa);

void kernel_syscall(
    struct regs *r); /* number in r->error; the result to r->rax, which holds -ENOSYS */
/*
 * Of ring 3, or of the kernel where it may wait for a page of ring 3. r->error has the bits. False:
 * not resolved. Interrupts on.
 */
bool kernel_page_fault(struct regs *r, u64 addr);
void kernel_user_trap(
    struct regs *r, int signo, int code, u64 addr); /* a fault of ring 3 that nothing resolved */
void __noreturn kernel_trap_fatal(
    struct regs *r, const char *what); /* a fault of the kernel itself */
/*
 * First thing after a breakpoint in ring 0, outside of entry code. True: it was a probe's, and r is
 * set to go on.
 */
bool kernel_probe_int3(struct regs *r);
/*
 * A hooked function has returned: r has its registers, r->rsp as after the ret. Where it is to
 * return to. Interrupts off.
 */
u64 kernel_probe_return(struct regs *r);
/*
 * What stood at `slot` of the current task's stack before probe_return; 0: not known. slot 0: of
 * the innermost.
 */
u64 kernel_probe_returns_to(u64 slot);
u64 kernel_probe_real_return(u64 slot); /* return address at slot; the original of a taken one */
/* n bytes read from addr on become what they are without probes. Any context. */
void kernel_probe_original(u64 addr, u8 *code, unsigned n);
/* A detour is entered while handlers run on this CPU. Interrupts off. */
void kernel_probe_missed(struct regs *r);
/*
 * A hooked function is entered: r->rip is one byte after its start, r->rsp points at its return
 * address. Where to go on.
 */
u64 kernel_hook_many(struct regs *r);  /* preemption off */
u64 kernel_hook_probe(struct regs *r); /* interrupts off */
/*
 * The same with interrupts off, for who needs few registers: of r only rdi, rsi, rdx, rcx, r8, r9
 * and rflags are there, and changes are ignored. `next`: where the function goes on. this_cpu()'s
 * `probing` is afterwards as it was before.
 */
void kernel_hook_probe_arguments(u64 next, struct regs *r);
/*
 * The users of hooks, by number. `slot` is where the function's return address stands. fn() is
 * called with preemption off; users that follow calls have enter() instead, with interrupts off.
 */
struct hook_call {
	u64 ip, start; /* all three are the user's own data */
	u64 level;
};
struct hook_returned;
struct hook_user {
	void (*fn)(struct hook_user *user, u64 ip, u64 parent_ip, u64 *slot);
	void (*enter)(struct hook_user *user, u64 *slot); /* hook_entered_ip() and _flags() */
	void (*leave)(
	    struct hook_user *user, const struct hook_call *call, const struct hook_returned *ret);
	int number;	 /* of kernel/kprobe/hook.c */
	u32 asks;	 /* the same: its calls ask for its bit of hook_skip */
	u64 calls;	 /* [I] owner of its calls on shadow stacks: HOOK_CALLS() */
	u64 missed;	 /* [A] not followed: no room, or no shadow stack */
	u64 left, ended; /* [A] left otherwise than by their return; with their tasks */
};
extern struct hook_user *kernel_hook_users[];
/*
 * The shadow stack of a task: kernel/kprobe/shadow.h. hook_return looks for the user of the record
 * on top: the low half of its owner, less one, is the low half of the address of the user's place
 * in kernel_hook_users[]; all of the owner is the user's `calls`.
 */
struct shadow_record {
	u64 slot; /* 0: it is being written */
	u64 ret;  /* what stood there */
	/* a struct kretprobe_holder; odd: the calls of a hook's user, hook_user.calls */
	u64 owner;
	u64 size; /* with what lies below it */
};
/* The lowest record is of no call: its slot lies above all others, its owner is 0. */
struct shadow {
	struct shadow_record *top; /* [the task's own] */
	u8 *last;		   /* the highest place that a record has room in */
	u8 bytes[];
};
/* The shadow stack of a CPU whose task has none yet. Its top record belongs to no call. */
extern struct shadow arch_no_shadow;
#define HOOK_CALLS(place, generation) ((u64)(generation) << 32 | (u32)(u64)(place) | 1)
#define HOOK_CALLS_SHARED	      (1UL << 63) /* in an owner: the slot has another record */
/*
 * A function returns to hook_return: its values, its flags, and the place of its return address,
 * which is to be filled in. If one user followed the call and is still there, hook_return calls its
 * leave() itself; else this. Interrupts off.
 */
struct hook_returned {
	u64 second, value, flags, to; /* second: %rdx */
};
/*
 * For enter(): the function that called the hook, and its flags at that moment. Both lie below the
 * function's return address, at `slot`.
 */
static inline __attribute__((always_inline)) u64 hook_entered_ip(const u64 *slot)
{
	return slot[-1] - ARCH_HOOK_LEN;
}

static inline __attribute__((always_inline)) u64 hook_entered_flags(const u64 *slot)
{
	return slot[-2];
}
void kernel_hook_returned(struct hook_returned *r);
/*
 * Watched toggles (arch_toggles_watch()) call these: after they turned interrupts off, and before
 * they turn them on. For preemption: when its count has become 1, and before it leaves 1. `ip` is
 * inside the toggle, `frame` is the frame pointer of its function.
 */
void kernel_irqs_off(u64 ip, u64 frame);
void kernel_irqs_on(u64 ip, u64 frame);
void kernel_preempt_off(u64 ip, u64 frame);
void kernel_preempt_on(u64 ip, u64 frame);
bool kernel_int3(struct regs *r);	/* true: it was a probe's; else SIGTRAP or fatal */
bool kernel_debug_trap(struct regs *r); /* r->error holds DR6 */
/*
 * An instruction accessed the place `addr`, which register n watches; r->rip is after it. `value`
 * is what the place holds now, or what went through the port. The handler has interrupts off, and
 * counts in preempt_count as an NMI does. If the handler itself or entry code makes an access, the
 * trap calls only kernel_watch_missed().
 */
void kernel_watch_hit(unsigned n, u64 addr, u64 value, const struct regs *r);
void kernel_watch_missed(unsigned n);
u64 kernel_function_start(u64 addr); /* start of the function at addr; 0: none. Any context */
u64 kernel_function_end(u64 addr);   /* the first address after that function */
void kernel_irq(unsigned irq);	     /* a device line (global system interrupt number) */
void kernel_timer_tick(struct regs *r);
void kernel_ipi(enum ipi what);
void kernel_nmi(struct regs *r);
/*
 * Told around the handler of an interrupt that is no device's, before and after; and of each IPI
 * sent, MSR touched, flush of ring-3 translations.
 */
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
/* Linux's numbers, as tlb:tlb_flush records them. */
enum tlb_reason { TLB_REMOTE = 1, TLB_LOCAL_MM = 3, TLB_SEND_IPI = 4 };
#define TLB_ALL_PAGES (~0UL)
void kernel_tlb_flushed(enum tlb_reason reason, u64 pages);
/* Interrupt and trap frames: called by entry code around every handler. */
void kernel_irq_enter(struct regs *r, unsigned vector);
void kernel_irq_exit(
    struct regs *r, unsigned vector); /* may switch tasks when it interrupted preemptible code */
/* before leaving to ring 3 when arch_task.work is set, interrupts off: signals, resched */
void kernel_user_exit_work(struct regs *r);

/* ---- Part 3: called once, at boot ---- */

/*
 * Where every loader ends: long mode, the image mapped where it is linked, the first 4 GiB of
 * memory in the direct map, a stack, interrupts off.
 */
void __noreturn arch_start(struct boot_info *bi);

/*
 * What ACPI reports, in the machine's terms. kernel/machine/machine.c, which knows the drivers,
 * fills it.
 */
struct machine_info {
	u64 entry_tsc; /* clock_ns() counts from here */
	/* a free one below 640 KiB, where other CPUs begin; 0: none, they stay off */
	u32 start_page;
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
 * Interrupt controllers and clock of the boot CPU. NULL, or a sentence about what is missing. refs:
 * best first, n may be 0 (then CPUID or the hypervisor must know). unix_ns: 1970 to now by the CMOS
 * clock.
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
