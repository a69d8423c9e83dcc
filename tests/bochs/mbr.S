/*
 * A boot sector for BIOSes, so that emulators without UEFI or PVH can be tried: reads the kernel, a
 * flat image that lies right after, to 1 MiB, takes the memory map from the BIOS, and enters the
 * kernel as PVH does. Assembled with CMDLINE='"..."' and CHUNKS, the image's length in pieces of 32
 * KiB.
 */
#define START_INFO 0x6000
#define MEMMAP     0x6100
#define ENTRY      0x100000
#define BUFFER     0x10000
#define CHUNK      0x8000
#define MAGIC      0x336ec578
#define SMAP       0x534d4150

	.code16
	.globl _start
_start:
	cli
	cld
	xorw %ax, %ax
	movw %ax, %ds
	movw %ax, %es
	movw %ax, %ss
	movw $0x7c00, %sp
	sti

	/*
	 * INT 13h, 42h: from the disk the BIOS named in %dl; INT 15h, 87h: to where real mode does
	 * not reach.
	 */
	movw $CHUNKS, %bp
1:	movw $packet, %si
	movb $0x42, %ah
	int $0x13
	jc failed
	pushw %dx
	movw $moves, %si
	movw $CHUNK / 2, %cx
	movb $0x87, %ah
	int $0x15
	popw %dx
	jc failed
	addl $CHUNK / 512, packet + 8
	addl $CHUNK, moves + 0x1a /* up to 16 MiB: the base has 24 bits here */
	decw %bp
	jnz 1b

	movw $START_INFO, %di
	movw $(0x7000 - START_INFO) / 2, %cx
	rep stosw

	/* INT 15h, E820: entries of 20 bytes into those of 24 that PVH has. */
	movw $MEMMAP, %di
	xorl %ebx, %ebx
1:	movl $0xe820, %eax
	movl $20, %ecx
	movl $SMAP, %edx
	int $0x15
	jc 2f
	incl START_INFO + 48
	addw $24, %di
	testl %ebx, %ebx
	jnz 1b
2:	movl $MAGIC, START_INFO
	movl $1, START_INFO + 4
	movl $cmdline, START_INFO + 24
	movl $MEMMAP, START_INFO + 40

	inb $0x92, %al          /* A20 */
	orb $2, %al
	outb %al, $0x92
	cli
	lgdt gdt_pointer
	movl %cr0, %eax
	orl $1, %eax
	movl %eax, %cr0
	ljmpl $8, $protected

failed:	cli
	hlt
	jmp failed

	.code32
protected:
	movl $16, %eax
	movl %eax, %ds
	movl %eax, %es
	movl %eax, %ss
	movl $START_INFO, %ebx
	movl $ENTRY, %eax
	jmp *%eax

packet:
	.byte 16, 0
	.word CHUNK / 512, 0, BUFFER >> 4
	.quad 1
moves: /* descriptors of INT 15h: two of its own, from, to, two of its own */
	.quad 0, 0
	.word 0xffff, BUFFER & 0xffff
	.byte BUFFER >> 16, 0x93, 0, 0
	.word 0xffff, 0
	.byte 0x10, 0x93, 0, 0
	.quad 0, 0
	.balign 8
gdt:
	.quad 0, 0x00cf9b000000ffff, 0x00cf93000000ffff
gdt_pointer:
	.word 23
	.long gdt
cmdline:
	.asciz CMDLINE

	/* A partition, for BIOSes that look for one, and the mark. */
	.org 446
	.byte 0x80, 0, 1, 0, 0x83, 0, 2, 0
	.long 1, 1
	.org 510
	.word 0xaa55
