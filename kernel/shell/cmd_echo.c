/* echo and printf. Each writes once: what a control file gets is one line in one piece. Task context. */
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "kernel/shell/command.h"

/* A backslash escape at *p (behind the backslash), appended to b; false: \c, output ends here. */
static bool put_escape(struct sh_buf *b, const char **p, bool octal_needs_zero)
{
	static const char from[] = "abefnrtv\\", to[] = "\a\b\033\f\n\r\t\v\\";
	const char *s = *p, *at = *s ? strchr(from, *s) : NULL;
	unsigned v = 0;
	int digits;

	*p = s + 1;
	if (*s == 'c')
		return false;
	if (at) {
		sh_buf_putc(b, to[at - from]);
	} else if (*s == 'x' && (is_digit(s[1]) || ((s[1] | 32) >= 'a' && (s[1] | 32) <= 'f'))) {
		for (s++, digits = 0;
		     digits < 2 && (is_digit(*s) || ((*s | 32) >= 'a' && (*s | 32) <= 'f'));
		     digits++, s++)
			v = v * 16 + (is_digit(*s) ? *s - '0' : (*s | 32) - 'a' + 10);
		sh_buf_putc(b, v);
		*p = s;
	} else if (*s >= '0' && *s <= '7' && (!octal_needs_zero || *s == '0')) {
		s += octal_needs_zero;
		for (digits = 0; digits < 3 && *s >= '0' && *s <= '7'; digits++)
			v = v * 8 + (*s++ - '0');
		sh_buf_putc(b, v);
		*p = s;
	} else {
		sh_buf_putc(b, '\\');
		if (*s)
			sh_buf_putc(b, *s);
		else
			*p = s;
	}
	return true;
}

static bool put_escaped(struct sh_buf *b, const char *s)
{
	while (*s) {
		if (*s != '\\') {
			sh_buf_putc(b, *s++);
			continue;
		}
		s++;
		if (!put_escape(b, &s, true))
			return false;
	}
	return true;
}

static bool echo_option(const char *s, bool *newline, bool *escapes)
{
	if (*s != '-' || !s[1] || strspn(s + 1, "neE") != strlen(s + 1))
		return false;
	for (s++; *s; s++) {
		if (*s == 'n')
			*newline = false;
		else
			*escapes = *s == 'e';
	}
	return true;
}

int sh_cmd_echo(struct sh_io *io, int argc, char **argv)
{
	bool newline = true, escapes = false, more = true;
	int i = 1;

	while (i < argc && echo_option(argv[i], &newline, &escapes))
		i++;
	for (bool first = true; i < argc && more; i++, first = false) {
		if (!first)
			sh_buf_putc(&io->buf, ' ');
		if (escapes)
			more = put_escaped(&io->buf, argv[i]);
		else
			sh_buf_puts(&io->buf, argv[i]);
	}
	if (newline && more)
		sh_buf_putc(&io->buf, '\n');
	return 0;
}

struct print { /* one printf */
	struct sh_io *io;
	char **args;
	int count, at, status;
	bool stop;
};

static const char *next_arg(struct print *p)
{
	return p->at < p->count ? p->args[p->at++] : "";
}

/* 'c is the character's number. */
static s64 number_arg(struct print *p)
{
	const char *s = next_arg(p), *end;
	bool minus;
	s64 v;

	if (*s == '\'' || *s == '"')
		return (unsigned char)s[1];
	while (is_space(*s))
		s++;
	minus = *s == '-';
	end = s + (minus || *s == '+');
	v = parse_digits(end, &end, 0);
	if (*end || !*s) {
		sh_fail(p->io, "invalid number '%s'", s);
		p->status = 1;
		return 0;
	}
	return minus ? -(u64)v : (u64)v;
}

