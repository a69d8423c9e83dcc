/*
 * Tasks as the machine sees them: their first frame, the switch from one to the next, ring-3
 * registers of a new program. arch_switch() runs with interrupts off; the rest is called by the
 * task itself or before it first runs.
 */
#include "arch/x86_64/cpu/fpu.h"
#include "arch/x86_64/cpu/percpu.h"
#include "arch/x86_64/cpu/regs.h"
#include "arch/x86_64/cpu/tables.h"
#include "arch/x86_64/irq/trap.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

/* What entry_switch_stack() pops, lowest address first. */
struct switch_frame {
	u64 r15, r14, r13, r12, rbx, rbp;
	void (*ret)(void);
};

/* arch/x86_64/irq/entry.S */
void entry_switch_stack(u64 *save, u64 load);
void task_begin(void);

void arch_task_init(struct arch_task *t, u64 stack_top, void (*fn)(void *), void *arg)
{
	struct regs *r = (struct regs *)stack_top - 1;
	struct switch_frame *f = (struct switch_frame *)r - 1;

	memset(r, 0,
	    sizeof *r); /* no ring-3 registers yet: what the stack's last owner left is not ours */
	*f = (struct switch_frame){.r12 = (u64)arg, .rbx = (u64)fn, .ret = task_begin};
	memset(t->private, 0, sizeof t->private);
	t->stack_top = stack_top;
	t->rsp = (u64)f;
}

/* MSR writes are slow: only what differs from what this CPU holds. */
static void load_bases(const struct arch_task *t)
{
	if (private_read(fs_base) != t->fs_base) {
		wrmsr(MSR_FS_BASE, t->fs_base);
		private_write(fs_base, t->fs_base);
	}
	if (private_read(gs_base) != t->gs_base) {
		wrmsr(MSR_KERNEL_GS_BASE, t->gs_base);
		private_write(gs_base, t->gs_base);
	}
}

static struct shadow_record no_record;
struct shadow arch_no_shadow = {.top = &no_record};

void arch_switch(struct arch_task *prev, struct arch_task *next, struct task *task, u64 pid_common)
{
	fpu_switch(prev, next);
	if (next->as) {
		aspace_switch(next->as);
		load_bases(next);
	}
	private_write(left_stack, prev->stack_top);
	cpu_set_kernel_stack(next->stack_top);
	this_cpu_write(shadow, next->shadow ? next->shadow : &arch_no_shadow);
	this_cpu_write(pid_common, pid_common);
	this_cpu_write(current, task); /* no probe is hit from here to the other stack */
	entry_switch_stack(&prev->rsp, next->rsp);
}

void arch_user_regs_init(struct regs *r, u64 entry, u64 stack)
{
	*r = (struct regs){
	    .orig_rax = ~0UL,
	    .rip = entry,
	    .cs = SEL_USER_CS,
	    .rflags = RFLAGS_IF | RFLAGS_FIXED,
	    .rsp = stack,
	    .ss = SEL_USER_SS,
	};
}

int arch_set_fs_base(struct arch_task *t, u64 base)
{
	u64 flags;

	if (base >= USER_END)
		return -EPERM;
	flags = irq_save();
	t->fs_base = base;
	load_bases(t);
	irq_restore(flags);
	return 0;
}
