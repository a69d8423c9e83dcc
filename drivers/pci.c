/* PCI Local Bus 3.0, chapter 6; PCI-to-PCI Bridge 1.2, chapter 3. Contexts and locks: pci.h. */
#include "drivers/pci.h"

#include "arch/arch.h"
#include "kernel/lib/atomic.h"

enum { CONFIG_ADDRESS = 0xcf8, CONFIG_DATA = 0xcfc };
#define ADDRESS_ENABLE 0x80000000u

enum {
	REG_ID = 0,
	REG_CLASS = 8,
	REG_HEADER = 0xe,
	REG_BAR = 0x10,
	REG_SECONDARY = 0x19,
	REG_SUBSYSTEM = 0x2c,
	REG_IRQ_LINE = 0x3c,
	REG_IRQ_PIN = 0x3d
};
enum { HEADER_TYPE = 0x7f, HEADER_MULTI = 0x80 };
enum { BAR_PORTS = 1, BAR_64 = 4, BAR_PREFETCH = 8 };

static struct pci_function found[PCI_MAX_FUNCTIONS];
static unsigned found_count, left_out;
static u64 bus_seen[4]; /* a bit per bus: a bridge that leads back is not followed */
static u32 config_lock; /* [A] the address and data ports, interrupts off */

static u64 pci_lock(void)
{
	u64 flags = irq_save();

	while (atomic_xchg(&config_lock, 1))
		cpu_relax();
	return flags;
}

static void pci_unlock(u64 flags)
{
	atomic_store_release(&config_lock, 0);
	irq_restore(flags);
}

static void pci_set_address(const struct pci_function *f, unsigned reg)
{
	port_out32(CONFIG_ADDRESS, ADDRESS_ENABLE | (u32)f->bus << 16 | (u32)f->device << 11 |
				       (u32)f->function << 8 | (reg & 0xfc));
}

u32 pci_read(const struct pci_function *f, unsigned reg, unsigned size)
{
	u64 flags = pci_lock();
	u16 port = CONFIG_DATA + (reg & 3);
	u32 v;

	pci_set_address(f, reg);
	v = size == 1 ? port_in8(port) : size == 2 ? port_in16(port) : port_in32(CONFIG_DATA);
	pci_unlock(flags);
	return v;
}

void pci_write(const struct pci_function *f, unsigned reg, unsigned size, u32 v)
{
	u64 flags = pci_lock();
	u16 port = CONFIG_DATA + (reg & 3);

	pci_set_address(f, reg);
	if (size == 1)
		port_out8(port, v);
	else if (size == 2)
		port_out16(port, v);
	else
		port_out32(CONFIG_DATA, v);
	pci_unlock(flags);
}

/* Write all ones and read back: the bits below the size are wired to 0. */
static u32 pci_bar_mask(const struct pci_function *f, unsigned reg, u32 old)
{
	u32 mask;

	pci_write(f, reg, 4, 0xffffffff);
	mask = pci_read(f, reg, 4);
	pci_write(f, reg, 4, old);
	return mask;
}

/* Fills the i-th; returns how many registers it takes. */
static unsigned take_bar(struct pci_function *f, unsigned i, unsigned max)
{
	unsigned reg = REG_BAR + 4 * i;
	struct pci_bar *b = &f->bar[i];
	u32 low = pci_read(f, reg, 4), mask = pci_bar_mask(f, reg, low);

	if (!mask || mask == 0xffffffff)
		return 1;
	if (low & BAR_PORTS) {
		u16 bits = mask & ~3u; /* the upper half may be wired to 0 */
		*b = (struct pci_bar){.base = low & ~3u, .size = (u16)-bits, .ports = true};
		return 1;
	}
	u64 base = low & ~15u, bits = mask & ~15u;
	b->prefetch = low & BAR_PREFETCH;
	b->wide = low & BAR_64 && i + 1 < max;
	if (b->wide) {
		u32 high = pci_read(f, reg + 4, 4);
		base |= (u64)high << 32;
		bits |= (u64)pci_bar_mask(f, reg + 4, high) << 32;
	} else {
		bits |= 0xffffffff00000000;
	}
	b->base = base;
	b->size = -bits;
	return b->wide ? 2 : 1;
}

/* While its size is asked for, a register holds no address: the function must not answer. */
static void take_bars(struct pci_function *f)
{
	unsigned max = f->header == 0 ? 6 : f->header == 1 ? 2 : 0;
	u16 command = pci_read(f, PCI_COMMAND, 2);

	pci_write(f, PCI_COMMAND, 2, command & ~(PCI_COMMAND_PORTS | PCI_COMMAND_MEMORY));
	for (unsigned i = 0; i < max;)
		i += take_bar(f, i, max);
	pci_write(f, PCI_COMMAND, 2, command);
}

static void pci_scan_bus(u8 bus);

/* False: nothing answers. */
static bool pci_take_function(struct pci_function f)
{
	u32 id = pci_read(&f, REG_ID, 4), class = pci_read(&f, REG_CLASS, 4);

	if ((u16)id == 0xffff || !id)
		return false;
	f.vendor = id;
	f.id = id >> 16;
	f.revision = class;
	f.interface = class >> 8;
	f.class_code = class >> 16;
	f.header = pci_read(&f, REG_HEADER, 1) & HEADER_TYPE;
	f.irq_line = pci_read(&f, REG_IRQ_LINE, 1);
	f.irq_pin = pci_read(&f, REG_IRQ_PIN, 1);
	if (f.header == 0) {
		f.subsystem_vendor = pci_read(&f, REG_SUBSYSTEM, 2);
		f.subsystem = pci_read(&f, REG_SUBSYSTEM + 2, 2);
	} else {
		f.secondary = pci_read(&f, REG_SECONDARY, 1);
	}
	take_bars(&f);
	if (found_count < PCI_MAX_FUNCTIONS)
		found[found_count++] = f;
	else
		left_out++;
	if (f.header == 1)
		pci_scan_bus(f.secondary);
	return true;
}

static void pci_scan_bus(u8 bus)
{
	if (bus_seen[bus / 64] >> (bus % 64) & 1)
		return;
	bus_seen[bus / 64] |= 1UL << (bus % 64);
	for (unsigned device = 0; device < 32; device++) {
		struct pci_function f = {.bus = bus, .device = device};
		if (!pci_take_function(f) || !(pci_read(&f, REG_HEADER, 1) & HEADER_MULTI))
			continue;
		for (f.function = 1; f.function < 8; f.function++)
			pci_take_function(f);
	}
}

static u32 place(const struct pci_function *f)
{
	return f->bus << 8 | f->device << 3 | f->function;
}

/* Bridges are followed where they stand: what is behind one comes before its neighbours. */
static void sort(void)
{
	for (unsigned i = 1; i < found_count; i++)
		for (unsigned k = i; k && place(&found[k - 1]) > place(&found[k]); k--) {
			struct pci_function f = found[k];
			found[k] = found[k - 1];
			found[k - 1] = f;
		}
}

unsigned pci_scan(void)
{
	u32 old = port_in32(CONFIG_ADDRESS);

	port_out32(CONFIG_ADDRESS, ADDRESS_ENABLE);
	if (port_in32(CONFIG_ADDRESS) != ADDRESS_ENABLE) {
		port_out32(CONFIG_ADDRESS, old);
		return 0;
	}
	pci_scan_bus(0);
	sort();
	return left_out;
}

const struct pci_function *pci_nth(unsigned i)
{
	return i < found_count ? &found[i] : NULL;
}