/* Pads and puts n bytes. */
static void put_field(struct sh_buf *b, const char *s, size_t n, int width, bool left)
{
	for (int i = n; !left && i < width; i++)
		sh_buf_putc(b, ' ');
	sh_buf_put(b, s, n);
	for (int i = n; left && i < width; i++)
		sh_buf_putc(b, ' ');
}

struct spec {
	char flags[8];
	int width, precision; /* precision -1: none */
	bool left;
	char conversion;
};

/* Numbers are handed to the kernel's formatter with a format made from the parsed one. */
static void put_number(struct print *p, const struct spec *s)
{
	char format[48];
	s64 v = number_arg(p);

	if (s->precision >= 0)
		snprintf(format, sizeof(format), "%%%s%d.%dll%c", s->flags, s->width, s->precision,
		    s->conversion);
	else if (s->width)
		snprintf(format, sizeof(format), "%%%s%dll%c", s->flags, s->width, s->conversion);
	else
		snprintf(format, sizeof(format), "%%%sll%c", s->flags, s->conversion);
	sh_buf_printf(&p->io->buf, format, (long long)v);
}

static void put_string(struct print *p, const struct spec *s)
{
	struct sh_buf b = {0};
	const char *arg = next_arg(p);
	size_t n;

	if (s->conversion == 'b') {
		p->stop = !put_escaped(&b, arg);
		arg = sh_buf_str(&b);
	}
	n = s->conversion == 'b' ? b.len : s->conversion == 'c' ? *arg != 0 : strlen(arg);
	if (s->precision >= 0 && n > (size_t)s->precision)
		n = s->precision;
	put_field(&p->io->buf, arg, n, s->width, s->left);
	sh_buf_free(&b);
}

#define FIELD_MAX (1 << 20)

static int take_number(struct print *p, const char **f)
{
	if (**f == '*') {
		(*f)++;
		return MIN(MAX(number_arg(p), -(s64)FIELD_MAX), (s64)FIELD_MAX);
	}
	return MIN(parse_digits(*f, f, 10), (u64)FIELD_MAX);
}

/* A conversion behind its '%'; returns the place behind it. */
static const char *convert(struct print *p, const char *f)
{
	struct spec s = {.precision = -1};
	size_t n = strspn(f, "-+ #0");

	memcpy(s.flags, f, MIN(n, sizeof(s.flags) - 1));
	s.left = memchr(f, '-', n) != NULL;
	f += n;
	s.width = take_number(p, &f);
	if (s.width < 0) {
		s.left = true;
		strscpy(s.flags, "-", sizeof(s.flags));
		s.width = -s.width;
	}
	if (*f == '.') {
		f++;
		s.precision = take_number(p, &f);
	}
	f += strspn(f, "hlLqjzt");
	s.conversion = *f;
	if (*f && strchr("diuxXo", *f)) {
		put_number(p, &s);
	} else if (*f && strchr("sbc", *f)) {
		put_string(p, &s);
	} else {
		sh_fail(p->io, "%%%c: invalid format", *f ? *f : ' ');
		p->status = 1;
		p->stop = true;
		return f;
	}
	return f + 1;
}

static void print_once(struct print *p, const char *f)
{
	while (*f && !p->stop) {
		if (f[0] == '%' && f[1] == '%') {
			sh_buf_putc(&p->io->buf, '%');
			f += 2;
		} else if (*f == '%') {
			f = convert(p, f + 1);
		} else if (*f == '\\') {
			f++;
			p->stop = !put_escape(&p->io->buf, &f, false);
		} else {
			sh_buf_putc(&p->io->buf, *f++);
		}
	}
}

int sh_cmd_printf(struct sh_io *io, int argc, char **argv)
{
	struct print p = {.io = io, .args = argv + 2, .count = argc - 2};
	int before;

	do { /* the format is used again while there are arguments left and it takes some */
		before = p.at;
		print_once(&p, argv[1]);
	} while (p.at < p.count && p.at > before && !p.stop);
	return p.status;
}
