/* cat, tee, head, tail, wc, dd: bytes from files to files. Task context. */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/command.h"

/* Copies as it comes: what a blocking file gives is seen at once. */
static int cat_file(struct sh_io *io, struct file *f, const char *name, void *ctx)
{
	char *buf = ctx;
	ssize n;

	(void)name;
	while ((n = sh_read(io, f, buf, SH_READ_SIZE)) > 0) {
		io->error = sh_write_all(io->out, buf, n);
		if (io->error)
			return 1;
	}
	if (n < 0 && n != -EINTR)
		sh_fail_errno(io, n, "read error");
	return n < 0;
}

int sh_cmd_cat(struct sh_io *io, int argc, char **argv)
{
	char *buf = kmalloc(SH_READ_SIZE);
	struct sh_opts o;
	int r;

	if (!buf)
		return sh_fail_errno(io, -ENOMEM, "cat");
	io->cant_open = true;
	r = sh_options(io, argc, argv, "u", &o) ||
	    sh_each_file(io, argc - o.at, argv + o.at, cat_file, buf);
	kfree(buf);
	return r;
}

int sh_cmd_tee(struct sh_io *io, int argc, char **argv)
{
	struct file *out[8];
	struct sh_opts o;
	char *buf;
	int count = 0, bad = 0;
	ssize n;

	if (sh_options(io, argc, argv, "a", &o))
		return 1;
	if (argc - o.at > (int)ARRAY_SIZE(out))
		return sh_fail(io, "at most %zu files", ARRAY_SIZE(out));
	buf = kmalloc(SH_READ_SIZE);
	for (; o.at < argc; o.at++) {
		u32 flags = O_WRONLY | O_CREAT | (sh_opt(&o, 'a') ? O_APPEND : O_TRUNC);
		int e = vfs_open(argv[o.at], flags, 0666, &out[count]);

		if (e)
			bad = sh_fail_errno(io, e, "%s", argv[o.at]);
		else
			count++;
	}
	while (buf && (n = sh_read(io, io->in, buf, SH_READ_SIZE)) > 0) {
		sh_put(io, buf, n);
		for (int i = 0; i < count; i++) {
			int e = sh_write_all(out[i], buf, n);

			if (e)
				bad = sh_fail_errno(io, e, "write error");
		}
	}
	while (count)
		file_put(out[--count]);
	kfree(buf);
	return bad;
}

/* What head and tail share: -n N, -N, -c N; several files get headings. */
struct ends {
	u64 count;
	bool bytes, quiet, several, second;
	bool any;	 /* one did open */
	bool from_start; /* tail +N */
	bool but_last;	 /* head -n -N */
	int (*fn)(struct sh_io *io, struct file *f, struct ends *e);
};

static void heading(struct sh_io *io, const char *name, struct ends *e)
{
	if (!e->several || e->quiet)
		return;
	sh_printf(io, "%s==> %s <==\n", e->second ? "\n" : "",
	    strcmp(name, "-") ? name : "standard input");
	e->second = true;
}

static int ends_file(struct sh_io *io, struct file *f, const char *name, void *ctx)
{
	struct ends *e = ctx;

	e->any = true;
	heading(io, name, e);
	return e->fn(io, f, e);
}

/* Where the last `count` lines or bytes of the text begin. */
static size_t tail_start(const struct sh_buf *b, const struct ends *e)
{
	size_t at = b->len;
	u64 lines = 0;

	if (e->bytes)
		return b->len > e->count ? b->len - e->count : 0;
	if (!e->count)
		return b->len;
	for (at -= at && b->s[at - 1] == '\n'; at; at--)
		if (b->s[at - 1] == '\n' && ++lines == e->count)
			break;
	return at;
}

/* Keeps what was read; true when it has doubled since it was looked through: all in all that is a few times its length. */
static bool keep(struct sh_buf *kept, struct sh_reader *r, size_t next)
{
	sh_buf_put(kept, r->buf, r->len);
	r->at = r->len;
	return kept->len >= next;
}

/* Drops what can no longer be among the last `count`; how much to have before doing so again. */
static size_t trim(struct sh_buf *kept, const struct ends *e)
{
	size_t start = tail_start(kept, e);

	memmove(kept->s, kept->s + start, kept->len - start);
	kept->len -= start;
	return 2 * (kept->len + SH_READ_SIZE);
}

/* head -n -N: what cannot be among the last N is printed. */
static void head_but_last(struct sh_io *io, struct sh_reader *r, struct ends *e)
{
	struct sh_buf kept = {0};
	size_t next = SH_READ_SIZE;

	while (!io->error && !kept.failed && sh_getc(r) >= 0)
		if (keep(&kept, r, next)) {
			sh_put(io, kept.s, tail_start(&kept, e));
			next = trim(&kept, e);
		}
	if (kept.failed)
		sh_fail(io, "out of memory");
	else if (kept.len)
		sh_put(io, kept.s, tail_start(&kept, e));
	sh_buf_free(&kept);
}

static int head_file(struct sh_io *io, struct file *f, struct ends *e)
{
	struct sh_buf line = {0};
	struct sh_reader r;
	int c;

	if (sh_reader_init(&r, io, f))
		return sh_fail_errno(io, -ENOMEM, "head");
	if (e->but_last) {
		head_but_last(io, &r, e);
	} else if (e->bytes) {
		for (u64 i = 0; i < e->count && (c = sh_getc(&r)) >= 0; i++)
			sh_putc(io, c);
	} else {
		for (u64 i = 0; i < e->count && !io->error && sh_getline(&r, &line); i++)
			sh_put(io, line.s, line.len);
	}
	sh_buf_free(&line);
	sh_reader_free(&r);
	return sh_read_status(&r);
}

