/*
 * The features of this CPU beyond those that boot/pvh.S demands. Read once on the boot CPU;
 * read-only afterwards, any context.
 */
#pragma once

#include "kernel/lib/types.h"

struct cpu_features {
	bool smep, smap, umip, mce;
	bool pages_1g;
	bool xsave;
	u64 xcr0;     /* states saved and restored, 0 without XSAVE */
	u32 fpu_size; /* bytes of a save area */
	u8 phys_bits; /* width of physical addresses */
};
extern struct cpu_features cpu_features;

void cpu_features_init(void);
