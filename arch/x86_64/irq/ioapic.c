/* Contexts and locks: ioapic.h. */
#include "arch/x86_64/irq/ioapic.h"

#include "arch/x86_64/irq/interrupt.h"
#include "kernel/lib/errno.h"

enum { SELECT = 0x00, WINDOW = 0x10 };
enum { IOAPIC_VERSION = 1, IOAPIC_REDIRECTION = 0x10 };
enum { ENTRY_ACTIVE_LOW = 1 << 13, ENTRY_LEVEL = 1 << 15, ENTRY_MASKED = 1 << 16 };

#define IOAPIC_SIZE 32

static struct ioapic {
	volatile u8 *registers;
	unsigned first, lines; /* global system interrupts first .. first + lines - 1 */
} ioapics[8];
static unsigned ioapic_count;
static typeof(((struct machine_info *)0)->isa_irq[0]) isa_irq[16];

static u32 ioapic_read(const struct ioapic *io, unsigned reg)
{
	*(volatile u32 *)(io->registers + SELECT) = reg;
	return *(volatile u32 *)(io->registers + WINDOW);
}

static void ioapic_write(const struct ioapic *io, unsigned reg, u32 v)
{
	*(volatile u32 *)(io->registers + SELECT) = reg;
	*(volatile u32 *)(io->registers + WINDOW) = v;
}

/* The half with the mask last, so that a line opens with all set. */
static void write_entry(const struct ioapic *io, unsigned line, u32 low, u32 high)
{
	ioapic_write(io, IOAPIC_REDIRECTION + line * 2, ENTRY_MASKED);
	ioapic_write(io, IOAPIC_REDIRECTION + line * 2 + 1, high);
	ioapic_write(io, IOAPIC_REDIRECTION + line * 2, low);
}

const char *ioapic_init(const struct machine_info *mi)
{
	__builtin_memcpy(isa_irq, mi->isa_irq, sizeof(isa_irq));
	for (unsigned i = 0; i < mi->ioapic_count; i++) {
		struct ioapic *io = &ioapics[ioapic_count];
		io->registers = device_map(mi->ioapic[i].base, IOAPIC_SIZE);
		if (!io->registers)
			return "there is no memory to map the I/O APIC";
		io->first = mi->ioapic[i].gsi_base;
		io->lines = (ioapic_read(io, IOAPIC_VERSION) >> 16 & 0xff) + 1;
		for (unsigned line = 0; line < io->lines; line++)
			ioapic_write(io, IOAPIC_REDIRECTION + line * 2, ENTRY_MASKED);
		ioapic_count++;
	}
	return ioapic_count ? NULL : "the MADT lists no I/O APIC";
}

/* How the line is wired: an ISA line as the tables say, any other as PCI's are. */
static u32 wiring(unsigned gsi)
{
	for (unsigned i = 0; i < ARRAY_SIZE(isa_irq); i++)
		if (isa_irq[i].gsi == gsi)
			return (isa_irq[i].active_low ? ENTRY_ACTIVE_LOW : 0) |
			       (isa_irq[i].level ? ENTRY_LEVEL : 0);
	return ENTRY_ACTIVE_LOW | ENTRY_LEVEL;
}

bool arch_irq_is_level(unsigned gsi)
{
	return wiring(gsi) & ENTRY_LEVEL;
}

/* NULL: the line leads nowhere. */
static const struct ioapic *ioapic_of(unsigned gsi)
{
	for (unsigned i = 0; i < ioapic_count; i++)
		if (gsi >= ioapics[i].first && gsi - ioapics[i].first < ioapics[i].lines)
			return &ioapics[i];
	return NULL;
}

int arch_irq_route(unsigned gsi)
{
	const struct ioapic *io = gsi < VECTOR_DEVICES ? ioapic_of(gsi) : NULL;
	if (!io)
		return -ENODEV;
	u32 to = cpu_local_of(0)->apic_id;
	write_entry(io, gsi - io->first, (VECTOR_FIRST_DEVICE + gsi) | wiring(gsi), to << 24);
	return 0;
}

void arch_irq_mask(unsigned gsi)
{
	const struct ioapic *io = ioapic_of(gsi);
	if (io)
		ioapic_write(io, IOAPIC_REDIRECTION + (gsi - io->first) * 2, ENTRY_MASKED);
}

unsigned arch_isa_gsi(unsigned isa)
{
	return isa < ARRAY_SIZE(isa_irq) ? isa_irq[isa].gsi : isa;
}
