/*
 * /proc/interrupts, /proc/trapline/clock, boot and vectors; and the start of what else shows the
 * machine as files. Task context; counters are read while they move.
 */
#include "arch/arch.h"
#include "kernel/console/tty.h"
#include "kernel/fs/proc.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "kernel/machine/machine.h"
#include "kernel/machine/resource.h"
#include "kernel/task/irq.h"

static int machine_show_clock(struct seq *s, void *unused)
{
	const struct clock_info *c = clock_info();
	(void)unused;
	seq_printf(s, "tsc_khz: %llu\n", (unsigned long long)c->tsc_khz);
	seq_printf(s, "reference: %s\n", c->reference);
	seq_printf(s, "error_ppm: %u\n", c->error_ppm);
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		seq_printf(s, "cpu%u: skew %lld cycles, error %llu\n", cpu, (long long)c->skew[cpu],
		    (unsigned long long)c->skew_error[cpu]);
	return 0;
}

static int machine_show_boot(struct seq *s, void *unused)
{
	(void)unused;
	seq_printf(s, "prompt_ns: %llu\n", (unsigned long long)tty_ready_ns());
	return 0;
}

static void show_line(struct seq *s, unsigned irq, const struct irq_line *line)
{
	const char *name;
	seq_printf(s, "%3u: %10llu", irq, (unsigned long long)line->count);
	for (unsigned cpu = 1; cpu < cpu_count(); cpu++)
		seq_printf(s, " %10u", 0);
	seq_printf(s, "   IO-APIC %3u-%-8s", irq, arch_irq_is_level(irq) ? "level" : "edge");
	for (unsigned i = 0; (name = irq_action_name(line, i)); i++)
		seq_printf(s, "%s%s", i ? ", " : "  ", name);
	seq_putc(s, '\n');
}

static const struct {
	const char *tag, *text;
	unsigned index; /* of struct irq_counts */
} counted[] = {
    {"NMI", "Non-maskable interrupts", IRQ_COUNT_NMI},
    {"LOC", "Local timer interrupts", VECTOR_TIMER},
    {"SPU", "Spurious interrupts", VECTOR_SPURIOUS},
    {"RES", "Rescheduling interrupts", VECTOR_RESCHEDULE},
    {"CAL", "Function call interrupts", VECTOR_CALL},
    {"TLB", "TLB shootdowns", IRQ_COUNT_TLB},
    {"ERR", "APIC errors", VECTOR_ERROR},
};

static int machine_show_interrupts(struct seq *s, void *unused)
{
	(void)unused;
	seq_puts(s, "    ");
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		seq_printf(s, "       CPU%u", cpu);
	seq_putc(s, '\n');
	for (unsigned irq = 0; irq < IRQ_LINES; irq++)
		if (irq_line(irq)->first)
			show_line(s, irq, irq_line(irq));
	for (unsigned i = 0; i < ARRAY_SIZE(counted); i++) {
		seq_printf(s, "%s:", counted[i].tag);
		for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
			seq_printf(
			    s, " %10llu", (unsigned long long)irq_counts(cpu)->n[counted[i].index]);
		seq_printf(s, "   %s\n", counted[i].text);
	}
	return 0;
}

static u64 vector_count(const char *name)
{
	u64 n = 0;
	for (unsigned i = 0; i < ARRAY_SIZE(counted); i++)
		for (unsigned cpu = 0; !strcmp(counted[i].text, name) && cpu < cpu_count(); cpu++)
			n += irq_counts(cpu)->n[counted[i].index];
	return n;
}

/*
 * By vector: exceptions, lines of devices that are asked for, the processors' own. Of exceptions
 * but NMIs nobody counts how many.
 */
static int machine_show_vectors(struct seq *s, void *unused)
{
	(void)unused;
	for (unsigned v = 0; v < 256; v++) {
		unsigned gsi;
		const char *name = arch_vector_name(v, &gsi);
		const struct irq_line *line = name ? NULL : irq_line(gsi);
		if (name && v < 32) {
			seq_printf(s, "%3u %02x %10s  exception  %s\n", v, v, "-", name);
		} else if (name) {
			seq_printf(s, "%3u %02x %10llu  local      %s\n", v, v,
			    (unsigned long long)vector_count(name), name);
		} else if (line && line->first) {
			seq_printf(s, "%3u %02x %10llu  line %-5u", v, v,
			    (unsigned long long)line->count, gsi);
			for (unsigned i = 0; (name = irq_action_name(line, i)); i++)
				seq_printf(s, "%s%s", i ? ", " : " ", name);
			seq_puts(s, line->off ? "  off: nobody cared\n" : "\n");
		}
	}
	return 0;
}

void machine_proc_init(const struct boot_info *bi)
{
	resource_init(bi);
	cpuinfo_init();
	dev_cpu_init();
	dev_mem_init();
	pci_files_init();
	acpi_files_init();
	proc_register("trapline/vectors", machine_show_vectors, NULL, NULL);
	proc_register("interrupts", machine_show_interrupts, NULL, NULL);
	proc_register("trapline/clock", machine_show_clock, NULL, NULL);
	proc_register("trapline/boot", machine_show_boot, NULL, NULL);
}
