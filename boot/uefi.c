/*
 * After uefi_entry.S: the UEFI loader hands over a finished struct boot_info. It stays where it
 * lies, in memory that the kernel's allocator leaves alone. Runs once, on the boot CPU, with the
 * loader's page tables.
 */
#include "arch/arch.h"
#include "boot/boot_info.h"

_Static_assert(BOOT_LINK_BASE == KERNEL_IMAGE_BASE && BOOT_DIRECT_BASE == DIRECT_MAP_BASE,
    "what loaders are told is what this kernel is built for");

void uefi_main(u64 boot_info) __noreturn;

/*
 * The note. Assembly, since a compiler would align it to more than 4, which QEMU cannot read
 * (pvh.S).
 */
#define NOTE                                                                                       \
	".pushsection .note.trapline, \"a\", @note\n"                                              \
	".balign 4\n"                                                                              \
	".long 2f - 1f, 4f - 3f, %c0\n"                                                            \
	"1: .asciz \"" BOOT_NOTE_NAME "\"\n"                                                       \
	"2: .balign 4\n"                                                                           \
	"3: .quad uefi_start, %c1\n" /* struct boot_note */                                        \
	"4: .balign 4\n"                                                                           \
	".popsection\n"

void uefi_main(u64 boot_info)
{
	__asm__ volatile(NOTE ::"i"(BOOT_NOTE_TYPE), "i"(sizeof(struct boot_info)));
	arch_start(phys_to_virt(boot_info));
}
