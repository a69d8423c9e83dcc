/* Switching off and starting again. machine_poweroff(), machine_reboot() and machine_exit() of
 * arch.h live here. */
#pragma once

#include "drivers/acpi/acpi.h"

/* Boot: remembers where ACPI's registers are, so that the end needs no memory, no mapping, no lock.
 * `f` may be NULL. */
void power_init(const struct acpi_fadt *f);
