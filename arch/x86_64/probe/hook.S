/*
 * Where hooked functions call: as their first instruction, before their frame. Register arguments
 * are kept; what a function finds undefined (%rax, %r10, %r11, flags) is not. The task stays on its
 * CPU.
 */
#include "arch/x86_64/irq/trap.h"
#include "arch/x86_64/irq/push_regs.inc"

	.section .noprobe.text, "ax", @progbits

/* The unwinder relies on the number of words pushed here. */
	.macro push_arguments
	pushq %rdi
	pushq %rsi
	pushq %rdx
	pushq %rcx
	pushq %r8
	pushq %r9
	.endm
	.macro pop_arguments
	popq %r9
	popq %r8
	popq %rcx
	popq %rdx
	popq %rsi
	popq %rdi
	.endm

/*
 * An entry for each user that may be a function's only one, HOOK_ENTRY bytes each; then one for
 * each that follows calls, HOOK_CALL_ENTRY bytes each. The unwinder finds where each calls by the
 * labels in the first.
 */
	.balign HOOK_ENTRY
	.globl hook_entries
	.type hook_entries, @function
hook_entries:
	.set number, 0
	.rept HOOK_DIRECT
	.balign HOOK_ENTRY
	incl %gs:CPU_PREEMPT_COUNT
	push_arguments
	movq kernel_hook_users + 8 * number, %rdi
	movq HOOK_SAVED(%rsp), %rsi
	subq $5, %rsi
	movq HOOK_SAVED + 8(%rsp), %rdx
	leaq HOOK_SAVED + 8(%rsp), %rcx
	call *(%rdi)
	.if number == 0
	.globl hook_direct_return
hook_direct_return:
	.endif
	pop_arguments
	decl %gs:CPU_PREEMPT_COUNT
	ret
	.set number, number + 1
	.endr

	.globl hook_call_entries
	.balign HOOK_ENTRY
hook_call_entries:
	.set number, 0
	.rept HOOK_DIRECT
	.org hook_call_entries + HOOK_CALL_ENTRY * number, 0x90
	pushfq
	cli
	push_arguments
	movq kernel_hook_users + 8 * number, %rdi
	leaq HOOK_SAVED + 16(%rsp), %rsi
	call *HOOK_USER_ENTER(%rdi)
	.if number == 0
	.globl hook_call_return
hook_call_return:
	.endif
	pop_arguments
	popfq
	ret
	.set number, number + 1
	.endr

/*
 * Before each of these, one for users that do not want the calls of every task: it returns at once
 * if its user set its bit in CPU_HOOK_SKIP.
 */
	.macro asking first, entries, size
	.set number, 0
	.rept HOOK_DIRECT
	.org hook_asking + HOOK_ASKING * (\first + number), 0x90
	btl $number, %gs:CPU_HOOK_SKIP
	jnc \entries + \size * number
	ret
	.set number, number + 1
	.endr
	.endm

	.globl hook_asking
	.balign 8
hook_asking:
	asking 0, hook_entries, HOOK_ENTRY
	asking HOOK_DIRECT, hook_call_entries, HOOK_CALL_ENTRY
	.globl hook_entries_end
hook_entries_end:
	.size hook_entries, . - hook_entries

/*
 * For probes that read only registers of arguments: builds the part of struct regs that lies above
 * r10. The address at which the function continues is in the place of rsp. Interrupts are off
 * before any handler runs.
 */
	.globl hook_arguments
	.type hook_arguments, @function
	.balign 16
hook_arguments:
	pushfq
	cli
	leaq -(REGS_RFLAGS - REGS_ERROR)(%rsp), %rsp
	pushq %rdi
	pushq %rsi
	pushq %rdx
	pushq %rcx
	pushq %rax
	pushq %r8
	pushq %r9
	pushq %gs:CPU_PROBING
	movq HOOK_ARGUMENTS(%rsp), %rdi
	leaq 8 - REGS_R9(%rsp), %rsi
	call kernel_hook_probe_arguments
	.globl hook_arguments_return
hook_arguments_return:
	popq %gs:CPU_PROBING
	popq %r9
	popq %r8
	popq %rax
	popq %rcx
	popq %rdx
	popq %rsi
	popq %rdi
	leaq REGS_RFLAGS - REGS_ERROR(%rsp), %rsp
	popfq
	ret
	.size hook_arguments, . - hook_arguments

/*
 * A followed function returns to hook_return. Its caller relies only on %rax, %rdx and the
 * registers that every function preserves. The pushes build struct hook_returned. If the record on
 * top is of this return and its user is there, that user's leave() is all there is to call. The
 * return address is filled in before the record goes: an unwinder finds it in either place.
 */
	.globl hook_return_slow
hook_return_slow:
	movq %rsp, %rdi
	call kernel_hook_returned
	.globl hook_return_slow_called
hook_return_slow_called:
	jmp hook_return_pops

	.globl hook_return
	.type hook_return, @function
	.balign 16
hook_return:
	pushq $0
	pushfq
	cli
	pushq %rax
	pushq %rdx
	movq %gs:CPU_SHADOW, %rcx
	movq SHADOW_TOP(%rcx), %rsi
	leaq HOOK_RETURNED_TO(%rsp), %rdi
	cmpq %rdi, RECORD_SLOT(%rsi)
	jne hook_return_slow
	movq RECORD_OWNER(%rsi), %r8
	movslq %r8d, %rdi
	movq -1(%rdi), %rdi
	cmpq %r8, HOOK_USER_CALLS(%rdi)
	jne hook_return_slow
	subq $HOOK_CALL_SIZE, %rsi
	movq %rsp, %rdx
	call *HOOK_USER_LEAVE(%rdi)
	.globl hook_return_called
hook_return_called:
	movq %gs:CPU_SHADOW, %rcx
	movq SHADOW_TOP(%rcx), %rsi
	movq RECORD_RET(%rsi), %rdi
	movq %rdi, HOOK_RETURNED_TO(%rsp)
	subq RECORD_SIZE(%rsi), %rsi
	movq %rsi, SHADOW_TOP(%rcx)
	.globl hook_return_pops
hook_return_pops:
	popq %rdx
	popq %rax
	popfq
	ret
	.globl hook_return_end
hook_return_end:
	.size hook_return, . - hook_return

/*
 * Builds struct regs as a breakpoint at the function would. Probes' handlers run with interrupts
 * off, others with preemption off.
 */
	.macro with_regs name, target, probes
	.globl \name
	.type \name, @function
	.balign 16
\name:
	.if !\probes
	incl %gs:CPU_PREEMPT_COUNT
	.endif
	pushq $SEL_KERNEL_SS
	pushq $0
	pushfq
	.if \probes
	cli
	.endif
	pushq $SEL_KERNEL_CS
	pushq $0
	pushq $-1
	push_regs
	movq REGS_SIZE(%rsp), %rax
	subq $4, %rax
	movq %rax, REGS_RIP(%rsp)
	leaq REGS_SIZE + 8(%rsp), %rax
	movq %rax, REGS_RSP(%rsp)
	leaq 1(%rsp), %rbp
	movq %rsp, %rdi
	call \target
	movq %rax, REGS_SIZE(%rsp)
	pop_regs 24
	popfq
	leaq 16(%rsp), %rsp
	.if !\probes
	decl %gs:CPU_PREEMPT_COUNT
	.endif
	ret
	.size \name, . - \name
	.endm

	with_regs hook_many, kernel_hook_many, 0
	with_regs hook_probe, kernel_hook_probe, 1

	.section .note.GNU-stack, "", @progbits
