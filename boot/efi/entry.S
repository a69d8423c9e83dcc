/*
 * Where the firmware enters the loader, before gnu-efi's start-up code: its C and ours are compiled
 * to use SSE, which firmware may have left off (U-Boot does). 64-bit mode, the firmware's stack,
 * %rcx and %rdx as efi_main() gets them. Every CPU with long mode has SSE.
 */
#define CR0_MP	   0x2
#define CR0_EM_TS  0xc
#define CR4_SSE	   0x600 /* OSFXSR, OSXMMEXCPT */

	.section .text, "ax", @progbits
	.globl loader_entry
	.type loader_entry, @function
loader_entry:
	movq %cr0, %rax
	andq $~CR0_EM_TS, %rax
	orq $CR0_MP, %rax
	movq %rax, %cr0
	movq %cr4, %rax
	orq $CR4_SSE, %rax
	movq %rax, %cr4
	jmp _start
	.size loader_entry, . - loader_entry

	.section .note.GNU-stack, "", @progbits
