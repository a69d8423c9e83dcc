/*
 * The first instructions of a program: the stack holds argc, argv, environment (System V ABI,
 * figure 3.9).
 */
	.section .text._start, "ax", @progbits
	.globl _start
	.type _start, @function
_start:
	xor %ebp, %ebp		/* the outermost frame */
	mov %rsp, %rdi
	and $-16, %rsp
	call __start_main
	.size _start, . - _start

	/* Where a signal handler returns to. */
	.section .text.__restore_rt, "ax", @progbits
	.globl __restore_rt
	.type __restore_rt, @function
__restore_rt:
	mov $15, %eax		/* rt_sigreturn */
	syscall
	.size __restore_rt, . - __restore_rt

	.section .note.GNU-stack, "", @progbits
