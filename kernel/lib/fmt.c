/*
 * The formatter. Any context, NMI included: no allocation, no lock, no state but the pointer hook,
 * which is set at boot.
 *
 * One conversion: 1. parse_spec() decodes it; 2. convert() takes its argument; 3. fmt_emit_number()
 * or fmt_emit_text() writes the field. All of it gathers in a small buffer; the sink sees that, not
 * the pieces.
 */
#include "kernel/lib/fmt.h"
#include "kernel/lib/digits.h"
#include "kernel/lib/string.h"

enum { F_LEFT = 1, F_ZERO = 2, F_PLUS = 4, F_SPACE = 8, F_ALT = 16 };

struct spec {
	u8 flags;
	u8 size;       /* bytes of the integer argument */
	char conv;     /* the conversion's letter; 0: the format ended */
	int width;     /* >= 0 */
	int precision; /* -1: none given */
};

#define GATHER 128

struct out {
	struct fmt_sink *sink;
	char *at;     /* in buf: what follows is free */
	size_t total; /* bytes given to the sink */
	char buf[GATHER];
};

/* va_list is an array type: a struct makes it something that can be handed down by address. */
struct args {
	va_list ap;
};

static fmt_pointer_hook pointer_hook;

fmt_pointer_hook fmt_set_pointer_hook(fmt_pointer_hook hook)
{
	fmt_pointer_hook before = pointer_hook;

	pointer_hook = hook;
	return before;
}

static inline size_t room(const struct out *o)
{
	return o->buf + GATHER - o->at;
}

static __noinline void fmt_flush(struct out *o)
{
	size_t n = o->at - o->buf;

	o->total += n;
	o->at = o->buf;
	if (n)
		o->sink->put(o->sink, o->buf, n);
}

/* Where n bytes, at most GATHER, may be written; the caller moves o->at. */
static inline char *reserve(struct out *o, size_t n)
{
	if (unlikely(n > room(o)))
		fmt_flush(o);
	return o->at;
}

static void fmt_emit(struct out *o, const char *s, size_t n)
{
	if (unlikely(n > GATHER)) {
		fmt_flush(o);
		o->total += n;
		o->sink->put(o->sink, s, n);
		return;
	}
	memcpy(reserve(o, n), s, n);
	o->at += n;
}

static void emit_fill(struct out *o, char c, size_t n)
{
	while (n) {
		size_t some = MIN(n, (size_t)16);
		char *at = reserve(o, some);
		n -= some;
		o->at = at + some;
		do
			*at++ = c;
		while (at != o->at);
	}
}

/* Literal text up to the next % or the end; returns that. */
static const char *emit_literal(struct out *o, const char *fmt)
{
	static const bool ends[256] = {['\0'] = true, ['%'] = true};
	char *at = o->at;
	size_t left = room(o);

	for (u8 c = *fmt; !ends[c]; c = *++fmt) {
		if (unlikely(!left--)) {
			o->at = at;
			fmt_flush(o);
			at = o->at;
			left = GATHER - 1;
		}
		*at++ = c;
	}
	o->at = at;
	return fmt;
}

static void fmt_emit_text(struct out *o, const struct spec *sp, const char *text, size_t n)
{
	size_t pad = (size_t)sp->width > n ? sp->width - n : 0;

	if (pad && !(sp->flags & F_LEFT))
		emit_fill(o, ' ', pad);
	fmt_emit(o, text, n);
	if (pad && (sp->flags & F_LEFT))
		emit_fill(o, ' ', pad);
}

/* A number taken apart: prefix, then zeros as the field asks for them, then n digits. */
struct number {
	u64 v;
	unsigned n;
	char *(*put)(char *end, u64 v); /* writes the digits in front of end */
	const char *prefix;
	unsigned prefix_len;
};

/* How many zeros stand between the prefix and the digits. */
static size_t count_zeros(const struct spec *sp, const struct number *num)
{
	size_t zeros = 0, taken = num->n + num->prefix_len;

	if (sp->precision >= 0)
		zeros = (size_t)sp->precision > num->n ? sp->precision - num->n : 0;
	else if ((sp->flags & (F_ZERO | F_LEFT)) == F_ZERO && (size_t)sp->width > taken)
		zeros = sp->width - taken;
	/* An octal number that is to look like one begins with 0. */
	if (sp->conv == 'o' && (sp->flags & F_ALT) && !zeros && (num->v || !num->n))
		zeros = 1;
	return zeros;
}

