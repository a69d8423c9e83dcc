/*
 * The boot CPU from the end of the loader to kernel_main(): features, page tables, its own stacks
 * and descriptor tables. Runs once, on the boot CPU.
 *
 * Two loaders lead here, each with a struct boot_info: boot/pvh.S, which `qemu -kernel` enters in
 * 32-bit mode, and boot/efi/. The image may lie anywhere in physical memory; virt_to_phys() adds
 * kernel_image_offset. The final page tables make text executable and nothing else, and nothing
 * writable is executable, in the direct map neither.
 */
#include "arch/x86_64/cpu/cpu.h"
#include "arch/x86_64/cpu/early.h"
#include "arch/x86_64/cpu/features.h"
#include "arch/x86_64/cpu/regs.h"
#include "arch/x86_64/cpu/sections.h"
#include "arch/x86_64/cpu/tables.h"
#include "arch/x86_64/mm/paging.h"
#include "arch/x86_64/mm/usercopy.h"
#include "boot/boot_info.h"

#define COM1	  0x3f8
#define COM1_LSR  (COM1 + 5)
#define LSR_EMPTY 0x20

/* arch/x86_64/irq/entry.S */
void __noreturn entry_start_on_stack(u64 top, void (*fn)(void *), void *arg);

static void early_putc(char c)
{
	for (unsigned i = 0; i < 100000 && !(port_in8(COM1_LSR) & LSR_EMPTY); i++)
		cpu_relax();
	port_out8(COM1, c);
}

static void early_puts(const char *s)
{
	for (; *s; s++)
		early_putc(*s);
}

void early_die(const char *why)
{
	early_puts("Trapline cannot run on this machine: ");
	early_puts(why);
	early_puts(".\r\n");
	for (;;)
		__asm__ volatile("cli; hlt");
}

static void start_kernel(void *arg)
{
	kernel_main(arg);
}

static u32 boot_apic_id(void)
{
	return cpuid(1, 0).b >> 24;
}

void arch_start(struct boot_info *bi)
{
	u64 stack;

	cpu_canary_init();
	kernel_boot_step("kernel_entered");
	kernel_image_offset = bi->kernel_base - ((u64)__text_start - KERNEL_IMAGE_BASE);
	cpu_features_init();
	usercopy_init(); /* while text is writable, */
	cpu_idt_init();	 /* and rodata */
	kernel_boot_step("cpu_features");
	paging_init(bi);
	kernel_boot_step("paging");
	stack = cpu_prepare(0, boot_apic_id());
	if (!stack)
		early_die("there is too little memory for the kernel's stacks");
	cpu_setup(0, boot_apic_id());
	kernel_boot_step("cpu_tables");
	paging_seal();
	paging_close_boot_memory(bi);
	entry_start_on_stack(stack, start_kernel, bi);
}
