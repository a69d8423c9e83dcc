/* arch_machine_init(): the machine's interrupt controllers and clock, in order. Boot CPU,
 * interrupts off. */
#include "arch/x86_64/cpu/clock.h"
#include "arch/x86_64/cpu/smp.h"
#include "arch/x86_64/irq/apic.h"
#include "arch/x86_64/irq/ioapic.h"

const char *arch_machine_init(
    const struct machine_info *mi, const struct ref_clock *const *refs, unsigned n, u64 unix_ns)
{
	if (mi->has_8259)
		pic8259_disable();
	const char *wrong = apic_find(mi->lapic_base);
	if (wrong)
		return wrong;
	apic_init_cpu(mi->lint_nmi);
	cpu_local_of(0)->apic_id = apic_id();
	wrong = ioapic_init(mi);
	if (wrong)
		return wrong;
	wrong = clock_init(refs, n, mi->entry_tsc, unix_ns);
	if (wrong)
		return wrong;
	timer_calibrate();
	smp_remember(mi);
	return NULL;
}
