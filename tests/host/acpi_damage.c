/*
 * Firmware's tables as found in memory, whole and damaged: drivers/acpi/acpi.c. What is refused
 * says why; the rest is used.
 */
#include "drivers/acpi/parse.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/host/firmware.h"

#include <stdlib.h>

/* Offsets into the firmware's memory. */
enum {
	RSDP = 0x100,
	ROOT = 0x1000,
	OLD_ROOT = 0x2000,
	MADT = 0x3000,
	FADT = 0x4000,
	DSDT = 0x5000,
	OTHER = 0x6000
};

static void *at(u32 offset)
{
	return firmware + offset;
}

static u64 pa(u32 offset)
{
	return FIRMWARE_BASE + offset;
}

static u8 missing(const void *p, size_t n)
{
	u8 sum = 0;

	for (const u8 *b = p; n; n--)
		sum += *b++;
	return -sum;
}

static void seal(u32 offset)
{
	struct sdt *t = at(offset);

	t->checksum = 0;
	t->checksum = missing(t, t->length);
}

static void table(u32 offset, const char *signature, u32 length)
{
	struct sdt *t = at(offset);

	memcpy(t->signature, signature, 4);
	t->length = length;
	seal(offset);
}

static void point(u32 root, unsigned size, u64 to)
{
	struct sdt *t = at(root);

	memcpy((u8 *)t + t->length, &to, size);
	t->length += size;
	seal(root);
}

static void seal_rsdp(void)
{
	struct rsdp *r = at(RSDP);

	r->checksum = r->full_checksum = 0;
	r->checksum = missing(r, RSDP_V1_SIZE);
	r->full_checksum = missing(r, sizeof(*r));
}

/* A machine with both roots, a MADT with one CPU, a FADT and its DSDT. */
static void whole(void)
{
	struct rsdp *r = at(RSDP);
	struct madt *m = at(MADT);
	struct madt_lapic cpu = {{MADT_LAPIC, sizeof(cpu)}, 0, 7, 1};
	struct fadt *f = at(FADT);

	firmware_clear();
	memcpy(r->signature, "RSD PTR ", 8);
	r->revision = 2;
	r->length = sizeof(*r);
	r->rsdt = pa(OLD_ROOT);
	r->xsdt = pa(ROOT);
	seal_rsdp();
	memcpy(m->entries, &cpu, sizeof(cpu));
	table(MADT, "APIC", sizeof(*m) + sizeof(cpu));
	f->dsdt = pa(DSDT);
	table(FADT, "FACP", sizeof(*f));
	table(DSDT, "DSDT", sizeof(struct sdt) + 5);
	table(ROOT, "XSDT", sizeof(struct sdt));
	point(ROOT, 8, pa(MADT));
	point(ROOT, 8, pa(FADT));
	table(OLD_ROOT, "RSDT", sizeof(struct sdt));
	point(OLD_ROOT, 4, pa(MADT));
}

/* Why the table of that name was refused; "" if it was not, "absent" if there is none. */
static const char *why(const char *name)
{
	const struct acpi_table *t;

	for (unsigned i = 0; (t = acpi_table_nth(i)); i++)
		if (!strcmp(t->name, name) && (t->wrong || t->table))
			return t->wrong ? t->wrong : "";
	return "absent";
}

#define CHECKSUM "its checksum is wrong"
#define LENGTH	 "its length is absurd"

static void good(void)
{
	whole();
	EXPECT_STR(acpi_init(pa(RSDP)) ?: "", "");
	EXPECT_EQ(acpi_madt()->cpu_count, 1);
	EXPECT_EQ(acpi_madt()->apic_ids[0], 7);
	EXPECT(!acpi_madt()->guessed);
	EXPECT_EQ(acpi_fadt()->dsdt, pa(DSDT));
	EXPECT_STR(why("DSDT"), "");
	EXPECT_STR(why("XSDT"), "");
	EXPECT_STR(why("RSDT"), "absent");  /* not looked at when there is the newer one */
	EXPECT_STR(acpi_init(0) ?: "", ""); /* and searched for where the BIOS keeps it */
	EXPECT_EQ(acpi_madt()->apic_ids[0], 7);
}

