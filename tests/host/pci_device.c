/* See pci_device.h. */
#include "tests/host/pci_device.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"

#define ENABLE	0x80000000u
#define REG_BAR 0x10

static struct pci_fake *fakes;
static unsigned fake_count;
static u32 address;

u32 pci_fake_get(const struct pci_fake *f, unsigned reg, unsigned bytes)
{
	u32 v = 0;

	memcpy(&v, f->config + reg, bytes);
	return v;
}

void pci_fake_set(struct pci_fake *f, unsigned reg, unsigned bytes, u32 v)
{
	memcpy(f->config + reg, &v, bytes);
}

void pci_fake_bar(struct pci_fake *f, unsigned i, u64 base, u64 size, bool wide)
{
	u64 writable = -size & (base & 1 ? ~3ull : ~15ull);

	pci_fake_set(f, REG_BAR + 4 * i, 4, base);
	f->fixed[i] = size ? ~(u32)writable : ~0u;
	if (wide && i + 1 < PCI_BARS) {
		pci_fake_set(f, REG_BAR + 4 * i + 4, 4, base >> 32);
		f->fixed[i + 1] = ~(u32)(writable >> 32);
	}
}

static struct pci_fake *addressed(void)
{
	for (unsigned i = 0; i < fake_count; i++)
		if ((address & 0xffff00) ==
		    ((u32)fakes[i].bus << 16 | fakes[i].device << 11 | fakes[i].function << 8))
			return &fakes[i];
	return NULL;
}

static u32 in(u16 port, unsigned bytes)
{
	const struct pci_fake *f = addressed();

	if (port == 0xcf8)
		return address;
	return f && address & ENABLE ? pci_fake_get(f, (address & 0xfc) + (port & 3), bytes) : ~0u;
}

static void out(u16 port, unsigned bytes, u32 v)
{
	struct pci_fake *f = addressed();
	unsigned reg = (address & 0xfc) + (port & 3), bar = (reg - REG_BAR) / 4;

	if (port == 0xcf8) {
		address = v;
		return;
	}
	if (!f || !(address & ENABLE))
		return;
	if (reg >= REG_BAR && bar < PCI_BARS) {
		u32 old = pci_fake_get(f, reg, 4);

		EXPECT_EQ(bytes, 4);
		v = (v & ~f->fixed[bar]) | (old & f->fixed[bar]);
		f->answered_while_asked |= v != old && pci_fake_get(f, PCI_COMMAND, 2) &
							   (PCI_COMMAND_PORTS | PCI_COMMAND_MEMORY);
	}
	pci_fake_set(f, reg, bytes, v);
}

static struct port_device devices[2] = {{0xcf8, 0xcff, in, out}}; /* and one more */

void pci_fake_begin(struct pci_fake *functions, unsigned count)
{
	fakes = functions;
	fake_count = count;
	address = 0;
	ports_begin(devices, 1);
}

void pci_fake_add_ports(const struct port_device *more)
{
	devices[1] = *more;
	ports_end();
	ports_begin(devices, 2);
}

void pci_fake_end(void)
{
	ports_end();
	fake_count = 0;
}
