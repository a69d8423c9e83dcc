/*
 * A watched toggle becomes a call of one of these functions (toggle.c). Each does what the toggle
 * does, and calls the kernel if that changes the state. It keeps all registers, and begins and ends
 * as a function with a frame does, for the unwinder.
 */
#include "arch/x86_64/irq/trap.h"

	.section .noprobe.text, "ax", @progbits

	.macro toggle name
	.globl \name
	.type \name, @function
	.balign 16
\name:
	pushq %rbp
	movq %rsp, %rbp
	.endm

	.macro toggle_end name
	leave
	ret
	.size \name, . - \name
	.endm

	/* Passes an address inside the toggle. */
	.macro toggle_tell function
	pushq %rax
	pushq %rcx
	pushq %rdx
	pushq %rsi
	pushq %rdi
	pushq %r8
	pushq %r9
	pushq %r10
	pushq %r11
	movq 8(%rbp), %rdi
	decq %rdi
	movq (%rbp), %rsi
	call \function
	popq %r11
	popq %r10
	popq %r9
	popq %r8
	popq %rdi
	popq %rsi
	popq %rdx
	popq %rcx
	popq %rax
	.endm

	toggle toggle_irqs_off
	pushfq
	testb $2, 1(%rsp) /* IF */
	cli
	jz 1f
	toggle_tell kernel_irqs_off
1:	toggle_end toggle_irqs_off

	toggle toggle_irqs_on
	pushfq
	testb $2, 1(%rsp)
	jnz 1f
	toggle_tell kernel_irqs_on
	sti
1:	toggle_end toggle_irqs_on

	toggle toggle_preempt_off
	addl $1, %gs:CPU_PREEMPT_COUNT
	cmpl $1, %gs:CPU_PREEMPT_COUNT
	jne 1f
	toggle_tell kernel_preempt_off
1:	toggle_end toggle_preempt_off

	toggle toggle_preempt_on
	cmpl $1, %gs:CPU_PREEMPT_COUNT
	jne 1f
	toggle_tell kernel_preempt_on
1:	subl $1, %gs:CPU_PREEMPT_COUNT
	toggle_end toggle_preempt_on

	.section .note.GNU-stack, "", @progbits
