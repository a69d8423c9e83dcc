/*
 * Finds out what machine this is: asks the drivers, and tells arch/x86_64 in the terms of
 * arch/arch.h. Runs on the boot CPU at boot. It also tells drivers/power.c where ACPI's registers
 * are.
 *
 * The drivers know nothing of each other. The TSC's rate is measured against HPET, PM timer or PIT
 * (arch/x86_64/cpu/calibrate.c), or else taken from CPUID or the hypervisor. The other CPUs start
 * one after the other (smp_boot.c), and each compares its TSC with CPU 0's; /proc/trapline/clock
 * has the results and their errors.
 *
 * The other files of this folder show what was found as files: resource.c (iomem, ioports), pci.c,
 * acpi.c, cpuinfo.c, dev_cpu.c (/dev/cpu/N/msr), dev_mem.c (/dev/mem). The shell's lspci, acpi,
 * rdmsr, wrmsr, mmio and meminfo use only these files.
 */
#include "kernel/machine/machine.h"
#include "arch/arch.h"
#include "boot/boot_info.h"
#include "drivers/acpi/acpi.h"
#include "drivers/clocks.h"
#include "drivers/cmos.h"
#include "drivers/pci.h"
#include "drivers/power.h"
#include "kernel/base/boot_time.h"
#include "kernel/base/cmdline.h"
#include "kernel/base/panic.h"
#include "kernel/base/printk.h"
#include "kernel/base/watchdog.h"
#include "kernel/console/screen.h"
#include "kernel/console/serial.h"
#include "kernel/mem/range.h"

#define NS_PER_SECOND 1000000000UL

static void take_isa_irqs(struct machine_info *mi, const struct acpi_madt *madt)
{
	for (unsigned i = 0; i < ARRAY_SIZE(mi->isa_irq); i++)
		mi->isa_irq[i].gsi = i;
	for (unsigned i = 0; i < madt->override_count; i++) {
		mi->isa_irq[madt->override[i].isa].gsi = madt->override[i].gsi;
		mi->isa_irq[madt->override[i].isa].active_low = madt->override[i].active_low;
		mi->isa_irq[madt->override[i].isa].level = madt->override[i].level;
	}
}

static void take_madt(struct machine_info *mi, const struct acpi_madt *madt)
{
	mi->lapic_base = madt->lapic_base;
	mi->has_8259 = madt->has_8259;
	mi->lint_nmi = madt->lint_nmi;
	mi->cpu_count = madt->cpu_count;
	for (unsigned i = 0; i < madt->cpu_count; i++)
		mi->apic_ids[i] = madt->apic_ids[i];
	mi->ioapic_count = madt->ioapic_count;
	for (unsigned i = 0; i < madt->ioapic_count; i++) {
		mi->ioapic[i].id = madt->ioapic[i].id;
		mi->ioapic[i].gsi_base = madt->ioapic[i].gsi_base;
		mi->ioapic[i].base = madt->ioapic[i].base;
	}
	take_isa_irqs(mi, madt);
	if (madt->cpus_left_out)
		pr_warn("This kernel uses %u CPUs; %u more are left alone", MAX_CPUS,
		    madt->cpus_left_out);
}

/* Without a sound list of CPUs there is the one that runs this. */
static void take_boot_cpu(struct machine_info *mi)
{
	u32 id[4];

	arch_cpuid(1, 0, id);
	mi->apic_ids[0] = id[1] >> 24;
	pr_warn("ACPI has no sound MADT, the table that lists CPUs and interrupt controllers: this "
		"CPU alone, and a PC's usual addresses");
}

/* Best first. A clock that is there in name only is found out by the calibration, which goes on to
 * the next. */
static unsigned find_clocks(const struct ref_clock *refs[4])
{
	const struct acpi_fadt *fadt = acpi_fadt();
	unsigned n = 0;
	if ((refs[n] = hpet_clock(acpi_hpet_base())))
		n++;
	if (fadt && (refs[n] = pm_timer_clock(fadt->pm_timer, fadt->pm_timer_32bit)))
		n++;
	refs[n++] = pit_speaker_clock();
	refs[n++] = pit_tick_clock();
	return n;
}

static void tell_refused_tables(void)
{
	const struct acpi_table *t;
	for (unsigned i = 0; (t = acpi_table_nth(i)); i++)
		if (t->wrong)
			pr_warn("ACPI: table %s at 0x%llx is refused: %s", t->name,
			    (unsigned long long)t->address, t->wrong);
	if (acpi_tables_left_out())
		pr_warn("ACPI: there is room for %u tables; %u more are not seen", ACPI_MAX_TABLES,
		    acpi_tables_left_out());
}

void machine_init(const struct boot_info *bi)
{
	static struct machine_info mi;
	const struct ref_clock *refs[4];
	const char *wrong = acpi_init(bi->rsdp);
	unsigned unseen = pci_scan();
	tell_refused_tables();
	if (unseen)
		pr_warn("PCI: there is room for %u functions; %u more are not seen",
		    PCI_MAX_FUNCTIONS, unseen);
	serial_init_machine();
	screen_init_machine();
	if (wrong)
		panic("This kernel cannot run on this machine: %s.", wrong);
	take_madt(&mi, acpi_madt());
	if (acpi_madt()->guessed)
		take_boot_cpu(&mi);
	mi.entry_tsc = boot_first_tsc(bi->entry_tsc);
	mi.start_page = range_low_page(bi);
	power_init(acpi_fadt());
	watchdog_find();
	u64 now = cmos_unix_seconds(acpi_fadt() ? acpi_fadt()->century : 0);
	wrong = arch_machine_init(&mi, refs, find_clocks(refs), now * NS_PER_SECOND);
	if (wrong)
		panic("This kernel cannot run on this machine: %s.", wrong);
	const struct clock_info *clock = clock_info();
	pr_info("TSC: %llu.%03llu MHz by %s", (unsigned long long)clock->tsc_khz / 1000,
	    (unsigned long long)clock->tsc_khz % 1000, clock->reference);
}

void smp_init(void)
{
	u64 listed = acpi_madt()->cpu_count;
	u64 wanted = MIN(listed, cmdline_u64("maxcpus", MAX_CPUS));
	u64 up = arch_smp_boot(wanted);
	pr_info("CPUs: %llu of %llu", (unsigned long long)up, (unsigned long long)listed);
	if (up < wanted)
		pr_warn("%llu CPUs did not start", (unsigned long long)(wanted - up));
}
