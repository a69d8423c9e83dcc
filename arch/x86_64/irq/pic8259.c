/*
 * The two 8259 interrupt controllers: never used, but they may send spurious interrupts, and the
 * firmware leaves them unmasked with vectors among the exceptions (the timer on 8, double fault).
 * (Intel 8259A data sheet.) Boot CPU, once, interrupts off.
 */
#include "arch/x86_64/irq/ioapic.h"

enum { MASTER = 0x20, SLAVE = 0xa0, DATA = 1 };
enum { ICW1_INIT = 0x11, ICW4_8086 = 1, SLAVE_LINE = 2 };
enum { FIRST_VECTOR = 0x20 }; /* 0x20..0x2f: nobody else's */

static void setup(u16 port, u8 vector, u8 cascade)
{
	port_out8(port, ICW1_INIT);
	port_out8(port + DATA, vector);
	port_out8(port + DATA, cascade);
	port_out8(port + DATA, ICW4_8086);
	port_out8(port + DATA, 0xff);
}

void pic8259_disable(void)
{
	port_out8(MASTER + DATA, 0xff);
	port_out8(SLAVE + DATA, 0xff);
	setup(MASTER, FIRST_VECTOR, 1 << SLAVE_LINE);
	setup(SLAVE, FIRST_VECTOR + 8, SLAVE_LINE);
}
