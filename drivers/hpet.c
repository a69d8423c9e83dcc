/* The high precision event timer's main counter. (IA-PC HPET specification 1.0a, 2.3.) Contexts:
 * clocks.h. */
#include "drivers/clocks.h"

enum { HPET_PERIOD = 4, HPET_CONFIG = 0x10, HPET_COUNTER = 0xf0 };
enum { HPET_CONFIG_ENABLE = 1, HPET_CONFIG_LEGACY = 2 };

#define HPET_SIZE	1024
#define FS_PER_SECOND	1000000000000000UL
#define HPET_PERIOD_MAX 100000000 /* femtoseconds: 10 MHz at least */

static volatile u32 *registers;

/* The low half: a 64-bit read is two on some machines, and tears. */
static u64 hpet_read(void)
{
	return registers[HPET_COUNTER / 4];
}

const struct ref_clock *hpet_clock(u64 base)
{
	static struct ref_clock clock = {.name = "hpet", .mask = 0xffffffff, .read = hpet_read};
	if (!base || !(registers = device_map(base, HPET_SIZE)))
		return NULL;
	u32 period = registers[HPET_PERIOD / 4];
	if (!period || period > HPET_PERIOD_MAX)
		return NULL;
	u32 config = registers[HPET_CONFIG / 4] & ~HPET_CONFIG_LEGACY;
	registers[HPET_CONFIG / 4] = config | HPET_CONFIG_ENABLE;
	clock.hz = (FS_PER_SECOND + period / 2) / period;
	return &clock;
}
