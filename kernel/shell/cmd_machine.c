/*
 * lspci, rdmsr, wrmsr, mmio, meminfo: the machine by the files it is shown in (/proc/trapline, /proc/bus/pci, /dev/cpu, /dev/mem).
 * Task context.
 */
#include "kernel/lib/string.h"
#include "kernel/shell/command.h"

#define MSR_FILE   "/proc/trapline/msr"
#define PCI_FILE   "/proc/trapline/pci"
#define MEM_FILE   "/dev/mem"
#define CONFIG_MAX 256
#define FAILED	   4 /* what msr-tools end with */

/* Runs fn over the lines of a file until it returns true; 1 after a message. */
static int each_line(struct sh_io *io, const char *path,
    bool (*fn)(struct sh_io *io, char *line, void *ctx), void *ctx)
{
	struct sh_buf line = {0};
	struct sh_reader r;
	struct file *f;
	int e = file_open(path, O_RDONLY, 0, &f);

	if (e)
		return sh_fail_open(io, path, e);
	e = sh_reader_init(&r, io, f);
	while (!e && !io->error && sh_getline(&r, &line)) {
		line.s[strcspn(line.s, "\n")] = 0;
		if (fn(io, line.s, ctx))
			break;
	}
	sh_reader_free(&r);
	sh_buf_free(&line);
	file_put(f);
	return e ? sh_fail_errno(io, e, "%s", path) : 0;
}

/* Opens, reads or writes once at a position; 0 or negative errno. */
static int access_at(const char *path, u64 pos, void *data, size_t n, bool write)
{
	struct file *f;
	int e = file_open(path, write ? O_WRONLY : O_RDONLY, 0, &f);
	ssize r;

	if (e)
		return e;
	r = write ? vfs_pwrite(f, data, n, pos) : vfs_pread(f, data, n, pos);
	file_put(f);
	return r < 0 ? (int)r : (size_t)r == n ? 0 : -EIO;
}

/* A number as C writes it: 0x for hex, 0 for octal. */
static bool number(struct sh_io *io, const char *s, u64 *out)
{
	if (s && is_digit(*s) && !parse_u64(s, 0, out))
		return true;
	sh_fail(io, "invalid number '%s'", s ? s : "");
	return false;
}

/* ---- lspci ---- */

struct lspci {
	struct sh_opts o;
	const char *slot; /* NULL: all */
	bool shown;	  /* the function whose lines come now */
	int found;
};

static void put_config(struct sh_io *io, const char *slot)
{
	u8 bytes[CONFIG_MAX];
	char path[32];
	int e;

	snprintf(path, sizeof(path), "/proc/bus/pci/%.2s/%.4s", slot, slot + 3);
	e = access_at(path, 0, bytes, sizeof(bytes), false);
	if (e) {
		sh_fail_errno(io, e, "%s", path);
		return;
	}
	for (size_t i = 0; i < sizeof(bytes); i++) {
		if (i % 16 == 0)
			sh_printf(io, "%02zx:", i);
		sh_printf(io, " %02x%s", bytes[i], i % 16 == 15 ? "\n" : "");
	}
}

/* "00:1f.2 SATA controller [0106]: Intel Corporation Device [8086:2922] (rev 02)" as numbers alone. */
static void put_numbers(struct sh_io *io, const char *line)
{
	const char *class = strchr(line, '['), *end = class ? strstr(class, "]: ") : NULL;
	const char *id = end ? strstr(end, "Device [") : NULL;

	if (id)
		sh_printf(io, "%.7s %.4s: %.9s%s\n", line, class + 1, id + 8, id + 18);
}

static bool lspci_line(struct sh_io *io, char *line, void *ctx)
{
	struct lspci *l = ctx;

	if (*line == '\t') {
		if (l->shown && sh_opt(&l->o, 'v'))
			sh_printf(io, "%s\n", line);
		return false;
	}
	if (l->shown && (sh_opt(&l->o, 'v') || sh_opt(&l->o, 'x')))
		sh_putc(io, '\n');
	l->shown = !l->slot || !strncmp(line, l->slot, strlen(l->slot));
	if (!l->shown)
		return false;
	l->found++;
	if (sh_opt(&l->o, 'n'))
		put_numbers(io, line);
	else
		sh_printf(io, "%s\n", line);
	if (sh_opt(&l->o, 'x'))
		put_config(io, line);
	return false;
}

int sh_cmd_lspci(struct sh_io *io, int argc, char **argv)
{
	struct lspci l = {0};

	if (sh_options(io, argc, argv, "nvxs:", &l.o))
		return 1;
	l.slot = sh_optval(&l.o, 's');
	if (each_line(io, PCI_FILE, lspci_line, &l))
		return 1;
	return l.slot && !l.found ? sh_fail(io, "no function at %s", l.slot) : 0;
}

/* ---- rdmsr, wrmsr ---- */

struct msr_name {
	const char *name;
	u64 number;
	bool found;
};

static bool same_word(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if ((*a | 32) != (*b | 32))
			return false;
	return !*a && !*b;
}

static bool msr_line(struct sh_io *io, char *line, void *ctx)
{
	struct msr_name *m = ctx;
	char *rest = line + strspn(line, " "), *num = strsep(&rest, " "),
	     *name = rest ? strsep(&rest, " ") : "", *bare = strchr(name, '_');

	(void)io;
	m->found = (same_word(name, m->name) || (bare && same_word(bare + 1, m->name))) &&
		   !parse_u64(num, 16, &m->number);
	return m->found;
}

