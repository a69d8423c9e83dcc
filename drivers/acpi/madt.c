/* The MADT: CPUs, interrupt controllers, which ISA line goes where. Pure; contexts as acpi.h.
 * (Section 5.2.12.) */
#include "drivers/acpi/parse.h"

#include "kernel/lib/string.h"

static void acpi_add_cpu(struct acpi_madt *out, u32 apic_id, u32 flags)
{
	if (!(flags & 1))
		return;
	for (u32 i = 0; i < out->cpu_count; i++)
		if (out->apic_ids[i] == apic_id)
			return; /* listed as LAPIC and as x2APIC */
	if (out->cpu_count < MAX_CPUS)
		out->apic_ids[out->cpu_count++] = apic_id;
	else
		out->cpus_left_out++;
}

static void add_ioapic(struct acpi_madt *out, const struct madt_ioapic *io)
{
	if (out->ioapic_count == ACPI_MAX_IOAPICS)
		return;
	u32 i = out->ioapic_count++;
	out->ioapic[i].id = io->id;
	out->ioapic[i].gsi_base = io->gsi_base;
	out->ioapic[i].base = io->address;
}

/* The ISA bus is edge, active high, where the flags say "as the bus". */
static void add_override(struct acpi_madt *out, const struct madt_override *o)
{
	if (out->override_count == ACPI_MAX_OVERRIDES || o->source >= 16)
		return;
	u32 i = out->override_count++;
	out->override[i].isa = o->source;
	out->override[i].gsi = o->gsi;
	out->override[i].active_low = (o->flags & 3) == 3;
	out->override[i].level = (o->flags >> 2 & 3) == 3;
}

static void take_entry(struct acpi_madt *out, const struct madt_entry *e)
{
	static const u8 size[] = {
	    [MADT_LAPIC] = sizeof(struct madt_lapic),
	    [MADT_IOAPIC] = sizeof(struct madt_ioapic),
	    [MADT_OVERRIDE] = sizeof(struct madt_override),
	    [MADT_LAPIC_NMI] = sizeof(struct madt_lapic_nmi),
	    [MADT_LAPIC_ADDRESS] = sizeof(struct madt_lapic_address),
	    [MADT_X2APIC] = sizeof(struct madt_x2apic),
	    [MADT_X2APIC_NMI] = 12,
	};
	if (e->type >= ARRAY_SIZE(size) || e->length < size[e->type])
		return;
	const void *p = e;
	switch (e->type) {
	case MADT_LAPIC:
		acpi_add_cpu(out, ((const struct madt_lapic *)p)->apic_id,
		    ((const struct madt_lapic *)p)->flags);
		break;
	case MADT_X2APIC:
		acpi_add_cpu(out, ((const struct madt_x2apic *)p)->apic_id,
		    ((const struct madt_x2apic *)p)->flags);
		break;
	case MADT_IOAPIC:
		add_ioapic(out, p);
		break;
	case MADT_OVERRIDE:
		add_override(out, p);
		break;
	case MADT_LAPIC_NMI:
		out->lint_nmi = ((const struct madt_lapic_nmi *)p)->lint & 1;
		break;
	case MADT_X2APIC_NMI:
		out->lint_nmi = ((const u8 *)p)[8] & 1;
		break;
	case MADT_LAPIC_ADDRESS:
		out->lapic_base = ((const struct madt_lapic_address *)p)->address;
		break;
	}
}

bool acpi_parse_madt(const struct sdt *t, struct acpi_madt *out)
{
	const struct madt *m = (const void *)t;
	if (t->length < sizeof(*m))
		return false;
	memset(out, 0, sizeof(*out));
	out->lapic_base = m->lapic;
	out->has_8259 = m->flags & 1;
	out->lint_nmi = 1;
	const u8 *end = (const u8 *)t + t->length;
	for (const u8 *p = m->entries; p + sizeof(struct madt_entry) <= end;) {
		const struct madt_entry *e = (const void *)p;
		if (e->length < sizeof(*e) || p + e->length > end)
			break; /* damaged from here on */
		take_entry(out, e);
		p += e->length;
	}
	return true;
}
