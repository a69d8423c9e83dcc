/*
 * The way out to ring 3 when the frame cannot be taken: arch/x86_64/irq/entry.S, trap_bad_iret(). A
 * task is given such a frame by hand (no system call lets ring 3 make one); it must end by SIGSEGV,
 * with %gs the kernel's again.
 */
#include "arch/arch.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"
#include "kernel/process/mm.h"
#include "kernel/process/process.h"
#include "kernel/task/task.h"

static u64 frame_cs, frame_rip;

static int leave_badly(struct process_start *unused)
{
	struct task *t = current();
	struct regs *r = task_regs(&t->arch);

	(void)unused;
	t->mm = mm_create();
	t->arch.as = t->mm->as;
	aspace_switch(t->mm->as);
	arch_user_regs_init(r, frame_rip, 0x10000);
	r->cs = frame_cs;
	r->rbx = 0x1234;
	return 0;
}

static int status_of_leaving(u64 cs, u64 rip)
{
	int status = -1;

	frame_cs = cs;
	frame_rip = rip;
	struct process_start start = {leave_badly};
	int pid = process_start(&start, "bad-iret");
	EXPECT(pid > 0);
	if (pid > 0)
		EXPECT(task_wait(pid, &status, 0) > 0);
	return status;
}

static void iret_that_faults(void)
{
	for (unsigned i = 0; i < 20; i++) {
		EXPECT_EQ(status_of_leaving(0x7b, 0x10000) & 0x7f, SIGSEGV); /* beyond the table */
		EXPECT_EQ(status_of_leaving(0x2b, 0x10000) & 0x7f, SIGSEGV); /* data */
	}
	/* The frame is fine, what it leads to is not. */
	EXPECT_EQ(status_of_leaving(0x33, 0x800000000000) & 0x7f, SIGSEGV);
	EXPECT_EQ(status_of_leaving(0x33, KERNEL_IMAGE_BASE + 0x100000) & 0x7f, SIGSEGV);
}

#define STACKS 16

static u32 ended, with_registers; /* [A] */

static void look_at_registers(void *unused)
{
	(void)unused;
	if (task_regs(&current()->arch)->cs)
		atomic_add(&with_registers, 1);
	atomic_add(&ended, 1);
	do_exit(0);
}

/* A new task has no registers of ring 3, though its stack may be that of one which had some. */
static void none_before_ring3(void)
{
	ended = with_registers = 0;
	for (unsigned i = 0; i < STACKS; i++)
		EXPECT_EQ(status_of_leaving(0x7b, 0x10000) & 0x7f, SIGSEGV);
	for (unsigned i = 0; i < STACKS; i++)
		EXPECT(kthread_run(look_at_registers, NULL, -1, "registers"));
	while (atomic_load(&ended) < STACKS)
		sched_yield_current();
	EXPECT_EQ(with_registers, 0);
}

static const struct ktap_case cases[] = {
    {"entry.iret_that_faults", iret_that_faults},
    {"entry.none_before_ring3", none_before_ring3},
    {NULL, NULL},
};
const struct ktap_suite suite_entry = {cases};
