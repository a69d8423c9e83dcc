/* Time at boot: the rate of the TSC and of the APIC timer. Interrupts off. Reading time is part 1b
 * of arch.h. */
#pragma once

#include "arch/arch.h"
#include "arch/x86_64/cpu/msr.h"

/* Boot CPU, APIC up: measures; NULL, or a sentence. The clock then runs. */
const char *clock_init(const struct ref_clock *const *refs, unsigned n, u64 entry_tsc, u64 unix_ns);
/* Rounds of exchanged readings with the other CPU that calls clock_skew_answer(); skew and error go
 * to clock_info(). */
void clock_skew_measure(unsigned cpu);
void clock_skew_answer(void);
/* Boot CPU, clock running: the APIC timer's rate. */
void timer_calibrate(void);
/* Does a hypervisor run this CPU? Then some waits for real chips can be short. */
bool cpu_is_virtual(void);
/* Result of a calibration. */
struct calibration {
	u64 hz;
	u32 spread_ppm;
};
/* Measures the TSC against `ref`. False: it does not tick, or gives nonsense. */
bool calibrate_tsc(const struct ref_clock *ref, struct calibration *out);
/*
 * The rate as CPUID reports it exactly: the hypervisors' timing leaf, or leaf 15h; 0: it does not.
 * `leaf` reads CPUID. *by: the source.
 */
u64 tsc_hz_told(struct cpuid (*leaf)(u32 leaf, u32 subleaf), const char **by);
/* Does a short look at `ref` agree with that rate? */
bool tsc_agrees(const struct ref_clock *ref, u64 hz);
