/*
 * drivers/uart.c on registers that are memory: what is written where. Memory keeps what a chip
 * would take.
 */
#include "drivers/console_option.h"
#include "drivers/uart.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/host/firmware.h"
#include "tests/host/ports.h"

#define PLACE (FIRMWARE_BASE + 0x1000)

static struct uart u;
static unsigned shift;

static u8 *reg(unsigned n)
{
	return firmware + 0x1000 + (n << shift);
}

static void begin(u8 s, u8 width)
{
	struct uart_place place = {UART_MEMORY, PLACE, s, width};

	firmware_clear();
	shift = s;
	EXPECT(uart_probe(&u, &place, 0));
	*reg(5) = 0x60; /* nothing to send, nothing come */
}

static void line_settings(void)
{
	struct uart_line line = uart_line_usual;

	begin(2, 4);
	uart_setup(&u, &line);
	EXPECT_EQ(*reg(0), 1); /* divisor */
	EXPECT_EQ(*reg(1), 0);
	EXPECT_EQ(*reg(3), 3); /* 8n1 */
	EXPECT_EQ(*reg(4), 0xb);
	EXPECT_EQ(u.burst, 1);
	line = (struct uart_line){.baud = 300, .bits = 7, .parity = 'e', .stop = 2};
	uart_setup(&u, &line);
	EXPECT_EQ(*reg(0), 384 % 256);
	EXPECT_EQ(*reg(1), 384 / 256);
	EXPECT_EQ(*reg(3), 0x1e);
	line = (struct uart_line){.baud = 4000000, .bits = 5, .parity = 'o', .stop = 1};
	uart_setup(&u, &line); /* faster than the clock: as fast as it goes */
	EXPECT_EQ(*reg(0), 1);
	EXPECT_EQ(*reg(3), 8);
	*reg(0) = 77;
	line.baud = 0; /* as the firmware left it */
	uart_setup(&u, &line);
	EXPECT_EQ(*reg(0), 77);
	EXPECT_EQ(*reg(3), 8);
}

static void bytes(void)
{
	for (unsigned s = 0; s <= 2; s += 2) {
		begin(s, s ? 4 : 1);
		uart_setup(&u, &uart_line_usual);
		uart_write(&u, "ab", 2);
		EXPECT_EQ(*reg(0), 'b');
		EXPECT_EQ(u.sent, 2);
		EXPECT_EQ(uart_read(&u), -1);
		*reg(5) = 0xff; /* the card is pulled out: nothing waits for it */
		uart_write(&u, "xyz", 3);
		EXPECT_EQ(uart_read(&u), -1);
		EXPECT_EQ(u.sent, 2);
	}
}

static void interrupts(void)
{
	begin(0, 1);
	uart_irq_enable(&u, UART_IRQ_RECEIVED);
	EXPECT_EQ(*reg(1), 1);
	*reg(2) = 0xc1;
	EXPECT(!uart_irq_pending(&u));
	*reg(2) = 0xc4;
	EXPECT(uart_irq_pending(&u));
	*reg(2) = 0xff;
	EXPECT(!uart_irq_pending(&u));
}

/* A port that is set up again is quiet and has its lines up, also as the firmware left it. */
static void again(void)
{
	struct uart_line line = {.bits = 8, .parity = 'n', .stop = 1};

	begin(0, 1);
	uart_setup(&u, &line);
	uart_irq_enable(&u, UART_IRQ_RECEIVED);
	*reg(4) = 0;
	uart_setup(&u, &line);
	EXPECT_EQ(*reg(1), 0);
	EXPECT_EQ(*reg(4), 0xb);
	EXPECT(!u.line.baud);
}

static void not_there(void)
{
	struct uart_place none = {UART_MEMORY, 1UL << 50, 0, 1};
	struct uart_place edge = {UART_PORTS, 0x10000, 0, 1};

	EXPECT(!uart_probe(&u, &none, 0));
	EXPECT(!uart_probe(&u, &edge, 0));
}

/* ---- At ports, where a reading may take a byte away ---- */

#define PORT 0x2f8

static const u8 (*coming)[2]; /* line status and byte, until a status of 0 */
static u8 scratch, sent[8];
static unsigned sent_count;

static u32 chip_in(u16 port, unsigned bytes_read)
{
	EXPECT_EQ(bytes_read, 1);
	if (port == PORT + 7)
		return scratch;
	if (port == PORT + 5)
		return (*coming)[0] | 0x60;
	return port == PORT && (*coming)[0] ? (*coming++)[1] : 0;
}

static void chip_out(u16 port, unsigned bytes_written, u32 v)
{
	EXPECT_EQ(bytes_written, 1);
	if (port == PORT + 7)
		scratch = v;
	if (port == PORT && sent_count < sizeof(sent))
		sent[sent_count++] = v;
}

static const struct port_device chip[] = {{PORT, PORT + 7, chip_in, chip_out}};

static void begin_chip(const u8 (*bytes)[2])
{
	struct uart_place place = {UART_PORTS, PORT, 0, 1};

	coming = bytes;
	sent_count = 0;
	ports_begin(chip, 1);
	EXPECT(uart_probe(&u, &place, 0));
}

/* A byte with an error of parity or framing is dropped and counted; a break is none. */
static void errors(void)
{
	static const u8 bytes[][2] = {{1, 'a'}, {1 | 4, 'b'}, {1 | 8, 'c'}, {1 | 4 | 8, 'd'},
	    {1, 'e'}, {1 | 8 | 0x10, 0}, {1 | 2, 'f'}, {0, 0}};

	begin_chip(bytes);
	EXPECT_EQ(uart_read(&u), 'a');
	EXPECT_EQ(uart_read(&u), 'e');
	EXPECT_EQ(u.errors, 3);
	EXPECT_EQ(uart_read(&u), UART_BREAK);
	EXPECT_EQ(uart_read(&u), 'f'); /* one before it was overrun, which is no error of its own */
	EXPECT_EQ(uart_read(&u), -1);
	EXPECT_EQ(u.received, 3);
	EXPECT_EQ(u.errors, 3);
	ports_end();
}

/* Bytes go to the port in their order, as many at a time as the chip takes. */
static void sends(void)
{
	static const u8 none[][2] = {{0, 0}};

	begin_chip(none);
	EXPECT_EQ(uart_send(&u, "abc", 3), 1);
	u.burst = 16;
	EXPECT_EQ(uart_send(&u, "bcd", 3), 3);
	EXPECT_EQ(u.sent, 4);
	ports_end();
	EXPECT_EQ(sent_count, 4);
	EXPECT(!memcmp(sent, "abcd", 4));
}

static const struct ktap_case cases[] = {
    {"uart.line_settings", line_settings},
    {"uart.bytes", bytes},
    {"uart.interrupts", interrupts},
    {"uart.again", again},
    {"uart.not_there", not_there},
    {"uart.errors", errors},
    {"uart.sends", sends},
    {NULL, NULL},
};
extern const struct ktap_suite suite_uart;
const struct ktap_suite suite_uart = {cases};