static void checksums(void)
{
	whole();
	((u8 *)at(MADT))[30]++;
	EXPECT_STR(acpi_init(pa(RSDP)) ?: "", "");
	EXPECT_STR(why("APIC"), CHECKSUM);
	EXPECT(acpi_madt()->guessed); /* one CPU still runs */
	EXPECT_EQ(acpi_madt()->cpu_count, 1);
	EXPECT_EQ(acpi_madt()->lapic_base, 0xfee00000);
	EXPECT(acpi_fadt());
	whole();
	((u8 *)at(FADT))[60]++;
	EXPECT_STR(acpi_init(pa(RSDP)) ?: "", "");
	EXPECT_STR(why("FACP"), CHECKSUM);
	EXPECT(!acpi_fadt());
	whole();
	((u8 *)at(DSDT))[38]++;
	EXPECT_STR(acpi_init(pa(RSDP)) ?: "", "");
	EXPECT_STR(why("DSDT"), CHECKSUM);
	EXPECT(acpi_fadt());
	whole();
	((u8 *)at(RSDP))[9]++;
	EXPECT_STR(acpi_init(pa(RSDP)), "no ACPI tables were found");
}

/* A newer root that is damaged leaves the older one. */
static void roots(void)
{
	whole();
	((u8 *)at(ROOT))[20]++;
	EXPECT_STR(acpi_init(pa(RSDP)) ?: "", "");
	EXPECT_STR(why("XSDT"), CHECKSUM);
	EXPECT_STR(why("RSDT"), "");
	EXPECT(!acpi_fadt());
	((u8 *)at(OLD_ROOT))[20]++;
	EXPECT_STR(acpi_init(pa(RSDP)) ?: "", "");
	EXPECT_STR(why("RSDT"), CHECKSUM);
	EXPECT(acpi_madt()->guessed);
	whole();
	((struct rsdp *)at(RSDP))->xsdt = pa(MADT); /* a table, but no root */
	seal_rsdp();
	EXPECT_STR(acpi_init(pa(RSDP)) ?: "", "");
	EXPECT_STR(why("APIC"), "it is not the root table it should be");
}

static void lengths(void)
{
	static const u32 absurd[] = {0, 1, sizeof(struct sdt) - 1, (16u << 20) + 1, 0xffffffff};

	for (unsigned i = 0; i < ARRAY_SIZE(absurd); i++) {
		whole();
		((struct sdt *)at(FADT))->length = absurd[i];
		EXPECT_STR(acpi_init(pa(RSDP)) ?: "", "");
		EXPECT_STR(why("FACP"), LENGTH);
	}
	/* the shortest and the longest there may be; this one reaches over the end of memory */
	whole();
	table(OTHER, "TINY", sizeof(struct sdt));
	point(ROOT, 8, pa(OTHER));
	EXPECT_STR(acpi_init(pa(RSDP)) ?: "", "");
	EXPECT_STR(why("TINY"), "");
	((struct sdt *)at(OTHER))->length = 16u << 20;
	EXPECT_STR(acpi_init(pa(RSDP)) ?: "", "");
	EXPECT_STR(why("TINY"), "there is no room to map it");
}

static void pointers(void)
{
	whole();
	point(ROOT, 8, 0); /* an empty place is none */
	point(ROOT, 8, 1UL << 60);
	EXPECT_STR(acpi_init(pa(RSDP)) ?: "", "");
	EXPECT_STR(why("????"), "it lies where no memory can be");
}

static void loops(void)
{
	whole();
	point(ROOT, 8, pa(ROOT));
	point(ROOT, 8, pa(MADT));
	((struct fadt *)at(FADT))->dsdt = pa(FADT);
	seal(FADT);
	EXPECT_STR(acpi_init(pa(RSDP)) ?: "", "");
	unsigned twice = 0;
	const struct acpi_table *t;
	for (unsigned i = 0; (t = acpi_table_nth(i)); i++)
		twice += t->wrong && !strcmp(t->wrong, "it is listed twice");
	EXPECT_EQ(twice, 3);
	EXPECT_EQ(acpi_madt()->cpu_count, 1);
}

static void many(void)
{
	char name[12];
	unsigned n = 0;

	whole();
	for (unsigned i = 0; i < ACPI_MAX_TABLES + 3; i++) {
		table(OTHER + 64 * i, "SSDT", sizeof(struct sdt) + 1);
		point(ROOT, 8, pa(OTHER + 64 * i));
	}
	EXPECT_STR(acpi_init(pa(RSDP)) ?: "", "");
	while (acpi_table_nth(n))
		n++;
	EXPECT_EQ(n, ACPI_MAX_TABLES);
	EXPECT_EQ(acpi_tables_left_out(), 3 + 4);
	strscpy(name, "SSDT1", sizeof(name));
	EXPECT_STR(why(name), "");
	EXPECT_STR(why("SSDT60"), "");
	EXPECT_STR(why("SSDT61"), "absent");
}

