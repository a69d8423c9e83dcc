/*
 * The watchdog timer that Intel's chipsets have had since the ICH6 ("TCO"), QEMU's q35 among them:
 * it resets the machine unless it is kicked in time. Found by its chipset's PCI
 * function, and only where ACPI names the same registers.
 */
#pragma once

#include "drivers/acpi/acpi.h"

/*
 * Boot, after pci_scan(). NULL: it is there; else why not. `f` may be NULL. *fired: it was what
 * reset this machine.
 */
const char *tco_find(const struct acpi_fadt *f, bool *fired);
/*
 * Resets the machine when it was not kicked for `seconds` (2 to 600), or somewhat more. False: the
 * board forbids it. Task context.
 */
bool tco_start(unsigned seconds);
/* The time begins anew; nothing happens while it is stopped. Any context. */
void tco_pet(void);
void tco_stop(void);
