/* drivers/pci.c on functions made of registers: which are found, and what of their registers. */
#include "drivers/pci.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/host/pci_device.h"

enum { CLASS = 8, HEADER = 0xe, BAR = 0x10, SECONDARY = 0x19, MULTI = 0x80, BRIDGE = 1 };
#define CONFIG_ADDRESS_SPACE (PCI_COMMAND_PORTS | PCI_COMMAND_MEMORY)

static struct pci_fake fakes[8], before[8], after[8];
static unsigned made;

static struct pci_fake *make(u8 bus, u8 device, u8 function, u16 id, u8 header)
{
	struct pci_fake *f = &fakes[made++];

	*f = (struct pci_fake){.bus = bus, .device = device, .function = function};
	memset(f->fixed, 0xff, sizeof(f->fixed));
	pci_fake_set(f, 0, 4, (u32)id << 16 | 0x1234);
	pci_fake_set(f, CLASS, 4, 0x02000103);
	pci_fake_set(f, HEADER, 1, header);
	return f;
}

static const struct pci_function *nth(unsigned i)
{
	static const struct pci_function none;

	return pci_nth(i) ?: &none;
}

static void build(void)
{
	struct pci_fake *f;

	made = 0;
	f = make(0, 3, 0, 0x30, 0); /* of one function: the scan skips the second */
	make(0, 3, 1, 0x31, 0);
	pci_fake_set(f, PCI_COMMAND, 2, CONFIG_ADDRESS_SPACE | PCI_COMMAND_MASTER);
	pci_fake_bar(f, 0, 0xfe000008, 0x10000, false); /* prefetchable */
	pci_fake_bar(f, 1, 0xc001, 0x20, false);	/* ports */
	pci_fake_bar(f, 2, 0x8000000004, 0x200000000, true);
	pci_fake_bar(f, 5, 0xfd000004, 0x1000, true); /* says 64 bits, and has no second half */
	make(0, 5, 0, 0x50, MULTI);
	make(0, 5, 7, 0x57, 0);
	f = make(0, 1, 0, 0x10, BRIDGE);
	pci_fake_set(f, SECONDARY, 1, 7);
	pci_fake_bar(f, 1, 0xfc000004, 0x100, false); /* the last of a bridge's two */
	f = make(7, 0, 0, 0x70, BRIDGE);
	pci_fake_set(f, SECONDARY, 1, 0); /* leads back */
	f = make(0, 31, 0, 0x2918, 0);
	pci_fake_set(f, 0, 2, 0x8086);
	pci_fake_set(f, CLASS, 4, 0x06010002);
}

static void expect_place(unsigned i, u16 id, unsigned bus, unsigned device, unsigned function)
{
	const struct pci_function *f = nth(i);

	EXPECT_EQ(f->id, id);
	EXPECT_EQ(f->vendor, 0x1234);
	EXPECT_EQ(f->bus, bus);
	EXPECT_EQ(f->device, device);
	EXPECT_EQ(f->function, function);
}

static void expect_bar(const struct pci_function *f, unsigned i, u64 base, u64 size)
{
	EXPECT_EQ(f->bar[i].base, base);
	EXPECT_EQ(f->bar[i].size, size);
}

/* pci_scan() runs once in the life of a machine, so all cases look at one that has everything. */
static void scan_once(void)
{
	static bool scanned;

	if (scanned)
		return;
	scanned = true;
	build();
	memcpy(before, fakes, sizeof(before));
	pci_fake_begin(fakes, made);
	EXPECT_EQ(pci_scan(), 0);
	pci_fake_end();
	memcpy(after, fakes, sizeof(after));
}

struct pci_fake *pci_machine_begin(const struct port_device *more)
{
	scan_once();
	build();
	pci_fake_begin(fakes, made);
	pci_fake_add_ports(more);
	return &fakes[made - 1];
}

/* Every function is listed once, by its place, also those beyond bridges that lead back. */
static void places(void)
{
	scan_once();
	expect_place(0, 0x10, 0, 1, 0);
	expect_place(1, 0x30, 0, 3, 0);
	expect_place(2, 0x50, 0, 5, 0);
	expect_place(3, 0x57, 0, 5, 7);
	EXPECT_EQ(nth(4)->vendor, 0x8086);
	EXPECT_EQ(nth(4)->class_code, 0x0601);
	expect_place(5, 0x70, 7, 0, 0);
	EXPECT(!pci_nth(6));
	EXPECT_EQ(nth(0)->secondary, 7);
	EXPECT_EQ(nth(1)->class_code, 0x0200);
	EXPECT_EQ(nth(1)->interface, 1);
	EXPECT_EQ(nth(1)->revision, 3);
}

/* Addresses and sizes of what registers lead to: the last one of a function has 32 bits. */
static void addresses(void)
{
	const struct pci_function *f;

	scan_once();
	f = nth(1);
	expect_bar(f, 0, 0xfe000000, 0x10000);
	EXPECT(f->bar[0].prefetch && !f->bar[0].wide && !f->bar[0].ports);
	expect_bar(f, 1, 0xc000, 0x20);
	EXPECT(f->bar[1].ports);
	expect_bar(f, 2, 0x8000000000, 0x200000000);
	EXPECT(f->bar[2].wide);
	expect_bar(f, 3, 0, 0);
	expect_bar(f, 4, 0, 0);
	expect_bar(f, 5, 0xfd000000, 0x1000);
	EXPECT(!f->bar[5].wide);
	expect_bar(nth(2), 0, 0, 0);
	expect_bar(nth(0), 1, 0xfc000000, 0x100);
	EXPECT(!nth(0)->bar[1].wide);
}

/* Asking for sizes leaves all registers as they were, and no function answers meanwhile. */
static void left_as_found(void)
{
	scan_once();
	for (unsigned i = 0; i < made; i++) {
		EXPECT(!memcmp(after[i].config, before[i].config, PCI_CONFIG_SIZE));
		EXPECT(!after[i].answered_while_asked);
	}
}

/* A register is read and written in its own width, at any place of its four bytes. */
static void widths(void)
{
	struct pci_function f = {.bus = 0, .device = 3};

	build();
	pci_fake_begin(fakes, made);
	pci_write(&f, 0x40, 4, 0x44332211);
	EXPECT_EQ(pci_read(&f, 0x40, 4), 0x44332211);
	pci_write(&f, 0x41, 1, 0xaa);
	EXPECT_EQ(pci_read(&f, 0x40, 4), 0x4433aa11);
	pci_write(&f, 0x42, 2, 0xbbcc);
	EXPECT_EQ(pci_read(&f, 0x40, 4), 0xbbccaa11);
	EXPECT_EQ(pci_read(&f, 0x43, 1), 0xbb);
	EXPECT_EQ(pci_read(&f, 0x42, 2), 0xbbcc);
	EXPECT_EQ(pci_read(&f, 0xfc, 4), 0);
	f.function = 2; /* nothing is there */
	EXPECT_EQ(pci_read(&f, 0, 4), 0xffffffff);
	pci_fake_end();
}

static const struct ktap_case cases[] = {
    {"pci.left_as_found", left_as_found},
    {"pci.places", places},
    {"pci.addresses", addresses},
    {"pci.widths", widths},
    {NULL, NULL},
};
extern const struct ktap_suite suite_pci;
const struct ktap_suite suite_pci = {cases};
