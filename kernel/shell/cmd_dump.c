/* hexdump: bytes as busybox prints them, by default in 16-bit words, with -C byte by byte beside their text. Task context. */
#include "kernel/lib/string.h"
#include "kernel/shell/command.h"

#define ROW 16

struct dump {
	struct sh_opts o;
	u64 at, limit, skip;
	u8 row[ROW], last[ROW];
	size_t have;
	bool same, any; /* a row like the one before was left out; there is one before */
};

/* -c: a character by itself, by its escape, or in octal. */
static void put_character(struct sh_io *io, u8 c)
{
	static const char named[] = "\0\a\b\t\n\v\f\r", names[] = "0abtnvfr";
	const char *p = memchr(named, c, sizeof(named) - 1);

	if (p)
		sh_printf(io, "  \\%c", names[p - named]);
	else
		sh_printf(io, is_print(c) ? "   %c" : " %03o", c);
}

/* The forms by letter; a row's missing ones are blanks. */
static const struct form {
	char letter;
	u8 bytes, width;
	const char *format; /* NULL: put_character() */
} forms[] = {
    {'b', 1, 4, " %03o"},
    {'c', 1, 4, NULL},
    {'d', 2, 8, "   %05u"},
    {'o', 2, 8, "  %06o"},
    {'x', 2, 8, "    %04x"},
    {0, 2, 5, " %04x"},
};

static void put_plain_row(struct sh_io *io, const struct dump *d)
{
	const struct form *f = forms;

	while (f->letter && !sh_opt(&d->o, f->letter))
		f++;
	sh_printf(io, "%07llx", (unsigned long long)d->at);
	for (size_t i = 0; i < ROW; i += f->bytes) {
		bool both = f->bytes == 2 && i + 1 < d->have;

		if (i >= d->have)
			sh_printf(io, "%*s", f->width, "");
		else if (f->format)
			sh_printf(io, f->format, d->row[i] | (both ? d->row[i + 1] << 8 : 0));
		else
			put_character(io, d->row[i]);
	}
	sh_putc(io, '\n');
}

static void put_row(struct sh_io *io, const struct dump *d)
{
	if (!sh_opt(&d->o, 'C')) {
		put_plain_row(io, d);
		return;
	}
	sh_printf(io, "%08llx ", (unsigned long long)d->at);
	for (size_t i = 0; i < ROW; i++) {
		if (i == ROW / 2)
			sh_putc(io, ' ');
		if (i < d->have)
			sh_printf(io, " %02x", d->row[i]);
		else
			sh_puts(io, "   ");
	}
	sh_puts(io, "  |");
	for (size_t i = 0; i < d->have; i++)
		sh_putc(io, is_print(d->row[i]) ? d->row[i] : '.');
	sh_puts(io, "|\n");
}

/* A full row, or the last one. Rows that repeat become one star, unless -v. */
static void end_row(struct sh_io *io, struct dump *d)
{
	bool repeats =
	    d->any && d->have == ROW && !memcmp(d->row, d->last, ROW) && !sh_opt(&d->o, 'v');

	if (!d->have)
		return;
	if (repeats && !d->same)
		sh_puts(io, "*\n");
	if (!repeats)
		put_row(io, d);
	d->same = repeats;
	d->any = true;
	memcpy(d->last, d->row, ROW);
	d->at += d->have;
	d->have = 0;
}

static int dump_file(struct sh_io *io, struct file *f, const char *name, void *ctx)
{
	struct dump *d = ctx;
	struct sh_reader r;
	int c;

	(void)name;
	if (sh_reader_init(&r, io, f))
		return sh_fail(io, "out of memory");
	while (d->limit && !io->error && (c = sh_getc(&r)) >= 0) {
		if (d->skip) {
			d->skip--;
			d->at++;
			continue;
		}
		d->limit--;
		d->row[d->have++] = c;
		if (d->have == ROW)
			end_row(io, d);
	}
	sh_reader_free(&r);
	if (!r.error || r.error == -EINTR)
		return r.error != 0;
	return sh_fail_errno(io, r.error, "%s", name);
}

int sh_cmd_hexdump(struct sh_io *io, int argc, char **argv)
{
	struct dump d = {.limit = ~0UL};
	int bad;

	if (sh_options(io, argc, argv, "Cvbcdoxn:s:", &d.o))
		return 1;
	if (sh_opt(&d.o, 'n') && !sh_number(io, sh_optval(&d.o, 'n'), &d.limit))
		return 1;
	if (sh_opt(&d.o, 's') && !sh_number(io, sh_optval(&d.o, 's'), &d.skip))
		return 1;
	bad = sh_each_file(io, argc - d.o.at, argv + d.o.at, dump_file, &d);
	end_row(io, &d);
	if (d.at)
		sh_printf(
		    io, sh_opt(&d.o, 'C') ? "%08llx\n" : "%07llx\n", (unsigned long long)d.at);
	return bad;
}
