/*
 * The machine's serial ports: which there are, which are consoles, and /dev/ttySn. ttyS0 to ttyS3
 * are the PC's four, by their addresses; those that ACPI (SPCR, DBG2), PCI or console=uart tell of
 * follow from ttyS4 on. All in task context, at boot, in this order.
 */
#pragma once

#include "kernel/lib/types.h"

/* First thing: the PC's four ports; what console= says. From here on there are last words. */
void serial_init_early(void);
/* When memory can be mapped: console=uart,mmio. */
void serial_init_mapped(void);
/* When ACPI's tables and PCI are known: the ports they describe. */
void serial_init_machine(void);
/*
 * When interrupts come: devices, and input, by interrupt where one comes when asked for, else by
 * looking each millisecond.
 */
void serial_start(void);
/* Takes what came in at ports that are consoles, on a CPU that gets no interrupts any more. */
void serial_look(void);
