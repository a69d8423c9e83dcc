/*
 * Files that lead to the machine: /dev/mem, /dev/cpu/N/msr and /proc/bus/pci at the edges of what
 * they accept. A refused access changes neither the position nor the caller's buffer. Task context.
 */
#include "arch/arch.h"
#include "drivers/acpi/tables.h"
#include "drivers/pci.h"
#include "kernel/base/printk.h"
#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/machine/machine.h"
#include "tests/unit/trace/tools.h"

#define LOW_MEMORY   0x100000UL
#define ROM	     0xc0000UL /* below the first MiB: may be read */
#define TSC_AUX	     0xc0000103UL
#define UNTOUCHED    0xa5
#define MCFG_ENTRIES 44
#define ISA_BRIDGE   0x0601

static struct file *machine_open(const char *path, u32 flags)
{
	struct file *f = NULL;
	int err = file_open(path, flags, 0, &f);

	if (err)
		ktap_fail(__FILE__, __LINE__, "open %s: %d", path, err);
	return f;
}

/* Reads n bytes at `pos`. If that is refused, the position and the buffer are as before. */
static ssize read_at(struct file *f, u64 pos, void *buf, size_t n)
{
	memset(buf, UNTOUCHED, 32);
	f->pos = pos;
	ssize got = kernel_read(f, buf, n);
	if (got <= 0)
		EXPECT_EQ(f->pos, pos);
	for (size_t i = MAX(got, (ssize)0); i < 32; i++)
		EXPECT_EQ(((u8 *)buf)[i], UNTOUCHED);
	return got;
}

static ssize write_at(struct file *f, u64 pos, const void *buf, size_t n)
{
	f->pos = pos;
	ssize put = kernel_write(f, buf, n);
	if (put <= 0)
		EXPECT_EQ(f->pos, pos);
	return put;
}

/* ---- /dev/mem ---- */

static u64 physical_end(void)
{
	u32 id[4];

	arch_cpuid(0x80000008, 0, id);
	return 1UL << (id[0] & 0xff);
}

static void mem_edges(void)
{
	struct file *f = machine_open("/dev/mem", O_RDWR);
	u64 end = physical_end();
	u8 buf[32];

	EXPECT_EQ(read_at(f, end - 8, buf, 8), 8);
	EXPECT_EQ(read_at(f, end - 8, buf, 9), -ENXIO);
	EXPECT_EQ(read_at(f, end, buf, 1), -ENXIO);
	EXPECT_EQ(read_at(f, -4UL, buf, 8), -ENXIO);
	EXPECT_EQ(read_at(f, LOW_MEMORY - 8, buf, 8), 8);
	EXPECT_EQ(read_at(f, LOW_MEMORY - 8, buf, 9), -EPERM);
	EXPECT_EQ(read_at(f, LOW_MEMORY, buf, 1), -EPERM);
	EXPECT_EQ(write_at(f, LOW_MEMORY - 4, buf, 8), -EPERM);
	file_put(f);
}

/* The accesses that a read of n bytes at `pos` makes. */
static u64 accesses(struct file *f, u64 pos, size_t n)
{
	u8 buf[32];
	u64 before = trace_counts("rwmmio", "rwmmio_read").hit;

	EXPECT_EQ(read_at(f, pos, buf, n), n);
	return trace_counts("rwmmio", "rwmmio_read").hit - before;
}

static void mem_widths(void)
{
	struct file *f = machine_open("/dev/mem", O_RDONLY);

	trace_fresh();
	EXPECT_EQ(trace_put("events/rwmmio/rwmmio_read/enable", "1"), 0);
	for (size_t n = 2; n <= 8; n *= 2) {
		EXPECT_EQ(accesses(f, ROM + 8, n), 1);
		EXPECT_EQ(accesses(f, ROM + 8 + n / 2, n), n); /* not aligned: in bytes */
	}
	EXPECT_EQ(accesses(f, ROM, 3), 3);
	EXPECT_EQ(accesses(f, ROM, 16), 16);
	trace_fresh();
	file_put(f);
}

