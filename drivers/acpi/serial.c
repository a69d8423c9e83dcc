/*
 * SPCR and DBG2: the serial port that the firmware uses as console, and those meant for debuggers.
 * Pure; contexts as acpi.h. (Microsoft's "Serial Port Console Redirection Table" and "Debug Port
 * Table 2".)
 */
#include "drivers/acpi/parse.h"

#include "kernel/lib/string.h"

enum { SPCR_16550 = 0, SPCR_16450 = 1, SPCR_16550_PLACE = 0x12 };
enum { SPCR_IRQ_8259 = 1, SPCR_IRQ_APIC = 2 };
enum { DBG2_SERIAL = 0x8000 };

/* A 16550 at the place; how far registers are apart is in the place's bit width. */
static bool acpi_take_place(struct acpi_serial *s, unsigned type, const struct acpi_address *a)
{
	if (type != SPCR_16550 && type != SPCR_16450 && type != SPCR_16550_PLACE)
		return false;
	if (!a->address || a->space > ACPI_SPACE_PORTS)
		return false;
	s->isa_irq = s->gsi = ~0u;
	s->ports = a->space == ACPI_SPACE_PORTS;
	s->base = a->address;
	s->width = !s->ports && (a->bits == 32 || a->access == 3) ? 4 : 1;
	s->shift = !s->ports && a->bits == 32 ? 2 : 0;
	return true;
}

/* As it is, or one of the rates there are numbers for. */
static u32 rate(u8 number)
{
	static const u32 rates[] = {[3] = 9600, [4] = 19200, [6] = 57600, [7] = 115200};

	return number < ARRAY_SIZE(rates) ? rates[number] : 0;
}

bool acpi_parse_spcr(const struct sdt *t, struct acpi_serial *out)
{
	const struct spcr *s = (const void *)t;

	memset(out, 0, sizeof(*out));
	if (t->length < offsetof(struct spcr, clock))
		return false;
	if (!acpi_take_place(out, s->type, &s->address))
		return false;
	if (s->irq_type & SPCR_IRQ_8259)
		out->isa_irq = s->irq;
	if (s->irq_type & SPCR_IRQ_APIC)
		out->gsi = s->gsi;
	out->baud = rate(s->baud);
	out->rtscts = s->flow & 2;
	if (t->revision >= 3 && t->length >= offsetof(struct spcr, precise_baud))
		out->clock = s->clock;
	if (t->revision >= 4 && t->length >= sizeof(*s) && s->precise_baud)
		out->baud = s->precise_baud;
	return true;
}

unsigned acpi_parse_dbg2(const struct sdt *t, struct acpi_serial *out, unsigned max)
{
	const struct dbg2 *d = (const void *)t;
	const u8 *end = (const u8 *)t + t->length;
	unsigned n = 0;

	if (t->length < sizeof(*d) || d->offset < sizeof(*d) || d->offset > t->length)
		return 0;
	const u8 *p = (const u8 *)t + d->offset;
	for (u32 i = 0; i < d->count && n < max; i++) {
		const struct dbg2_device *dev = (const void *)p;
		const struct acpi_address *a;
		if (end - p < (ptrdiff_t)sizeof(*dev) || dev->length < sizeof(*dev) ||
		    end - p < dev->length)
			break; /* damaged from here on */
		a = (const void *)(p + dev->address_offset);
		memset(&out[n], 0, sizeof(out[n]));
		if (dev->type == DBG2_SERIAL && dev->registers &&
		    dev->address_offset + sizeof(*a) <= dev->length &&
		    acpi_take_place(&out[n], dev->subtype, a))
			n++;
		p += dev->length;
	}
	return n;
}
