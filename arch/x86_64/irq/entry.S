/*
 * All ways into the kernel and out of it: traps, interrupts, NMIs, system calls. Each saves struct
 * regs, makes %gs the kernel's, clears AC (SMAP) and DF, and calls C with interrupts off.
 *
 * %rbp is set to the address of struct regs plus one before C is called: an odd frame pointer tells
 * the unwinder that a whole register frame lies there.
 *
 * Nothing in entry_text_start..entry_text_end may be probed or hold a patchable site; while %rip is
 * there, %gs and %rsp may still or already be ring 3's.
 */
#include "arch/x86_64/irq/trap.h"
#include "arch/x86_64/irq/push_regs.inc"

#define MSR_GS_BASE 0xc0000101
#define TASK_WORK   48 /* struct arch_task.work */
#define ENOSYS	    38

	/* A nop that becomes clac where there is SMAP (arch/x86_64/mm/usercopy.c). */
	.macro clear_ac
771:	.byte 0x0f, 0x1f, 0x00
	.pushsection __smap_sites, "a"
	.quad 771b
	.byte 0x0f, 0x01, 0xca, 0, 0, 0, 0, 0
	.popsection
	.endm

	.macro function name
	.globl \name
	.type \name, @function
	.balign 16
\name:
	.endm

	.section .noprobe.text, "ax", @progbits
	.balign 16
	.globl entry_text_start
entry_text_start:

/* ---- One stub per vector, 16 bytes each ---- */

	.balign 16
	.globl trap_stubs
	.type trap_stubs, @function
trap_stubs:
	.set vector, 0
	.rept 256
	.balign 16
	/* #DF #TS #NP #SS #GP #PF #AC push an error code themselves, of 32 bits. */
	.if vector != 8 && (vector < 10 || vector > 14) && vector != 17
	pushq $0
	.endif
	movl $(1 + vector), REGS_TRAP - REGS_ERROR(%rsp)
	.if vector >= 32
	jmp irq_common
	.elseif vector == 3
	jmp entry_breakpoint
	.elseif vector == 1
	jmp entry_pad
	.elseif vector == 8 || vector == 18
	jmp entry_own_stack
	.else
	jmp trap_common
	.endif
	.set vector, vector + 1
	.endr

/* ---- Interrupts ---- */

	.type irq_common, @function
irq_common:
	clear_ac
	cld
	push_regs
	testb $3, REGS_CS(%rsp)
	jz 1f
	swapgs
1:	leaq 1(%rsp), %rbp
	movq %rsp, %rdi
	call trap_irq
	jmp trap_return
	.size irq_common, . - irq_common

/* ---- Traps on the stack of the interrupted code ---- */

	.type trap_common, @function
trap_common:
	clear_ac
	cld
	push_regs
	leaq 1(%rsp), %rbp
	movq %rsp, %rdi
	testb $3, REGS_CS(%rsp)
	jz 2f
	swapgs
1:	call trap_dispatch
	jmp trap_return
2:	cmpq $entry_iretq_user, REGS_RIP(%rsp)
	jne 1b
	/* The way out to ring 3 faulted, with ring 3's %gs loaded. */
	swapgs
	call trap_bad_iret
	movq %rax, %rsp
	jmp entry_return_user
	.size trap_common, . - trap_common

	.type trap_return, @function
trap_return:
	testb $3, REGS_CS(%rsp)
	jnz entry_return_user
.Lreturn_kernel:
	pop_regs
	iretq
	.size trap_return, . - trap_return

/* Leaves to ring 3 with the struct regs at %rsp. */
	.type entry_return_user, @function
entry_return_user:
	cli
	movq %gs:CPU_CURRENT, %rax
	cmpl $0, TASK_WORK(%rax)
	jne 1f
	swapgs
	pop_regs
	.globl entry_iretq_user
entry_iretq_user:
	iretq
1:	leaq 1(%rsp), %rbp
	movq %rsp, %rdi
	call kernel_user_exit_work
	jmp entry_return_user
	.size entry_return_user, . - entry_return_user

	function arch_enter_user
	cli
	movq %gs:CPU_KERNEL_RSP, %rsp
	subq $REGS_SIZE, %rsp
	jmp entry_return_user
	.size arch_enter_user, . - arch_enter_user

/*
 * #DB and #BP land on a pad of their own, so that they are safe wherever they hit, and go on
 * elsewhere, so that they nest: from ring 3 on the task's stack, from C on the stack of the
 * interrupted code. Only from within entry code, where %rsp may be anybody's, the pad itself is
 * used.
 */
	.type entry_pad, @function
entry_pad:
	clear_ac
	cld
	push_regs
	cmpl $(1 + TRAP_DB), REGS_TRAP(%rsp)
	jne 3f
	/* Switch DR7 off while still on the trap's stack: a nested trap would reuse this stack. */
	movl $0x400, %eax
	movq %rax, %dr7
