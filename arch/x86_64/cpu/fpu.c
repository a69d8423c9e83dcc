/*
 * Floating-point state of ring-3 tasks: FXSAVE, or XSAVE with the states of cpu_features.xcr0
 * (Intel SDM volume 1, chapters 10.5 and 13). Saved whenever the task is switched away from; loaded
 * when it comes back, unless the registers still hold it: a CPU remembers whose they are, a task
 * which CPU loaded it last. [C] interrupts off.
 */
#include "arch/x86_64/cpu/fpu.h"
#include "arch/x86_64/cpu/features.h"
#include "arch/x86_64/cpu/percpu.h"
#include "arch/x86_64/cpu/regs.h"
#include "kernel/lib/string.h"

#define MXCSR_DEFAULT 0x1f80
#define FCW_DEFAULT   0x37f
#define MXCSR_AT      24 /* in the save area */
#define MXCSR_MASK_AT 28
#define XSTATE_BV_AT  512

#define LAST_CPU 0 /* in arch_task.private: CPU + 1 whose registers were loaded from it last */

static u32 mxcsr_mask = 0xffbf;

size_t arch_fpu_size(void)
{
	return cpu_features.fpu_size;
}

void arch_fpu_init(void *area)
{
	u16 fcw = FCW_DEFAULT;
	u32 mxcsr = MXCSR_DEFAULT;

	memset(area, 0, cpu_features.fpu_size);
	memcpy(area, &fcw, sizeof fcw);
	memcpy((char *)area + MXCSR_AT, &mxcsr, sizeof mxcsr);
	if (cpu_features.xsave) {
		u64 valid = 3; /* x87 and SSE are as written here */
		memcpy((char *)area + XSTATE_BV_AT, &valid, sizeof valid);
	}
}

static void save(void *area)
{
	u64 states = cpu_features.xcr0;

	if (cpu_features.xsave)
		__asm__ volatile(
		    "xsave64 (%0)" ::"r"(area), "a"((u32)states), "d"((u32)(states >> 32))
		    : "memory");
	else
		__asm__ volatile("fxsave64 (%0)" ::"r"(area) : "memory");
}

static void load(const void *area)
{
	u64 states = cpu_features.xcr0;

	if (cpu_features.xsave)
		__asm__ volatile(
		    "xrstor64 (%0)" ::"r"(area), "a"((u32)states), "d"((u32)(states >> 32))
		    : "memory");
	else
		__asm__ volatile("fxrstor64 (%0)" ::"r"(area) : "memory");
}

void arch_fpu_save(void *area)
{
	u64 flags = irq_save();

	save(area);
	irq_restore(flags);
}

/* Reserved bits of MXCSR and of the XSAVE header would make the load fault. */
static void make_harmless(char *area)
{
	u32 mxcsr;
	u64 header[8] = {0};

	memcpy(&mxcsr, area + MXCSR_AT, sizeof mxcsr);
	mxcsr &= mxcsr_mask;
	memcpy(area + MXCSR_AT, &mxcsr, sizeof mxcsr);
	if (!cpu_features.xsave)
		return;
	memcpy(header, area + XSTATE_BV_AT, sizeof header[0]);
	header[0] &= cpu_features.xcr0;
	memcpy(area + XSTATE_BV_AT, header, sizeof header);
}

void arch_fpu_load(void *area)
{
	u64 flags = irq_save();

	make_harmless(area);
	load(area);
	private_write(fpu_owner, NULL); /* what was loaded by a switch is gone */
	irq_restore(flags);
}

void fpu_setup(void)
{
	u32 mxcsr = MXCSR_DEFAULT;
	static char first[1024] __aligned(64);

	if (cpu_features.xsave) {
		u64 states = cpu_features.xcr0;
		__asm__ volatile("xsetbv" ::"c"(0), "a"((u32)states), "d"((u32)(states >> 32)));
	}
	__asm__ volatile("fninit; ldmxcsr %0" ::"m"(mxcsr));
	if (cpu_id() == 0) {
		__asm__ volatile("fxsave64 %0" : "=m"(first));
		memcpy(&mxcsr, first + MXCSR_MASK_AT, sizeof mxcsr);
		if (mxcsr)
			mxcsr_mask = mxcsr;
	}
}

void fpu_switch(struct arch_task *prev, struct arch_task *next)
{
	if (prev->fpu)
		save(prev->fpu);
	if (!next->fpu)
		return;
	if (private_read(fpu_owner) == next->fpu && next->private[LAST_CPU] == cpu_id() + 1)
		return;
	load(next->fpu);
	private_write(fpu_owner, next->fpu);
	next->private[LAST_CPU] = cpu_id() + 1;
}