/* For what is wider than the buffer. */
static void emit_wide(
    struct out *o, const struct number *num, size_t before, size_t zeros, size_t after)
{
	emit_fill(o, ' ', before);
	fmt_emit(o, num->prefix, num->prefix_len);
	emit_fill(o, '0', zeros);
	char *end = reserve(o, num->n) + num->n;
	num->put(end, num->v);
	o->at = end;
	emit_fill(o, ' ', after);
}

static void fmt_emit_number(struct out *o, const struct spec *sp, struct number *num)
{
	size_t zeros = 0;

	if (sp->flags || sp->precision >= 0) {
		if (num->v == 0 && sp->precision == 0)
			num->n = 0; /* the standard's one number without digits */
		zeros = count_zeros(sp, num);
	}
	size_t len = num->prefix_len + zeros + num->n;
	size_t pad = (size_t)sp->width > len ? sp->width - len : 0;
	bool left = sp->flags & F_LEFT;
	if (unlikely(len + pad > GATHER)) {
		emit_wide(o, num, left ? 0 : pad, zeros, left ? pad : 0);
		return;
	}
	char *at = reserve(o, len + pad);
	o->at = at + len + pad;
	if (!left)
		for (; pad; pad--)
			*at++ = ' ';
	for (unsigned i = 0; i < num->prefix_len; i++)
		*at++ = num->prefix[i];
	for (; zeros; zeros--)
		*at++ = '0';
	at += num->n;
	if (num->n)
		num->put(at, num->v);
	while (at != o->at)
		*at++ = ' ';
}

static void emit_signed(struct out *o, const struct spec *sp, s64 v)
{
	struct number num = {.v = v, .put = digits_dec, .prefix = ""};

	if (v < 0) {
		num.v = 0 - (u64)v;
		num.prefix = "-";
		num.prefix_len = 1;
	} else if (sp->flags & (F_PLUS | F_SPACE)) {
		num.prefix = sp->flags & F_PLUS ? "+" : " ";
		num.prefix_len = 1;
	}
	num.n = count_dec(num.v);
	fmt_emit_number(o, sp, &num);
}

static void fmt_emit_unsigned(struct out *o, const struct spec *sp, u64 v)
{
	struct number num = {.v = v, .put = digits_dec, .prefix = ""};

	switch (sp->conv) {
	case 'u':
		num.n = count_dec(v);
		break;
	case 'o':
		num.n = count_oct(v);
		num.put = digits_oct;
		break;
	default:
		num.n = count_hex(v);
		num.put = sp->conv == 'X' ? digits_hex_upper : digits_hex;
		num.prefix = sp->conv == 'X' ? "0X" : "0x";
		num.prefix_len = v && (sp->flags & F_ALT) ? 2 : 0;
		break;
	}
	fmt_emit_number(o, sp, &num);
}

static void emit_string(struct out *o, const struct spec *sp, const char *s)
{
	if (!s)
		s = "(null)";
	size_t n = sp->precision >= 0 ? strnlen(s, sp->precision) : strlen(s);
	fmt_emit_text(o, sp, s, n);
}

/* Out of line, so that its buffer is on the stack only while it is needed. */
static __noinline bool fmt_emit_extension(
    struct out *o, const struct spec *sp, char letter, const void *p)
{
	char buf[128];
	int n = pointer_hook ? pointer_hook(buf, sizeof(buf), letter, p) : -1;

	if (n < 0)
		return false;
	if ((size_t)n >= sizeof(buf))
		n = sizeof(buf) - 1;
	fmt_emit_text(o, sp, buf, n);
	return true;
}

/* %p at f (just after the p): takes the letter of an extension; returns what follows. */
static const char *emit_pointer(struct out *o, const struct spec *sp, const char *f, const void *p)
{
	if (is_alpha(*f)) {
		char letter = *f++;
		if (fmt_emit_extension(o, sp, letter, p))
			return f;
	}
	struct spec hex = *sp;
	hex.conv = 'x';
	hex.precision = 16;
	hex.flags &= ~F_ALT;
	fmt_emit_unsigned(o, &hex, (u64)(uintptr_t)p);
	return f;
}

static const char *parse_count(const char *f, struct args *a, int *out)
{
	if (*f == '*') {
		*out = va_arg(a->ap, int);
		return f + 1;
	}
	int v = 0;
	for (; is_digit(*f); f++)
		if (v < 100000) /* more would be a mistake, and must not overflow */
			v = v * 10 + *f - '0';
	*out = v;
	return f;
}