3:	testb $3, REGS_CS(%rsp)
	jnz 2f
	movq REGS_RIP(%rsp), %rax
	subq $entry_text_start, %rax
	cmpq $entry_text_end - entry_text_start, %rax
	jb .Lstay
	/* Room is left for handlers that push for the interrupted code. */
	movq REGS_RSP(%rsp), %rdi
	subq $64, %rdi
	andq $-16, %rdi
1:	subq $REGS_SIZE, %rdi
	movq %rsp, %rsi
	movq %rdi, %rsp
	movl $REGS_SIZE / 8, %ecx
	rep movsq
	leaq 1(%rsp), %rbp
	movq %rsp, %rdi
	call trap_dispatch
	jmp trap_return
2:	swapgs
	movq %gs:CPU_KERNEL_RSP, %rdi
	jmp 1b
	.size entry_pad, . - entry_pad

/*
 * The fast path for a breakpoint in C, which is nearly always a probe's: saves the registers
 * directly on the stack of the interrupted code.
 */
	.type entry_breakpoint, @function
entry_breakpoint:
	testb $3, REGS_CS - REGS_ERROR(%rsp)
	jnz entry_pad
	pushq %rax
	pushq %rsi
	movq REGS_RIP - REGS_ERROR + 16(%rsp), %rax
	subq $entry_text_start, %rax
	cmpq $entry_text_end - entry_text_start, %rax
	jb 1f
	clear_ac
	cld
	movq REGS_RSP - REGS_ERROR + 16(%rsp), %rsi
	leaq -64(%rsi), %rsi
	andq $-16, %rsi
	xchgq %rsi, %rsp
	pushq REGS_SS - REGS_ERROR + 16(%rsi)
	pushq REGS_RSP - REGS_ERROR + 16(%rsi)
	pushq REGS_RFLAGS - REGS_ERROR + 16(%rsi)
	pushq REGS_CS - REGS_ERROR + 16(%rsi)
	pushq REGS_RIP - REGS_ERROR + 16(%rsi)
	pushq $-1 /* no system call: what a probe sees as orig_ax */
	pushq %rdi
	pushq (%rsi)
	pushq %rdx
	pushq %rcx
	pushq 8(%rsi)
	pushq %r8
	pushq %r9
	pushq %r10
	pushq %r11
	pushq %rbx
	pushq %rbp
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	leaq 1(%rsp), %rbp
	movq %rsp, %rdi
	call kernel_probe_int3
	testb %al, %al
	jnz .Lreturn_kernel
	movq %rsp, %rdi
	call exc_int3
	jmp .Lreturn_kernel
1:	popq %rsi
	popq %rax
	jmp entry_pad
	.size entry_breakpoint, . - entry_breakpoint

/* #DF and #MC: with any %gs; handled to the end on their own stack. */
	.type entry_own_stack, @function
entry_own_stack:
	clear_ac
	cld
	push_regs
.Lstay:	call entry_gs_save
	leaq 1(%rsp), %rbp
	movq %rsp, %rdi
	call trap_dispatch
	testl %ebx, %ebx
	jz .Lreturn_kernel
	swapgs
	jmp .Lreturn_kernel
	.size entry_own_stack, . - entry_own_stack

/* Loads the kernel's %gs base, which is negative, if it is not loaded. %ebx: 1 if it was not. */
	.type entry_gs_save, @function
entry_gs_save:
	xorl %ebx, %ebx
	movl $MSR_GS_BASE, %ecx
	rdmsr
	testl %edx, %edx
	js 1f
	swapgs
	incl %ebx
1:	ret
	.size entry_gs_save, . - entry_gs_save

/*
 * NMI. Words: T is the top of its stack, where the CPU puts its frame H, always in the same place.
 * The outer NMI is the one being handled. The CPU holds further NMIs back until the next iret, but
 * that may be one of a trap inside the handler; then a nested NMI overwrites H. So:
 *  1. The outer NMI copies H to C, below, sets the state word to 1, and uses only C from then on.
 *  2. A nested one finds the state not 0, sets it to 2 and returns: the outer will handle it.
 *  3. At its end the outer NMI subtracts 1 from the state; if that leaves 1, it handles the one
 *     that came meanwhile, with the same C.
 *  4. From that subtraction to the iret C is still needed though the state may be 0. One that comes
 *     there (by its rip) takes over: all registers are restored already, so it handles itself with
 *     C as its frame, and H is dropped.
 */
#define NMI_STATE_BELOW_H 16 /* T - 56 */
#define NMI_STATE_OVER_C  48 /* C is T - 104 .. T - 64 */

	function trap_nmi_entry
	pushq %rax
	cmpl $SEL_KERNEL_CS, 16(%rsp)
	jne 1f
	movq 8(%rsp), %rax
	subq $.Lnmi_window, %rax
	cmpq $.Lnmi_window_end - .Lnmi_window, %rax
	jb 4f
