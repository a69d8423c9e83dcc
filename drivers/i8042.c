/*
 * Contexts: i8042.h. No wait is longer than a controller's answer may take: a machine without one
 * must start too.
 */
#include "drivers/i8042.h"

#include "arch/arch.h"

enum { DATA = 0x60, STATUS = 0x64, COMMAND = 0x64 };
enum { STATUS_OUTPUT = 1, STATUS_INPUT = 2, STATUS_MOUSE = 0x20 };
enum {
	READ_CONFIG = 0x20,
	WRITE_CONFIG = 0x60,
	MOUSE_OFF = 0xa7,
	SELF_TEST = 0xaa,
	KEYBOARD_OFF = 0xad,
	KEYBOARD_ON = 0xae,
	PUT_OUTPUT = 0xd2
};
enum {
	CONFIG_IRQ = 1,
	CONFIG_MOUSE_IRQ = 2,
	CONFIG_OFF = 0x10, /* as KEYBOARD_OFF left it */
	CONFIG_MOUSE_OFF = 0x20,
	CONFIG_TRANSLATE = 0x40
};
enum { SELF_TEST_GOOD = 0x55, KEYBOARD_SCAN = 0xf4 };

#define WAIT_US	  100000 /* of a self test; anything else is faster */
#define FLUSH_MAX 32

static u8 config;

static bool i8042_wait_for(u8 bit, u8 value)
{
	for (unsigned us = 0; us < WAIT_US; us += 10) {
		if ((port_in8(STATUS) & bit) == value)
			return true;
		delay_us(10);
	}
	return false;
}

static bool i8042_command(u8 c)
{
	if (!i8042_wait_for(STATUS_INPUT, 0))
		return false;
	port_out8(COMMAND, c);
	return true;
}

static bool i8042_command_with(u8 c, u8 data)
{
	if (!i8042_command(c) || !i8042_wait_for(STATUS_INPUT, 0))
		return false;
	port_out8(DATA, data);
	return true;
}

static int i8042_answer(void)
{
	return i8042_wait_for(STATUS_OUTPUT, STATUS_OUTPUT) ? port_in8(DATA) : -1;
}

static void i8042_flush(void)
{
	for (unsigned i = 0; i < FLUSH_MAX && port_in8(STATUS) & STATUS_OUTPUT; i++)
		port_in8(DATA);
}

bool i8042_init(void)
{
	int old;

	if (port_in8(STATUS) == 0xff)
		return false;
	if (!i8042_command(KEYBOARD_OFF) || !i8042_command(MOUSE_OFF))
		return false;
	i8042_flush();
	if (!i8042_command(SELF_TEST) || i8042_answer() != SELF_TEST_GOOD)
		return false;
	if (!i8042_command(READ_CONFIG) || (old = i8042_answer()) < 0)
		return false;
	config = (old & ~(CONFIG_IRQ | CONFIG_MOUSE_IRQ | CONFIG_OFF)) | CONFIG_MOUSE_OFF |
		 CONFIG_TRANSLATE;
	if (!i8042_command_with(WRITE_CONFIG, config) || !i8042_command(KEYBOARD_ON))
		return false;
	if (!i8042_wait_for(STATUS_INPUT, 0))
		return false;
	port_out8(DATA, KEYBOARD_SCAN);
	i8042_answer(); /* "yes"; or there is no keyboard today */
	i8042_flush();
	return true;
}

int i8042_read(void)
{
	u8 status;

	while ((status = port_in8(STATUS)) & STATUS_OUTPUT && status != 0xff) {
		u8 code = port_in8(DATA);
		if (!(status & STATUS_MOUSE))
			return code;
	}
	return -1;
}

void i8042_irq_enable(bool on)
{
	config = on ? config | CONFIG_IRQ : config & ~CONFIG_IRQ;
	i8042_command_with(WRITE_CONFIG, config);
}

void i8042_echo(u8 code)
{
	i8042_command_with(PUT_OUTPUT, code);
}
