/*
 * The firmware's own times: ACPI's FPDT and the FBPT it points to (ACPI 6.4, section 5.2.24), in
 * nanoseconds since the reset. Pure, but that the tables are read where they say they are.
 */
#pragma once

#include <stdint.h>

struct fpdt_times {
	uint64_t reset_end, loader_load, loader_start; /* ns; 0: unknown */
};

/* All 0 if the tables are not there, damaged, or empty. */
void fpdt_read(uint64_t fpdt, struct fpdt_times *out);