1:	cmpl $0, 8 - NMI_STATE_BELOW_H(%rsp)
	jne 3f
	movl $1, 8 - NMI_STATE_BELOW_H(%rsp)
	popq %rax
	subq $24, %rsp
	.rept 5
	pushq 56(%rsp)
	.endr
.Lnmi_handle:
	pushq $0
	movl $(1 + TRAP_NMI), REGS_TRAP - REGS_ERROR(%rsp)
	clear_ac
	cld
	push_regs
	call entry_gs_save
	leaq 1(%rsp), %rbp
	movq %rsp, %rdi
	call trap_nmi
	testl %ebx, %ebx
	jz 2f
	swapgs
2:	pop_regs
	decl NMI_STATE_OVER_C(%rsp)
.Lnmi_window:
	jnz .Lnmi_handle
	iretq
.Lnmi_window_end:
3:	movl $2, 8 - NMI_STATE_BELOW_H(%rsp)
	popq %rax
	iretq
4:	popq %rax
	subq $64, %rsp
	movl $1, NMI_STATE_OVER_C(%rsp)
	jmp .Lnmi_handle
	.size trap_nmi_entry, . - trap_nmi_entry

/*
 * SYSCALL: %rcx the return address, %r11 rflags, %rax the number, arguments in %rdi %rsi %rdx %r10
 * %r8 %r9. SYSRET is taken where it gives the frame exactly, and only to a canonical address: on
 * some CPUs it would fault in ring 0 with ring 3's stack (Intel SDM volume 2, SYSRET).
 */
	function syscall_entry
	swapgs
	movq %rsp, %gs:CPU_SCRATCH_RSP
	movq %gs:CPU_KERNEL_RSP, %rsp
	pushq $SEL_USER_SS
	pushq %gs:CPU_SCRATCH_RSP
	pushq %r11
	pushq $SEL_USER_CS
	pushq %rcx
	movl %eax, %eax /* as Linux: the upper half does not count */
	pushq %rax
	push_regs rax=$-ENOSYS
	leaq 1(%rsp), %rbp
	movq %rsp, %rdi
	sti
	call kernel_syscall
1:	cli
	movq %gs:CPU_CURRENT, %rax
	cmpl $0, TASK_WORK(%rax)
	jne 2f
	movq REGS_RIP(%rsp), %rcx
	cmpq %rcx, REGS_RCX(%rsp)
	jne entry_return_user
	movq REGS_RFLAGS(%rsp), %r11
	cmpq %r11, REGS_R11(%rsp)
	jne entry_return_user
	cmpq .Lfirst_not_canonical(%rip), %rcx
	jae entry_return_user
	testl $0x10100, %r11d /* RF, TF: sysret cannot give them back */
	jnz entry_return_user
	pop_regs 0
	movq REGS_RSP - REGS_ERROR(%rsp), %rsp
	swapgs
	sysretq
2:	leaq 1(%rsp), %rbp
	movq %rsp, %rdi
	call kernel_user_exit_work
	jmp 1b
	.size syscall_entry, . - syscall_entry

	.globl entry_text_end
entry_text_end:

	.pushsection .rodata
	.balign 8
.Lfirst_not_canonical:
	.quad 1 << 47
	.popsection

/*
 * A function returns here if a return probe has replaced its return address. The real address is
 * restored, and execution continues there with all registers as the function left them.
 */
	function probe_return
	pushq $0
	pushq $SEL_KERNEL_SS
	pushq $0
	pushfq
	cli
	pushq $SEL_KERNEL_CS
	pushq $0
	pushq $-1
	push_regs
	leaq REGS_SIZE + 8(%rsp), %rax
	movq %rax, REGS_RSP(%rsp)
	leaq 1(%rsp), %rbp
	movq %rsp, %rdi
	call kernel_probe_return
	movq %rax, REGS_SIZE(%rsp)
	pop_regs 24
	popfq
	leaq 16(%rsp), %rsp
	ret
	.globl probe_return_end
probe_return_end:
	.size probe_return, . - probe_return

/* ---- Task switch: void entry_switch_stack(u64 *save, u64 load) ---- */

	function entry_switch_stack
	pushq %rbp
	movq %rsp, %rbp
	pushq %rbx
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	movq %rsp, (%rdi)
	movq %rsi, %rsp
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbx
	popq %rbp
	ret
	.size entry_switch_stack, . - entry_switch_stack

/* Where a new task comes out of entry_switch_stack: %rbx(%r12), and there is no frame above. */
	function task_begin
	xorl %ebp, %ebp
	movq %r12, %rdi
	call *%rbx
	ud2
	.size task_begin, . - task_begin

/* void entry_start_on_stack(u64 top, void (*fn)(void *), void *arg) */
	function entry_start_on_stack
	movq %rdi, %rsp
	xorl %ebp, %ebp
	movq %rdx, %rdi
	call *%rsi
	ud2
	.size entry_start_on_stack, . - entry_start_on_stack

	.section .note.GNU-stack, "", @progbits
