/*
 * acpi [-x] [TABLE]...: the firmware's tables, listed, as fields with their names, or as bytes.
 * From /sys/firmware/acpi/tables and /proc/trapline/acpi. (ACPI 6.4, chapter 5.)
 */
#include "user/command.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TABLES	  "/sys/firmware/acpi/tables/"
#define LIST	  "/proc/trapline/acpi"
#define TABLE_MAX (4 << 20)
#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))

struct field {
	uint16_t offset;
	uint8_t size; /* bytes of a number; 0: text up to the next field */
	const char *name;
};

static const struct field header[] = {{0, 4, NULL}, {4, 4, "Length"}, {8, 1, "Revision"},
    {9, 1, "Checksum"}, {10, 0, "OEM"}, {16, 0, "OEM table"}, {24, 4, "OEM revision"},
    {28, 0, "Creator"}, {32, 4, "Creator revision"}};

static const struct field facp[] = {{36, 4, "FACS"}, {40, 4, "DSDT"}, {45, 1, "Profile"},
    {46, 2, "SCI interrupt"}, {48, 4, "SMI command port"}, {52, 1, "ACPI enable"},
    {53, 1, "ACPI disable"}, {56, 4, "PM1a event"}, {60, 4, "PM1b event"}, {64, 4, "PM1a control"},
    {68, 4, "PM1b control"}, {72, 4, "PM2 control"}, {76, 4, "PM timer"}, {80, 4, "GPE0"},
    {84, 4, "GPE1"}, {96, 2, "C2 latency"}, {98, 2, "C3 latency"}, {108, 1, "CMOS century"},
    {109, 2, "Boot flags"}, {112, 4, "Flags"}, {120, 8, "Reset register"}, {128, 1, "Reset value"},
    {132, 8, "X FACS"}, {140, 8, "X DSDT"}};

static const struct field hpet[] = {{36, 4, "Block ID"}, {40, 1, "Space"}, {44, 8, "Address"},
    {52, 1, "Number"}, {53, 2, "Minimum tick"}, {55, 1, "Protection"}};

static const struct field apic[] = {{36, 4, "Local APIC"}, {40, 4, "Flags"}};

static const struct field spcr[] = {{36, 1, "Interface"}, {40, 1, "Space"}, {41, 1, "Bits"},
    {44, 8, "Address"}, {52, 1, "Interrupt type"}, {53, 1, "IRQ"}, {54, 4, "GSI"}, {58, 1, "Baud"},
    {59, 1, "Parity"}, {60, 1, "Stop bits"}, {61, 1, "Flow control"}, {62, 1, "Terminal"},
    {76, 4, "Clock"}, {80, 4, "Precise baud"}};

static const struct {
	const char *table;
	const struct field *fields;
	size_t count;
} known[] = {
    {"FACP", facp, COUNT(facp)},
    {"HPET", hpet, COUNT(hpet)},
    {"APIC", apic, COUNT(apic)},
    {"SPCR", spcr, COUNT(spcr)},
};

/* Entries of the MADT: what the numbers after type and length are called. */
static const struct {
	uint8_t type, length;
	const char *name;
	struct field field[4];
} entries[] = {
    {0, 8, "Local APIC", {{2, 1, "processor"}, {3, 1, "id"}, {4, 4, "flags"}}},
    {1, 12, "I/O APIC", {{2, 1, "id"}, {4, 4, "address"}, {8, 4, "first GSI"}}},
    {2, 10, "Override", {{2, 1, "bus"}, {3, 1, "source"}, {4, 4, "GSI"}, {8, 2, "flags"}}},
    {4, 6, "Local APIC NMI", {{2, 1, "processor"}, {3, 2, "flags"}, {5, 1, "LINT"}}},
    {5, 12, "Local APIC address", {{4, 8, "address"}}},
    {9, 16, "Local x2APIC", {{4, 4, "id"}, {8, 4, "flags"}, {12, 4, "processor"}}},
    {10, 12, "Local x2APIC NMI", {{2, 2, "flags"}, {4, 4, "processor"}, {8, 1, "LINT"}}},
};

static uint64_t number_at(const uint8_t *p, unsigned size)
{
	uint64_t v = 0;

	memcpy(&v, p, size);
	return v;
}

