/*
 * How many system management interrupts a CPU has had: MSR_SMI_COUNT, on Intel's CPUs from Nehalem
 * on and where an emulator has it (Intel SDM volume 4). Nobody tells whether it is there but the
 * fault of reading it. Any context.
 */
#include "arch/x86_64/cpu/msr.h"
#include "arch/x86_64/irq/extable.h"

#define MSR_SMI_COUNT	 0x34
#define CPUID_HYPERVISOR (1u << 31)
#define VENDOR_INTEL_EBX 0x756e6547 /* "Genu" */

/* False: the CPU has no such register. */
static bool read_or_fault(u32 msr, u32 *value)
{
	u32 low, high, there;

	__asm__ volatile("1:\trdmsr\n\t"
			 "movl $1, %2\n"
			 "2:\n\t"
			 ".pushsection .text.msr_fault, \"ax\"\n"
			 "3:\txorl %2, %2\n\t"
			 "xorl %0, %0\n\t"
			 "jmp 2b\n\t"
			 ".popsection\n\t"
			 ".pushsection __ex_table, \"a\"\n\t"
			 ".balign 8\n\t.quad 1b, 3b, %c4\n\t.popsection"
			 : "=a"(low), "=d"(high), "=&r"(there)
			 : "c"(msr), "i"(EX_NOFAULT)
			 : "memory");
	*value = low;
	return there;
}

/* Others have something else at that number, or nothing. */
static bool may_be_there(void)
{
	return cpuid(0, 0).b == VENDOR_INTEL_EBX || cpuid(1, 0).c & CPUID_HYPERVISOR;
}

bool arch_smi_count(u64 *n)
{
	u32 value;

	if (!may_be_there() || !read_or_fault(MSR_SMI_COUNT, &value))
		return false;
	*n = value;
	return true;
}
