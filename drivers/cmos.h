/* The battery clock (MC146818). Boot, task context. */
#pragma once

#include "kernel/lib/types.h"

/* Seconds since 1970, 0 when there is no such clock. `century_register`: from ACPI, 0: none (then
 * 1970..2069). */
u64 cmos_unix_seconds(u8 century_register);
