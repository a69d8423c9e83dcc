/* The value of console= on the command line, in Linux's form. Pure. */
#pragma once

#include "drivers/uart.h"

enum console_kind { CONSOLE_SERIAL, CONSOLE_UART, CONSOLE_SCREEN };

struct console_option {
	enum console_kind kind;
	unsigned number;	 /* CONSOLE_SERIAL: of ttyS; CONSOLE_SCREEN: of tty */
	struct uart_place place; /* CONSOLE_UART */
	struct uart_line line;
};

extern const struct uart_line uart_line_usual; /* 115200n8 */

/*
 *     ttyS0   ttyS0,9600   ttyS0,115200n8   ttyS1,57600e7r     a serial port by its number
 *     uart,io,0x3f8,9600n8   uart,mmio,0xfe030000 uart,mmio32,0xfe030000,115200 by its place;
 *                            uart8250 too
 *     tty0   tty                                               the screen
 *
 * False: it is none of these, or no line setting.
 */
bool console_option_parse(const char *s, struct console_option *out);
/* The line setting alone: "115200", "9600e7", "57600n8r"; '\0' or a newline ends it. */
bool uart_line_parse(const char *s, struct uart_line *out);
