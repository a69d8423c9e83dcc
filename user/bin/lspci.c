/*
 * lspci [-nvx] [-s BUS:DEVICE.FUNCTION]: what is on PCI, from /proc/trapline/pci and /proc/bus/pci.
 */
#include "user/command.h"
#include "user/libc/syscall.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LIST	    "/proc/trapline/pci"
#define CONFIG_SIZE 256

struct lspci {
	bool numbers, more, registers;
	const char *slot; /* NULL: all */
	bool shown;	  /* the function whose lines come now */
	int found;
};

static void put_config(const char *slot)
{
	uint8_t bytes[CONFIG_SIZE];
	char path[32];
	int e;

	snprintf(path, sizeof(path), "/proc/bus/pci/%.2s/%.4s", slot, slot + 3);
	e = command_access(path, 0, bytes, sizeof(bytes), false);
	if (e) {
		command_fail("%s: %s", path, errno_text(e));
		return;
	}
	for (unsigned i = 0; i < sizeof(bytes); i++) {
		if (i % 16 == 0)
			printf("%02x:", i);
		printf(" %02x%s", bytes[i], i % 16 == 15 ? "\n" : "");
	}
}

/*
 * "00:1f.2 SATA controller [0106]: Intel Corporation Device [8086:2922] (rev 02)" as numbers alone.
 */
static void put_numbers(const char *line)
{
	const char *class = strchr(line, '['), *end = class ? strstr(class, "]: ") : NULL;
	const char *id = end ? strstr(end, "Device [") : NULL;

	if (id)
		printf("%.7s %.4s: %.9s%s\n", line, class + 1, id + 8, id + 18);
}

static bool lspci_line(char *line, void *ctx)
{
	struct lspci *l = ctx;

	if (*line == '\t') {
		if (l->shown && l->more)
			puts(line);
		return false;
	}
	if (l->shown && (l->more || l->registers))
		putchar('\n');
	l->shown = !l->slot || !strncmp(line, l->slot, strlen(l->slot));
	if (!l->shown)
		return false;
	l->found++;
	if (l->numbers)
		put_numbers(line);
	else
		puts(line);
	if (l->registers)
		put_config(line);
	return false;
}

int main(int argc, char **argv)
{
	struct lspci l = {0};
	int c;

	command_begin(argv[0], "[-nvx] [-s BUS:DEVICE.FUNCTION]");
	while ((c = command_option(argc, argv, "nvxs:")) > 0) {
		l.numbers |= c == 'n';
		l.more |= c == 'v';
		l.registers |= c == 'x';
		if (c == 's')
			l.slot = optarg;
	}
	if (!c || command_each_line(LIST, lspci_line, &l))
		return 1;
	return l.slot && !l.found ? command_fail("no function at %s", l.slot) : 0;
}
