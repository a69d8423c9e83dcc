/* Finding and checking the tables; what is in each is read by madt.c and fadt.c.
 * Contexts: acpi.h. */
#include "drivers/acpi/acpi.h"

#include "arch/arch.h"
#include "drivers/acpi/parse.h"
#include "drivers/acpi/tables.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"

#define EBDA_SEGMENT 0x40e /* BIOS data area: real-mode segment of the extended one */
#define BIOS_START   0xe0000
#define BIOS_END     0x100000
#define TABLE_MAX    (16u << 20) /* a longer one is taken for damage */
#define FACS_MIN     64

static struct acpi_madt madt;
static struct acpi_fadt fadt;
static bool have_madt, have_fadt;
static u64 hpet_base;
static struct acpi_serial serials[ACPI_MAX_SERIALS];
static unsigned serial_count;
static struct acpi_table tables[ACPI_MAX_TABLES];
static unsigned table_count, tables_left_out;

static bool sums_to_zero(const void *p, size_t n)
{
	u8 sum = 0;
	for (const u8 *b = p; n; n--)
		sum += *b++;
	return sum == 0;
}

static bool acpi_rsdp_is_valid(const struct rsdp *r)
{
	return !memcmp(r->signature, "RSD PTR ", 8) && sums_to_zero(r, RSDP_V1_SIZE);
}

static const struct rsdp *acpi_search_rsdp(u64 from, u64 to)
{
	const char *area = firmware_map(from, to - from);
	for (u64 at = 0; area && at + sizeof(struct rsdp) <= to - from; at += 16)
		if (acpi_rsdp_is_valid((const void *)(area + at)))
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
		r = acpi_search_rsdp(ebda, ebda + 1024);
	return r ? r : acpi_search_rsdp(BIOS_START, BIOS_END);
}

/* Maps what says it is a table; *wrong: why it is none. FACS alone has no checksum. */
static const struct sdt *acpi_map_checked(u64 pa, const char **wrong)
{
	const struct sdt *t = pa ? firmware_map(pa, sizeof(*t)) : NULL;
	bool facs = t && !memcmp(t->signature, "FACS", 4);
	u32 length = t ? t->length : 0;

	*wrong = "it lies where no memory can be";
	if (!t)
		return NULL;
	*wrong = "its length is absurd";
	if (length < (facs ? FACS_MIN : sizeof(*t)) || length > TABLE_MAX)
		return NULL;
	t = firmware_map(pa, length);
	*wrong = t ? "its checksum is wrong" : "there is no room to map it";
	return t && (facs || sums_to_zero(t, length)) ? t : NULL;
}

const struct sdt *acpi_map_table(u64 pa)
{
	const char *wrong;

	return acpi_map_checked(pa, &wrong);
}

static bool printable(const char *signature)
{
	for (unsigned i = 0; i < 4; i++)
		if (signature[i] < ' ' || signature[i] > '~')
			return false;
	return true;
}

/* Of several of one kind each has its number after its name, as on Linux. */
static void number_tables(void)
{
	for (unsigned i = 0; i < table_count; i++) {
		unsigned same = 0, before = 0;
		for (unsigned k = 0; k < table_count; k++) {
			bool is = !tables[k].wrong && !memcmp(tables[k].name, tables[i].name, 4);
			same += is;
			before += is && k < i;
		}
		if (same > 1 && !tables[i].wrong)
			fmt_snprintf(
			    tables[i].name + 4, sizeof(tables[i].name) - 4, "%u", before + 1);
	}
}

/* Notes the table at `pa`; NULL: it is refused, or known already. */
static const struct sdt *acpi_note_table(u64 pa)
{
	if (table_count == ACPI_MAX_TABLES) {
		tables_left_out++;
		return NULL;
	}
	struct acpi_table *a = &tables[table_count++];
	const struct sdt *head = pa ? firmware_map(pa, sizeof(*head)) : NULL;
	*a = (struct acpi_table){.address = pa, .name = "????"};
	if (head && printable(head->signature))
		memcpy(a->name, head->signature, 4);
	for (struct acpi_table *b = tables; b < a; b++)
		if (b->address == pa && !b->wrong) {
			a->wrong = "it is listed twice";
			return NULL;
		}
	a->table = acpi_map_checked(pa, &a->wrong);
	if (a->table)
		a->wrong = NULL;
	return a->table;
}

