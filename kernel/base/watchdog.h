/*
 * The watchdog checks that the CPUs still run: docs/flight-recorder.md. It is off until `watchdog`
 * on the command line or /proc/sys/kernel/watchdog turns it on. Names and messages are Linux's.
 */
#pragma once

#include "kernel/lib/types.h"

struct regs;

/*
 * Boot, when ACPI and PCI are known: finds the machine's own timer; and whether it was what reset
 * the machine.
 */
void watchdog_find(void);
bool watchdog_fired(void);
/* Boot, when files can be: what the command line says takes effect. */
void watchdog_init(void);
/*
 * This CPU is well, though it does not look so: for who works long with interrupts off. Any
 * context.
 */
void watchdog_touch(void);
/* The kernel is dead and stays so: the machine is not to be reset. Any context. */
void watchdog_rest(void);
/* An NMI that nobody sent: from a watchdog, a button, or broken hardware. NMI context. */
void watchdog_unknown_nmi(const struct regs *r);
