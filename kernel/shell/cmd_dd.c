/* dd: blocks of bytes from one file to another, counted. Task context. */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/command.h"

struct dd {
	struct file *in, *out;
	u64 bs, count, skip, seek;
	u64 full_in, part_in, full_out, part_out;
	bool has_count, quiet, notrunc;
	const char *in_name, *out_name;
};

static int dd_number(struct sh_io *io, const char *s, u64 *out)
{
	const char *end;
	u64 v = parse_digits(s, &end, 10), unit = 1;

	if ((*end | 32) == 'k')
		unit = 1024;
	else if (*end == 'M')
		unit = 1 << 20;
	if (end == s || (unit == 1 ? *end : end[1]))
		return sh_fail(io, "invalid number '%s'", s);
	*out = v * unit;
	return 0;
}

static int dd_operand(struct sh_io *io, struct dd *d, const char *s)
{
	if (str_has_prefix(s, "if="))
		d->in_name = s + 3;
	else if (str_has_prefix(s, "of="))
		d->out_name = s + 3;
	else if (str_has_prefix(s, "bs="))
		return dd_number(io, s + 3, &d->bs);
	else if (str_has_prefix(s, "count="))
		return d->has_count = true, dd_number(io, s + 6, &d->count);
	else if (str_has_prefix(s, "skip="))
		return dd_number(io, s + 5, &d->skip);
	else if (str_has_prefix(s, "seek="))
		return dd_number(io, s + 5, &d->seek);
	else if (!strcmp(s, "status=none"))
		d->quiet = true;
	else if (!strcmp(s, "conv=notrunc"))
		d->notrunc = true;
	else if (strcmp(s, "status=noxfer") && !str_has_prefix(s, "conv="))
		return sh_fail(io, "unknown operand %s", s);
	return 0;
}

static int dd_open(struct sh_io *io, struct dd *d)
{
	int e;

	d->in = io->in;
	d->out = io->out;
	if (d->in_name && (e = file_open(d->in_name, O_RDONLY, 0, &d->in))) {
		d->in = NULL;
		return sh_fail_open(io, d->in_name, e);
	}
	if (!d->out_name)
		return 0;
	e = file_open(
	    d->out_name, O_WRONLY | O_CREAT | (d->seek || d->notrunc ? 0 : O_TRUNC), 0666, &d->out);
	if (!e)
		return 0;
	d->out = NULL;
	return sh_fail_open(io, d->out_name, e);
}

static int dd_copy(struct sh_io *io, struct dd *d, char *buf)
{
	ssize n;
	int e;

	for (u64 i = 0; i < d->skip && (n = sh_read(io, d->in, buf, d->bs)) > 0; i++)
		;
	if (d->seek && vfs_seek(d->out, d->seek * d->bs, 0) < 0)
		return sh_fail(io, "can't seek '%s'", d->out_name ? d->out_name : "output");
	while (!d->has_count || d->full_in + d->part_in < d->count) {
		n = sh_read(io, d->in, buf, d->bs);
		if (n < 0 && n != -EINTR)
			sh_fail_errno(io, n, "%s", d->in_name ? d->in_name : "standard input");
		if (n <= 0)
			return n < 0;
		*((u64)n == d->bs ? &d->full_in : &d->part_in) += 1;
		e = sh_write_all(d->out, buf, n);
		if (e)
			return sh_fail_errno(
			    io, e, "%s", d->out_name ? d->out_name : "standard output");
		*((u64)n == d->bs ? &d->full_out : &d->part_out) += 1;
	}
	return 0;
}

static void dd_report(struct sh_io *io, const struct dd *d)
{
	struct sh_buf b = {0};

	sh_buf_printf(&b, "%llu+%llu records in\n%llu+%llu records out\n",
	    (unsigned long long)d->full_in, (unsigned long long)d->part_in,
	    (unsigned long long)d->full_out, (unsigned long long)d->part_out);
	if (b.len)
		sh_write_all(io->err, b.s, b.len);
	sh_buf_free(&b);
}

int sh_cmd_dd(struct sh_io *io, int argc, char **argv)
{
	struct dd d = {.bs = 512};
	char *buf;
	bool opened = false;
	int bad = 0;

	for (int i = 1; i < argc && !bad; i++)
		bad = dd_operand(io, &d, argv[i]);
	if (!bad && (!d.bs || d.bs > 1 << 20))
		bad = sh_fail(io, "bs must be 1 to 1M");
	if (bad)
		return bad;
	buf = kmalloc(d.bs);
	bad = !buf ? sh_fail(io, "out of memory") : dd_open(io, &d);
	opened = !bad;
	if (opened)
		bad = dd_copy(io, &d, buf);
	if (d.in && d.in != io->in)
		file_put(d.in);
	if (d.out && d.out != io->out)
		file_put(d.out);
	kfree(buf);
	if (opened && !d.quiet && !os_interrupted())
		dd_report(io, &d);
	return bad;
}
