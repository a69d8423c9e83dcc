/* console= as Linux's serial-console document gives it. Pure. */
#include "drivers/console_option.h"

#include "kernel/lib/number.h"
#include "kernel/lib/string.h"

#define BAUD_MAX 4000000

const struct uart_line uart_line_usual = {.baud = 115200, .bits = 8, .parity = 'n', .stop = 1};

bool uart_line_parse(const char *s, struct uart_line *out)
{
	const char *p;
	u64 baud = parse_digits(s, &p, 10);

	if (p == s || !baud || baud > BAUD_MAX)
		return false;
	*out = uart_line_usual;
	out->baud = baud;
	if (*p == 'n' || *p == 'o' || *p == 'e')
		out->parity = *p++;
	if (*p >= '5' && *p <= '8')
		out->bits = *p++ - '0';
	if (*p == 'r') {
		out->rtscts = true;
		p++;
	}
	return !*p || (*p == '\n' && !p[1]);
}

/* ",OPTIONS" or nothing. */
static bool console_option_parse_rest(const char *s, struct uart_line *line)
{
	*line = uart_line_usual;
	return !*s || (*s == ',' && uart_line_parse(s + 1, line));
}

/* After "uart,": the place. */
static bool parse_place(const char *s, struct console_option *out)
{
	static const struct {
		const char *word;
		struct uart_place place;
	} spaces[] = {
	    {"io,", {UART_PORTS, 0, 0, 1}},
	    {"mmio,", {UART_MEMORY, 0, 0, 1}},
	    {"mmio32,", {UART_MEMORY, 0, 2, 4}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++) {
		size_t n = strlen(spaces[i].word);
		const char *end;

		if (strncmp(s, spaces[i].word, n))
			continue;
		out->place = spaces[i].place;
		out->place.base = parse_digits(s + n, &end, 0);
		return end != s + n && out->place.base &&
		       console_option_parse_rest(end, &out->line);
	}
	return false;
}

static bool parse_number(const char *s, unsigned *out, const char **end)
{
	u64 n = parse_digits(s, end, 10);

	*out = n;
	return *end != s && n < 64;
}

bool console_option_parse(const char *s, struct console_option *out)
{
	const char *end;

	memset(out, 0, sizeof(*out));
	if (!strncmp(s, "ttyS", 4)) {
		out->kind = CONSOLE_SERIAL;
		return parse_number(s + 4, &out->number, &end) &&
		       console_option_parse_rest(end, &out->line);
	}
	if (!strncmp(s, "uart", 4)) {
		s += strncmp(s, "uart8250", 8) ? 4 : 8;
		out->kind = CONSOLE_UART;
		return *s == ',' && parse_place(s + 1, out);
	}
	out->kind = CONSOLE_SCREEN;
	if (strncmp(s, "tty", 3))
		return false;
	return !s[3] || (parse_number(s + 3, &out->number, &end) && !*end);
}
