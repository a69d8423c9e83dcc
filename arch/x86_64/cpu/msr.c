/* Model-specific registers of any CPU, also those that are not there. Task context. */
#include "arch/x86_64/cpu/msr.h"

#include "arch/x86_64/irq/extable.h"
#include "kernel/lib/errno.h"

struct msr_access {
	u32 msr;
	u64 value;
	bool write, failed;
};

_Static_assert(EX_NOFAULT == 1, "known to the assembly below");

/* No probes here: an instruction that may fault cannot run as a copy elsewhere. */
static bool __noprobe msr_try_read(u32 msr, u64 *value)
{
	u32 lo = 0, hi = 0;
	bool failed = false;

	__asm__ volatile("1: rdmsr\n\t"
			 "jmp 2f\n"
			 "3: movb $1, %2\n"
			 "2:\n\t"
			 ".pushsection __ex_table, \"a\"\n\t"
			 ".quad 1b, 3b, 1\n\t"
			 ".popsection"
			 : "+a"(lo), "+d"(hi), "+q"(failed)
			 : "c"(msr)
			 : "memory");
	*value = (u64)hi << 32 | lo;
	return !failed;
}

static bool __noprobe msr_try_write(u32 msr, u64 value)
{
	bool failed = false;

	__asm__ volatile("1: wrmsr\n\t"
			 "jmp 2f\n"
			 "3: movb $1, %0\n"
			 "2:\n\t"
			 ".pushsection __ex_table, \"a\"\n\t"
			 ".quad 1b, 3b, 1\n\t"
			 ".popsection"
			 : "+q"(failed)
			 : "c"(msr), "a"((u32)value), "d"((u32)(value >> 32))
			 : "memory");
	return !failed;
}

static void msr_access_here(void *arg)
{
	struct msr_access *a = arg;

	a->failed = a->write ? !msr_try_write(a->msr, a->value) : !msr_try_read(a->msr, &a->value);
	kernel_msr_touched(a->msr, a->value, a->write, a->failed);
}

static int access_on(unsigned cpu, struct msr_access *a)
{
	if (cpu >= cpu_count())
		return -ENODEV;
	a->failed = true; /* a CPU that was stopped does nothing */
	cpu_call(cpu, msr_access_here, a);
	return a->failed ? -EIO : 0;
}

int arch_msr_read(unsigned cpu, u32 msr, u64 *value)
{
	struct msr_access a = {.msr = msr};
	int r = access_on(cpu, &a);

	*value = a.value;
	return r;
}

int arch_msr_write(unsigned cpu, u32 msr, u64 value)
{
	struct msr_access a = {.msr = msr, .value = value, .write = true};

	return access_on(cpu, &a);
}

void arch_cpuid(u32 leaf, u32 subleaf, u32 out[4])
{
	struct cpuid c = cpuid(leaf, subleaf);

	out[0] = c.a;
	out[1] = c.b;
	out[2] = c.c;
	out[3] = c.d;
}
