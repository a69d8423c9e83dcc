/*
 * Clocks of known rate, to calibrate the TSC against; one driver each. Boot CPU at boot, interrupts
 * off. Each returns NULL when its device is not there; a device that is there but does not tick is
 * found out by who measures.
 */
#pragma once

#include "arch/arch.h"

const struct ref_clock *hpet_clock(u64 base); /* physical address from ACPI, 0: none */
const struct ref_clock *pm_timer_clock(unsigned port, bool is_32bit);
const struct ref_clock *pit_speaker_clock(void); /* channel 2, gated by port 0x61 */
const struct ref_clock *pit_tick_clock(void);	 /* channel 0, whose interrupt line stays masked */
