/*
 * How arch/x86_64 uses its room in struct cpu_local (arch[]). Everything here is [C]: only its own
 * CPU touches it.
 */
#pragma once

#include "arch/arch.h"

struct cpu_private {
	const struct regs *irq_regs; /* innermost interrupted context */
	const struct regs *nmi_regs; /* what the NMI being handled interrupted; NULL: none is */
	u64 left_stack;		     /* top of the stack of the task switched from last */
	struct aspace *aspace;	     /* whose tables are loaded; stays over kernel threads */
	void *fpu_owner;      /* whose registers the FPU holds, as its save area; NULL: nobody's */
	u64 fs_base, gs_base; /* of ring 3, as the MSRs hold them */
	u64 dr7;	      /* what DR7 holds but in a debug trap (probe/watch.c); 0: nothing */
	u64 watch_generation; /* which changes of watchpoints this CPU has followed */
	bool watching;	      /* a watched access is being reported */
};
_Static_assert(
    sizeof(struct cpu_private) <= sizeof(((struct cpu_local *)0)->arch), "no room in cpu_local");

/*
 * The value in this CPU's words, one instruction: right even where the task may move to another
 * CPU.
 */
#define private_read(field)                                                                        \
	({                                                                                         \
		typeof(((struct cpu_private *)0)->field) v_;                                       \
		__asm__ volatile("mov %%gs:%c1, %0"                                                \
				 : "=r"(v_)                                                        \
				 : "i"(offsetof(struct cpu_local, arch) +                          \
				       offsetof(struct cpu_private, field)));                      \
		v_;                                                                                \
	})
#define private_write(field, value)                                                                \
	do {                                                                                       \
		typeof(((struct cpu_private *)0)->field) v_ = (value);                             \
		__asm__ volatile(                                                                  \
		    "mov %0, %%gs:%c1" ::"r"(v_),                                                  \
		    "i"(offsetof(struct cpu_local, arch) + offsetof(struct cpu_private, field))    \
		    : "memory");                                                                   \
	} while (0)