/* From line or byte number count on (tail -n +N). */
static void tail_from(struct sh_io *io, struct sh_reader *r, struct ends *e)
{
	u64 at = 1;
	int c;

	while (!io->error && (c = sh_getc(r)) >= 0) {
		if (at >= e->count)
			sh_putc(io, c);
		if (e->bytes || c == '\n')
			at++;
	}
}

static int tail_file(struct sh_io *io, struct file *f, struct ends *e)
{
	struct sh_buf kept = {0};
	size_t next = SH_READ_SIZE;
	struct sh_reader r;
	int failed;

	if (sh_reader_init(&r, io, f))
		return sh_fail_errno(io, -ENOMEM, "tail");
	if (e->from_start)
		tail_from(io, &r, e);
	while (!e->from_start && !kept.failed && sh_getc(&r) >= 0)
		if (keep(&kept, &r, next))
			next = trim(&kept, e);
	if (kept.len && !kept.failed)
		sh_put(io, kept.s + tail_start(&kept, e), kept.len - tail_start(&kept, e));
	failed = kept.failed ? sh_fail(io, "out of memory") : sh_read_status(&r);
	sh_buf_free(&kept);
	sh_reader_free(&r);
	return failed;
}

/* -5 and, for tail, +5 are short for -n -5 and -n +5: the number; NULL: it is not given so. */
static const char *short_count(int argc, char **argv, const struct ends *e)
{
	const char *s = argc > 1 ? argv[1] : "";
	bool from_start = *s == '+' && e->fn != head_file;

	if ((*s != '-' && !from_start) || !is_digit(s[1]))
		return NULL;
	return from_start ? s : s + 1;
}

static int ends(struct sh_io *io, int argc, char **argv, struct ends *e)
{
	struct sh_opts o = {.at = 1};
	const char *n = short_count(argc, argv, e);

	if (n) {
		argv++;
		argc--;
	} else {
		if (sh_options(io, argc, argv, "n:c:q", &o))
			return 1;
		n = sh_opt(&o, 'c')   ? sh_optval(&o, 'c')
		    : sh_opt(&o, 'n') ? sh_optval(&o, 'n')
				      : "10";
		e->bytes = sh_opt(&o, 'c');
		e->quiet = sh_opt(&o, 'q');
	}
	e->from_start = *n == '+';
	e->but_last = *n == '-' && e->fn == head_file;
	if (!sh_number(io, n + (*n == '+' || *n == '-'), &e->count))
		return 1;
	e->several = argc - o.at > 1;
	return sh_each_file(io, argc - o.at, argv + o.at, ends_file, e);
}

int sh_cmd_head(struct sh_io *io, int argc, char **argv)
{
	struct ends e = {.fn = head_file};

	return ends(io, argc, argv, &e);
}

int sh_cmd_tail(struct sh_io *io, int argc, char **argv)
{
	struct ends e = {.fn = tail_file};
	int bad;

	io->cant_open = true;
	bad = ends(io, argc, argv, &e);
	if (bad && !e.any)
		sh_fail(io, "no files");
	return bad;
}

struct wc {
	struct sh_opts o;
	u64 total[3];
	bool plain; /* one number of one file: no padding */
	bool named;
	int files;
};

static void wc_print(struct sh_io *io, struct wc *w, const u64 n[3], const char *name)
{
	static const char letters[] = "lwc";
	bool first = true;

	for (int i = 0; i < 3; i++) {
		if (!sh_opt(&w->o, letters[i]))
			continue;
		sh_printf(io,
		    w->plain ? "%llu"
		    : first  ? "%9llu"
			     : " %9llu",
		    (unsigned long long)n[i]);
		first = false;
	}
	if (w->named)
		sh_printf(io, " %s", name);
	sh_putc(io, '\n');
}

static int wc_file(struct sh_io *io, struct file *f, const char *name, void *ctx)
{
	struct wc *w = ctx;
	struct sh_reader r;
	u64 n[3] = {0};
	bool in_word = false;
	int c;

	if (sh_reader_init(&r, io, f))
		return sh_fail_errno(io, -ENOMEM, "wc");
	while ((c = sh_getc(&r)) >= 0) {
		bool space = is_space(c);

		n[0] += c == '\n';
		n[1] += in_word && space;
		n[2]++;
		in_word = !space;
	}
	n[1] += in_word;
	sh_reader_free(&r);
	for (int i = 0; i < 3; i++)
		w->total[i] += n[i];
	w->files++;
	wc_print(io, w, n, name);
	return sh_read_status(&r);
}

int sh_cmd_wc(struct sh_io *io, int argc, char **argv)
{
	struct wc w = {0};
	int bad;

	if (sh_options(io, argc, argv, "lwc", &w.o))
		return 1;
	if (!w.o.set)
		w.o.set = 1UL << ('l' - 'A') | 1UL << ('w' - 'A') | 1UL << ('c' - 'A');
	w.named = w.o.at < argc;
	w.plain = !(w.o.set & (w.o.set - 1)) && argc - w.o.at <= 1;
	bad = sh_each_file(io, argc - w.o.at, argv + w.o.at, wc_file, &w);
	if (w.files > 1)
		wc_print(io, &w, w.total, "total");
	return bad;
}

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
	if (d->in_name && (e = vfs_open(d->in_name, O_RDONLY, 0, &d->in))) {
		d->in = NULL;
		return sh_fail_open(io, d->in_name, e);
	}
	if (!d->out_name)
		return 0;
	e = vfs_open(
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
