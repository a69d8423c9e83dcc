/*
 * drivers/i8042.c with a played controller: the commands that the driver sends, and what it makes
 * of the bytes that it reads.
 */
#include "drivers/i8042.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/host/ports.h"

enum { DATA = 0x60, STATUS = 0x64 };
enum { OUTPUT = 1, INPUT = 2, MOUSE = 0x20 };
enum { IRQ = 1, MOUSE_IRQ = 2, KEYBOARD_OFF = 0x10, MOUSE_OFF = 0x20, TRANSLATE = 0x40 };

/* How the played controller misbehaves. GOES: it is unplugged while the driver uses it. */
enum wrong { NOTHING, ABSENT, BUSY, BAD_TEST, GOES };

struct byte {
	u8 value, from; /* from: 0 or MOUSE */
};

static struct controller {
	enum wrong wrong;
	u8 config, command; /* command: whose byte comes next, 0: the keyboard's */
	u8 to_keyboard;	    /* the last byte */
	bool gone;
	struct byte out[64];
	unsigned first, last;
} chip;

static void put(u8 value, u8 from)
{
	chip.out[chip.last++ % ARRAY_SIZE(chip.out)] = (struct byte){value, from};
}

static u32 in(u16 port, unsigned bytes)
{
	const struct byte *next = &chip.out[chip.first % ARRAY_SIZE(chip.out)];
	bool any = chip.first != chip.last;

	EXPECT_EQ(bytes, 1);
	if (chip.wrong == ABSENT || chip.gone)
		return 0xff;
	if (port == STATUS)
		return (any ? OUTPUT | next->from : 0) | (chip.wrong == BUSY ? INPUT : 0);
	chip.first += any;
	chip.gone = chip.wrong == GOES;
	return any ? next->value : 0;
}

static void command(u8 c)
{
	chip.command = 0;
	if (c == 0x20)
		put(chip.config, 0);
	else if (c == 0x60 || c == 0xd2)
		chip.command = c;
	else if (c == 0xaa)
		put(chip.wrong == BAD_TEST ? 0xfc : 0x55, 0);
	else if (c == 0xad || c == 0xae)
		chip.config = (chip.config & ~KEYBOARD_OFF) | (c == 0xad ? KEYBOARD_OFF : 0);
	else if (c == 0xa7)
		chip.config |= MOUSE_OFF;
}

static void out(u16 port, unsigned bytes, u32 v)
{
	EXPECT_EQ(bytes, 1);
	if (port == STATUS) {
		command(v);
		return;
	}
	if (chip.command == 0x60)
		chip.config = v;
	else if (chip.command == 0xd2)
		put(v, 0);
	else
		put(0xfa, 0); /* the keyboard has it */
	if (!chip.command)
		chip.to_keyboard = v;
	chip.command = 0;
}

static const struct port_device device[] = {{DATA, DATA, in, out}, {STATUS, STATUS, in, out}};

static bool begin(enum wrong wrong)
{
	chip = (struct controller){.wrong = wrong, .config = IRQ | MOUSE_IRQ};
	ports_begin(device, ARRAY_SIZE(device));
	put(0x1c, 0); /* left by the firmware */
	put(0x08, MOUSE);
	return i8042_init();
}

/* The keyboard is on and sends codes of set 1; the mouse is off, and nothing interrupts. */
static void begins(void)
{
	EXPECT(begin(NOTHING));
	EXPECT_EQ(chip.config, MOUSE_OFF | TRANSLATE);
	EXPECT_EQ(chip.to_keyboard, 0xf4);
	EXPECT_EQ(i8042_read(), -1); /* of what was there before, and of answers */
	ports_end();
}

/* None, one that takes no command and one that fails its own test are not used. */
static void refused(void)
{
	static const enum wrong wrongs[] = {ABSENT, BUSY, BAD_TEST};

	for (unsigned i = 0; i < ARRAY_SIZE(wrongs); i++) {
		EXPECT(!begin(wrongs[i]));
		ports_end();
	}
}

/* Codes come in their order; the mouse's bytes between them are dropped. */
static void codes(void)
{
	EXPECT(begin(NOTHING));
	put(0x1e, 0);
	put(0x08, MOUSE);
	put(0x01, MOUSE);
	put(0x9e, 0);
	put(0x08, MOUSE);
	EXPECT_EQ(i8042_read(), 0x1e);
	EXPECT_EQ(i8042_read(), 0x9e);
	EXPECT_EQ(i8042_read(), -1);
	i8042_echo(0x2e);
	EXPECT_EQ(i8042_read(), 0x2e);
	ports_end();
}

/* A controller that is unplugged reads as all ones, which are no bytes of a mouse without end. */
static void goes(void)
{
	EXPECT(begin(NOTHING));
	put(0x08, MOUSE);
	put(0x1e, 0);
	chip.wrong = GOES;
	EXPECT_EQ(i8042_read(), -1);
	EXPECT_EQ(i8042_read(), -1);
	ports_end();
}

/* Its interrupt goes on and off, and nothing else changes; a new start has it off. */
static void interrupts(void)
{
	EXPECT(begin(NOTHING));
	for (unsigned i = 0; i < 2; i++) {
		i8042_irq_enable(true);
		EXPECT_EQ(chip.config, IRQ | MOUSE_OFF | TRANSLATE);
		i8042_irq_enable(true);
		EXPECT_EQ(chip.config, IRQ | MOUSE_OFF | TRANSLATE);
		i8042_irq_enable(false);
		EXPECT_EQ(chip.config, MOUSE_OFF | TRANSLATE);
	}
	i8042_irq_enable(true);
	EXPECT(i8042_init());
	EXPECT_EQ(chip.config, MOUSE_OFF | TRANSLATE);
	ports_end();
}

static const struct ktap_case cases[] = {
    {"i8042.begins", begins},
    {"i8042.refused", refused},
    {"i8042.codes", codes},
    {"i8042.goes", goes},
    {"i8042.interrupts", interrupts},
    {NULL, NULL},
};
extern const struct ktap_suite suite_i8042;
const struct ktap_suite suite_i8042 = {cases};
