/*
 * The FADT: power management registers, PM timer, reset; and the one thing of the DSDT that is
 * needed, the soft-off sleep types in \_S5. Pure but for mapping the DSDT; contexts as acpi.h.
 * (Sections 5.2.9, 7.4.2, 20.2.)
 */
#include "drivers/acpi/parse.h"

#include "kernel/lib/string.h"

enum { AML_ZERO = 0, AML_ONE = 1, AML_BYTE = 0x0a, AML_NAME = 0x08, AML_PACKAGE = 0x12 };

/* A small integer of AML at *p, which moves past it. */
static bool acpi_aml_integer(const u8 **p, const u8 *end, u8 *out)
{
	if (*p < end && (**p == AML_ZERO || **p == AML_ONE)) {
		*out = *(*p)++;
		return true;
	}
	if (end - *p >= 2 && **p == AML_BYTE) {
		*out = (*p)[1];
		*p += 2;
		return true;
	}
	return false;
}

/* `p` is after the name _S5_: package, its length (1 to 4 bytes, the count in bits 6-7 of the
 * first), element count. */
static bool s5_package(const u8 *p, const u8 *end, u8 *a, u8 *b)
{
	if (end - p < 3 || *p++ != AML_PACKAGE)
		return false;
	p += 1 + (*p >> 6);
	if (p >= end || *p++ < 1)
		return false;
	if (!acpi_aml_integer(&p, end, a))
		return false;
	if (!acpi_aml_integer(&p, end, b))
		*b = *a;
	return true;
}

bool acpi_find_s5(const u8 *aml, size_t n, u8 *a, u8 *b)
{
	for (size_t i = 1; i + 4 < n; i++) {
		if (aml[i] != '_' || memcmp(aml + i, "_S5_", 4))
			continue;
		bool named = aml[i - 1] == AML_NAME ||
			     (i > 1 && aml[i - 1] == '\\' && aml[i - 2] == AML_NAME);
		if (named && s5_package(aml + i + 4, aml + n, a, b))
			return true;
	}
	return false;
}

/* A port given in the old field or, wider, in the new one. */
static u16 acpi_port_of(const struct fadt *f, u32 old, const struct acpi_address *wide)
{
	if (old)
		return old;
	bool there = (const char *)(wide + 1) <= (const char *)f + f->h.length;
	return there && wide->space == ACPI_SPACE_PORTS ? wide->address : 0;
}

static void take_registers(const struct fadt *f, struct acpi_fadt *out)
{
	out->pm1a_control = acpi_port_of(f, f->pm1a_control, &f->x_pm1a_control);
	out->pm1b_control = acpi_port_of(f, f->pm1b_control, &f->x_pm1b_control);
	out->pm_timer = acpi_port_of(f, f->pm_timer, &f->x_pm_timer);
	out->smi_command = f->smi_command;
	out->acpi_enable = f->acpi_enable;
	out->pm_timer_32bit = f->flags & FADT_TIMER_32BIT;
	out->century = f->century;
}

/* Fields of later revisions: present only within the table's length. */
static void take_newer(const struct fadt *f, struct acpi_fadt *out)
{
	if (f->h.length >= offsetof(struct fadt, arm_boot_arch) && f->flags & FADT_RESET_REG) {
		out->reset = f->reset;
		out->reset_value = f->reset_value;
	}
	if (f->h.length >= offsetof(struct fadt, sleep_status) && f->flags & FADT_HW_REDUCED) {
		out->hardware_reduced = true;
		out->sleep_control = f->sleep_control;
		out->pm1a_control = out->pm1b_control = out->pm_timer = out->smi_command = 0;
	}
}

bool acpi_parse_fadt(const struct sdt *t, struct acpi_fadt *out)
{
	const struct fadt *f = (const void *)t;
	if (t->length < offsetof(struct fadt, reset))
		return false;
	memset(out, 0, sizeof(*out));
	take_registers(f, out);
	take_newer(f, out);
	u64 dsdt = f->dsdt;
	if (t->length >= offsetof(struct fadt, x_pm1a_event) && f->x_dsdt)
		dsdt = f->x_dsdt;
	out->dsdt = dsdt;
	const struct sdt *d = acpi_map_table(dsdt);
	if (d)
		out->s5_known = acpi_find_s5(
		    (const u8 *)(d + 1), d->length - sizeof(*d), &out->s5_type_a, &out->s5_type_b);
	return true;
}