/* A number, or a name of the list, with or without what stands before its first '_'. */
static bool msr_number(struct sh_io *io, const char *s, u64 *out)
{
	struct msr_name m = {.name = s};

	if (is_digit(*s))
		return number(io, s, out);
	if (each_line(io, MSR_FILE, msr_line, &m))
		return false;
	*out = m.number;
	if (!m.found)
		sh_fail(io, "no register is known by the name '%s' (" MSR_FILE ")", s);
	return m.found;
}

struct msr_command {
	struct sh_opts o;
	u64 msr, value;
	bool write;
};

static int msr_on(struct sh_io *io, struct msr_command *c, u64 cpu)
{
	char path[32];
	int e;

	snprintf(path, sizeof(path), "/dev/cpu/%llu/msr", (unsigned long long)cpu);
	e = access_at(path, c->msr, &c->value, sizeof(c->value), c->write);
	if (e == -EIO && c->write)
		sh_fail(io, "CPU %llu cannot set MSR 0x%08llx to 0x%016llx",
		    (unsigned long long)cpu, (unsigned long long)c->msr,
		    (unsigned long long)c->value);
	else if (e == -EIO)
		sh_fail(io, "CPU %llu cannot read MSR 0x%08llx", (unsigned long long)cpu,
		    (unsigned long long)c->msr);
	else if (e == -ENOENT && !sh_opt(&c->o, 'a'))
		sh_fail(io, "there is no CPU %llu", (unsigned long long)cpu);
	else if (e && e != -ENOENT)
		sh_fail_errno(io, e, "%s", path);
	if (e || c->write)
		return e;
	sh_printf(io,
	    sh_opt(&c->o, 'd')	 ? "%llu\n"
	    : sh_opt(&c->o, 'c') ? "0x%llx\n"
	    : sh_opt(&c->o, 'z') ? "%016llx\n"
				 : "%llx\n",
	    (unsigned long long)c->value);
	return 0;
}

static int msr_run(struct sh_io *io, struct msr_command *c)
{
	u64 cpu = 0;
	int e;

	if (sh_opt(&c->o, 'p') && !sh_number(io, sh_optval(&c->o, 'p'), &cpu))
		return 1;
	if (c->msr > 0xffffffff)
		return sh_fail(io, "registers have numbers of 32 bits");
	do {
		e = msr_on(io, c, cpu++);
	} while (!e && sh_opt(&c->o, 'a'));
	return e == -ENOENT && sh_opt(&c->o, 'a') ? 0 : e ? FAILED : 0;
}

int sh_cmd_rdmsr(struct sh_io *io, int argc, char **argv)
{
	struct msr_command c = {0};

	if (sh_options(io, argc, argv, "adczp:", &c.o))
		return 1;
	if (argc - c.o.at != 1)
		return sh_fail(io, "one register, please");
	return msr_number(io, argv[c.o.at], &c.msr) ? msr_run(io, &c) : 1;
}

int sh_cmd_wrmsr(struct sh_io *io, int argc, char **argv)
{
	struct msr_command c = {.write = true};

	if (sh_options(io, argc, argv, "ap:", &c.o))
		return 1;
	if (argc - c.o.at != 2)
		return sh_fail(io, "a register and its value, please");
	if (!msr_number(io, argv[c.o.at], &c.msr) || !number(io, argv[c.o.at + 1], &c.value))
		return 1;
	return msr_run(io, &c);
}

/* ---- mmio ---- */

int sh_cmd_mmio(struct sh_io *io, int argc, char **argv)
{
	u64 address, bits = 32, value = 0;
	int e;

	if (!number(io, argv[1], &address) || (argc > 2 && !number(io, argv[2], &bits)) ||
	    (argc > 3 && !number(io, argv[3], &value)))
		return 1;
	if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
		return sh_fail(io, "the width is 8, 16, 32 or 64 bits");
	if (address % (bits / 8))
		return sh_fail(
		    io, "the address is no multiple of %llu", (unsigned long long)bits / 8);
	if (bits < 64 && value >> bits)
		return sh_fail(io, "the value has more than %llu bits", (unsigned long long)bits);
	e = access_at(MEM_FILE, address, &value, bits / 8, argc > 3);
	if (e == -EPERM)
		return sh_fail(io, "0x%llx is memory that is in use", (unsigned long long)address);
	if (e == -ENXIO || e == -EINVAL)
		return sh_fail(io, "there is no address 0x%llx", (unsigned long long)address);
	if (e)
		return sh_fail_errno(io, e, MEM_FILE);
	if (argc <= 3)
		sh_printf(io, "0x%0*llx\n", (int)bits / 4, (unsigned long long)value);
	return 0;
}

/* ---- meminfo ---- */

static bool plain_line(struct sh_io *io, char *line, void *unused)
{
	(void)unused;
	sh_printf(io, "%s\n", line);
	return false;
}

/* A line of /proc/iomem that lies in no other, with its size. */
static bool map_line(struct sh_io *io, char *line, void *unused)
{
	const char *p, *name = strstr(line, " : ");
	u64 start = parse_digits(line, &p, 16), end = *p == '-' ? parse_digits(p + 1, &p, 16) : 0;

	(void)unused;
	if (*line != ' ' && name)
		sh_printf(io, "%016llx-%016llx %12llu kB  %s\n", (unsigned long long)start,
		    (unsigned long long)end, (unsigned long long)((end - start + 1) >> 10),
		    name + 3);
	return false;
}

int sh_cmd_meminfo(struct sh_io *io, int argc, char **argv)
{
	(void)argc, (void)argv;
	return each_line(io, "/proc/meminfo", plain_line, NULL) ||
	       each_line(io, "/proc/iomem", map_line, NULL);
}
