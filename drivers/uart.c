/* PC16550D data sheet, sections 8.1 to 8.6. Contexts and locks: uart.h. */
#include "drivers/uart.h"

#include "arch/arch.h"

enum {
	REG_DATA = 0,
	REG_IER = 1,
	REG_IIR = 2,
	REG_FCR = 2,
	REG_LCR = 3,
	REG_MCR = 4,
	REG_LSR = 5,
	REG_MSR = 6,
	REG_SCRATCH = 7,
	REGISTERS = 8
};
enum { REG_DIVISOR_LOW = 0, REG_DIVISOR_HIGH = 1 }; /* while LCR_DLAB */
enum { IIR_NONE = 1, IIR_FIFO_WORKS = 0xc0 };
enum { FCR_ENABLE = 1, FCR_CLEAR_BOTH = 6, FCR_TRIGGER_8 = 0x80 };
enum { LCR_STOP_2 = 4, LCR_PARITY = 8, LCR_EVEN = 0x10, LCR_DLAB = 0x80 };
enum { MCR_DTR = 1, MCR_RTS = 2, MCR_OUT2 = 8 }; /* OUT2 lets the interrupt line out */
enum {
	LSR_DATA = 1,
	LSR_PARITY = 4,
	LSR_FRAMING = 8,
	LSR_BREAK = 0x10,
	LSR_THR_EMPTY = 0x20,
	LSR_ALL_SENT = 0x40
};
enum { MSR_CTS = 0x10 };

#define FIFO_BYTES  16
#define GONE	    0xff    /* all ones: the device went away */
#define CTS_POLLS   1000000 /* about a second, then it is sent all the same, as on Linux */
#define DIVISOR_MAX 65535

static u8 uart_get(const struct uart *u, unsigned reg)
{
	if (!u->memory)
		return port_in8(u->place.base + (reg << u->place.shift));
	const volatile u8 *p = u->memory + (reg << u->place.shift);
	return u->place.width == 4 ? *(const volatile u32 *)p : *p;
}

static void uart_put(const struct uart *u, unsigned reg, u8 v)
{
	if (!u->memory) {
		port_out8(u->place.base + (reg << u->place.shift), v);
		return;
	}
	volatile u8 *p = u->memory + (reg << u->place.shift);
	if (u->place.width == 4)
		*(volatile u32 *)p = v;
	else
		*p = v;
}

bool uart_probe(struct uart *u, const struct uart_place *place, u32 clock)
{
	*u = (struct uart){.place = *place, .clock = clock ? clock : UART_CLOCK, .burst = 1};
	if (place->space == UART_MEMORY)
		u->memory = device_map(place->base, REGISTERS << place->shift);
	if (place->space == UART_MEMORY ? !u->memory : place->base > 0xffff - REGISTERS)
		return false;
	uart_put(u, REG_SCRATCH, 0x5a);
	if (uart_get(u, REG_SCRATCH) != 0x5a)
		return false;
	uart_put(u, REG_SCRATCH, 0xa5);
	return uart_get(u, REG_SCRATCH) == 0xa5;
}

static u8 line_control(const struct uart_line *l)
{
	return (l->bits - 5) | (l->stop == 2 ? LCR_STOP_2 : 0) |
	       (l->parity == 'n' ? 0 : LCR_PARITY) | (l->parity == 'e' ? LCR_EVEN : 0);
}

static void set_line(struct uart *u, const struct uart_line *l)
{
	u32 unit = u->clock / 16, divisor = (unit + l->baud / 2) / l->baud;

	divisor = MIN(MAX(divisor, 1u), (u32)DIVISOR_MAX);
	uart_put(u, REG_LCR, LCR_DLAB);
	uart_put(u, REG_DIVISOR_LOW, divisor);
	uart_put(u, REG_DIVISOR_HIGH, divisor >> 8);
	uart_put(u, REG_LCR, line_control(l));
}

void uart_setup(struct uart *u, const struct uart_line *line)
{
	u->line = *line;
	uart_put(u, REG_IER, 0);
	if (line->baud)
		set_line(u, line);
	uart_put(u, REG_FCR, FCR_ENABLE | FCR_CLEAR_BOTH | FCR_TRIGGER_8);
	/* An 8250 or 16450 has no FIFO, the first 16550 a broken one: both leave a bit clear. */
	u->burst = (uart_get(u, REG_IIR) & IIR_FIFO_WORKS) == IIR_FIFO_WORKS ? FIFO_BYTES : 1;
	uart_put(u, REG_MCR, MCR_DTR | MCR_RTS | MCR_OUT2);
}

/* False: the device is gone. */
static bool wait_for(const struct uart *u, u8 lsr_bit)
{
	u8 lsr;

	while (!((lsr = uart_get(u, REG_LSR)) & lsr_bit))
		cpu_relax();
	return lsr != GONE;
}

static void wait_for_cts(const struct uart *u)
{
	for (unsigned i = 0; i < CTS_POLLS && !(uart_get(u, REG_MSR) & MSR_CTS); i++)
		cpu_relax();
}

bool uart_wait(struct uart *u)
{
	if (u->line.rtscts)
		wait_for_cts(u);
	return wait_for(u, LSR_THR_EMPTY);
}

/* The transmitter is empty. */
static size_t uart_send_burst(struct uart *u, const char *s, size_t n)
{
	size_t chunk = MIN(n, u->burst);

	if (!u->memory)
		port_write8(u->place.base, s, chunk);
	else
		for (size_t i = 0; i < chunk; i++)
			uart_put(u, REG_DATA, s[i]);
	u->sent += chunk;
	return chunk;
}

size_t uart_send(struct uart *u, const char *s, size_t n)
{
	return uart_get(u, REG_LSR) & LSR_THR_EMPTY ? uart_send_burst(u, s, n) : 0;
}

void uart_write(struct uart *u, const char *s, size_t n)
{
	while (n && uart_wait(u)) {
		size_t sent = uart_send_burst(u, s, n);
		s += sent;
		n -= sent;
	}
}

void uart_drain(struct uart *u)
{
	wait_for(u, LSR_ALL_SENT);
}

int uart_read(struct uart *u)
{
	for (;;) {
		u8 lsr = uart_get(u, REG_LSR);
		if (!(lsr & LSR_DATA) || lsr == GONE)
			return -1;
		u8 c = uart_get(u, REG_DATA);
		if (lsr & LSR_BREAK)
			return UART_BREAK;
		if (!(lsr & (LSR_PARITY | LSR_FRAMING))) {
			u->received++;
			return c;
		}
		u->errors++;
	}
}

void uart_irq_enable(struct uart *u, u8 events)
{
	uart_put(u, REG_IER, events);
}

bool uart_irq_pending(struct uart *u)
{
	u8 iir = uart_get(u, REG_IIR);

	return !(iir & IIR_NONE) && iir != GONE;
}
