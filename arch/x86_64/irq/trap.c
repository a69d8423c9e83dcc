/*
 * Exceptions: the meaning of each, and the handlers that are asked. Entry code calls with
 * interrupts off, on the stack described in entry.S. Functions marked __noprobe run before a
 * breakpoint is known to be a probe's.
 */
#include "arch/x86_64/irq/trap.h"
#include "arch/x86_64/cpu/regs.h"
#include "arch/x86_64/irq/extable.h"
#include "arch/x86_64/irq/interrupt.h"
#include "arch/x86_64/cpu/percpu.h"
#include "arch/x86_64/cpu/sections.h"
#include "arch/x86_64/cpu/stacks.h"
#include "arch/x86_64/probe/text_patch.h"
#include "arch/x86_64/probe/watch.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"

#define AT(field, offset)                                                                          \
	_Static_assert(offsetof(struct regs, field) == (offset), "entry.S knows struct regs")
AT(r11, REGS_R11);
AT(rax, REGS_RAX);
AT(rcx, REGS_RCX);
AT(error, REGS_ERROR);
AT(trap, REGS_TRAP);
AT(rip, REGS_RIP);
AT(cs, REGS_CS);
AT(rflags, REGS_RFLAGS);
AT(rsp, REGS_RSP);
AT(ss, REGS_SS);
_Static_assert(sizeof(struct regs) == REGS_SIZE, "entry.S knows struct regs");
_Static_assert(
    offsetof(struct cpu_local, kernel_rsp) == CPU_KERNEL_RSP, "entry.S knows struct cpu_local");
_Static_assert(
    offsetof(struct cpu_local, scratch_rsp) == CPU_SCRATCH_RSP, "entry.S knows struct cpu_local");
_Static_assert(
    offsetof(struct cpu_local, current) == CPU_CURRENT, "entry.S knows struct cpu_local");
_Static_assert(offsetof(struct cpu_local, preempt_count) == CPU_PREEMPT_COUNT,
    "hook.S knows struct cpu_local");
_Static_assert(
    offsetof(struct cpu_local, probing) == CPU_PROBING, "probe_detour.S knows struct cpu_local");
_Static_assert(
    offsetof(struct cpu_local, hook_skip) == CPU_HOOK_SKIP, "hook.S knows struct cpu_local");
_Static_assert(offsetof(struct cpu_local, shadow) == CPU_SHADOW, "hook.S knows struct cpu_local");
_Static_assert(
    offsetof(struct cpu_local, canary) == CPU_CANARY, "the Makefile knows struct cpu_local");
_Static_assert(offsetof(struct arch_task, work) == 48, "entry.S knows struct arch_task");

/* Linux's signal numbers and codes for what ring 3 did. */
enum { SIGILL = 4, SIGTRAP = 5, SIGBUS = 7, SIGFPE = 8, SIGSEGV = 11 };
enum {
	SI_KERNEL = 0x80,
	ILL_ILLOPN = 2,
	FPE_INTDIV = 1,
	FPE_FLTDIV = 3,
	FPE_FLTOVF = 4,
	FPE_FLTUND = 5,
	FPE_FLTRES = 6,
	FPE_FLTINV = 7,
	SEGV_MAPERR = 1,
	SEGV_ACCERR = 2,
	BUS_ADRALN = 1,
	TRAP_TRACE = 2,
};

/* Bits of a page fault's error code. */
enum { PF_PRESENT = 1, PF_WRITE = 2, PF_USER = 4, PF_RESERVED = 8, PF_FETCH = 16 };

static const struct {
	const char *name;
	int signo, code;
} traps[32] = {
    [TRAP_DE] = {"divide error", SIGFPE, FPE_INTDIV},
    [TRAP_DB] = {"debug", SIGTRAP, TRAP_TRACE},
    [TRAP_NMI] = {"NMI", SIGSEGV, SI_KERNEL},
    [TRAP_BP] = {"int3", SIGTRAP, SI_KERNEL},
    [TRAP_OF] = {"overflow", SIGSEGV, SI_KERNEL},
    [TRAP_BR] = {"bounds", SIGSEGV, SI_KERNEL},
    [TRAP_UD] = {"invalid opcode", SIGILL, ILL_ILLOPN},
    [TRAP_NM] = {"device not available", SIGSEGV, SI_KERNEL},
    [TRAP_DF] = {"double fault", SIGSEGV, SI_KERNEL},
    [9] = {"coprocessor segment overrun", SIGFPE, SI_KERNEL},
    [TRAP_TS] = {"invalid TSS", SIGSEGV, SI_KERNEL},
    [TRAP_NP] = {"segment not present", SIGBUS, SI_KERNEL},
    [TRAP_SS] = {"stack segment", SIGBUS, SI_KERNEL},
    [TRAP_GP] = {"general protection fault", SIGSEGV, SI_KERNEL},
    [TRAP_PF] = {"page fault", SIGSEGV, SEGV_MAPERR},
    [15] = {"spurious interrupt bug", SIGSEGV, SI_KERNEL},
    [TRAP_MF] = {"fpu exception", SIGFPE, FPE_FLTINV},
    [TRAP_AC] = {"alignment check", SIGBUS, BUS_ADRALN},
    [TRAP_MC] = {"machine check", SIGBUS, SI_KERNEL},
    [TRAP_XM] = {"simd exception", SIGFPE, FPE_FLTINV},
};

