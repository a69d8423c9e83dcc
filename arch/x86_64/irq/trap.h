/*
 * Traps, within arch/x86_64: descriptor tables, entry code (entry.S) and its C part (trap.c).
 * Selectors and the layout of struct regs are known to assembly; static asserts in trap.c.
 */
#pragma once

#ifndef __ASSEMBLY__
#include "arch/arch.h"
#endif

/*
 * Selectors, Linux's numbers (ring 3 can see its own). SYSCALL and SYSRET want this order (Intel
 * SDM volume 2): kernel cs and ss; then, after a place for a 32-bit cs, user ss and cs.
 */
#define SEL_KERNEL_CS 0x10
#define SEL_KERNEL_SS 0x18
#define SEL_USER_SS   0x2b
#define SEL_USER_CS   0x33
#define SEL_TSS	      0x40

/* Offsets in struct regs. */
#define REGS_R11    48
#define REGS_R9	    64
#define REGS_RAX    80
#define REGS_RCX    88
#define REGS_ERROR  120
#define REGS_TRAP   124
#define REGS_RIP    128
#define REGS_CS	    136
#define REGS_RFLAGS 144
#define REGS_RSP    152
#define REGS_SS	    160
#define REGS_SIZE   168

/* Offsets in struct cpu_local. */
#define CPU_KERNEL_RSP	  8
#define CPU_SCRATCH_RSP	  16
#define CPU_CURRENT	  24
#define CPU_PREEMPT_COUNT 36
#define CPU_PROBING	  48
#define CPU_HOOK_SKIP	  56
#define CPU_CANARY	  64
#define CPU_SHADOW	  72

/* probe/hook.S: the entries of single users, and what they push below the return address. */
#define HOOK_DIRECT	 16
#define HOOK_ENTRY	 64
#define HOOK_CALL_ENTRY	 40
#define HOOK_ASKING	 24
#define HOOK_SAVED	 48
#define HOOK_ARGUMENTS	 96 /* hook_arguments: the same */
#define HOOK_USER_ENTER	 8  /* in struct hook_user */
#define HOOK_USER_LEAVE	 16
#define HOOK_USER_CALLS	 32
#define HOOK_CALL_SIZE	 24
#define HOOK_RETURNED_TO 24 /* in struct hook_returned */
#define TASK_SHADOW	 56 /* in struct arch_task */
#define SHADOW_TOP	 0  /* in struct shadow */
#define RECORD_SLOT	 0  /* in struct shadow_record */
#define RECORD_RET	 8
#define RECORD_OWNER	 16
#define RECORD_SIZE	 24

#define TRAP_DE	 0
#define TRAP_DB	 1
#define TRAP_NMI 2
#define TRAP_BP	 3
#define TRAP_OF	 4
#define TRAP_BR	 5
#define TRAP_UD	 6
#define TRAP_NM	 7
#define TRAP_DF	 8
#define TRAP_TS	 10
#define TRAP_NP	 11
#define TRAP_SS	 12
#define TRAP_GP	 13
#define TRAP_PF	 14
#define TRAP_MF	 16
#define TRAP_AC	 17
#define TRAP_MC	 18
#define TRAP_XM	 19

#ifndef __ASSEMBLY__
/* entry.S */
extern const u8 trap_stubs[256][16]; /* one per vector */
extern const u8 entry_text_start[], entry_text_end[];
extern const u8 probe_return_end[];
extern const u8 entry_iretq_user[]; /* the instruction that leaves to ring 3 */
void syscall_entry(void);
void trap_nmi_entry(void);

/* Called by entry.S, interrupts off. */
void trap_dispatch(
    struct regs *r); /* exceptions, on the stack of the interrupted code or the task's */
const char *trap_vector_name(unsigned vector); /* NULL: no exception */
void exc_int3(struct regs *r);		       /* in ring 0, outside of entry code, no probe's */
void trap_nmi(struct regs *r);
void trap_irq(struct regs *r);
struct regs *trap_bad_iret(
    struct regs *r); /* iret to ring 3 faulted; returns the frame to leave with instead */
#endif