/* The memory-mapped configuration space, as the firmware's table gives it. */
static bool config_space(u64 *from, u64 *to)
{
	const struct acpi_table *t;

	for (unsigned i = 0; (t = acpi_table_nth(i)); i++) {
		const u8 *entry = (const u8 *)t->table + MCFG_ENTRIES;

		if (!t->table || strcmp(t->name, "MCFG") != 0)
			continue;
		memcpy(from, entry, sizeof(*from));
		*to = *from + ((entry[11] + 1UL) << 20);
		*from += (u64)entry[10] << 20;
		return true;
	}
	return false;
}

static void config_space_edges(void)
{
	struct file *f = machine_open("/dev/mem", O_RDWR);
	u64 from, to;
	u8 byte = 0;

	if (config_space(&from, &to)) {
		EXPECT(!pci_config_holds(from - 1, 1));
		EXPECT(pci_config_holds(from - 1, 2));
		EXPECT(pci_config_holds(from, 1));
		EXPECT(pci_config_holds(to - 1, 1));
		EXPECT(!pci_config_holds(to, 1));
		EXPECT_EQ(write_at(f, to - 1, &byte, 1), -EPERM);
		EXPECT_EQ(read_at(f, from, (u8[32]){0}, 4), 4);
	} else {
		ktap_skip("the firmware names no such space");
	}
	file_put(f);
}

/* ---- /dev/cpu/N/msr ---- */

static u64 msr_of(unsigned cpu)
{
	u64 value = 0;

	EXPECT_EQ(arch_msr_read(cpu, TSC_AUX, &value), 0);
	return value;
}

static void msr_sizes(void)
{
	struct file *f = machine_open("/dev/cpu/0/msr", O_RDWR);
	u64 buf[4], was = msr_of(0);

	for (size_t n = 1; n <= 17; n++)
		if (n % 8) {
			EXPECT_EQ(read_at(f, TSC_AUX, buf, n), -EINVAL);
			EXPECT_EQ(write_at(f, TSC_AUX, buf, n), -EINVAL);
		}
	EXPECT_EQ(read_at(f, TSC_AUX, buf, 16), 16);
	EXPECT_EQ(buf[0], was);
	EXPECT_EQ(buf[1], was);
	EXPECT_EQ(read_at(f, 1UL << 32 | TSC_AUX, buf, 8), -EINVAL);
	EXPECT_EQ(write_at(f, 1UL << 32 | TSC_AUX, (u64[]){was ^ 1}, 8), -EINVAL);
	EXPECT_EQ(msr_of(0), was);
	file_put(f);
}

/* Each file is its CPU's; of several values the last remains. */
static void msr_of_its_cpu(void)
{
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		char path[32];

		fmt_snprintf(path, sizeof(path), "/dev/cpu/%u/msr", cpu);
		struct file *f = machine_open(path, O_RDWR);
		u64 was = msr_of(cpu), other = msr_of((cpu + 1) % cpu_count());

		EXPECT_EQ(write_at(f, TSC_AUX, (u64[]){was ^ 6, was ^ 5}, 16), 16);
		EXPECT_EQ(msr_of(cpu), was ^ 5);
		if (cpu_count() > 1)
			EXPECT_EQ(msr_of((cpu + 1) % cpu_count()), other);
		EXPECT_EQ(write_at(f, TSC_AUX, &was, 8), 8);
		file_put(f);
	}
}

/* ---- /proc/bus/pci ---- */

/* The first function of that class, opened; NULL: there is none. */
static struct file *function_of(u16 class_code, const struct pci_function **out)
{
	const struct pci_function *p;
	char path[40];

	for (unsigned i = 0; (p = pci_nth(i)); i++) {
		if (p->class_code != class_code)
			continue;
		*out = p;
		fmt_snprintf(path, sizeof(path), "/proc/bus/pci/%02x/%02x.%u", p->bus, p->device,
		    p->function);
		return machine_open(path, O_RDWR);
	}
	return NULL;
}

