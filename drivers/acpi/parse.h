/* Between acpi.c, which finds tables, and the readers of each. The tables given have a right length
 * and checksum. */
#pragma once

#include "drivers/acpi/tables.h"

/* The whole table at `pa`, checked; NULL when it is not there or damaged. */
const struct sdt *acpi_map_table(u64 pa);
bool acpi_parse_madt(const struct sdt *t, struct acpi_madt *out); /* false: too short to be one */
bool acpi_parse_fadt(const struct sdt *t, struct acpi_fadt *out);
/* The two values of _S5 in a definition block; false: not there in the form every firmware writes.
 */
bool acpi_find_s5(const u8 *aml, size_t n, u8 *a, u8 *b);
/* False: too short, or no 16550. */
bool acpi_parse_spcr(const struct sdt *t, struct acpi_serial *out);
/* The 16550s among the debug ports, at most `max`: how many. */
unsigned acpi_parse_dbg2(const struct sdt *t, struct acpi_serial *out, unsigned max);
