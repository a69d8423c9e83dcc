/*
 * PCI as files: /proc/bus/pci as on Linux (devices, and BB/DD.F with the registers of a function;
 * those by which a chipset moves memory are written with pci_write=all alone),
 * and /proc/trapline/pci for people. Task context; the list of functions is constant.
 */
#include "drivers/acpi/tables.h"
#include "drivers/pci.h"
#include "kernel/base/cmdline.h"
#include "kernel/base/printk.h"
#include "kernel/fs/proc.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "kernel/machine/machine.h"
#include "kernel/task/task.h"

#define PCI_STANDARD_SIZE 0x40 /* what the standard defines; the rest is the device's own */
#define PCI_ADDRESSES_END 0x3c /* from PCI_COMMAND to here: base addresses, a bridge's windows */
#define PCI_NAMED_BYTES	  8
#define MCFG_ENTRIES	  44 /* its header, and eight bytes reserved (PCI Firmware 3.2, 4.1.2) */

struct mcfg_entry {
	u64 base;
	u16 segment;
	u8 first_bus, last_bus;
	u32 reserved;
} __packed;

#define LINUX_BARS 7 /* six and the ROM's, which is not looked at here */

static const struct {
	u16 code;
	const char *name;
} classes[] = {
    {0x0000, "Non-VGA unclassified device"},
    {0x0100, "SCSI storage controller"},
    {0x0101, "IDE interface"},
    {0x0106, "SATA controller"},
    {0x0108, "Non-Volatile memory controller"},
    {0x0200, "Ethernet controller"},
    {0x0280, "Network controller"},
    {0x0300, "VGA compatible controller"},
    {0x0302, "3D controller"},
    {0x0380, "Display controller"},
    {0x0401, "Multimedia audio controller"},
    {0x0403, "Audio device"},
    {0x0500, "RAM memory"},
    {0x0580, "Memory controller"},
    {0x0600, "Host bridge"},
    {0x0601, "ISA bridge"},
    {0x0604, "PCI bridge"},
    {0x0680, "Bridge"},
    {0x0700, "Serial controller"},
    {0x0780, "Communication controller"},
    {0x0800, "PIC"},
    {0x0805, "SD Host controller"},
    {0x0880, "System peripheral"},
    {0x0c03, "USB controller"},
    {0x0c05, "SMBus"},
    {0x0d11, "Bluetooth"},
    {0x1080, "Encryption controller"},
    {0x1180, "Signal processing controller"},
};

static const struct {
	u16 id;
	const char *name;
} vendors[] = {
    {0x1002, "Advanced Micro Devices, Inc. [AMD/ATI]"},
    {0x1022, "Advanced Micro Devices, Inc. [AMD]"},
    {0x10de, "NVIDIA Corporation"},
    {0x10ec, "Realtek Semiconductor Co., Ltd."},
    {0x1106, "VIA Technologies, Inc."},
    {0x1234, "QEMU or Bochs"},
    {0x144d, "Samsung Electronics Co Ltd"},
    {0x14e4, "Broadcom Inc."},
    {0x15b7, "Sandisk Corp"},
    {0x1af4, "Red Hat, Inc."},
    {0x1b21, "ASMedia Technology Inc."},
    {0x1b36, "Red Hat, Inc. (QEMU)"},
    {0x8086, "Intel Corporation"},
};

static void show_head(struct seq *s, const struct pci_function *f)
{
	const char *class = NULL, *vendor = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
		if (classes[i].code == f->class_code)
			class = classes[i].name;
	for (size_t i = 0; i < ARRAY_SIZE(vendors); i++)
		if (vendors[i].id == f->vendor)
			vendor = vendors[i].name;
	seq_printf(s, "%02x:%02x.%u %s [%04x]: ", f->bus, f->device, f->function,
	    class ? class : "Class", f->class_code);
	if (vendor)
		seq_printf(s, "%s Device", vendor);
	else
		seq_printf(s, "Device");
	seq_printf(s, " [%04x:%04x]", f->vendor, f->id);
	if (f->revision)
		seq_printf(s, " (rev %02x)", f->revision);
	if (f->interface)
		seq_printf(s, " (prog-if %02x)", f->interface);
	seq_putc(s, '\n');
}

