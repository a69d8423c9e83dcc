/*
 * The map of addresses: /proc/iomem and /proc/ioports, in Linux's form. Filled at boot, constant
 * afterwards.
 */
#pragma once

#include "kernel/lib/types.h"

struct boot_info;

/* At boot, when PCI and ACPI are known; keeps what it needs of *bi. */
void resource_init(const struct boot_info *bi);
/* Does the firmware call any byte of [from, to) usable RAM? Any context. */
bool resource_is_ram(u64 from, u64 to);
