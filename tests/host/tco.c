/* drivers/tco.c on a chipset's registers: what it finds, and what it sets. */
#include "drivers/tco.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/host/firmware.h"
#include "tests/host/pci_device.h"

enum { PM = 0x600, PMBASE = 0x40, RCBA = 0xf0, GCS = 0x3410, NO_REBOOT = 1 << 5 };
enum { RELOAD = 0, STATUS1 = 4, STATUS2 = 6, CONTROL1 = 8, TIMER = 0x12, REGISTERS = 0x20 };
enum { FIRED = 2, BOOT = 4, HALT = 1 << 11 };

static u16 reg[REGISTERS / 2];
static unsigned pets;
static bool keeps_what_is_written; /* of a status, as an emulator does; else a 1 clears the bit */
static struct pci_fake *bridge;

static u32 in(u16 port, unsigned bytes)
{
	EXPECT_EQ(bytes, 2);
	return reg[(port & 31) / 2];
}

static void out(u16 port, unsigned bytes, u32 v)
{
	unsigned at = port & 31;

	EXPECT_EQ(bytes, 2);
	pets += at == RELOAD;
	if ((at == STATUS1 || at == STATUS2) && !keeps_what_is_written)
		v = reg[at / 2] & ~v;
	reg[at / 2] = v;
}

static const struct port_device ports = {PM + 0x60, PM + 0x7f, in, out};

static u32 *gcs(void)
{
	return (u32 *)(firmware + GCS);
}

static void begin(void)
{
	firmware_clear();
	memset(reg, 0, sizeof(reg));
	pets = 0;
	keeps_what_is_written = false;
	bridge = pci_machine_begin(&ports);
	pci_fake_set(bridge, PMBASE, 4, PM | 1);
	pci_fake_set(bridge, RCBA, 4, FIRMWARE_BASE | 1);
	*gcs() = NO_REBOOT | 0x400;
	reg[CONTROL1 / 2] = HALT | 1;
	reg[TIMER / 2] = 0xfc04;
}

static const char *find(u16 pm1a, bool *fired)
{
	const struct acpi_fadt f = {.pm1a_control = pm1a};

	return tco_find(&f, fired);
}

/* It is there only if the firmware's table and the chipset name the same ports. */
static void refused(void)
{
	bool fired = true;

	begin();
	EXPECT(tco_find(NULL, &fired));
	EXPECT(!fired);
	EXPECT(find(0, &fired));
	EXPECT(find(PM, &fired));
	pci_fake_set(bridge, PMBASE, 4, 0);
	EXPECT(find(4, &fired));
	pci_fake_set(bridge, PMBASE, 4, PM | 1);
	pci_fake_set(bridge, RCBA, 4, FIRMWARE_BASE);
	EXPECT(find(PM + 4, &fired));
	pci_fake_end();
}

/* That it has fired is told once, whatever clears the chip's bit. */
static void tells_once(void)
{
	bool fired;

	for (unsigned kind = 0; kind < 2; kind++) {
		begin();
		keeps_what_is_written = kind;
		EXPECT(!find(PM + 4, &fired));
		EXPECT(!fired);
		reg[STATUS2 / 2] = BOOT; /* the boot before, no second time-out */
		EXPECT(!find(PM + 4, &fired));
		EXPECT(!fired);
		reg[STATUS2 / 2] = FIRED | BOOT;
		EXPECT(!find(PM + 4, &fired));
		EXPECT(fired);
		EXPECT_EQ(reg[STATUS2 / 2], 0);
		EXPECT(!find(PM + 4, &fired));
		EXPECT(!fired);
		pci_fake_end();
	}
}

/* The time runs out twice, so a tick of 0.6 s counts for 1.2; other bits stay. */
static void starts(void)
{
	static const unsigned rows[][2] = {
	    {30, 25}, {3, 4}, {1, 4}, {6, 5}, {180, 150}, {1227, 1022}};
	bool fired;

	begin();
	EXPECT(!find(PM + 4, &fired));
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		reg[CONTROL1 / 2] = HALT | 1;
		reg[STATUS1 / 2] = 8;
		reg[TIMER / 2] = 0xffff;
		pets = 0;
		*gcs() = NO_REBOOT | 0x400;
		EXPECT(tco_start(rows[i][0]));
		EXPECT_EQ(reg[TIMER / 2], 0xfc00 | rows[i][1]);
		EXPECT_EQ(reg[CONTROL1 / 2], 1);
		EXPECT_EQ(reg[STATUS1 / 2], 0);
		EXPECT_EQ(*gcs(), 0x400);
		EXPECT_EQ(pets, 1);
	}
	tco_stop();
	pci_fake_end();
}

/* Once stopped it is petted no more, and lets the machine reboot. */
static void stops(void)
{
	bool fired;

	begin();
	EXPECT(!find(PM + 4, &fired));
	tco_pet(); /* it does not run yet */
	tco_stop();
	EXPECT_EQ(pets, 0);
	EXPECT_EQ(reg[CONTROL1 / 2], HALT | 1);
	EXPECT(tco_start(30));
	tco_pet();
	tco_pet();
	EXPECT_EQ(pets, 3);
	tco_stop();
	EXPECT_EQ(reg[CONTROL1 / 2], HALT | 1);
	EXPECT_EQ(*gcs(), NO_REBOOT | 0x400);
	tco_pet();
	EXPECT_EQ(pets, 3);
	EXPECT(tco_start(30)); /* and again */
	EXPECT_EQ(pets, 4);
	EXPECT_EQ(reg[CONTROL1 / 2], 1);
	tco_stop();
	pci_fake_end();
}

static const struct ktap_case cases[] = {
    {"tco.refused", refused},
    {"tco.tells_once", tells_once},
    {"tco.starts", starts},
    {"tco.stops", stops},
    {NULL, NULL},
};
extern const struct ktap_suite suite_tco;
const struct ktap_suite suite_tco = {cases};
