/* Between serial.c, which finds ports, and serial_tty.c, which makes devices of them. */
#pragma once

#include "drivers/console.h"
#include "drivers/uart.h"
#include "kernel/task/sync.h"

#define SERIAL_MAX    12
#define SERIAL_LEGACY 4
#define SERIAL_NO_IRQ (~0u)

struct serial_port {
	struct uart uart;
	struct console console; /* also of a port that is none: its way out */
	struct tty *tty;	/* of a port that is no console */
	const char *found;	/* "PC", "PCI", "SPCR", "DBG2", "console=" */
	char name[8];		/* "ttyS0" */
	bool present, is_console;
	unsigned isa_irq, gsi; /* SERIAL_NO_IRQ: not known; gsi is final from serial_start() on */
	bool polled;	       /* input is looked for */
	u64 irqs;	       /* [irq] */
	u64 sysrq_armed;       /* [irq] kernel/console/sysrq.h */
	struct spinlock lock;  /* ports that are no consoles: writers */
};

extern struct serial_port serial_ports[SERIAL_MAX];
