/* console= and line settings: drivers/console_option.c. */
#include "drivers/console_option.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"

static struct console_option o;

static bool is_line(u32 baud, char parity, u8 bits, bool rtscts)
{
	return o.line.baud == baud && o.line.parity == parity && o.line.bits == bits &&
	       o.line.rtscts == rtscts && o.line.stop == 1;
}

static void serial(void)
{
	EXPECT(console_option_parse("ttyS0", &o));
	EXPECT_EQ(o.kind, CONSOLE_SERIAL);
	EXPECT_EQ(o.number, 0);
	EXPECT(is_line(115200, 'n', 8, false));
	EXPECT(console_option_parse("ttyS1,9600", &o));
	EXPECT_EQ(o.number, 1);
	EXPECT(is_line(9600, 'n', 8, false));
	EXPECT(console_option_parse("ttyS11,57600e7r", &o));
	EXPECT_EQ(o.number, 11);
	EXPECT(is_line(57600, 'e', 7, true));
	EXPECT(console_option_parse("ttyS0,1200o5", &o));
	EXPECT(is_line(1200, 'o', 5, false));
	EXPECT(console_option_parse("ttyS0,4000000", &o));
}

static void places(void)
{
	EXPECT(console_option_parse("uart,io,0x3f8,19200n8", &o));
	EXPECT_EQ(o.kind, CONSOLE_UART);
	EXPECT_EQ(o.place.space, UART_PORTS);
	EXPECT_EQ(o.place.base, 0x3f8);
	EXPECT(is_line(19200, 'n', 8, false));
	EXPECT(console_option_parse("uart8250,mmio,0xfe030000", &o));
	EXPECT_EQ(o.place.space, UART_MEMORY);
	EXPECT_EQ(o.place.base, 0xfe030000);
	EXPECT_EQ(o.place.width, 1);
	EXPECT(console_option_parse("uart,mmio32,0x1fe030000,115200", &o));
	EXPECT_EQ(o.place.base, 0x1fe030000);
	EXPECT_EQ(o.place.width, 4);
	EXPECT_EQ(o.place.shift, 2);
}

static void screen(void)
{
	EXPECT(console_option_parse("tty0", &o));
	EXPECT_EQ(o.kind, CONSOLE_SCREEN);
	EXPECT(console_option_parse("tty", &o));
	EXPECT_EQ(o.kind, CONSOLE_SCREEN);
}

static void refused(void)
{
	static const char *const bad[] = {"", "ttyS", "ttySx", "ttyS64", "ttyS0,", "ttyS0,n8",
	    "ttyS0,0", "ttyS0,4000001", "ttyS0,115200x", "ttyS0,115200n9", "ttyS0,115200n4",
	    "ttyS0,115200n8rr", "ttyS0 ", "tty0,9600", "ttyx", "uart", "uart,", "uart,io",
	    "uart,io,", "uart,io,zz", "uart,io,0", "uart,io,0x3f8,", "uart,mem,0x1000",
	    "uart8250io,0x3f8", "hvc0", "null"};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (console_option_parse(bad[i], &o))
			ktap_fail(__FILE__, __LINE__, "'%s' was taken", bad[i]);
}

static void lines(void)
{
	EXPECT(uart_line_parse("38400o7\n", &o.line));
	EXPECT(is_line(38400, 'o', 7, false));
	EXPECT(!uart_line_parse("38400\n\n", &o.line));
	EXPECT(!uart_line_parse("", &o.line));
}

static const struct ktap_case cases[] = {
    {"console.serial", serial},
    {"console.places", places},
    {"console.screen", screen},
    {"console.refused", refused},
    {"console.lines", lines},
    {NULL, NULL},
};
extern const struct ktap_suite suite_console_option;
const struct ktap_suite suite_console_option = {cases};