static void put_field(const uint8_t *t, const struct field *f, unsigned text)
{
	printf("[%03xh] %18s : ", f->offset, f->name);
	if (f->size) {
		printf(
		    "%0*llX\n", f->size * 2, (unsigned long long)number_at(t + f->offset, f->size));
		return;
	}
	putchar('"');
	for (unsigned i = 0; i < text && t[f->offset + i]; i++)
		putchar(isprint(t[f->offset + i]) ? t[f->offset + i] : '?');
	fputs("\"\n", stdout);
}

static void put_fields(const uint8_t *t, size_t n, const struct field *f, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		unsigned text = i + 1 < count ? f[i + 1].offset - f[i].offset : 0;
		if (f[i].name && f[i].offset + (f[i].size > text ? f[i].size : text) <= n)
			put_field(t, &f[i], text);
	}
}

static void put_entry(const uint8_t *e)
{
	printf("  ");
	for (size_t i = 0; i < COUNT(entries); i++) {
		if (entries[i].type != e[0] || e[1] < entries[i].length)
			continue;
		fputs(entries[i].name, stdout);
		for (unsigned k = 0; k < 4 && entries[i].field[k].name; k++) {
			const struct field *f = &entries[i].field[k];
			printf("%s %s %llx", k ? "," : ":", f->name,
			    (unsigned long long)number_at(e + f->offset, f->size));
		}
		putchar('\n');
		return;
	}
	printf("type %u, %u bytes\n", e[0], e[1]);
}

static void put_madt(const uint8_t *t, size_t n)
{
	for (size_t at = 44; at + 2 <= n; at += t[at + 1]) {
		if (t[at + 1] < 2 || at + t[at + 1] > n) {
			fputs("  damaged from here on\n", stdout);
			return;
		}
		put_entry(t + at);
	}
}

static void put_mcfg(const uint8_t *t, size_t n)
{
	for (size_t at = 44; at + 16 <= n; at += 16)
		printf("  segment %llx: buses %02x to %02x at %llx\n",
		    (unsigned long long)number_at(t + at + 8, 2), t[at + 10], t[at + 11],
		    (unsigned long long)number_at(t + at, 8));
}

static void put_table(const uint8_t *t, size_t n)
{
	printf("%.4s\n", (const char *)t);
	if (!memcmp(t, "FACS", 4) || n < 36) {
		put_fields(t, n, header, 2);
		return;
	}
	put_fields(t, n, header, COUNT(header));
	for (size_t i = 0; i < COUNT(known); i++)
		if (!memcmp(t, known[i].table, 4))
			put_fields(t, n, known[i].fields, known[i].count);
	if (!memcmp(t, "APIC", 4))
		put_madt(t, n);
	if (!memcmp(t, "MCFG", 4))
		put_mcfg(t, n);
}

static void put_bytes(const uint8_t *t, size_t n)
{
	for (size_t at = 0; at < n; at += 16) {
		printf("%04zx:", at);
		for (size_t i = at; i < n && i < at + 16; i++)
			printf(" %02x", t[i]);
		putchar('\n');
	}
}

/* The whole file; *n its size. NULL after a message. */
static uint8_t *read_table(const char *name, size_t *n)
{
	char path[64];
	struct stat st;
	uint8_t *t;
	int fd;

	snprintf(path, sizeof(path), TABLES "%s", name);
	if (strchr(name, '/') || stat(path, &st) || st.st_size < 8 || st.st_size > TABLE_MAX) {
		command_fail("there is no table '%s' (`acpi` lists them)", name);
		return NULL;
	}
	t = malloc(st.st_size);
	fd = open(path, O_RDONLY);
	*n = st.st_size;
	if (t && fd >= 0 && read(fd, t, *n) == (ssize_t)*n) {
		close(fd);
		return t;
	}
	command_fail_errno(path);
	if (fd >= 0)
		close(fd);
	free(t);
	return NULL;
}

static bool list_line(char *line, void *unused)
{
	(void)unused;
	puts(line);
	return false;
}

int main(int argc, char **argv)
{
	bool bytes = false;
	int c, bad = 0;

	command_begin(argv[0], "[-x] [TABLE]...");
	while ((c = command_option(argc, argv, "x")) > 0)
		bytes = true;
	if (!c)
		return 1;
	if (optind == argc)
		return command_each_line(LIST, list_line, NULL);
	for (int i = optind; i < argc; i++) {
		size_t n;
		uint8_t *t = read_table(argv[i], &n);

		bad |= !t;
		if (t && bytes)
			put_bytes(t, n);
		else if (t)
			put_table(t, n);
		free(t);
	}
	return bad;
}