static void show_size(struct seq *s, u64 size)
{
	static const char units[] = {0, 'K', 'M', 'G', 'T'};
	unsigned unit = 0;

	while (size >= 1024 && size % 1024 == 0 && unit + 1 < ARRAY_SIZE(units)) {
		size /= 1024;
		unit++;
	}
	seq_printf(s, " [size=%llu", (unsigned long long)size);
	if (unit)
		seq_putc(s, units[unit]);
	seq_puts(s, "]\n");
}

static void show_details(struct seq *s, const struct pci_function *f)
{
	u16 command = pci_read(f, PCI_COMMAND, 2);

	if (f->subsystem_vendor)
		seq_printf(s, "\tSubsystem: [%04x:%04x]\n", f->subsystem_vendor, f->subsystem);
	seq_printf(s, "\tControl: I/O%c Mem%c BusMaster%c\n", command & 1 ? '+' : '-',
	    command & 2 ? '+' : '-', command & 4 ? '+' : '-');
	if (f->irq_pin)
		seq_printf(
		    s, "\tInterrupt: pin %c routed to IRQ %u\n", 'A' + f->irq_pin - 1, f->irq_line);
	if (f->header == 1)
		seq_printf(s, "\tBus: secondary=%02x\n", f->secondary);
	for (unsigned i = 0; i < PCI_BARS; i++) {
		const struct pci_bar *b = &f->bar[i];
		if (!b->size)
			continue;
		if (b->ports)
			seq_printf(
			    s, "\tRegion %u: I/O ports at %04llx", i, (unsigned long long)b->base);
		else
			seq_printf(s, "\tRegion %u: Memory at %08llx (%s-bit, %sprefetchable)", i,
			    (unsigned long long)b->base, b->wide ? "64" : "32",
			    b->prefetch ? "" : "non-");
		show_size(s, b->size);
	}
}

static int pci_show_functions(struct seq *s, void *unused)
{
	const struct pci_function *f;

	(void)unused;
	for (unsigned i = 0; (f = pci_nth(i)); i++) {
		show_head(s, f);
		show_details(s, f);
	}
	return 0;
}

/* The low bits of a register that holds an address. */
static u64 bar_flags(const struct pci_bar *b)
{
	if (!b->size)
		return 0;
	return b->ports ? 1 : (b->wide ? 4 : 0) | (b->prefetch ? 8 : 0);
}

static int pci_show_devices(struct seq *s, void *unused)
{
	const struct pci_function *f;

	(void)unused;
	for (unsigned i = 0; (f = pci_nth(i)); i++) {
		seq_printf(s, "%02x%02x\t%04x%04x\t%x", f->bus, f->device << 3 | f->function,
		    f->vendor, f->id, f->irq_pin ? f->irq_line : 0);
		for (unsigned b = 0; b < LINUX_BARS; b++)
			seq_printf(s, "\t%16llx",
			    (unsigned long long)(b < PCI_BARS
						     ? f->bar[b].base | bar_flags(&f->bar[b])
						     : 0));
		for (unsigned b = 0; b < LINUX_BARS; b++)
			seq_printf(
			    s, "\t%16llx", (unsigned long long)(b < PCI_BARS ? f->bar[b].size : 0));
		seq_puts(s, "\t\n");
	}
	return 0;
}

static unsigned access_size(u64 pos, size_t n)
{
	return n >= 4 && pos % 4 == 0 ? 4 : n >= 2 && pos % 2 == 0 ? 2 : 1;
}

static ssize pci_config_read(struct file *file, void *buf, size_t n, u64 *pos)
{
	const struct pci_function *f = file->priv;
	size_t done = 0;

	n = *pos < PCI_CONFIG_SIZE ? MIN(n, PCI_CONFIG_SIZE - *pos) : 0;
	while (done < n) {
		unsigned size = access_size(*pos, n - done);
		u32 v = pci_read(f, *pos, size);
		memcpy((char *)buf + done, &v, size);
		done += size;
		*pos += size;
	}
	return done;
}