static void serial_ports(void)
{
	struct spcr *s = at(OTHER);

	whole();
	memset(s, 0, sizeof(*s));
	s->h.revision = 4;
	s->type = 0x12;
	s->address = (struct acpi_address){ACPI_SPACE_MEMORY, 32, 0, 3, 0xfe030000};
	s->baud = 7;
	s->flow = 2;
	s->clock = 48000000;
	s->irq_type = 2;
	s->irq = 4;
	s->gsi = 20;
	table(OTHER, "SPCR", sizeof(*s));
	point(ROOT, 8, pa(OTHER));
	EXPECT_STR(acpi_init(pa(RSDP)) ?: "", "");
	const struct acpi_serial *p = acpi_serial_nth(0);
	EXPECT(p && !p->ports);
	EXPECT_EQ(p->base, 0xfe030000);
	EXPECT_EQ(p->shift, 2);
	EXPECT_EQ(p->width, 4);
	EXPECT_EQ(p->baud, 115200);
	EXPECT_EQ(p->clock, 48000000);
	EXPECT(p->rtscts);
	EXPECT_EQ(p->gsi, 20);
	EXPECT_EQ(p->isa_irq, ~0u);
	s->precise_baud = 1500000;
	s->irq_type = 1;
	seal(OTHER);
	EXPECT_STR(acpi_init(pa(RSDP)) ?: "", "");
	EXPECT_EQ(acpi_serial_nth(0)->baud, 1500000);
	EXPECT_EQ(acpi_serial_nth(0)->isa_irq, 4);
	EXPECT_EQ(acpi_serial_nth(0)->gsi, ~0u);
	s->type = 3; /* not a 16550 */
	seal(OTHER);
	EXPECT_STR(acpi_init(pa(RSDP)) ?: "", "");
	EXPECT(!acpi_serial_nth(0));
	s->h.length = offsetof(struct spcr, clock) - 1;
	s->type = 0;
	seal(OTHER);
	EXPECT_STR(acpi_init(pa(RSDP)) ?: "", "");
	EXPECT(!acpi_serial_nth(0));
}

static struct dbg2_device *dbg2(u32 count)
{
	struct dbg2 *d = at(OTHER);
	struct dbg2_device *dev = (void *)(d + 1);
	struct acpi_address *a = (void *)(dev + 1);

	whole();
	memset(d, 0, 0x1000);
	d->offset = sizeof(*d);
	d->count = count;
	dev->length = sizeof(*dev) + sizeof(*a);
	dev->registers = 1;
	dev->type = 0x8000;
	dev->address_offset = sizeof(*dev);
	*a = (struct acpi_address){ACPI_SPACE_PORTS, 8, 0, 1, 0x2f8};
	table(OTHER, "DBG2", sizeof(*d) + dev->length);
	point(ROOT, 8, pa(OTHER));
	return dev;
}

static unsigned debug_ports(void)
{
	unsigned n = 0;

	seal(OTHER);
	EXPECT_STR(acpi_init(pa(RSDP)) ?: "", "");
	while (acpi_serial_nth(n))
		n++;
	return n;
}

static void debug_port(void)
{
	struct dbg2_device *dev = dbg2(1);

	EXPECT_EQ(debug_ports(), 1);
	EXPECT(acpi_serial_nth(0)->ports);
	EXPECT_EQ(acpi_serial_nth(0)->base, 0x2f8);
	dbg2(0xffffffff); /* more than there are */
	EXPECT_EQ(debug_ports(), 1);
	dev = dbg2(1);
	dev->length = 0;
	EXPECT_EQ(debug_ports(), 0);
	dev = dbg2(2);
	dev->length++; /* reaches over the end */
	EXPECT_EQ(debug_ports(), 0);
	dev = dbg2(1);
	dev->address_offset++;
	EXPECT_EQ(debug_ports(), 0);
	dbg2(1);
	((struct dbg2 *)at(OTHER))->offset = 0xfffffff0;
	EXPECT_EQ(debug_ports(), 0);
	dev = dbg2(1);
	dev->type = 0x8003; /* a network card */
	EXPECT_EQ(debug_ports(), 0);
}

/* The address of a port lies within its own device's entry, whatever follows in the table. */
static void debug_port_cut(void)
{
	struct dbg2_device *dev = dbg2(1);
	u32 whole_length = ((struct sdt *)at(OTHER))->length;

	for (unsigned less = 0; less <= sizeof(struct acpi_address); less++) {
		dev = dbg2(1);
		dev->length -= less;
		EXPECT_EQ(((struct sdt *)at(OTHER))->length, whole_length);
		EXPECT_EQ(debug_ports(), !less);
	}
}

