/*
 * Entry for `qemu -kernel` and Xen: the PVH protocol
 * (xen/include/public/arch-x86/hvm/start_info.h). 32-bit protected mode, paging off, interrupts
 * off, %ebx the physical address of hvm_start_info. Checks that the CPU can run this kernel (a
 * sentence on COM1 if not), builds page tables that last until arch_start() has made the real ones,
 * and goes on in long mode in the higher half at pvh_main(). The image is loaded at 1 MiB but
 * linked KERNEL_BASE higher: PHYS() below.
 */
#define KERNEL_BASE 0xffffffff80000000
#define PHYS(x)     ((x) - KERNEL_BASE)

#define PTE_TABLE   0x003 /* present, writable */
#define PTE_2M      0x083 /* present, writable, large */
#define COM1        0x3f8

	.macro uart_set reg, value
	.word COM1 + \reg
	.byte \value
	.endm

/* ELF note 18, "Xen": where to enter. QEMU 7.2 misreads it unless the segment's alignment is 4. */
	.section .note.pvh, "a", @note
	.balign 4
	.long 2f - 1f, 4f - 3f, 18
1:	.asciz "Xen"
2:	.balign 4
3:	.long PHYS(pvh_start)
4:	.balign 4

	.section .boot.text, "ax", @progbits
	.code32
	.globl pvh_start
	.type pvh_start, @function
pvh_start:
	cli
	cld
	movl %ebx, %esi
	rdtsc
	movl %eax, PHYS(boot_tsc)
	movl %edx, PHYS(boot_tsc) + 4
	movl $PHYS(boot_stack_top), %esp

	/* CPUID itself: its flag can be changed. */
	movl $PHYS(no_cpuid), %ebp
	pushfl
	popl %eax
	movl %eax, %ecx
	xorl $0x200000, %eax
	pushl %eax
	popfl
	pushfl
	popl %eax
	pushl %ecx
	popfl
	cmpl %eax, %ecx
	je pvh_refuse

	/*
	 * Leaf 1: FPU 0, TSC 4, MSR 5, PAE 6, CX8 8, APIC 9, PGE 13, CMOV 15, FXSR 24, SSE 25, SSE2
	 * 26.
	 */
	movl $PHYS(no_features), %ebp
	movl $1, %eax
	cpuid
	andl $0x0700a371, %edx
	cmpl $0x0700a371, %edx
	jne pvh_refuse
	/*
	 * Leaf 0x80000001: NX 20, long mode 29. (SYSCALL, 11, is told in 64-bit mode alone by
	 * Intel's: arch/x86_64/cpu/features.c asks then.)
	 */
	movl $0x80000000, %eax
	cpuid
	movl $PHYS(no_long_mode), %ebp
	cmpl $0x80000001, %eax
	jb pvh_refuse
	movl $0x80000001, %eax
	cpuid
	btl $29, %edx
	jnc pvh_refuse
	movl $PHYS(no_nx), %ebp
	btl $20, %edx
	jnc pvh_refuse

	/*
	 * The first 4 GiB three times: at 0, in the direct map, and 1 GiB of it where the image is
	 * linked.
	 */
	movl $PHYS(early_pds), %edi
	movl $PTE_2M, %eax
1:	movl %eax, (%edi)
	addl $8, %edi
	addl $0x200000, %eax
	jnc 1b
	movl $PHYS(early_pds) + PTE_TABLE, %eax
	movl %eax, PHYS(early_pdpt_high) + 510 * 8
	movl $PHYS(early_pdpt), %edi
	movl $4, %ecx
1:	movl %eax, (%edi)
	addl $8, %edi
	addl $0x1000, %eax
	loop 1b
	movl $PHYS(early_pdpt) + PTE_TABLE, PHYS(early_pml4)
	movl $PHYS(early_pdpt) + PTE_TABLE, PHYS(early_pml4) + 273 * 8
	movl $PHYS(early_pdpt_high) + PTE_TABLE, PHYS(early_pml4) + 511 * 8

	movl $0x20, %eax        /* CR4.PAE and nothing else */
	movl %eax, %cr4
	movl $PHYS(early_pml4), %eax
	movl %eax, %cr3
	movl $0xc0000080, %ecx  /* EFER: LME, NXE, SCE */
	rdmsr
	orl $0x901, %eax
	wrmsr
	movl $0x80010033, %eax  /* CR0: PG WP NE ET MP PE */
	movl %eax, %cr0
	lgdt PHYS(boot_gdt_pointer)
	ljmp $8, $PHYS(pvh_long_mode)

/* Says the sentence at %ebp on COM1 and stops. */
pvh_refuse:
	movl $PHYS(uart_init), %esi
1:	movzwl (%esi), %edx
	movb 2(%esi), %al
	outb %al, %dx
	addl $3, %esi
	cmpl $PHYS(uart_init_end), %esi
	jb 1b
	movl $PHYS(refusal), %esi
	call pvh_say
	movl %ebp, %esi
	call pvh_say
	movl $PHYS(refusal_end), %esi
	call pvh_say
1:	cli
	hlt
	jmp 1b

pvh_say:
	movb (%esi), %bl
	testb %bl, %bl
	jz 3f
	movl $0x10000, %ecx     /* a port with nothing behind it must not hang us */
	movl $COM1 + 5, %edx
1:	inb %dx, %al
	testb $0x20, %al
	jnz 2f
	loop 1b
2:	movl $COM1, %edx
	movb %bl, %al
	outb %al, %dx
	incl %esi
	jmp pvh_say
3:	ret

	.code64
pvh_long_mode:
	movl $16, %eax
	movl %eax, %ds
	movl %eax, %es
	movl %eax, %ss
	xorl %eax, %eax
	movl %eax, %fs
	movl %eax, %gs
	movq $1f, %rax          /* sign-extended: the higher half */
	jmp *%rax
1:	movq $boot_stack_top, %rsp
	xorl %ebp, %ebp
	movl %esi, %edi
	movq boot_tsc, %rsi
	call pvh_main
	ud2
	.size pvh_start, . - pvh_start

	.section .rodata.boot, "a", @progbits
refusal:
	.asciz "Trapline cannot run on this machine: "
no_cpuid:
	.asciz "the CPU has no CPUID instruction"
no_features:
	.asciz "the CPU lacks one of FPU, TSC, MSR, PAE, CX8, APIC, PGE, CMOV, FXSR, SSE, SSE2"
no_long_mode:
	.asciz "the CPU has no 64-bit mode"
no_nx:
	.asciz "the CPU has no NX (no-execute) page protection"
refusal_end:
	.asciz ".\r\n"
/* {port, value}: no interrupts, divisor latch, 115200, 8N1, FIFO on. */
uart_init:
	uart_set 1, 0
	uart_set 3, 0x80
	uart_set 0, 1
	uart_set 1, 0
	uart_set 3, 3
	uart_set 2, 7
	uart_set 4, 3
uart_init_end:
	.balign 8
	.globl boot_gdt
boot_gdt:
	.quad 0, 0x00af9b000000ffff, 0x00cf93000000ffff
boot_gdt_pointer:
	.word 23
	.long PHYS(boot_gdt)

	.section .bss.pages, "aw", @nobits
	.balign 4096
early_pml4:
	.skip 4096
early_pdpt:
	.skip 4096
early_pdpt_high:
	.skip 4096
early_pds:
	.skip 4 * 4096
	.skip 8192
	.globl boot_stack_top
boot_stack_top:
boot_tsc:
	.skip 8
	.balign 4096
