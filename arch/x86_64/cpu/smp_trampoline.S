/*
 * The way of another CPU from real mode to smp_ap_main(). The part up to smp_trampoline_end is
 * copied to a page of low memory and runs there, on page tables that map that page one to one
 * beside the kernel; it only reads. The rest is kernel text.
 */
#include "arch/x86_64/cpu/smp.h"

/*
 * Where a label of the copied part lies in its page: who copies it adds the page's address at the
 * places in smp_trampoline_fixups.
 */
#define LOW(label) ((label) - smp_trampoline)

#define MSR_EFER    0xc0000080
#define CR0_PE      0x00000001
#define CR0_LONG    0x80010001 /* PG, WP, PE */
#define CR4_PAE     0x20
#define CODE32      0x08
#define CODE64      0x10
#define DATA        0x18

	.section .rodata
	.global smp_trampoline_fixups, smp_trampoline_fixups_end
	.global smp_trampoline, smp_trampoline_end, smp_trampoline_cr3, smp_trampoline_efer
	.balign 16
	.code16
smp_trampoline:
	cli
	cld
	mov	%cs, %ax
	mov	%ax, %ds
	lgdtl	gdt_pointer - smp_trampoline
	mov	$CR0_PE, %eax
	mov	%eax, %cr0
	ljmpl	$CODE32, $LOW(protected)
fixup_protected = . - 6

	.code32
protected:
	mov	$DATA, %ax
	mov	%ax, %ds
	mov	%ax, %es
	mov	%ax, %ss
	mov	$CR4_PAE, %eax
	mov	%eax, %cr4
	mov	LOW(smp_trampoline_cr3), %eax
fixup_cr3 = . - 4
	mov	%eax, %cr3
	mov	$MSR_EFER, %ecx
	mov	LOW(smp_trampoline_efer), %eax
fixup_efer = . - 4
	xor	%edx, %edx
	wrmsr
	mov	$CR0_LONG, %eax
	mov	%eax, %cr0
	ljmp	$CODE64, $LOW(long_mode)
fixup_long_mode = . - 6

	.code64
long_mode:
	movabs	$smp_ap_entry, %rax
	jmp	*%rax

	.balign 8
gdt: /* flat; already marked accessed, since the page is read-only */
	.quad	0
	.quad	0x00cf9b000000ffff
	.quad	0x00af9b000000ffff
	.quad	0x00cf93000000ffff
gdt_pointer:
	.word	. - gdt - 1
fixup_gdt:
	.long	LOW(gdt)
	.balign 4
smp_trampoline_cr3: /* filled in the copy */
	.long	0
smp_trampoline_efer:
	.long	0
smp_trampoline_end:

/* Where in the page 32-bit addresses stand. */
smp_trampoline_fixups:
	.long	LOW(fixup_protected), LOW(fixup_cr3), LOW(fixup_efer), LOW(fixup_long_mode), LOW(fixup_gdt)
smp_trampoline_fixups_end:

/*
 * 1. which slot is this CPU's? none: park  2. say that it is alive; too late: park 3. wait for GO
 * 4. the kernel's tables and its own stack
 */
	.text
	.code64
smp_ap_entry:
	xor	%r8d, %r8d
	mov	$0, %eax
	cpuid
	cmp	$0xb, %eax
	jb	1f
	mov	$0xb, %eax
	xor	%ecx, %ecx
	cpuid
	test	%ebx, %ebx	/* 0: the leaf is empty */
	jz	1f
	mov	%edx, %r8d
	jmp	2f
1:	mov	$1, %eax
	cpuid
	shr	$24, %ebx
	mov	%ebx, %r8d

2:	lea	smp_slots(%rip), %rdi
	mov	smp_slot_count(%rip), %ecx
3:	test	%ecx, %ecx
	jz	smp_park
	cmp	%r8d, SLOT_APIC_ID(%rdi)
	je	4f
	add	$SLOT_SIZE, %rdi
	dec	%ecx
	jmp	3b

4:	xor	%eax, %eax
	mov	$SMP_ALIVE, %ecx
	lock cmpxchg %ecx, SLOT_STATE(%rdi)
	jnz	smp_park
5:	mov	SLOT_STATE(%rdi), %eax
	cmp	$SMP_GO, %eax
	je	6f
	cmp	$SMP_GIVEN_UP, %eax
	je	smp_park
	pause
	jmp	5b

6:	mov	smp_cr3(%rip), %rax
	mov	%rax, %cr3
	mov	SLOT_STACK(%rdi), %rsp
	xor	%ebp, %ebp
	call	smp_ap_main
	ud2		/* so that the return address lies here */
smp_park:
	cli
	hlt
	jmp	smp_park