static void take_dbg2(const struct sdt *t)
{
	unsigned room = ACPI_MAX_SERIALS - serial_count;
	unsigned n = acpi_parse_dbg2(t, serials + serial_count, room);

	for (unsigned i = 0; i < n; i++)
		serials[serial_count++].table = "DBG2";
}

static void take_table(const struct sdt *t)
{
	if (!memcmp(t->signature, "APIC", 4)) {
		have_madt = have_madt || acpi_parse_madt(t, &madt);
	} else if (!memcmp(t->signature, "FACP", 4) && !have_fadt) {
		const struct fadt *f = (const void *)t;
		have_fadt = acpi_parse_fadt(t, &fadt);
		if (fadt.dsdt)
			acpi_note_table(fadt.dsdt);
		if (have_fadt && f->facs)
			acpi_note_table(f->facs);
	} else if (!memcmp(t->signature, "HPET", 4)) {
		const struct hpet_table *h = (const void *)t;
		if (t->length >= sizeof(*h) && h->base.space == ACPI_SPACE_MEMORY)
			hpet_base = h->base.address;
	} else if (!memcmp(t->signature, "SPCR", 4) && serial_count < ACPI_MAX_SERIALS) {
		if (acpi_parse_spcr(t, &serials[serial_count]))
			serials[serial_count++].table = "SPCR";
	} else if (!memcmp(t->signature, "DBG2", 4)) {
		take_dbg2(t);
	}
}

/*
 * Walks a root table of 4-byte (RSDT) or 8-byte (XSDT) pointers. A root that leads to a root is not
 * followed.
 */
static bool acpi_take_root(u64 pa, const char *signature, unsigned pointer_size)
{
	const struct sdt *root = acpi_note_table(pa);
	if (!root)
		return false;
	if (memcmp(root->signature, signature, 4)) {
		tables[table_count - 1].wrong = "it is not the root table it should be";
		return false;
	}
	const char *end = (const char *)root + root->length;
	for (const char *p = (const char *)(root + 1); p + pointer_size <= end; p += pointer_size) {
		u64 table = 0;
		memcpy(&table, p, pointer_size);
		const struct sdt *t = table ? acpi_note_table(table) : NULL;
		if (t)
			take_table(t);
	}
	return true;
}

/* The result of an earlier call. */
static void forget(void)
{
	have_madt = have_fadt = false;
	hpet_base = 0;
	serial_count = table_count = tables_left_out = 0;
	memset(&fadt, 0, sizeof(fadt));
}

/* As nearly every PC is built: where the firmware's word cannot be taken, one CPU still runs. */
static void guess_madt(void)
{
	madt = (struct acpi_madt){.guessed = true,
	    .lapic_base = 0xfee00000,
	    .has_8259 = true,
	    .cpu_count = 1,
	    .ioapic_count = 1,
	    .ioapic = {{.base = 0xfec00000}},
	    .override_count = 1,
	    .override = {{.isa = 0, .gsi = 2}}, /* the timer's line */
	    .lint_nmi = 1};
	have_madt = true;
}

const char *acpi_init(u64 rsdp)
{
	const struct rsdp *r = rsdp ? firmware_map(rsdp, sizeof(*r)) : NULL;
	if (!r || !acpi_rsdp_is_valid(r))
		r = search_low_memory();
	forget();
	if (!r)
		return "no ACPI tables were found";
	bool v2 = r->revision >= 2 && r->length >= sizeof(*r) && r->length <= PAGE_SIZE &&
		  sums_to_zero(r, r->length);
	bool root = (v2 && r->xsdt && acpi_take_root(r->xsdt, "XSDT", 8)) ||
		    acpi_take_root(r->rsdt, "RSDT", 4);
	number_tables();
	if (!root || !have_madt)
		guess_madt();
	return NULL;
}

const struct acpi_table *acpi_table_nth(unsigned i)
{
	return i < table_count ? &tables[i] : NULL;
}

unsigned acpi_tables_left_out(void)
{
	return tables_left_out;
}

const struct acpi_serial *acpi_serial_nth(unsigned i)
{
	return i < serial_count ? &serials[i] : NULL;
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
