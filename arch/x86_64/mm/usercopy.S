/*
 * The instructions that touch ring-3 memory, or kernel memory that may not be there. Plain
 * functions: rax = 0 or -EFAULT. Ranges are checked by the callers in usercopy.c. stac and clac are
 * nops until usercopy_init().
 */
#define EFAULT       14
#define ENAMETOOLONG 36
#define USER_END     0x7ffffffff000
#define EX_FAULT_IN  0
#define EX_NOFAULT   1

	.macro smap_site third
771:	.byte 0x0f, 0x1f, 0x00
	.pushsection __smap_sites, "a"
	.quad 771b
	.byte 0x0f, 0x01, \third, 0, 0, 0, 0, 0
	.popsection
	.endm
	.macro allow_user
	smap_site 0xcb
	.endm
	.macro forbid_user
	smap_site 0xca
	.endm

	.macro extable insn fixup kind
	.pushsection __ex_table, "a"
	.quad \insn, \fixup, \kind
	.popsection
	.endm

	/*
	 * name(rdi to, rsi from, rdx bytes): eight at a time, then the rest. Besides rax there is
	 * rdx: the bytes that were not copied. A fault in the middle of eight is one of all of
	 * them.
	 */
	.macro copy name kind user
	.globl \name
	.type \name, @function
	.balign 16
\name:
	.if \user
	allow_user
	.endif
	movq %rdx, %rcx
	andl $7, %edx
	shrq $3, %rcx
	jz 2f
1:	rep movsq
2:	movl %edx, %ecx
3:	rep movsb
	xorl %eax, %eax
4:
	.if \user
	forbid_user
	.endif
	ret
5:	leaq (%rdx, %rcx, 8), %rcx
6:	movq %rcx, %rdx
	movq $-EFAULT, %rax
	jmp 4b
	extable 1b 5b \kind
	extable 3b 6b \kind
	.size \name, . - \name
	.endm

	.section .noprobe.text, "ax", @progbits
	copy user_copy EX_FAULT_IN 1
	copy user_copy_nofault EX_NOFAULT 1
	copy kernel_copy_nofault EX_NOFAULT 0

	/* How functions end whose access is at 1: all went well, or it faulted. */
	.macro user_end name kind
	xorl %eax, %eax
	forbid_user
	ret
2:	movq $-EFAULT, %rax
	forbid_user
	ret
	extable 1b 2b \kind
	.size \name, . - \name
	.endm

/* int get_user_u32(rdi to, rsi from): in one read. */
	.globl get_user_u32
	.type get_user_u32, @function
	.balign 16
get_user_u32:
	movabsq $USER_END - 4, %rax
	cmpq %rax, %rsi
	ja 2f
	allow_user
1:	movl (%rsi), %edx
	movl %edx, (%rdi)
	user_end get_user_u32 EX_FAULT_IN

/* int user_cmpxchg_u32(rdi to, rsi old, edx value) */
	.globl user_cmpxchg_u32
	.type user_cmpxchg_u32, @function
	.balign 16
user_cmpxchg_u32:
	movabsq $USER_END - 4, %rax
	cmpq %rax, %rdi
	ja 2f
	movl (%rsi), %eax
	allow_user
1:	lock cmpxchgl %edx, (%rdi)
	movl %eax, (%rsi)
	user_end user_cmpxchg_u32 EX_NOFAULT

/*
 * long user_strncpy(rdi to, rsi from, rdx size > 0, rcx limit > 0): as strncpy_from_user(); at
 * `limit` bytes it faults.
 */
	.globl user_strncpy
	.type user_strncpy, @function
	.balign 16
user_strncpy:
	allow_user
	xorl %eax, %eax
	movabsq $0x0101010101010101, %r10
/* Copies eight bytes at a time while they lie in one page, fit in the room and hold no 0. */
1:	leaq 8(%rax), %r11
	cmpq %rdx, %r11
	ja 3f
	cmpq %rcx, %r11
	jae 3f
	leal (%rsi, %rax), %r8d
	andl $4095, %r8d
	cmpl $4088, %r8d
	ja 3f
2:	movq (%rsi, %rax), %r8
	movq %r8, %r9
	notq %r9
	movq %r8, (%rdi, %rax)
	subq %r10, %r8
	andq %r9, %r8
	movq %r10, %r9
	shlq $7, %r9
	andq %r9, %r8
	jnz 6f
	movq %r11, %rax
	cmpq %rdx, %rax
	jb 1b
	jmp 5f
/* Copies one byte. */
3:	movb (%rsi, %rax), %r8b
	movb %r8b, (%rdi, %rax)
	testb %r8b, %r8b
	jz 8f
	incq %rax
	cmpq %rcx, %rax
	je 7f
	cmpq %rdx, %rax
	jb 1b
5:	movq $-ENAMETOOLONG, %rax
	jmp 8f
/* The lowest marked byte is the first 0. */
6:	bsfq %r8, %r8
	shrl $3, %r8d
	addq %r8, %rax
	jmp 8f
7:	movq $-EFAULT, %rax
8:	forbid_user
	ret
	extable 2b 7b EX_FAULT_IN
	extable 3b 7b EX_FAULT_IN
	.size user_strncpy, . - user_strncpy

	.section .note.GNU-stack, "", @progbits
