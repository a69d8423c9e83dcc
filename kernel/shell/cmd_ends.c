/* head, tail: one end of files. Task context. */
#include "kernel/lib/string.h"
#include "kernel/shell/command.h"

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