/*
 * The chipset decides in its host bridge, and in the registers beyond the standard's of any other
 * bridge, which addresses lead to RAM. One write there can put something else in the place of the
 * kernel, and then nobody is left to undo it (docs/reliability.md).
 */
static bool pci_moves_memory(const struct pci_function *f, u64 reg, size_t n)
{
	return f->class_code == PCI_CLASS_HOST_BRIDGE ||
	       (f->class_code >> 8 == PCI_CLASS_BRIDGE && reg + n > PCI_STANDARD_SIZE);
}

/* Does a write change which addresses a device, or what is beyond a bridge, answers to? */
static bool pci_moves_device(u64 reg, size_t n)
{
	return reg < PCI_ADDRESSES_END && reg + n > PCI_COMMAND;
}

bool pci_may_move_memory(void)
{
	const char *word = cmdline_get("pci_write");

	return word && !strcmp(word, "all");
}

/* The log names it before it happens. */
static bool pci_may_write(const struct pci_function *f, const u8 *data, u64 reg, size_t n)
{
	bool refused = pci_moves_memory(f, reg, n) && !pci_may_move_memory();
	char bytes[3 * PCI_NAMED_BYTES + 1];
	size_t at = 0;

	if (!pci_moves_memory(f, reg, n) && !pci_moves_device(reg, n))
		return true;
	for (size_t i = 0; i < MIN(n, (size_t)PCI_NAMED_BYTES); i++)
		at += fmt_snprintf(bytes + at, sizeof(bytes) - at, " %02x", data[i]);
	pr_warn("pci: %s[%d] %s %02x:%02x.%u at %#lx, %lu bytes:%s%s", current()->comm,
	    current()->pid, refused ? "may not write to" : "writes to", f->bus, f->device,
	    f->function, (unsigned long)reg, (unsigned long)n, bytes,
	    refused ? " (pci_write=all allows it)" : "");
	return !refused;
}

static ssize pci_config_write(struct file *file, const void *buf, size_t n, u64 *pos)
{
	const struct pci_function *f = file->priv;
	size_t done = 0;

	if (*pos >= PCI_CONFIG_SIZE)
		return n ? -ENOSPC : 0;
	n = MIN(n, PCI_CONFIG_SIZE - *pos);
	if (n && !pci_may_write(f, buf, *pos, n))
		return -EPERM;
	while (done < n) {
		unsigned size = access_size(*pos, n - done);
		u32 v = 0;
		memcpy(&v, (const char *)buf + done, size);
		pci_write(f, *pos, size, v);
		done += size;
		*pos += size;
	}
	return done;
}

static const struct file_ops config_ops = {.read = pci_config_read, .write = pci_config_write};

static bool mcfg_holds(const struct acpi_table *t, u64 pa, size_t n)
{
	const struct mcfg_entry *e = (const void *)((const char *)t->table + MCFG_ENTRIES);
	const void *end = (const char *)t->table + t->table->length;

	for (; (const void *)(e + 1) <= end; e++) {
		u64 from = e->base + ((u64)e->first_bus << 20);
		u64 to = e->base + ((e->last_bus + 1UL) << 20);
		if (pa < to && pa + n > from)
			return true;
	}
	return false;
}

bool pci_config_holds(u64 pa, size_t n)
{
	const struct acpi_table *t;

	for (unsigned i = 0; (t = acpi_table_nth(i)); i++)
		if (t->table && !strcmp(t->name, "MCFG") && mcfg_holds(t, pa, n))
			return true;
	return false;
}

void pci_files_init(void)
{
	const struct pci_function *f;
	char path[32];

	proc_register("bus/pci/devices", pci_show_devices, NULL, NULL);
	proc_register("trapline/pci", pci_show_functions, NULL, NULL);
	for (unsigned i = 0; (f = pci_nth(i)); i++) {
		fmt_snprintf(
		    path, sizeof(path), "bus/pci/%02x/%02x.%u", f->bus, f->device, f->function);
		if (proc_register_ops(path, 0644, &config_ops, (void *)f))
			pr_err("cannot make /proc/%s", path);
	}
}
