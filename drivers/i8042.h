/*
 * The PC's keyboard controller, and the keyboard on its first port. (IBM PS/2 Hardware Interface,
 * keyboard and auxiliary device controller.) Boot and irq context; one reader at a time.
 */
#pragma once

#include "kernel/lib/types.h"

#define I8042_ISA_IRQ 1

/* Makes the keyboard send codes of set 1, no interrupts yet. False: no such controller. */
bool i8042_init(void);
/* The next code, -1 if there is none. Bytes of a mouse are dropped. */
int i8042_read(void);
/* From now on (or no longer) each code raises the interrupt line. */
void i8042_irq_enable(bool on);
/*
 * Makes the controller deliver a code as if the keyboard had sent it: to see whether its interrupt
 * comes.
 */
void i8042_echo(u8 code);