/* Flags, width and precision: everything before the letters. */
static const char *parse_field(const char *f, struct args *a, struct spec *sp)
{
	static const u8 flags[256] = {
	    ['-'] = F_LEFT, ['0'] = F_ZERO, ['+'] = F_PLUS, [' '] = F_SPACE, ['#'] = F_ALT};

	while (flags[(u8)*f])
		sp->flags |= flags[(u8)*f++];
	if (is_digit(*f) || *f == '*') {
		f = parse_count(f, a, &sp->width);
		if (sp->width < 0) {
			sp->flags |= F_LEFT;
			sp->width = sp->width == INT_MIN ? INT_MAX : -sp->width;
		}
	}
	if (*f == '.') {
		f = parse_count(f + 1, a, &sp->precision);
		if (sp->precision < 0)
			sp->precision = -1;
	}
	return f;
}

/* f is just after the %; returns what follows the conversion's letter. */
static const char *parse_spec(const char *f, struct args *a, struct spec *sp)
{
	/* Bytes of the argument; L is Linux's, for long long. */
	static const u8 sizes[256] = {
	    ['h'] = 2, ['l'] = 8, ['L'] = 8, ['z'] = 8, ['j'] = 8, ['t'] = 8};

	*sp = (struct spec){.size = 4, .precision = -1};
	if (*f < 'A') /* all that is no letter comes before them in ASCII */
		f = parse_field(f, a, sp);
	for (u8 size; (size = sizes[(u8)*f]); f++)
		sp->size = size == 2 && sp->size == 2 ? 1 : size; /* hh */
	sp->conv = *f;
	return *f ? f + 1 : f;
}

static s64 arg_signed(struct args *a, unsigned size)
{
	if (size == 8)
		return va_arg(a->ap, s64);
	int v = va_arg(a->ap, int);
	return size == 1 ? (s8)v : size == 2 ? (s16)v : v;
}

static u64 arg_unsigned(struct args *a, unsigned size)
{
	if (size == 8)
		return va_arg(a->ap, u64);
	unsigned v = va_arg(a->ap, unsigned);
	return size == 1 ? (u8)v : size == 2 ? (u16)v : v;
}

/* Prints the conversion; `percent` to `f` is its text in the format. Returns what follows. */
static const char *convert(
    struct out *o, const struct spec *sp, struct args *a, const char *percent, const char *f)
{
	char c;

	switch (sp->conv) {
	case 'd':
	case 'i':
		emit_signed(o, sp, arg_signed(a, sp->size));
		break;
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		fmt_emit_unsigned(o, sp, arg_unsigned(a, sp->size));
		break;
	case 's':
		emit_string(o, sp, va_arg(a->ap, const char *));
		break;
	case 'c':
		c = va_arg(a->ap, int);
		fmt_emit_text(o, sp, &c, 1);
		break;
	case 'p':
		return emit_pointer(o, sp, f, va_arg(a->ap, const void *));
	case '%':
		fmt_emit(o, "%", 1);
		break;
	default: /* not a conversion of ours: shown as it stands */
		fmt_emit(o, percent, f - percent);
		break;
	}
	return f;
}

size_t fmt_vprint(struct fmt_sink *sink, const char *fmt, va_list ap)
{
	struct out o;
	struct spec sp;
	struct args a;

	o.sink = sink;
	o.at = o.buf;
	o.total = 0;
	va_copy(a.ap, ap);
	while (*(fmt = emit_literal(&o, fmt))) {
		const char *percent = fmt;
		fmt = parse_spec(fmt + 1, &a, &sp);
		fmt = convert(&o, &sp, &a, percent, fmt);
	}
	va_end(a.ap);
	fmt_flush(&o);
	return o.total;
}

struct buf_sink {
	struct fmt_sink sink;
	char *at;
	size_t room; /* bytes left, the NUL's not counted */
};

static void fmt_buf_put(struct fmt_sink *sink, const char *s, size_t n)
{
	struct buf_sink *b = container_of(sink, struct buf_sink, sink);

	if (n > b->room)
		n = b->room;
	memcpy(b->at, s, n);
	b->at += n;
	b->room -= n;
}

int fmt_vsnprintf(char *buf, size_t size, const char *fmt, va_list ap)
{
	struct buf_sink b = {{fmt_buf_put}, buf, size ? size - 1 : 0};
	size_t n = fmt_vprint(&b.sink, fmt, ap);

	if (size)
		*b.at = '\0';
	return n > INT_MAX ? INT_MAX : (int)n;
}

int fmt_snprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = fmt_vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	return n;
}

int scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = fmt_vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	if ((size_t)n < size)
		return n;
	return size ? (int)size - 1 : 0;
}
