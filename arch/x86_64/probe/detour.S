/*
 * The beginning of a detour: jump.c copies it and fills in the gaps. A probe's jump leads here. The
 * code saves struct regs as a breakpoint would, calls the handler with interrupts off, and goes on
 * with the copied instructions that follow it.
 *
 * Not aligned, not cleared: the probed code is the kernel's own C, with DF and AC clear (jump.c
 * refuses what may be otherwise), on a stack that has room below; only calls of C want it aligned.
 * Between cli and the handler nothing may be probed, as this is no function of the kernel's text.
 */
#include "arch/x86_64/irq/trap.h"
#include "arch/x86_64/irq/push_regs.inc"

	.macro gap name
	.globl \name
\name:
	.endm

	.section .rodata
	gap probe_detour
.Lmissed:
	movq %rsi, %rdi
	.byte 0xe8 /* call of kernel_probe_missed() */
	gap probe_detour_missed
	.long 0
	jmp .Ldone

	gap probe_detour_entry
	pushq $SEL_KERNEL_SS
	pushq %rsp
	pushfq
	cli
	pushq $SEL_KERNEL_CS
	.byte 0x68 /* pushq imm32: where a breakpoint would be reported */
	gap probe_detour_ip
	.long 0
	pushq $-1 /* no system call */
	push_regs
	addq $8, REGS_RSP(%rsp) /* pushed below ss */
	movq %rsp, %rsi
	leaq 1(%rsp), %rbp
	andq $-16, %rsp
	cmpq $0, %gs:CPU_PROBING
	jne .Lmissed
	.byte 0x48, 0xbf /* movabsq imm64, %rdi */
	gap probe_detour_arg
	.quad 0
	movq %rdi, %gs:CPU_PROBING
	.byte 0xe8 /* call of the handler */
	gap probe_detour_handler
	.long 0
	movq $0, %gs:CPU_PROBING
.Ldone:
	leaq -1(%rbp), %rsp
	pop_regs (REGS_RFLAGS-REGS_ERROR)
	popfq
	leaq 16(%rsp), %rsp /* rsp, ss */
	gap probe_detour_copy

	.section .note.GNU-stack, "", @progbits
