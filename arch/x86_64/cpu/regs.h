/*
 * The CPU's special registers by name: control registers and the MSRs of entry and paging (Intel
 * SDM volume 3, chapters 2 and 4; AMD APM volume 2). Any context.
 */
#pragma once

#include "arch/x86_64/cpu/msr.h"

#define MSR_EFER	   0xc0000080u
#define MSR_STAR	   0xc0000081u
#define MSR_LSTAR	   0xc0000082u
#define MSR_SFMASK	   0xc0000084u
#define MSR_PAT		   0x277u
#define MSR_FS_BASE	   0xc0000100u
#define MSR_GS_BASE	   0xc0000101u
#define MSR_KERNEL_GS_BASE 0xc0000102u

#define EFER_SCE (1u << 0)
#define EFER_NXE (1u << 11)

#define CR0_MP (1u << 1)
#define CR0_EM (1u << 2)
#define CR0_TS (1u << 3)
#define CR0_NE (1u << 5)
#define CR0_WP (1u << 16)
#define CR0_AM (1u << 18)

#define CR4_DE	       (1u << 3)
#define CR4_PAE	       (1u << 5)
#define CR4_MCE	       (1u << 6)
#define CR4_PGE	       (1u << 7)
#define CR4_OSFXSR     (1u << 9)
#define CR4_OSXMMEXCPT (1u << 10)
#define CR4_UMIP       (1u << 11)
#define CR4_OSXSAVE    (1u << 18)
#define CR4_SMEP       (1u << 20)
#define CR4_SMAP       (1u << 21)

#define DR6_NOTHING 0xffff0ff0u /* what DR6 holds before a debug trap */

#define RFLAGS_FIXED (1u << 1)
#define RFLAGS_TF    (1u << 8)
#define RFLAGS_IF    (1u << 9)
#define RFLAGS_DF    (1u << 10)
#define RFLAGS_IOPL  (3u << 12)
#define RFLAGS_NT    (1u << 14)
#define RFLAGS_RF    (1u << 16)
#define RFLAGS_AC    (1u << 18)

#define DEFINE_CONTROL_REGISTER(reg)                                                               \
	static inline u64 read_##reg(void)                                                         \
	{                                                                                          \
		u64 v;                                                                             \
		__asm__ volatile("mov %%" #reg ", %0" : "=r"(v)::"memory");                        \
		return v;                                                                          \
	}                                                                                          \
	static inline void write_##reg(u64 v)                                                      \
	{                                                                                          \
		__asm__ volatile("mov %0, %%" #reg ::"r"(v) : "memory");                           \
	}
DEFINE_CONTROL_REGISTER(cr0)
DEFINE_CONTROL_REGISTER(cr2)
DEFINE_CONTROL_REGISTER(cr3)
DEFINE_CONTROL_REGISTER(cr4)
DEFINE_CONTROL_REGISTER(dr0)
DEFINE_CONTROL_REGISTER(dr1)
DEFINE_CONTROL_REGISTER(dr2)
DEFINE_CONTROL_REGISTER(dr3)
DEFINE_CONTROL_REGISTER(dr6)
DEFINE_CONTROL_REGISTER(dr7)
