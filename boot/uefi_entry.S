/*
 * Entry for the UEFI loader (boot/efi/), named in the note of uefi.c: 64-bit mode, interrupts off,
 * the loader's page tables, %rdi the physical address of struct boot_info. Brings the CPU into the
 * state that pvh.S leaves it in, whatever the firmware had switched on, and goes on at uefi_main().
 * What the CPU lacks the loader has said.
 */
#define CR0_LONG 0x80010033 /* PG WP NE ET MP PE */
#define CR4_PAE  0x20       /* and nothing else */

	.section .boot.text, "ax", @progbits
	.code64
	.globl uefi_start
	.type uefi_start, @function
uefi_start:
	cli
	cld
	movq $CR4_PAE, %rax     /* first: what CR4 protects may need what CR0 has */
	movq %rax, %cr4
	movq $CR0_LONG, %rax
	movq %rax, %cr0
	movl $0xc0000080, %ecx  /* EFER: LMA and LME as they are, NXE, SCE, nothing else */
	rdmsr
	andl $0x500, %eax
	orl $0x801, %eax
	xorl %edx, %edx
	wrmsr
	lgdt uefi_gdt_pointer
	movq $boot_stack_top, %rsp
	pushq $8
	pushq $1f
	lretq
1:	movl $16, %eax
	movl %eax, %ds
	movl %eax, %es
	movl %eax, %ss
	xorl %eax, %eax
	movl %eax, %fs
	movl %eax, %gs
	lldt %ax
	xorl %ebp, %ebp
	call uefi_main
	ud2
	.size uefi_start, . - uefi_start

	.section .rodata.boot, "a", @progbits
	.balign 8
uefi_gdt_pointer:
	.word 23
	.quad boot_gdt
