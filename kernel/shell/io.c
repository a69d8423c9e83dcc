/* Input, output, options and messages of the shell's commands. Task context; each sh_io belongs to one task. */
#include "kernel/shell/io.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"

#define OUT_ROOM 4096 /* printed text is written in pieces of about this size */

const char *sh_strerror(int error)
{
	return errno_text(-error);
}

int sh_write_all(struct file *f, const char *s, size_t n)
{
	if (!f)
		return -EBADF;
	do { /* a write of nothing is a write too */
		ssize w = kernel_write(f, s, n);

		if (w < 0)
			return w;
		if (!w && n)
			return -EIO;
		s += w;
		n -= w;
	} while (n);
	return 0;
}

void sh_error(struct shell *sh, const char *fmt, ...)
{
	struct sh_buf b = {0};
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	sh_buf_printf(&b, "sh: %s\n", text);
	if (b.len)
		sh_write_all(sh->fd[2], b.s, b.len);
	sh_buf_free(&b);
}

int sh_flush(struct sh_io *io)
{
	int r = 0;

	if (io->buf.len && !io->error)
		r = sh_write_all(io->out, io->buf.s, io->buf.len);
	if (io->buf.failed && !r)
		r = -ENOMEM;
	io->buf.len = 0;
	if (r && !io->error)
		io->error = r;
	return io->error;
}

void sh_put(struct sh_io *io, const char *s, size_t n)
{
	if (io->error)
		return;
	if (io->buf.len + n > OUT_ROOM)
		sh_flush(io);
	if (n >= OUT_ROOM && !io->error)
		io->error = sh_write_all(io->out, s, n);
	else
		sh_buf_put(&io->buf, s, n);
}

void sh_puts(struct sh_io *io, const char *s)
{
	sh_put(io, s, strlen(s));
}

void sh_putc(struct sh_io *io, char c)
{
	sh_put(io, &c, 1);
}

void sh_printf(struct sh_io *io, const char *fmt, ...)
{
	struct sh_buf b = {0};
	char text[128];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < (int)sizeof(text)) {
		sh_put(io, text, MAX(n, 0));
		return;
	}
	b.s = kmalloc(n + 1);
	if (!b.s) {
		io->error = io->error ? io->error : -ENOMEM;
		return;
	}
	va_start(ap, fmt);
	vsnprintf(b.s, n + 1, fmt, ap);
	va_end(ap);
	sh_put(io, b.s, n);
	sh_buf_free(&b);
}

static int fail(struct sh_io *io, int error, const char *fmt, va_list ap)
{
	struct sh_buf b = {0};
	char text[256];

	sh_flush(io);
	vsnprintf(text, sizeof(text), fmt, ap);
	sh_buf_printf(&b, error ? "%s: %s: %s\n" : "%s: %s\n", io->name, text, sh_strerror(error));
	if (b.len)
		sh_write_all(io->err, b.s, b.len);
	sh_buf_free(&b);
	return 1;
}

int sh_fail(struct sh_io *io, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fail(io, 0, fmt, ap);
	va_end(ap);
	return 1;
}

int sh_fail_errno(struct sh_io *io, int error, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fail(io, error, fmt, ap);
	va_end(ap);
	return 1;
}

int sh_fail_open(struct sh_io *io, const char *file, int error)
{
	return sh_fail_errno(io, error, "can't open '%s'", file);
}

ssize sh_read(struct sh_io *io, struct file *f, void *buf, size_t n)
{
	ssize r;

	if (io->sh
		->fancy) /* who types sees what there is; else output comes in large pieces, as into a pipe */
		sh_flush(io);
	if (!f)
		return -EBADF;
	if (os_interrupted())
		return -EINTR;
	r = kernel_read(f, buf, n);
	return r;
}

int sh_reader_init(struct sh_reader *r, struct sh_io *io, struct file *f)
{
	*r = (struct sh_reader){.io = io, .file = f, .buf = kmalloc(SH_READ_SIZE)};
	if (r->buf)
		return 0;
	r->end = true;
	r->error = -ENOMEM;
	return -ENOMEM;
}

void sh_reader_free(struct sh_reader *r)
{
	kfree(r->buf);
	r->buf = NULL;
}

/* More bytes into an empty buffer; false at the end. */
static bool fill(struct sh_reader *r)
{
	ssize n;

	if (r->end)
		return false;
	n = sh_read(r->io, r->file, r->buf, SH_READ_SIZE);
	r->at = 0;
	r->len = MAX(n, 0);
	if (n <= 0) {
		r->end = true;
		r->error = n;
	}
	return n > 0;
}

