/* Reading FPDT and FBPT. Lengths and signatures are checked before a field is believed. Pure. */
#include "boot/efi/fpdt.h"

#include <stdbool.h>

#define TABLE_MAX  4096
#define HEADER	   36 /* of every ACPI table */
#define POINTER	   0  /* record of the FPDT: where the FBPT is */
#define BASIC_BOOT 2  /* record of the FBPT */

struct record {
	uint16_t type;
	uint8_t length, revision;
	uint32_t reserved;
	uint64_t value[5];
} __attribute__((packed));

static bool is_signed(const uint8_t *table, const char *signature)
{
	for (unsigned i = 0; i < 4; i++)
		if (table[i] != (uint8_t)signature[i])
			return false;
	return true;
}

static uint32_t length_of(const uint8_t *table)
{
	return table[4] | table[5] << 8 | table[6] << 16 | (uint32_t)table[7] << 24;
}

/*
 * The record of a type, and of at least `size` bytes, in a table whose records begin at `at`; NULL:
 * none.
 */
static const struct record *find(const uint8_t *table, uint32_t at, uint16_t type, unsigned size)
{
	uint32_t length = length_of(table);

	if (length > TABLE_MAX)
		return 0;
	while (at + 4 <= length) {
		const struct record *r = (const void *)(table + at);
		if (r->length < 4 || r->length > length - at)
			return 0;
		if (r->type == type && r->length >= size)
			return r;
		at += r->length;
	}
	return 0;
}

static bool sums_to_zero(const uint8_t *table)
{
	uint32_t length = length_of(table);
	uint8_t sum = 0;

	if (length < HEADER || length > TABLE_MAX)
		return false;
	for (uint32_t i = 0; i < length; i++)
		sum += table[i];
	return !sum;
}

void fpdt_read(uint64_t fpdt, struct fpdt_times *out)
{
	const uint8_t *table = (const void *)fpdt;
	const struct record *r;

	*out = (struct fpdt_times){0};
	if (!table || !is_signed(table, "FPDT") || !sums_to_zero(table))
		return;
	r = find(table, HEADER, POINTER, 16);
	if (!r || !r->value[0] || !is_signed((const void *)r->value[0], "FBPT"))
		return;
	r = find((const void *)r->value[0], 8, BASIC_BOOT, sizeof(*r));
	if (!r)
		return;
	out->reset_end = r->value[0];
	out->loader_load = r->value[1];
	out->loader_start = r->value[2];
}
