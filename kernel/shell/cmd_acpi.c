/*
 * acpi: the firmware's tables, listed, as fields with their names, or as bytes. Reads /sys/firmware/acpi/tables and
 * /proc/trapline/acpi. Task context. (ACPI 6.4, chapter 5.)
 */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/command.h"

#define TABLES	  "/sys/firmware/acpi/tables/"
#define LIST	  "/proc/trapline/acpi"
#define TABLE_MAX (4u << 20)

struct field {
	u16 offset;
	u8 size; /* bytes of a number; 0: text up to the next field */
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
    {"FACP", facp, ARRAY_SIZE(facp)},
    {"HPET", hpet, ARRAY_SIZE(hpet)},
    {"APIC", apic, ARRAY_SIZE(apic)},
    {"SPCR", spcr, ARRAY_SIZE(spcr)},
};

/* Entries of the MADT: what the numbers behind type and length are called. */
static const struct {
	u8 type, length;
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

static u64 number_at(const u8 *p, unsigned size)
{
	u64 v = 0;

	memcpy(&v, p, size);
	return v;
}

static void put_field(struct sh_io *io, const u8 *t, const struct field *f, unsigned text)
{
	sh_printf(io, "[%03xh] %18s : ", f->offset, f->name);
	if (f->size) {
		sh_printf(io, "%0*llX\n", f->size * 2,
		    (unsigned long long)number_at(t + f->offset, f->size));
		return;
	}
	sh_putc(io, '"');
	for (unsigned i = 0; i < text && t[f->offset + i]; i++)
		sh_putc(io, is_print(t[f->offset + i]) ? t[f->offset + i] : '?');
	sh_puts(io, "\"\n");
}

static void put_fields(struct sh_io *io, const u8 *t, size_t n, const struct field *f, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		unsigned text = i + 1 < count ? f[i + 1].offset - f[i].offset : 0;
		if (f[i].name && f[i].offset + MAX(f[i].size, text) <= n)
			put_field(io, t, &f[i], text);
	}
}

static void put_entry(struct sh_io *io, const u8 *e)
{
	sh_printf(io, "  ");
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		if (entries[i].type != e[0] || e[1] < entries[i].length)
			continue;
		sh_puts(io, entries[i].name);
		for (unsigned k = 0; k < 4 && entries[i].field[k].name; k++) {
			const struct field *f = &entries[i].field[k];
			sh_printf(io, "%s %s %llx", k ? "," : ":", f->name,
			    (unsigned long long)number_at(e + f->offset, f->size));
		}
		sh_putc(io, '\n');
		return;
	}
	sh_printf(io, "type %u, %u bytes\n", e[0], e[1]);
}

static void put_madt(struct sh_io *io, const u8 *t, size_t n)
{
	for (size_t at = 44; at + 2 <= n; at += t[at + 1]) {
		if (t[at + 1] < 2 || at + t[at + 1] > n) {
			sh_puts(io, "  damaged from here on\n");
			return;
		}
		put_entry(io, t + at);
	}
}

static void put_mcfg(struct sh_io *io, const u8 *t, size_t n)
{
	for (size_t at = 44; at + 16 <= n; at += 16)
		sh_printf(io, "  segment %llx: buses %02x to %02x at %llx\n",
		    (unsigned long long)number_at(t + at + 8, 2), t[at + 10], t[at + 11],
		    (unsigned long long)number_at(t + at, 8));
}

static void put_table(struct sh_io *io, const u8 *t, size_t n)
{
	sh_printf(io, "%.4s\n", (const char *)t);
	if (!memcmp(t, "FACS", 4) || n < 36) {
		put_fields(io, t, n, header, 2);
		return;
	}
	put_fields(io, t, n, header, ARRAY_SIZE(header));
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!memcmp(t, known[i].table, 4))
			put_fields(io, t, n, known[i].fields, known[i].count);
	if (!memcmp(t, "APIC", 4))
		put_madt(io, t, n);
	if (!memcmp(t, "MCFG", 4))
		put_mcfg(io, t, n);
}

static void put_bytes(struct sh_io *io, const u8 *t, size_t n)
{
	for (size_t at = 0; at < n && !io->error; at += 16) {
		sh_printf(io, "%04zx:", at);
		for (size_t i = at; i < MIN(at + 16, n); i++)
			sh_printf(io, " %02x", t[i]);
		sh_putc(io, '\n');
	}
}

/* The whole file; *n its size. NULL after a message. */
static u8 *read_table(struct sh_io *io, const char *name, size_t *n)
{
	char path[64];
	struct vstat st;
	struct file *f;
	u8 *t = NULL;
	ssize got;
	int e;

	snprintf(path, sizeof(path), TABLES "%s", name);
	e = strchr(name, '/') ? -ENOENT : vfs_stat(path, true, &st);
	if (e || st.size < 8 || st.size > TABLE_MAX) {
		sh_fail(io, "there is no table '%s' (`acpi` lists them)", name);
		return NULL;
	}
	e = file_open(path, O_RDONLY, 0, &f);
	if (e) {
		sh_fail_open(io, path, e);
		return NULL;
	}
	t = kmalloc(st.size);
	got = t ? kernel_read(f, t, st.size) : -ENOMEM;
	file_put(f);
	if (got == (ssize)st.size) {
		*n = st.size;
		return t;
	}
	kfree(t);
	sh_fail_errno(io, got < 0 ? got : -EIO, "%s", path);
	return NULL;
}

static int list_tables(struct sh_io *io)
{
	char buf[256];
	struct file *f;
	ssize n;
	int e = file_open(LIST, O_RDONLY, 0, &f);

	if (e)
		return sh_fail_open(io, LIST, e);
	while ((n = sh_read(io, f, buf, sizeof(buf))) > 0)
		sh_put(io, buf, n);
	file_put(f);
	return n ? sh_fail_errno(io, n, LIST) : 0;
}

int sh_cmd_acpi(struct sh_io *io, int argc, char **argv)
{
	struct sh_opts o;
	int bad = 0;

	if (sh_options(io, argc, argv, "x", &o))
		return 1;
	if (o.at == argc)
		return list_tables(io);
	for (int i = o.at; i < argc; i++) {
		size_t n;
		u8 *t = read_table(io, argv[i], &n);
		bad |= !t;
		if (!t)
			continue;
		if (sh_opt(&o, 'x'))
			put_bytes(io, t, n);
		else
			put_table(io, t, n);
		kfree(t);
	}
	return bad;
}
