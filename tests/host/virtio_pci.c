/*
 * drivers/virtio/pci.c on a function whose registers lie in the firmware's memory: which of its
 * capabilities are believed.
 */
#include "drivers/virtio/virtio.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/host/firmware.h"
#include "tests/host/pci_device.h"

#define BAR_SIZE 0x2000

enum { COMMON = 1, DOORBELLS = 2, CONFIG = 4, VENDOR = 9 };
enum { FIRST = 0x40, STEP = 0x20, STATUS = 6, LIST = 0x34, HAS_LIST = 0x10 };
enum { AT_COMMON = 0, AT_DOORBELLS = 0x1000, AT_CONFIG = BAR_SIZE - 8 };

static struct pci_fake fake;
static struct pci_function function;
static struct virtio device;

static void put_capability(unsigned n, u8 kind, u8 bar, u32 offset, u32 length)
{
	u8 at = FIRST + n * STEP;

	pci_fake_set(&fake, at, 1, VENDOR);
	pci_fake_set(&fake, at + 3, 1, kind);
	pci_fake_set(&fake, at + 4, 1, bar);
	pci_fake_set(&fake, at + 8, 4, offset);
	pci_fake_set(&fake, at + 12, 4, length);
	pci_fake_set(&fake, at + 16, 4, 2); /* bytes between doorbells */
}

/* A device as it should be; each case spoils one thing. */
static void build(void)
{
	firmware_clear();
	memset(&fake, 0, sizeof(fake));
	function = (struct pci_function){.bar = {[4] = {.base = FIRMWARE_BASE, .size = BAR_SIZE},
					     [5] = {.base = 0xc000, .size = 0x100, .ports = true}}};
	pci_fake_set(&fake, STATUS, 2, HAS_LIST);
	pci_fake_set(&fake, LIST, 1, FIRST);
	put_capability(0, COMMON, 4, AT_COMMON, 56);
	put_capability(1, DOORBELLS, 4, AT_DOORBELLS, 8);
	put_capability(2, CONFIG, 4, AT_CONFIG, 8);
	pci_fake_set(&fake, FIRST + 1, 1, FIRST + STEP);
	pci_fake_set(&fake, FIRST + STEP + 1, 1, FIRST + 2 * STEP);
}

static bool begins(void)
{
	const char *wrong;

	pci_fake_begin(&fake, 1);
	wrong = virtio_pci_begin(&device, &function);
	pci_fake_end();
	return !wrong;
}

/* Registers may lie up to the last byte of what the function has. */
static void found(void)
{
	build();
	EXPECT(begins());
	EXPECT(device.common == firmware + AT_COMMON);
	EXPECT(device.doorbells == firmware + AT_DOORBELLS);
	EXPECT(device.config == firmware + AT_CONFIG);
	EXPECT_EQ(device.config_size, 8);
	EXPECT_EQ(pci_fake_get(&fake, PCI_COMMAND, 2), PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
}

/* Registers that reach beyond what the function has are none, also where their sum wraps. */
static void beyond(void)
{
	static const struct {
		u8 bar;
		u32 offset, length;
	} rows[] = {{4, AT_CONFIG, 9}, {4, AT_CONFIG + 1, 8}, {4, BAR_SIZE, 1},
	    {4, BAR_SIZE + 1, 8}, {4, 0xfffffff8, 16}, {4, 8, 0xfffffff8}, {4, 0, 0}, {3, 0, 8},
	    {5, 0, 8}, {6, 0, 8}, {255, 0, 8}};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		for (unsigned n = 0; n < 3; n++) {
			u8 at = FIRST + n * STEP;

			build();
			pci_fake_set(&fake, at + 4, 1, rows[i].bar);
			pci_fake_set(&fake, at + 8, 4, rows[i].offset);
			pci_fake_set(&fake, at + 12, 4, rows[i].length);
			EXPECT(!begins());
		}
	build();
	pci_fake_set(&fake, FIRST + 12, 4, 55); /* the common ones are 56 bytes */
	EXPECT(!begins());
}

/* Of each kind the first capability that can be used counts; a list that leads back ends. */
static void lists(void)
{
	build();
	put_capability(3, CONFIG, 4, 0x800, 8);
	pci_fake_set(&fake, FIRST + 2 * STEP + 1, 1, FIRST + 3 * STEP);
	pci_fake_set(&fake, FIRST + 3 * STEP + 1, 1, FIRST);
	EXPECT(begins());
	EXPECT(device.config == firmware + AT_CONFIG);
	pci_fake_set(&fake, FIRST + 2 * STEP + 12, 4, 9); /* that one cannot */
	EXPECT(begins());
	EXPECT(device.config == firmware + 0x800);
	pci_fake_set(&fake, FIRST + 2 * STEP, 1, 5); /* another vendor's business */
	EXPECT(begins());
	build();
	pci_fake_set(&fake, STATUS, 2, 0); /* there is no list */
	EXPECT(!begins());
	build();
	pci_fake_set(&fake, LIST, 1, 0x3c); /* it lies in the standard's registers */
	EXPECT(!begins());
}

/* A doorbell that is not there is not rung. */
static void doorbells(void)
{
	build();
	EXPECT(begins());
	for (u32 at = 0; at <= 8; at += 2) {
		memset(firmware + AT_DOORBELLS, 0xee, 16);
		device.transport->ring(&device, 0x1234, at);
		for (u32 i = 0; i < 16; i++)
			EXPECT_EQ(firmware[AT_DOORBELLS + i], at > 6 || i / 2 != at / 2 ? 0xee
							      : i % 2			? 0x12
											: 0x34);
	}
	device.transport->ring(&device, 1, 7); /* half of it is not */
	device.transport->ring(&device, 1, 0xffffffff);
	EXPECT_EQ(firmware[AT_DOORBELLS + 7], 0xee);
}

static const struct ktap_case cases[] = {
    {"virtio_pci.found", found},
    {"virtio_pci.beyond", beyond},
    {"virtio_pci.lists", lists},
    {"virtio_pci.doorbells", doorbells},
    {NULL, NULL},
};
extern const struct ktap_suite suite_virtio_pci;
const struct ktap_suite suite_virtio_pci = {cases};