const char *trap_vector_name(unsigned vector)
{
	return vector < ARRAY_SIZE(traps) ? traps[vector].name : NULL;
}

static const char *trap_name(const struct regs *r)
{
	const char *name = trap_vector_name(regs_vector(r));

	return name ? name : "unknown trap";
}

/* Goes on at the fixup of an instruction that was allowed to fault. */
static bool fixup(struct regs *r)
{
	const struct extable_entry *e = extable_find(r->rip);

	if (e)
		r->rip = e->fixup;
	return e;
}

/* Said of the instruction itself, where a copy of it faulted. */
static void __noreturn trap_fatal(struct regs *r, const char *what)
{
	r->rip = arch_probe_origin(r->rip);
	kernel_trap_fatal(r, what);
}

static void __noreturn trap_page_fault_fatal(struct regs *r, u64 addr)
{
	char text[320];
	const char *access = r->error & PF_FETCH   ? "instruction fetch"
			     : r->error & PF_WRITE ? "write access"
						   : "read access";
	const char *cause = r->error & PF_RESERVED  ? "reserved bit violation"
			    : r->error & PF_PRESENT ? "permissions violation"
						    : "not-present page";

	fmt_snprintf(text, sizeof text,
	    "BUG: %s%016llx\n#PF: supervisor %s in kernel mode\n#PF: error_code(0x%04llx) - "
	    "%s\nOops",
	    addr < PAGE_SIZE ? "kernel NULL pointer dereference, address: "
			     : "unable to handle page fault for address: ",
	    (unsigned long long)addr, access, (unsigned long long)r->error, cause);
	trap_fatal(r, text);
}

/*
 * The kernel touched ring-3 memory where it may: may the page be asked for, that is, can we sleep
 * here?
 */
static bool may_fault_in(const struct regs *r, const struct extable_entry *e, u64 addr)
{
	return e && e->kind == EX_FAULT_IN && addr < USER_END && r->rflags & RFLAGS_IF &&
	       !this_cpu_read(preempt_count);
}

static void page_fault(struct regs *r, u64 addr)
{
	const struct extable_entry *e;

	if (regs_user(r)) {
		irq_enable();
		if (!kernel_page_fault(r, addr))
			kernel_user_trap(
			    r, SIGSEGV, r->error & PF_PRESENT ? SEGV_ACCERR : SEGV_MAPERR, addr);
		return;
	}
	e = extable_find(r->rip);
	if (may_fault_in(r, e, addr)) {
		irq_enable();
		bool resolved = kernel_page_fault(r, addr);
		irq_disable();
		if (resolved)
			return;
	}
	if (!e)
		trap_page_fault_fatal(r, addr);
	r->rip = e->fixup;
}

static void __noprobe do_int3(struct regs *r)
{
	const struct regs *outer;
	bool taken;

	if (text_patch_int3(r))
		return;
	outer = private_read(irq_regs);
	if (!regs_user(r))
		private_write(irq_regs, r);
	taken = kernel_int3(r);
	if (!regs_user(r))
		private_write(irq_regs, outer);
	if (taken)
		return;
	if (!regs_user(r)) {
		r->error = 0; /* it has none; what probes are shown there is -1 */
		trap_fatal(r, traps[TRAP_BP].name);
	}
	irq_enable();
	kernel_user_trap(r, SIGTRAP, SI_KERNEL, 0);
}

static void trap_step(struct regs *r, u64 dr6)
{
	r->error = dr6;
	if (kernel_debug_trap(r))
		return;
	if (!regs_user(r))
		trap_fatal(r, traps[TRAP_DB].name);
	r->error = 0; /* a signal's frame has none */
	irq_enable();
	kernel_user_trap(r, SIGTRAP, TRAP_TRACE, r->rip);
}