int sh_getc(struct sh_reader *r)
{
	if (r->at == r->len && !fill(r))
		return -1;
	return (unsigned char)r->buf[r->at++];
}

bool sh_getline(struct sh_reader *r, struct sh_buf *line)
{
	const char *s, *nl;
	size_t n;

	line->len = 0;
	for (;;) {
		if (r->at == r->len && !fill(r))
			break;
		s = r->buf + r->at;
		nl = memchr(s, '\n', r->len - r->at);
		n = nl ? (size_t)(nl - s) + 1 : r->len - r->at;
		sh_buf_put(line, s, n);
		r->at += n;
		if (nl || line->failed)
			break;
	}
	if (line->failed) {
		r->end = true;
		r->error = -ENOMEM;
		return false;
	}
	sh_buf_str(line);
	return line->len > 0;
}

int sh_read_status(const struct sh_reader *r)
{
	if (!r->error || r->error == -EINTR)
		return r->error != 0;
	return sh_fail_errno(r->io, r->error, "read error");
}

int sh_each_file(struct sh_io *io, int count, char **names,
    int (*fn)(struct sh_io *io, struct file *f, const char *name, void *ctx), void *ctx)
{
	struct file *f;
	int bad = 0, r;

	if (!count)
		return fn(io, io->in, "-", ctx);
	for (int i = 0; i < count && !os_interrupted(); i++) {
		if (!strcmp(names[i], "-")) {
			bad |= fn(io, io->in, "-", ctx);
			continue;
		}
		r = file_open(names[i], O_RDONLY, 0, &f);
		if (r) {
			bad |= io->quiet_open  ? 1
			       : io->cant_open ? sh_fail_open(io, names[i], r)
					       : sh_fail_errno(io, r, "%s", names[i]);
			continue;
		}
		bad |= fn(io, f, names[i], ctx);
		file_put(f);
	}
	return bad;
}

static int bad_option(struct sh_io *io, char c)
{
	return sh_fail(
	    io, "unrecognized option: %c (see `help %s`)", is_print(c) ? c : '?', io->name);
}

const char *sh_optval(const struct sh_opts *o, char c)
{
	for (int i = o->values - 1; i >= 0; i--)
		if (o->value[i].letter == c)
			return o->value[i].text;
	return NULL;
}

static bool option_value(struct sh_opts *o, char c, const char *text)
{
	if (o->values == ARRAY_SIZE(o->value))
		return false;
	o->value[o->values].letter = c;
	o->value[o->values++].text = text;
	return true;
}

/* The letters of one argument; *extra: the value of the last is the next one. 0, or 1 after a message. */
static int option_letters(struct sh_io *io, const char *p, const char *next, const char *spec,
    struct sh_opts *o, int *extra)
{
	for (; *p; p++) {
		const char *s = is_alpha(*p) || *p == '1' ? strchr(spec, *p) : NULL;

		if (!s)
			return bad_option(io, *p);
		o->set |= 1UL << sh_opt_index(*p);
		if (s[1] != ':')
			continue;
		*extra = !p[1];
		if (*extra && !next)
			return sh_fail(io, "option requires an argument: %c", *p);
		if (!option_value(o, *p, *extra ? next : p + 1))
			return sh_fail(io, "too many options");
		break;
	}
	return 0;
}

/* Takes count arguments at `from` before those at `to`, which move up. */
static void bring_forward(char **argv, int to, int from, int count)
{
	for (; from > to && count > 0; to++, from++, count--) {
		char *moved = argv[from];

		memmove(argv + to + 1, argv + to, (from - to) * sizeof(*argv));
		argv[to] = moved;
	}
}

int sh_options(struct sh_io *io, int argc, char **argv, const char *spec, struct sh_opts *o)
{
	bool first_only = *spec == '+', last = false;

	*o = (struct sh_opts){.at = 1};
	for (int i = 1; i < argc && !last; i++) {
		int extra = 0;

		if (argv[i][0] != '-' || !argv[i][1]) {
			last = first_only;
			continue;
		}
		last = !strcmp(argv[i], "--");
		if (!last && option_letters(io, argv[i] + 1, i + 1 < argc ? argv[i + 1] : NULL,
				 spec + first_only, o, &extra))
			return 1;
		bring_forward(argv, o->at, i, 1 + extra);
		o->at += 1 + extra;
		i += extra;
	}
	return 0;
}

bool sh_number(struct sh_io *io, const char *s, u64 *out)
{
	if (s && is_digit(*s) && !parse_u64(s, 10, out))
		return true;
	sh_fail(io, "invalid number '%s'", s ? s : "");
	return false;
}
