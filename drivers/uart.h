/*
 * One 16550 serial port, wherever its registers lie: polled output, input by interrupt or by
 * asking. Any context; callers keep writers apart. Input and output touch different registers and
 * need no common lock. (National PC16550D data sheet.)
 */
#pragma once

#include "kernel/lib/types.h"

#define UART_CLOCK 1843200 /* what a PC's divides by 16 times the divisor */

enum uart_space { UART_PORTS, UART_MEMORY };

/*
 * Where the registers lie: `base` is a port or a physical address, registers are 1 << shift bytes
 * apart and `width` bytes wide.
 */
struct uart_place {
	enum uart_space space;
	u64 base;
	u8 shift, width;
};

struct uart_line {
	u32 baud;    /* 0: as the firmware left it, the rest too */
	u8 bits;     /* 5 to 8 */
	char parity; /* 'n', 'o', 'e' */
	u8 stop;     /* 1 or 2 */
	bool rtscts; /* sends only while the other side lets it */
};

struct uart {
	struct uart_place place;
	volatile u8 *memory; /* mapped registers; NULL: ports */
	u32 clock;
	unsigned burst; /* bytes that fit once the transmitter is empty */
	struct uart_line line;
	u64 sent, received, errors; /* bytes; dropped for framing or parity */
};

/* Is there one? Fills *u, without a line setting. `clock` 0: UART_CLOCK. */
bool uart_probe(struct uart *u, const struct uart_place *place, u32 clock);
/*
 * Sets the line, empties the FIFOs, turns the modem lines on; no interrupts. A rate the clock
 * cannot make becomes the nearest.
 */
void uart_setup(struct uart *u, const struct uart_line *line);
/* All n bytes, waiting for room; nothing added. */
void uart_write(struct uart *u, const char *s, size_t n);
/*
 * The same in two steps, for writers who share a lock: waits for room; false: the device is gone.
 */
bool uart_wait(struct uart *u);
/* As many bytes as there is room for now; how many. */
size_t uart_send(struct uart *u, const char *s, size_t n);
/* Waits until the last byte has left the shift register. */
void uart_drain(struct uart *u);
/* The next received byte, UART_BREAK, or -1. Bytes with framing or parity errors are dropped. */
#define UART_BREAK 256
int uart_read(struct uart *u);
/* Which events raise the interrupt line from now on. */
enum { UART_IRQ_NONE = 0, UART_IRQ_RECEIVED = 1, UART_IRQ_SENT = 2 };
void uart_irq_enable(struct uart *u, u8 events);
/* Does it hold its interrupt line? Takes the event that the transmitter is empty back. */
bool uart_irq_pending(struct uart *u);
