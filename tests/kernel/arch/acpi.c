/*
 * ACPI's tables as firmware writes them, and damaged ones. The readers are pure: tables are built
 * here byte by byte.
 */
#include "drivers/acpi/parse.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"

#define TABLE_MAX 2048

struct table {
	union {
		struct sdt h;
		struct madt madt;
		u8 bytes[TABLE_MAX];
	};
};

static struct table t;
static struct acpi_madt out;

static void madt_begin(u32 flags)
{
	memset(&t, 0, sizeof(t));
	t.h.length = sizeof(struct madt);
	t.madt.lapic = 0xfee00000;
	t.madt.flags = flags;
}

static void add(const void *entry, size_t n)
{
	memcpy(t.bytes + t.h.length, entry, n);
	t.h.length += n;
}

static void add_lapic(u8 id, u32 flags)
{
	struct madt_lapic e = {{MADT_LAPIC, sizeof(e)}, id, id, flags};
	add(&e, sizeof(e));
}

static void add_x2apic(u32 id, u32 flags)
{
	struct madt_x2apic e = {{MADT_X2APIC, sizeof(e)}, 0, id, flags, id};
	add(&e, sizeof(e));
}

static void madt_cpus(void)
{
	madt_begin(1);
	add_lapic(0, 1);
	add_lapic(2, 0); /* disabled */
	add_lapic(4, 1);
	add_x2apic(4, 1); /* the same one again */
	add_x2apic(300, 1);
	EXPECT(acpi_parse_madt(&t.h, &out));
	EXPECT_EQ(out.cpu_count, 3);
	EXPECT_EQ(out.apic_ids[0], 0);
	EXPECT_EQ(out.apic_ids[1], 4);
	EXPECT_EQ(out.apic_ids[2], 300);
	EXPECT_EQ(out.cpus_left_out, 0);
	EXPECT(out.has_8259);
	EXPECT_EQ(out.lapic_base, 0xfee00000);
	EXPECT_EQ(out.lint_nmi, 1);
}

static void madt_too_many_cpus(void)
{
	madt_begin(0);
	for (unsigned i = 0; i < MAX_CPUS + 3; i++)
		add_lapic(i, 1);
	EXPECT(acpi_parse_madt(&t.h, &out));
	EXPECT_EQ(out.cpu_count, MAX_CPUS);
	EXPECT_EQ(out.cpus_left_out, 3);
	EXPECT(!out.has_8259);
}

static void madt_wiring(void)
{
	struct madt_ioapic io = {{MADT_IOAPIC, sizeof(io)}, 7, 0, 0xfec00000, 24};
	struct madt_override low = {{MADT_OVERRIDE, sizeof(low)}, 0, 9, 20, 0xf};
	struct madt_override plain = {{MADT_OVERRIDE, sizeof(plain)}, 0, 0, 2, 0};
	struct madt_override wrong = {{MADT_OVERRIDE, sizeof(wrong)}, 0, 16, 2, 0};
	struct madt_lapic_nmi nmi = {{MADT_LAPIC_NMI, sizeof(nmi)}, 0xff, 0, 0};
	struct madt_lapic_address high = {{MADT_LAPIC_ADDRESS, sizeof(high)}, 0, 0x1fee00000};
	madt_begin(1);
	add(&io, sizeof(io));
	add(&low, sizeof(low));
	add(&plain, sizeof(plain));
	add(&wrong, sizeof(wrong));
	add(&nmi, sizeof(nmi));
	add(&high, sizeof(high));
	EXPECT(acpi_parse_madt(&t.h, &out));
	EXPECT_EQ(out.ioapic_count, 1);
	EXPECT_EQ(out.ioapic[0].gsi_base, 24);
	EXPECT_EQ(out.ioapic[0].base, 0xfec00000);
	EXPECT_EQ(out.override_count, 2);
	EXPECT_EQ(out.override[0].gsi, 20);
	EXPECT(out.override[0].active_low && out.override[0].level);
	EXPECT(!out.override[1].active_low && !out.override[1].level);
	EXPECT_EQ(out.lint_nmi, 0);
	EXPECT_EQ(out.lapic_base, 0x1fee00000);
}

static void madt_damaged(void)
{
	static const u8 endless[] = {MADT_LAPIC, 0, 1, 1, 1, 0, 0, 0};
	static const u8 too_short[] = {MADT_LAPIC, 3, 9};
	static const u8 unknown[] = {77, 4, 0, 0};
	madt_begin(1);
	add_lapic(1, 1);
	add(unknown, sizeof(unknown));
	add(too_short, sizeof(too_short));
	add_lapic(2, 1);
	add(endless, sizeof(endless));
	add_lapic(3, 1);
	EXPECT(acpi_parse_madt(&t.h, &out));
	EXPECT_EQ(out.cpu_count, 2);

	madt_begin(1);
	add_lapic(1, 1);
	add_lapic(2, 1);
	t.h.length -= 3; /* the last entry reaches over the end */
	EXPECT(acpi_parse_madt(&t.h, &out));
	EXPECT_EQ(out.cpu_count, 1);
	t.h.length = sizeof(struct sdt);
	EXPECT(!acpi_parse_madt(&t.h, &out));
}

