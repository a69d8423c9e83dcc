/*
 * Intel I/O Controller Hub 9 datasheet (316972): PMBASE and RCBA of the LPC bridge, GCS of the
 * chipset, and the TCO registers. The time runs out twice before the machine is reset: the first
 * time software is asked by an SMI, which this kernel leaves alone. Each register is written whole
 * by whoever comes; start and stop are its caller's to keep apart.
 */
#include "drivers/tco.h"

#include "arch/arch.h"
#include "drivers/pci.h"

enum { VENDOR_INTEL = 0x8086, CLASS_ISA_BRIDGE = 0x0601 };
enum { CONFIG_PMBASE = 0x40, PMBASE_MASK = 0xff80, CONFIG_RCBA = 0xf0, RCBA_ENABLED = 1 };
enum { RCBA_GCS = 0x3410, GCS_NO_REBOOT = 1 << 5 };
enum { PM1_CONTROL = 4, TCO_AT = 0x60 }; /* from PMBASE */
enum { TCO_RELOAD = 0, TCO_STATUS1 = 4, TCO_STATUS2 = 6, TCO_CONTROL1 = 8, TCO_TIMER = 0x12 };
enum { STATUS1_TIMEOUT = 1 << 3, STATUS2_SECOND = 1 << 1, STATUS2_BOOT = 1 << 2 };
enum { CONTROL1_HALT = 1 << 11, TIMER_MASK = 0x3ff, TIMER_LEAST = 4 };
#define TICK_MS 600

static u16 base; /* of its ports; 0: there is none */
static volatile u32 *gcs;
static bool runs;

static const struct pci_function *find_bridge(void)
{
	const struct pci_function *f;

	for (unsigned i = 0; (f = pci_nth(i)); i++)
		if (f->vendor == VENDOR_INTEL && f->class_code == CLASS_ISA_BRIDGE)
			return f;
	return NULL;
}

/* Bits of a status are cleared by writing them; QEMU takes what is written as the new value. */
static void clear_status(u16 port, u16 bits)
{
	port_out16(port, bits);
	if (port_in16(port) & bits)
		port_out16(port, 0);
}

const char *tco_find(const struct acpi_fadt *f, bool *fired)
{
	const struct pci_function *bridge = find_bridge();

	*fired = false;
	if (!bridge || !f || !f->pm1a_control)
		return "no chipset with one that this kernel knows";
	u16 pm = pci_read(bridge, CONFIG_PMBASE, 4) & PMBASE_MASK;
	u32 rcba = pci_read(bridge, CONFIG_RCBA, 4);
	if (!pm || pm + PM1_CONTROL != f->pm1a_control)
		return "no chipset with one that this kernel knows";
	if (!(rcba & RCBA_ENABLED))
		return "the firmware has not mapped the chipset's registers";
	gcs = device_map((rcba & ~0x3fffu) + RCBA_GCS, sizeof(*gcs));
	if (!gcs)
		return "no memory";
	base = pm + TCO_AT;
	*fired = port_in16(base + TCO_STATUS2) & STATUS2_SECOND;
	clear_status(base + TCO_STATUS2, STATUS2_SECOND | STATUS2_BOOT);
	return NULL;
}

bool tco_start(unsigned seconds)
{
	u16 ticks = MAX(seconds * 1000 / TICK_MS / 2, (unsigned)TIMER_LEAST);

	if (!base)
		return false;
	*gcs &= ~GCS_NO_REBOOT;
	if (*gcs & GCS_NO_REBOOT)
		return false;
	port_out16(base + TCO_TIMER, (port_in16(base + TCO_TIMER) & ~TIMER_MASK) | ticks);
	clear_status(base + TCO_STATUS1, STATUS1_TIMEOUT);
	port_out16(base + TCO_CONTROL1, port_in16(base + TCO_CONTROL1) & ~CONTROL1_HALT);
	WRITE_ONCE(runs, true);
	tco_pet();
	return true;
}

void tco_pet(void)
{
	if (READ_ONCE(runs))
		port_out16(base + TCO_RELOAD, 1);
}

void tco_stop(void)
{
	if (!READ_ONCE(runs))
		return;
	WRITE_ONCE(runs, false);
	port_out16(base + TCO_CONTROL1, port_in16(base + TCO_CONTROL1) | CONTROL1_HALT);
	*gcs |= GCS_NO_REBOOT;
}
