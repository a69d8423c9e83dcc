/*
 * Entry of the bare sample for `qemu -kernel` (the PVH protocol): 32-bit protected mode, paging
 * off. Maps the first GiB where it lies, and goes on in long mode at bare_main().
 */
	.section .note.pvh, "a", @note
	.balign 4
	.long 2f - 1f, 4f - 3f, 18
1:	.asciz "Xen"
2:	.balign 4
3:	.long start
4:	.balign 4

	.text
	.code32
	.globl start
start:
	cli
	cld
	movl $stack_top, %esp
	movl $page_directory, %edi
	movl $0x83, %eax                /* present, writable, 2 MiB */
	movl $512, %ecx
1:	movl %eax, (%edi)
	addl $8, %edi
	addl $0x200000, %eax
	loop 1b
	movl $page_directory + 3, pointer_table
	movl $pointer_table + 3, top_table
	movl $0x20, %eax                /* CR4.PAE */
	movl %eax, %cr4
	movl $top_table, %eax
	movl %eax, %cr3
	movl $0xc0000080, %ecx          /* EFER.LME */
	rdmsr
	orl $0x100, %eax
	wrmsr
	movl %cr0, %eax
	orl $0x80000000, %eax           /* CR0.PG */
	movl %eax, %cr0
	lgdt gdt_pointer
	ljmp $8, $long_mode

	.code64
long_mode:
	movl $16, %eax
	movl %eax, %ds
	movl %eax, %es
	movl %eax, %ss
	xorl %ebp, %ebp
	call bare_main
1:	hlt
	jmp 1b

	.section .rodata, "a", @progbits
	.balign 8
gdt:	.quad 0, 0x00af9b000000ffff, 0x00cf93000000ffff
gdt_pointer:
	.word 23
	.long gdt

	.bss
	.balign 4096
top_table:
	.skip 4096
pointer_table:
	.skip 4096
page_directory:
	.skip 4096
	.skip 65536
stack_top:

	.section .note.GNU-stack, "", @progbits
