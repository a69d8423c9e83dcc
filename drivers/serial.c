/* National PC16550D data sheet, sections 8.1 to 8.6; the port numbers are the PC's. Contexts and
 * locks: serial.h. */
#include "drivers/serial.h"

#include "arch/arch.h"

#define COM1 0x3f8

enum {
	REG_DATA = 0,
	REG_IER = 1,
	REG_IIR = 2,
	REG_FCR = 2,
	REG_LCR = 3,
	REG_MCR = 4,
	REG_LSR = 5,
	REG_SCRATCH = 7
};
enum { REG_DIVISOR_LOW = 0, REG_DIVISOR_HIGH = 1 }; /* while LCR_DLAB */
enum { IER_RECEIVED = 1 };
enum { IIR_FIFO_WORKS = 0xc0 };
enum { FCR_ENABLE = 1, FCR_CLEAR_BOTH = 6, FCR_TRIGGER_8 = 0x80 };
enum { LCR_8N1 = 3, LCR_DLAB = 0x80 };
enum { MCR_DTR = 1, MCR_RTS = 2, MCR_OUT2 = 8 }; /* OUT2 lets the interrupt line out */
enum { LSR_DATA = 1, LSR_PARITY = 4, LSR_FRAMING = 8, LSR_THR_EMPTY = 0x20, LSR_ALL_SENT = 0x40 };

#define FIFO_BYTES 16

static bool present;
static unsigned burst = 1; /* bytes that fit once the transmitter is empty */

bool serial_init(void)
{
	port_out8(COM1 + REG_SCRATCH, 0x5a);
	if (port_in8(COM1 + REG_SCRATCH) != 0x5a)
		return false;
	port_out8(COM1 + REG_IER, 0);
	port_out8(COM1 + REG_LCR, LCR_DLAB);
	port_out8(COM1 + REG_DIVISOR_LOW, 1);
	port_out8(COM1 + REG_DIVISOR_HIGH, 0);
	port_out8(COM1 + REG_LCR, LCR_8N1);
	port_out8(COM1 + REG_FCR, FCR_ENABLE | FCR_CLEAR_BOTH | FCR_TRIGGER_8);
	/* An 8250 or 16450 has no FIFO, the first 16550 a broken one: both leave a bit clear. */
	if ((port_in8(COM1 + REG_IIR) & IIR_FIFO_WORKS) == IIR_FIFO_WORKS)
		burst = FIFO_BYTES;
	port_out8(COM1 + REG_MCR, MCR_DTR | MCR_RTS | MCR_OUT2);
	present = true;
	return true;
}

static void wait_for(u8 lsr_bit)
{
	while (!(port_in8(COM1 + REG_LSR) & lsr_bit))
		cpu_relax();
}

void serial_write(const char *s, size_t n)
{
	if (!present)
		return;
	while (n) {
		size_t chunk = MIN(n, burst);
		wait_for(LSR_THR_EMPTY);
		port_write8(COM1 + REG_DATA, s, chunk);
		s += chunk;
		n -= chunk;
	}
}

void serial_drain(void)
{
	if (present)
		wait_for(LSR_ALL_SENT);
}

void serial_input_enable(void)
{
	if (present)
		port_out8(COM1 + REG_IER, IER_RECEIVED);
}

int serial_read(void)
{
	if (!present)
		return -1;
	for (;;) {
		u8 lsr = port_in8(COM1 + REG_LSR);
		if (!(lsr & LSR_DATA) || lsr == 0xff) /* all ones: the port went away */
			return -1;
		u8 c = port_in8(COM1 + REG_DATA);
		if (!(lsr & (LSR_PARITY | LSR_FRAMING)))
			return c;
	}
}
