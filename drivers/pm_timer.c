/* ACPI's power management timer: 3.579545 MHz, 24 or 32 bits, at a port. (ACPI 6.4, 4.8.3.3.)
 * Contexts: clocks.h. */
#include "drivers/clocks.h"

#define PM_TIMER_HZ 3579545

static u16 timer_port;

static u64 pm_timer_read(void)
{
	return port_in32(timer_port);
}

const struct ref_clock *pm_timer_clock(unsigned port, bool is_32bit)
{
	static struct ref_clock clock = {
	    .name = "pm-timer", .hz = PM_TIMER_HZ, .read = pm_timer_read};
	if (!port)
		return NULL;
	timer_port = port;
	clock.mask = is_32bit ? 0xffffffff : 0xffffff;
	return &clock;
}