static bool s5(const u8 *aml, size_t n, u8 *a, u8 *b)
{
	*a = *b = 0xff;
	return acpi_find_s5(aml, n, a, b);
}

static void dsdt_s5(void)
{
	static const u8 bytes[] = {0x10, 0x08, '_', 'S', '5', '_', 0x12, 6, 4, 0x0a, 5, 0x0a, 7, 0};
	static const u8 ones[] = {0x08, '\\', '_', 'S', '5', '_', 0x12, 6, 4, 0, 1, 0, 0};
	static const u8 single[] = {0, 0x08, '_', 'S', '5', '_', 0x12, 4, 1, 0x0a, 3, 0xff};
	static const u8 not_named[] = {0x14, 'x', '_', 'S', '5', '_', 0x12, 6, 4, 0x0a, 5, 0x0a, 5};
	static const u8 cut[] = {0, 0x08, '_', 'S', '5', '_', 0x12, 0xc6};
	u8 a, b;
	EXPECT(s5(bytes, sizeof(bytes), &a, &b));
	EXPECT_EQ(a, 5);
	EXPECT_EQ(b, 7);
	EXPECT(s5(ones, sizeof(ones), &a, &b));
	EXPECT_EQ(a, 0);
	EXPECT_EQ(b, 1);
	EXPECT(s5(single, sizeof(single), &a, &b));
	EXPECT_EQ(a, 3);
	EXPECT_EQ(b, 3);
	EXPECT(!s5(not_named, sizeof(not_named), &a, &b));
	for (size_t n = 0; n <= sizeof(cut); n++)
		EXPECT(!s5(cut, n, &a, &b));
}

static struct fadt fadt;

static void fadt_revisions(void)
{
	struct acpi_fadt f;
	memset(&fadt, 0, sizeof(fadt));
	fadt.h.length = offsetof(struct fadt, reset);
	fadt.pm1a_control = 0x604;
	fadt.pm_timer = 0x608;
	fadt.flags = FADT_RESET_REG | FADT_HW_REDUCED | FADT_TIMER_32BIT;
	fadt.reset = (struct acpi_address){ACPI_SPACE_PORTS, 8, 0, 1, 0xcf9};
	EXPECT(acpi_parse_fadt(&fadt.h, &f)); /* revision 1 has no more than that */
	EXPECT_EQ(f.pm1a_control, 0x604);
	EXPECT_EQ(f.pm_timer, 0x608);
	EXPECT(f.pm_timer_32bit && !f.hardware_reduced && !f.s5_known);
	EXPECT_EQ(f.reset.address, 0);

	fadt.h.length = sizeof(fadt);
	fadt.sleep_control = (struct acpi_address){ACPI_SPACE_MEMORY, 8, 0, 1, 0xfea00000};
	EXPECT(acpi_parse_fadt(&fadt.h, &f));
	EXPECT_EQ(f.reset.address, 0xcf9);
	EXPECT(f.hardware_reduced);
	EXPECT_EQ(f.sleep_control.address, 0xfea00000);
	EXPECT_EQ(f.pm_timer, 0); /* such machines have no fixed registers */

	fadt.flags = 0;
	fadt.pm_timer = 0;
	fadt.x_pm_timer = (struct acpi_address){ACPI_SPACE_PORTS, 32, 0, 3, 0xb008};
	EXPECT(acpi_parse_fadt(&fadt.h, &f));
	EXPECT_EQ(f.pm_timer, 0xb008);
	fadt.x_pm_timer.space = ACPI_SPACE_MEMORY;
	EXPECT(acpi_parse_fadt(&fadt.h, &f));
	EXPECT_EQ(f.pm_timer, 0);
	fadt.h.length = offsetof(struct fadt, reset) - 1;
	EXPECT(!acpi_parse_fadt(&fadt.h, &f));
}

static const struct ktap_case cases[] = {
    {"acpi.madt_cpus", madt_cpus},
    {"acpi.madt_too_many_cpus", madt_too_many_cpus},
    {"acpi.madt_wiring", madt_wiring},
    {"acpi.madt_damaged", madt_damaged},
    {"acpi.dsdt_s5", dsdt_s5},
    {"acpi.fadt_revisions", fadt_revisions},
    {NULL, NULL},
};
extern const struct ktap_suite suite_acpi;
const struct ktap_suite suite_acpi = {cases};
