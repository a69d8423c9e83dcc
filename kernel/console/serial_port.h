/* Between serial.c, which finds ports, and serial_tty.c, which makes devices of them. */
#pragma once

#include "drivers/console.h"
#include "drivers/uart.h"
#include "kernel/task/sync.h"

#define SERIAL_MAX	12
#define SERIAL_LEGACY	4
#define SERIAL_NO_IRQ	(~0u)
#define SERIAL_RX_QUEUE 4096u /* bytes; a power of two */

struct serial_port {
	struct uart uart;
	struct console console;
	const char *found; /* "PC", "PCI", "SPCR", "DBG2", "console=" */
	char name[8];	   /* "ttyS0" */
	bool present, is_console;
	unsigned isa_irq, gsi; /* SERIAL_NO_IRQ: not known; gsi is final from serial_start() on */
	bool polled;	       /* input is looked for */
	u64 irqs;	       /* [irq] */
	u64 sysrq_armed;       /* [irq] kernel/console/sysrq.h */
	/* Ports that are no consoles: what came in. */
	struct spinlock lock;
	struct wait_queue readers;
	u8 *queue;	/* NULL: nobody has read yet */
	u32 head, tail; /* [lock] free-running */
	u64 overruns;	/* [lock] no room in the queue */
	struct mutex writing;
};

extern struct serial_port serial_ports[SERIAL_MAX];
