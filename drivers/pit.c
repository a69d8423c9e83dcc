/*
 * Two channels of the 8254 interval timer as counters: 1.193182 MHz, 16 bits, counting down.
 * Channel 2 is the speaker's and disturbs nobody; machines without a speaker port have only channel
 * 0. (Intel 8254 data sheet.) Contexts: clocks.h.
 */
#include "drivers/clocks.h"

#define PIT_HZ 1193182

enum { PIT_CHANNEL0 = 0x40, PIT_CHANNEL2 = 0x42, PIT_COMMAND = 0x43, SPEAKER = 0x61 };
enum { SPEAKER_GATE2 = 1, SPEAKER_ON = 2 };
enum { COMMAND_LATCH = 0, COMMAND_BOTH_BYTES = 0x30, COMMAND_MODE2 = 0x04 };

static void pit_start(unsigned channel)
{
	port_out8(PIT_COMMAND, channel << 6 | COMMAND_BOTH_BYTES | COMMAND_MODE2);
	port_out8(PIT_CHANNEL0 + channel, 0); /* 65536 */
	port_out8(PIT_CHANNEL0 + channel, 0);
}

static u64 pit_read(unsigned channel)
{
	port_out8(PIT_COMMAND, channel << 6 | COMMAND_LATCH);
	u32 low = port_in8(PIT_CHANNEL0 + channel);
	u32 high = port_in8(PIT_CHANNEL0 + channel);
	return 0x10000 - (low | high << 8); /* counting up, as everybody else does */
}

static u64 pit_speaker_read(void)
{
	return pit_read(2);
}

static u64 pit_tick_read(void)
{
	return pit_read(0);
}

const struct ref_clock *pit_speaker_clock(void)
{
	static const struct ref_clock clock = {"pit", PIT_HZ, 0xffff, pit_speaker_read};
	port_out8(SPEAKER, (port_in8(SPEAKER) & ~SPEAKER_ON) | SPEAKER_GATE2);
	pit_start(2);
	return &clock;
}

const struct ref_clock *pit_tick_clock(void)
{
	static const struct ref_clock clock = {"pit", PIT_HZ, 0xffff, pit_tick_read};
	pit_start(0);
	return &clock;
}
