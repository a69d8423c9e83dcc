/*
 * Contexts: resource.h. The files are made of one sorted list each; what lies within another is
 * shown indented below it.
 */
#include "kernel/machine/resource.h"
#include "arch/arch.h"
#include "boot/boot_info.h"
#include "drivers/acpi/acpi.h"
#include "drivers/pci.h"
#include "drivers/uart.h"
#include "kernel/console/serial_port.h"
#include "kernel/fs/proc.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/seq.h"

#define RESOURCES_MAX 512
#define DEPTH_MAX     8
#define APIC_SIZE     0x1000
#define IOAPIC_SIZE   0x400
#define HPET_SIZE     0x400

struct resource {
	u64 start, end; /* the last address is in it */
	char name[24];
};

static struct resource_list {
	struct resource r[RESOURCES_MAX];
	unsigned count;
} memory, ports;

static struct boot_range ranges[BOOT_MAX_RANGES];
static u32 range_count;

static void __printf(4, 5)
    resource_add(struct resource_list *list, u64 start, u64 size, const char *fmt, ...)
{
	struct resource *r = &list->r[list->count];
	va_list ap;

	if (!size || list->count == RESOURCES_MAX)
		return;
	list->count++;
	r->start = start;
	r->end = start + size - 1;
	va_start(ap, fmt);
	fmt_vsnprintf(r->name, sizeof(r->name), fmt, ap);
	va_end(ap);
}

static void add_ranges(void)
{
	static const char *const names[] = {
	    [BOOT_MEM_USABLE] = "System RAM",
	    [BOOT_MEM_RESERVED] = "Reserved",
	    [BOOT_MEM_ACPI] = "ACPI Tables",
	    [BOOT_MEM_NVS] = "ACPI Non-volatile Storage",
	};

	for (u32 i = 0; i < range_count; i++) {
		u32 type = ranges[i].type;
		resource_add(&memory, ranges[i].base, ranges[i].size, "%s",
		    type < ARRAY_SIZE(names) && names[type] ? names[type] : "Reserved");
	}
}

static void add_acpi(void)
{
	const struct acpi_madt *m = acpi_madt();

	for (u32 i = 0; m && i < m->ioapic_count; i++)
		resource_add(&memory, m->ioapic[i].base, IOAPIC_SIZE, "IOAPIC %u", i);
	if (m)
		resource_add(&memory, m->lapic_base, APIC_SIZE, "Local APIC");
	if (acpi_hpet_base())
		resource_add(&memory, acpi_hpet_base(), HPET_SIZE, "HPET 0");
}

static void add_pci(void)
{
	const struct pci_function *f;

	for (unsigned i = 0; (f = pci_nth(i)); i++)
		for (unsigned b = 0; b < PCI_BARS; b++)
			if (f->bar[b].base)
				resource_add(f->bar[b].ports ? &ports : &memory, f->bar[b].base,
				    f->bar[b].size, "0000:%02x:%02x.%u", f->bus, f->device,
				    f->function);
}

static void add_serial(void)
{
	for (unsigned i = 0; i < SERIAL_MAX; i++) {
		const struct uart_place *p = &serial_ports[i].uart.place;
		if (serial_ports[i].present)
			resource_add(p->space == UART_PORTS ? &ports : &memory, p->base,
			    8UL << p->shift, "serial");
	}
}

static void add_pc(void)
{
	static const struct {
		u16 start, size;
		const char *name;
	} fixed[] = {
	    {0x20, 2, "pic1"},
	    {0x40, 4, "timer0"},
	    {0x60, 1, "keyboard"},
	    {0x64, 1, "keyboard"},
	    {0x70, 2, "rtc"},
	    {0xa0, 2, "pic2"},
	    {0xcf8, 8, "PCI conf1"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		resource_add(&ports, fixed[i].start, fixed[i].size, "%s", fixed[i].name);
}

/* By start; what begins at the same place, the larger first. */
static void resource_sort(struct resource_list *list)
{
	for (unsigned i = 1; i < list->count; i++)
		for (unsigned k = i; k; k--) {
			struct resource *a = &list->r[k - 1], *b = &list->r[k], t;
			if (a->start < b->start || (a->start == b->start && a->end >= b->end))
				break;
			t = *a;
			*a = *b;
			*b = t;
		}
}

static int resource_show(struct seq *s, void *ctx)
{
	const struct resource_list *list = ctx;
	const struct resource *outer[DEPTH_MAX];
	unsigned depth = 0, digits = list == &ports ? 4 : 8; /* of an address, at least */

	for (unsigned i = 0; i < list->count; i++) {
		const struct resource *r = &list->r[i];
		while (depth && r->end > outer[depth - 1]->end)
			depth--;
		seq_printf(s, "%*s%0*llx-%0*llx : %s\n", depth * 2, "", digits,
		    (unsigned long long)r->start, digits, (unsigned long long)r->end, r->name);
		if (depth < DEPTH_MAX)
			outer[depth++] = r;
	}
	return 0;
}

bool resource_is_ram(u64 from, u64 to)
{
	for (u32 i = 0; i < range_count; i++) {
		const struct boot_range *r = &ranges[i];
		if (r->type == BOOT_MEM_USABLE && from < r->base + r->size && to > r->base)
			return true;
	}
	return false;
}

void resource_init(const struct boot_info *bi)
{
	for (; range_count < bi->range_count; range_count++)
		ranges[range_count] = bi->ranges[range_count];
	add_ranges();
	resource_add(&memory, bi->kernel_base, bi->kernel_size, "Kernel");
	resource_add(&memory, bi->initrd_base, bi->initrd_size, "initrd");
	resource_add(&memory, bi->framebuffer.base,
	    (u64)bi->framebuffer.pitch * bi->framebuffer.height, "BOOTFB");
	add_acpi();
	add_pci();
	add_serial();
	add_pc();
	resource_sort(&memory);
	resource_sort(&ports);
	proc_register("iomem", resource_show, NULL, &memory);
	proc_register("ioports", resource_show, NULL, &ports);
}