static void __noprobe trap_debug(struct regs *r)
{
	u64 dr6 = read_dr6();

	write_dr6(DR6_NOTHING);
	if (!watch_trap(r, dr6))
		trap_step(r, dr6);
}

static void __noreturn double_fault(struct regs *r, u64 addr)
{
	char text[160];
	u64 top = this_cpu_read(kernel_rsp), bottom = top - KERNEL_STACK_SIZE;

	if (addr >= bottom - PAGE_SIZE && addr < bottom)
		fmt_snprintf(text, sizeof text,
		    "BUG: TASK stack guard page was hit at %016llx (stack is "
		    "%016llx..%016llx)\nstack guard page",
		    (unsigned long long)addr, (unsigned long long)bottom,
		    (unsigned long long)top - 1);
	else if (stack_guard_hit(addr))
		fmt_snprintf(text, sizeof text,
		    "BUG: trap stack guard page was hit at %016llx\nstack guard page",
		    (unsigned long long)addr);
	else
		strscpy(text, "double fault", sizeof text);
	trap_fatal(r, text);
}

/*
 * Which floating-point condition, from status bits that are set and not masked (Linux takes them in
 * this order).
 */
static int float_code(u32 status, u32 masked)
{
	u32 bits = status & ~masked;

	return bits & 1	     ? FPE_FLTINV
	       : bits & 4    ? FPE_FLTDIV
	       : bits & 8    ? FPE_FLTOVF
	       : bits & 0x12 ? FPE_FLTUND
			     : FPE_FLTRES;
}

static int user_trap_code(unsigned vector)
{
	u16 control, status;
	u32 mxcsr;

	if (vector == TRAP_MF) {
		__asm__ volatile("fnstcw %0; fnstsw %1" : "=m"(control), "=m"(status));
		return float_code(status, control);
	}
	if (vector == TRAP_XM) {
		__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
		return float_code(mxcsr, mxcsr >> 7);
	}
	return traps[vector].code;
}

static void user_trap(struct regs *r)
{
	unsigned vector = regs_vector(r);
	u64 addr = vector == TRAP_GP || vector == TRAP_SS || vector == TRAP_NP ? 0 : r->rip;
	int code;

	if (vector >= ARRAY_SIZE(traps) || !traps[vector].name || vector == TRAP_MC)
		trap_fatal(r, trap_name(r));
	code = user_trap_code(vector);
	irq_enable();
	kernel_user_trap(r, traps[vector].signo, code, addr);
}

void __noprobe trap_dispatch(struct regs *r)
{
	u64 addr = read_cr2(); /* before anything can fault again */

	switch (regs_vector(r)) {
	case TRAP_BP:
		do_int3(r);
		return;
	case TRAP_DB:
		trap_debug(r);
		return;
	case TRAP_PF:
		page_fault(r, addr);
		return;
	case TRAP_DF:
		double_fault(r, addr);
	}
	if (regs_user(r))
		user_trap(r);
	else if (!fixup(r))
		trap_fatal(r, trap_name(r));
}

void __noprobe exc_int3(struct regs *r)
{
	do_int3(r);
}

/*
 * iret to ring 3 faulted. It was done from the top of the task's stack, where the frame still is
 * that it could not take; the registers that had been restored already are in `r`, just below,
 * which the frame's own register words overlap.
 */
struct regs *__noprobe trap_bad_iret(struct regs *r)
{
	struct regs *frame = (struct regs *)this_cpu_read(kernel_rsp) - 1;

	memmove(frame, r, offsetof(struct regs, orig_rax));
	frame->error = 0;
	frame->trap = 1 + TRAP_GP;
	frame->cs = SEL_USER_CS;
	frame->ss = SEL_USER_SS;
	kernel_user_trap(frame, SIGSEGV, SI_KERNEL, 0);
	return frame;
}

void trap_irq(struct regs *r)
{
	interrupt_dispatch(r);
}

/*
 * A handler may hit breakpoints and page faults: they get pads of their own, and what they would
 * destroy is kept.
 */
void __noprobe trap_nmi(struct regs *r)
{
	const struct regs *outer = private_read(irq_regs);
	u64 addr = read_cr2();
	struct watch_nmi watch;

	stacks_nmi_begin();
	watch_nmi_begin(&watch);
	private_write(irq_regs, r);
	private_write(nmi_regs, r);
	nmi_dispatch(r);
	private_write(nmi_regs, NULL);
	private_write(irq_regs, outer);
	watch_nmi_end(&watch);
	stacks_nmi_end();
	if (read_cr2() != addr)
		write_cr2(addr);
}

const struct regs *irq_regs(void)
{
	return private_read(irq_regs);
}
