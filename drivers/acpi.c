/* Finding and checking the tables; what is in each is read by acpi_madt.c and acpi_fadt.c.
 * Contexts: acpi.h. */
#include "drivers/acpi.h"

#include "arch/arch.h"
#include "drivers/acpi_parse.h"
#include "drivers/acpi_tables.h"
#include "kernel/lib/string.h"

#define EBDA_SEGMENT 0x40e /* BIOS data area: real-mode segment of the extended one */
#define BIOS_START   0xe0000
#define BIOS_END     0x100000
#define TABLE_MAX    (1u << 20) /* a longer one is taken for damage */

static struct acpi_madt madt;
static struct acpi_fadt fadt;
static bool have_madt, have_fadt;
static u64 hpet_base;

static bool sums_to_zero(const void *p, size_t n)
{
	u8 sum = 0;
	for (const u8 *b = p; n; n--)
		sum += *b++;
	return sum == 0;
}

static bool rsdp_valid(const struct rsdp *r)
{
	return !memcmp(r->signature, "RSD PTR ", 8) && sums_to_zero(r, RSDP_V1_SIZE);
}

static const struct rsdp *search(u64 from, u64 to)
{
	const char *area = firmware_map(from, to - from);
	for (u64 at = 0; area && at + sizeof(struct rsdp) <= to - from; at += 16)
		if (rsdp_valid((const void *)(area + at)))
			return (const void *)(area + at);
	return NULL;
}

/* Section 5.2.5.1: the first KiB of the extended BIOS data area, then the BIOS's own memory. */
static const struct rsdp *search_low_memory(void)
{
	const u8 *bda = firmware_map(0, PAGE_SIZE);
	u64 ebda = bda ? (u64)(bda[EBDA_SEGMENT] | bda[EBDA_SEGMENT + 1] << 8) << 4 : 0;
	const struct rsdp *r = NULL;
	if (ebda >= 0x400 && ebda + 1024 <= 0xa0000)
		r = search(ebda, ebda + 1024);
	return r ? r : search(BIOS_START, BIOS_END);
}

const struct sdt *acpi_map_table(u64 pa)
{
	const struct sdt *t = pa ? firmware_map(pa, sizeof(*t)) : NULL;
	if (!t || t->length < sizeof(*t) || t->length > TABLE_MAX)
		return NULL;
	t = firmware_map(pa, t->length);
	return t && sums_to_zero(t, t->length) ? t : NULL;
}

static void take_table(const struct sdt *t)
{
	if (!memcmp(t->signature, "APIC", 4)) {
		have_madt = acpi_parse_madt(t, &madt);
	} else if (!memcmp(t->signature, "FACP", 4)) {
		have_fadt = acpi_parse_fadt(t, &fadt);
	} else if (!memcmp(t->signature, "HPET", 4)) {
		const struct hpet_table *h = (const void *)t;
		if (t->length >= sizeof(*h) && h->base.space == ACPI_SPACE_MEMORY)
			hpet_base = h->base.address;
	}
}

/* Walks a root table of 4-byte (RSDT) or 8-byte (XSDT) pointers. */
static bool take_root(u64 pa, const char *signature, unsigned pointer_size)
{
	const struct sdt *root = acpi_map_table(pa);
	if (!root || memcmp(root->signature, signature, 4))
		return false;
	const char *end = (const char *)root + root->length;
	for (const char *p = (const char *)(root + 1); p + pointer_size <= end; p += pointer_size) {
		u64 table = 0;
		memcpy(&table, p, pointer_size);
		const struct sdt *t = acpi_map_table(table);
		if (t)
			take_table(t);
	}
	return true;
}

const char *acpi_init(u64 rsdp)
{
	const struct rsdp *r = rsdp ? firmware_map(rsdp, sizeof(*r)) : NULL;
	if (!r || !rsdp_valid(r))
		r = search_low_memory();
	if (!r)
		return "no ACPI tables were found";
	bool v2 = r->revision >= 2 && r->length >= sizeof(*r) && r->length <= PAGE_SIZE &&
		  sums_to_zero(r, r->length);
	if (!(v2 && r->xsdt && take_root(r->xsdt, "XSDT", 8)) && !take_root(r->rsdt, "RSDT", 4))
		return "the ACPI root table is damaged";
	if (!have_madt)
		return "ACPI has no MADT, the table that lists CPUs and interrupt controllers";
	return NULL;
}

const struct acpi_madt *acpi_madt(void)
{
	return have_madt ? &madt : NULL;
}

const struct acpi_fadt *acpi_fadt(void)
{
	return have_fadt ? &fadt : NULL;
}

u64 acpi_hpet_base(void)
{
	return hpet_base;
}