/* After an entry that is shorter than its own head nothing is believed, whatever looks like one. */
static void debug_port_short(void)
{
	for (u16 length = 0; length < sizeof(struct dbg2_device); length++) {
		struct dbg2_device *dev = dbg2(2), *after = (void *)((u8 *)dev + length);
		u32 whole = dev->length;

		memmove(after, dev, whole);
		dev->length = length;
		((struct sdt *)at(OTHER))->length += length;
		EXPECT_EQ(debug_ports(), 0);
	}
}

/* A MADT of these entries, as long as it says and no longer. */
static const struct acpi_madt *parse_entries(const void *entries, u32 size)
{
	static struct acpi_madt out;
	struct madt *m = calloc(1, sizeof(*m) + size);

	m->h.length = sizeof(*m) + size;
	memcpy(m->entries, entries, size);
	EXPECT(acpi_parse_madt((void *)m, &out));
	free(m);
	return &out;
}

/* Entries that are shorter than their kind, or reach beyond the table, are none. */
static void short_entries(void)
{
	for (unsigned type = 0; type < 256; type++)
		for (unsigned length = 0; length <= 5; length++) {
			u8 entry[] = {type, length, 0xff, 0xff, 0xff};

			for (unsigned there = MIN(length, 2U); there <= sizeof(entry); there++) {
				const struct acpi_madt *out = parse_entries(entry, there);
				EXPECT_EQ(out->cpu_count, 0);
				EXPECT_EQ(out->ioapic_count, 0);
				EXPECT_EQ(out->override_count, 0);
				EXPECT_EQ(out->lapic_base, 0);
			}
		}
}

/* An entry of a kind that counts is none if the table ends within it. */
static void entries_cut(void)
{
	static const u8 kinds[][2] = {{MADT_LAPIC, sizeof(struct madt_lapic)},
	    {MADT_IOAPIC, sizeof(struct madt_ioapic)},
	    {MADT_OVERRIDE, sizeof(struct madt_override)},
	    {MADT_LAPIC_ADDRESS, sizeof(struct madt_lapic_address)},
	    {MADT_X2APIC, sizeof(struct madt_x2apic)}};

	for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++)
		for (unsigned there = 2; there <= kinds[i][1]; there++) {
			u8 entry[32] = {kinds[i][0], kinds[i][1], 3, 3, 1, 1, 1, 1, 1, 1, 1, 1};
			const struct acpi_madt *out = parse_entries(entry, there);
			EXPECT_EQ(out->cpu_count + out->ioapic_count + out->override_count +
				      !!out->lapic_base,
			    there == kinds[i][1]);
		}
}

/* As many CPUs as there is room for; the others are counted. */
static void too_many_cpus(void)
{
	struct madt_lapic cpus[MAX_CPUS + 3];

	for (unsigned i = 0; i < ARRAY_SIZE(cpus); i++)
		cpus[i] = (struct madt_lapic){{MADT_LAPIC, sizeof(cpus[0])}, i, i, 1};
	for (unsigned n = MAX_CPUS - 1; n <= ARRAY_SIZE(cpus); n++) {
		const struct acpi_madt *out = parse_entries(cpus, n * sizeof(cpus[0]));
		EXPECT_EQ(out->cpu_count, MIN(n, (unsigned)MAX_CPUS));
		EXPECT_EQ(out->cpus_left_out, n - out->cpu_count);
		EXPECT_EQ(out->apic_ids[out->cpu_count - 1], out->cpu_count - 1);
	}
}

static const struct ktap_case cases[] = {
    {"acpi_damage.good", good},
    {"acpi_damage.checksums", checksums},
    {"acpi_damage.roots", roots},
    {"acpi_damage.lengths", lengths},
    {"acpi_damage.pointers", pointers},
    {"acpi_damage.loops", loops},
    {"acpi_damage.many", many},
    {"acpi_damage.serial_ports", serial_ports},
    {"acpi_damage.debug_port", debug_port},
    {"acpi_damage.short_entries", short_entries},
    {"acpi_damage.too_many_cpus", too_many_cpus},
    {"acpi_damage.debug_port_cut", debug_port_cut},
    {"acpi_damage.debug_port_short", debug_port_short},
    {"acpi_damage.entries_cut", entries_cut},
    {NULL, NULL},
};
extern const struct ktap_suite suite_acpi_damage;
const struct ktap_suite suite_acpi_damage = {cases};
