/* Layouts of the tables as they lie in memory, unaligned. (ACPI specification 6.4; IA-PC
 * HPET 1.0a, 3.2.4.) */
#pragma once

#include "drivers/acpi/acpi.h"

struct rsdp {
	char signature[8]; /* "RSD PTR " */
	u8 checksum;	   /* of the first 20 bytes */
	char oem[6];
	u8 revision;
	u32 rsdt;
	u32 length; /* from revision 2 on */
	u64 xsdt;
	u8 full_checksum;
	u8 reserved[3];
} __packed;
#define RSDP_V1_SIZE 20

struct sdt {
	char signature[4];
	u32 length; /* with this header */
	u8 revision, checksum;
	char oem[6], oem_table[8];
	u32 oem_revision, creator, creator_revision;
} __packed;

struct madt {
	struct sdt h;
	u32 lapic;
	u32 flags; /* 1: the machine has 8259s too */
	u8 entries[];
} __packed;

struct madt_entry {
	u8 type, length;
} __packed;

enum {
	MADT_LAPIC = 0,
	MADT_IOAPIC = 1,
	MADT_OVERRIDE = 2,
	MADT_LAPIC_NMI = 4,
	MADT_LAPIC_ADDRESS = 5,
	MADT_X2APIC = 9,
	MADT_X2APIC_NMI = 10,
};

struct madt_lapic {
	struct madt_entry e;
	u8 processor, apic_id;
	u32 flags; /* 1: enabled */
} __packed;

struct madt_ioapic {
	struct madt_entry e;
	u8 id, reserved;
	u32 address, gsi_base;
} __packed;

struct madt_override {
	struct madt_entry e;
	u8 bus, source;
	u32 gsi;
	u16 flags; /* bits 0-1 polarity (3: low), 2-3 trigger (3: level) */
} __packed;

struct madt_lapic_nmi {
	struct madt_entry e;
	u8 processor; /* 0xff: all */
	u16 flags;
	u8 lint;
} __packed;

struct madt_lapic_address {
	struct madt_entry e;
	u16 reserved;
	u64 address;
} __packed;

struct madt_x2apic {
	struct madt_entry e;
	u16 reserved;
	u32 apic_id, flags, processor;
} __packed;

struct fadt {
	struct sdt h;
	u32 facs, dsdt;
	u8 reserved0, profile;
	u16 sci;
	u32 smi_command;
	u8 acpi_enable, acpi_disable, s4bios, pstate;
	u32 pm1a_event, pm1b_event, pm1a_control, pm1b_control, pm2_control, pm_timer, gpe0, gpe1;
	u8 pm1_event_len, pm1_control_len, pm2_control_len, pm_timer_len, gpe0_len, gpe1_len,
	    gpe1_base, cst;
	u16 lat2, lat3, flush_size, flush_stride;
	u8 duty_offset, duty_width, day_alarm, month_alarm, century;
	u16 boot_arch;
	u8 reserved1;
	u32 flags;
	struct acpi_address reset;
	u8 reset_value;
	u16 arm_boot_arch;
	u8 minor;
	u64 x_facs, x_dsdt;
	struct acpi_address x_pm1a_event, x_pm1b_event, x_pm1a_control, x_pm1b_control,
	    x_pm2_control, x_pm_timer, x_gpe0, x_gpe1;
	struct acpi_address sleep_control, sleep_status; /* from revision 5 on */
} __packed;
enum { FADT_TIMER_32BIT = 1 << 8, FADT_RESET_REG = 1 << 10, FADT_HW_REDUCED = 1 << 20 };

struct hpet_table {
	struct sdt h;
	u32 id;
	struct acpi_address base;
	u8 number;
	u16 min_tick;
	u8 attributes;
} __packed;

/* Serial port console redirection, revision 4; clock from revision 3 on. */
struct spcr {
	struct sdt h;
	u8 type, reserved0[3];
	struct acpi_address address;
	u8 irq_type, irq;
	u32 gsi;
	u8 baud, parity, stop, flow, terminal, language;
	u16 pci_device, pci_vendor;
	u8 pci_bus, pci_slot, pci_function;
	u32 pci_flags;
	u8 pci_segment;
	u32 clock;
	u32 precise_baud;
} __packed;

struct dbg2 {
	struct sdt h;
	u32 offset, count; /* of struct dbg2_device, from the table's start */
} __packed;

struct dbg2_device {
	u8 revision;
	u16 length;
	u8 registers; /* how many addresses */
	u16 name_length, name_offset, oem_length, oem_offset;
	u16 type, subtype, reserved;
	u16 address_offset, size_offset; /* from the start of this */
} __packed;
