/* I/O APICs: device lines to vectors. (Intel 82093AA data sheet.) Boot and task context; the
 * kernel's irq lock outside. */
#pragma once

#include "arch/arch.h"

/* Maps them all and masks every line. NULL, or a sentence. */
const char *ioapic_init(const struct machine_info *mi);
/* The 8259s masked, their vectors out of the exceptions' way. */
void pic8259_disable(void);