static void pci_reads(void)
{
	const struct pci_function *p;
	struct file *f = function_of(ISA_BRIDGE, &p);
	u8 buf[32], bytes[32];

	if (!f) {
		ktap_skip("no ISA bridge");
		return;
	}
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = pci_read(p, i, 1);
	for (unsigned at = 0; at < 4; at++)
		for (unsigned n = 1; n <= 8; n++) {
			EXPECT_EQ(read_at(f, at, buf, n), n);
			EXPECT(!memcmp(buf, bytes + at, n));
		}
	EXPECT_EQ(read_at(f, PCI_CONFIG_SIZE - 6, buf, 16), 6);
	EXPECT_EQ(read_at(f, PCI_CONFIG_SIZE, buf, 1), 0);
	EXPECT_EQ(read_at(f, -1UL, buf, 1), 0);
	EXPECT_EQ(write_at(f, PCI_CONFIG_SIZE, buf, 1), -ENOSPC);
	EXPECT_EQ(write_at(f, PCI_CONFIG_SIZE, buf, 0), 0);
	file_put(f);
}

/* Has the log a line with this text since the mark? Moves the mark to its end. */
static bool logged(u64 *mark, const char *text)
{
	char got[512];
	bool found = false;

	for (size_t n; (n = printk_read(mark, got, sizeof(got) - 1));) {
		got[n] = '\0';
		found |= strstr(got, text) != NULL;
	}
	return found;
}

/* A write that reaches the registers of addresses is named in the log, wherever it begins. */
static void pci_writes_named(void)
{
	enum { FIRST = PCI_COMMAND, END = 0x3c };
	const struct pci_function *p;
	struct file *f = function_of(ISA_BRIDGE, &p);
	u64 mark = 0;
	u8 bytes[8];

	if (!f) {
		ktap_skip("no ISA bridge");
		return;
	}
	logged(&mark, "");
	for (u64 at = FIRST - 4; at <= END; at++)
		for (unsigned n = 1; n <= 4 && at + n <= 0x40; n++) {
			if (at > FIRST && at < END - 4)
				continue; /* nothing new */
			for (unsigned i = 0; i < n; i++)
				bytes[i] = pci_read(p, at + i, 1);
			EXPECT_EQ(write_at(f, at, bytes, n), n);
			EXPECT_EQ(logged(&mark, " writes to "), at < END && at + n > FIRST);
		}
	file_put(f);
}

/*
 * A bridge's registers beyond the standard's may move memory: no write may reach them, wherever it
 * begins. Its others may be written.
 */
static void pci_bridge_registers(void)
{
	const struct pci_function *p;
	struct file *f = function_of(ISA_BRIDGE, &p);
	u8 line[4];

	if (!f) {
		ktap_skip("no ISA bridge");
		return;
	}
	EXPECT_EQ(read_at(f, 0x3c, (u8[32]){0}, 4), 4);
	for (unsigned i = 0; i < sizeof(line); i++)
		line[i] = pci_read(p, 0x3c + i, 1);
	EXPECT_EQ(write_at(f, 0x3c, line, 4), 4);
	for (u64 at = 0x3d; at < 0x41; at++)
		EXPECT_EQ(write_at(f, at, line, 4), -EPERM);
	EXPECT_EQ(write_at(f, 0x3f, line, 1), 1);
	EXPECT_EQ(write_at(f, 0x40, line, 1), -EPERM);
	file_put(f);
}

static const struct ktap_case cases[] = {
    {"machine_devices.mem_edges", mem_edges},
    {"machine_devices.mem_widths", mem_widths},
    {"machine_devices.config_space_edges", config_space_edges},
    {"machine_devices.msr_sizes", msr_sizes},
    {"machine_devices.msr_of_its_cpu", msr_of_its_cpu},
    {"machine_devices.pci_reads", pci_reads},
    {"machine_devices.pci_writes_named", pci_writes_named},
    {"machine_devices.pci_bridge_registers", pci_bridge_registers},
    {NULL, NULL},
};
const struct ktap_suite suite_machine_devices = {cases};
