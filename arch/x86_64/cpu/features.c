/*
 * CPUID, asked once on the boot CPU before anything depends on it (Intel SDM volume 2, CPUID;
 * out-of-range leaves give another leaf's data, so every leaf is compared with the highest first).
 */
#include "arch/x86_64/cpu/features.h"
#include "arch/x86_64/cpu/early.h"
#include "arch/x86_64/cpu/regs.h"

#define XSTATE_X87    (1u << 0)
#define XSTATE_SSE    (1u << 1)
#define XSTATE_AVX    (1u << 2)
#define XSTATE_AVX512 (7u << 5)

#define FXSAVE_SIZE  512
#define XSAVE_HEADER 64

struct cpu_features cpu_features;

/*
 * The states this kernel saves: x87, SSE, AVX, AVX-512 as far as they are there; their size in the
 * standard layout.
 */
static void xsave_init(struct cpu_features *f)
{
	struct cpuid states = cpuid(0xd, 0);
	u64 known = XSTATE_X87 | XSTATE_SSE | XSTATE_AVX | XSTATE_AVX512;

	f->xcr0 = ((u64)states.d << 32 | states.a) & known;
	if ((f->xcr0 & XSTATE_AVX512) != XSTATE_AVX512)
		f->xcr0 &= ~(u64)XSTATE_AVX512;
	f->fpu_size = FXSAVE_SIZE + XSAVE_HEADER;
	for (unsigned i = 2; i < 8; i++) {
		if (!(f->xcr0 & 1UL << i))
			continue;
		struct cpuid part = cpuid(0xd, i); /* a: size, b: offset */
		f->fpu_size = MAX(f->fpu_size, part.a + part.b);
	}
}

void cpu_features_init(void)
{
	struct cpu_features *f = &cpu_features;
	u32 max = cpuid(0, 0).a, max_extended = cpuid(0x80000000, 0).a;
	struct cpuid structured = {0};

	if (!(cpuid(0x80000001, 0).d >> 11 & 1))
		early_die("the CPU has no SYSCALL instruction");
	if (max >= 7)
		structured = cpuid(7, 0);
	f->smep = structured.b >> 7 & 1;
	f->smap = structured.b >> 20 & 1;
	f->umip = structured.c >> 2 & 1;
	f->mce = cpuid(1, 0).d >> 7 & 1;
	f->pages_1g = cpuid(0x80000001, 0).d >> 26 & 1;
	f->phys_bits = max_extended >= 0x80000008 ? cpuid(0x80000008, 0).a & 0xff : 36;
	f->xsave = max >= 0xd && (cpuid(1, 0).c >> 26 & 1);
	f->fpu_size = FXSAVE_SIZE;
	if (f->xsave)
		xsave_init(f);
}
