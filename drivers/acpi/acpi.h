/*
 * ACPI's static tables: the firmware's list of CPUs, interrupt controllers, timers and power.
 * Read once at boot, from task context, before other CPUs run; the results are constant afterwards.
 * Every table's length and checksum is checked before a field is believed. (ACPI specification 6.4,
 * chapter 5.)
 */
#pragma once

#include "kernel/lib/types.h"

#define ACPI_MAX_IOAPICS   8
#define ACPI_MAX_OVERRIDES 16
#define ACPI_MAX_SERIALS   4
#define ACPI_MAX_TABLES	   64

struct sdt; /* drivers/acpi/tables.h */

/* Generic address structure: where a register lies. */
struct acpi_address {
	u8 space; /* 0 memory, 1 ports */
	u8 bits, offset, access;
	u64 address;
} __packed;
enum { ACPI_SPACE_MEMORY = 0, ACPI_SPACE_PORTS = 1 };

struct acpi_madt {
	/*
	 * there is no sound one: the boot CPU, whose number is not known here, and what PCs
	 * usually have
	 */
	bool guessed;
	u64 lapic_base;
	bool has_8259;
	u32 cpu_count;	   /* enabled ones, at most MAX_CPUS kept */
	u32 cpus_left_out; /* enabled, but beyond MAX_CPUS */
	u32 apic_ids[MAX_CPUS];
	u32 ioapic_count;
	struct {
		u32 id, gsi_base;
		u64 base;
	} ioapic[ACPI_MAX_IOAPICS];
	u32 override_count;
	struct {
		u8 isa;
		u32 gsi;
		bool active_low, level;
	} override[ACPI_MAX_OVERRIDES];
	u32 lint_nmi; /* LINT input of the NMI: 0 or 1 */
};

struct acpi_fadt {
	bool hardware_reduced; /* no PM1 registers: sleep_control instead */
	u16 pm1a_control, pm1b_control;
	u16 smi_command;
	u8 acpi_enable; /* to smi_command: firmware gives the PM1 registers up */
	u16 pm_timer;	/* port, 0: none */
	bool pm_timer_32bit;
	u8 century;				  /* CMOS register, 0: none */
	struct acpi_address reset, sleep_control; /* address 0: none */
	u8 reset_value;
	u64 dsdt;
	bool s5_known; /* the DSDT names soft-off: */
	u8 s5_type_a, s5_type_b;
};

/* A 16550 that SPCR or DBG2 lists. */
struct acpi_serial {
	const char *table; /* "SPCR", "DBG2" */
	bool ports;	   /* else memory */
	u64 base;
	u8 shift, width;  /* registers are 1 << shift bytes apart, `width` bytes wide */
	u32 isa_irq, gsi; /* its interrupt, as ISA line or by number; ~0: unknown */
	u32 clock;	  /* 0: the usual one */
	u32 baud;	  /* 0: stays as the firmware set it */
	bool rtscts;
};

/* A table that a root table (or, for DSDT and FACS, the FADT) points to, refused ones too. */
struct acpi_table {
	char name[12]; /* signature; with a number after where there are several of its kind */
	u64 address;
	const struct sdt *table; /* whole, its checksum right; NULL: refused */
	const char *wrong;	 /* then why: "its checksum is wrong" */
};

/*
 * Finds and checks the tables from the root pointer at `rsdp` (0: searched where the PC keeps it).
 * NULL, or the sentence that says what is missing. Tables that are damaged are not missed:
 * acpi_table_nth() tells of them.
 */
const char *acpi_init(u64 rsdp);
const struct acpi_table *acpi_table_nth(unsigned i); /* in the order found; NULL: no more */
unsigned acpi_tables_left_out(void);		     /* beyond ACPI_MAX_TABLES */
const struct acpi_serial *acpi_serial_nth(unsigned i);
const struct acpi_madt *acpi_madt(void); /* NULL: no such table */
const struct acpi_fadt *acpi_fadt(void);
u64 acpi_hpet_base(void); /* 0: no HPET */
