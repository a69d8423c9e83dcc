/*
 * Model-specific registers (Intel SDM volume 4) and CPUID. Any context. An MSR may be touched only
 * where CPUID says it is there: emulators answer 0 for unknown ones and take any value.
 */
#pragma once

#include "arch/arch.h"

enum {
	MSR_APIC_BASE = 0x1b,
	MSR_TSC_DEADLINE = 0x6e0,
	MSR_X2APIC = 0x800, /* + register offset / 16 */
};

/* Not seen by the msr events: for entry code and task switches. */
static inline u64 rdmsr(u32 msr)
{
	u32 lo, hi;
	__asm__ volatile("rdmsr" : "=a"(lo), "=d"(hi) : "c"(msr) : "memory");
	return (u64)hi << 32 | lo;
}

static inline void wrmsr(u32 msr, u64 v)
{
	__asm__ volatile("wrmsr" ::"c"(msr), "a"((u32)v), "d"((u32)(v >> 32)) : "memory");
}

/* Seen by them: msr:read_msr, msr:write_msr. */
static inline u64 msr_read(u32 msr)
{
	u64 v = rdmsr(msr);
	kernel_msr_touched(msr, v, false, false);
	return v;
}

static inline void msr_write(u32 msr, u64 v)
{
	wrmsr(msr, v);
	kernel_msr_touched(msr, v, true, false);
}

struct cpuid {
	u32 a, b, c, d;
};

static inline struct cpuid cpuid(u32 leaf, u32 subleaf)
{
	struct cpuid r;
	__asm__ volatile("cpuid"
			 : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d)
			 : "a"(leaf), "c"(subleaf));
	return r;
}

/* Highest leaf of the range that begins at `base` (0, 0x40000000, 0x80000000); beyond it CPUs
 * answer with other leaves' data. */
static inline u32 cpuid_max(u32 base)
{
	return cpuid(base, 0).a;
}
