/* awk's functions and printf's formats. Task context. */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/awk.h"

#define FIELD_MAX 4096

static const char *text_arg(struct awk *w, const struct awk_node *n)
{
	return awk_str(w, awk_eval(w, n));
}

static s64 int_arg(struct awk *w, const struct awk_node *n)
{
	return sh_dec_trunc(awk_num(awk_eval(w, n)));
}

static struct awk_value text_result(struct awk *w, const char *s, size_t n)
{
	char *copy = sh_strndup(&w->tmp, s, n);

	if (!copy)
		awk_fail(w, "out of memory");
	return awk_string(copy ? copy : "");
}

static struct awk_value fn_length(struct awk *w, const struct awk_node *a)
{
	if (a && a->op == AWK_VAR && a->var->items)
		return awk_int(a->var->item_count);
	return awk_int(strlen(a ? text_arg(w, a) : sh_buf_str(&w->record)));
}

static struct awk_value fn_substr(struct awk *w, const struct awk_node *a)
{
	const char *s = text_arg(w, a);
	s64 from = int_arg(w, a->next), n = strlen(s), to = n + 1;

	if (a->next->next) {
		s64 count = int_arg(w, a->next->next);

		to = count < n + 1 - from ? from + count : n + 1;
	}
	from = MAX(from, (s64)1);
	to = MIN(to, n + 1);
	return to > from ? text_result(w, s + from - 1, to - from) : awk_string("");
}

static struct awk_value fn_index(struct awk *w, const struct awk_node *a)
{
	const char *s = text_arg(w, a), *at = strstr(s, text_arg(w, a->next));

	return awk_int(at ? at - s + 1 : 0);
}

struct split {
	struct awk_var *to;
	s64 n;
};

static void add_piece(struct awk *w, void *ctx, const char *s, size_t n)
{
	struct split *x = ctx;
	struct awk_item *i;
	char key[24], *copy = sh_strndup(&w->tmp, s, n);

	snprintf(key, sizeof(key), "%lld", (long long)++x->n);
	i = awk_item(w, x->to, key, true);
	if (i && copy)
		awk_store(w, &i->value, awk_input(copy));
}

static struct awk_value fn_split(struct awk *w, const struct awk_node *a)
{
	const char *s = text_arg(w, a), *fs;
	const struct awk_node *by = a->next->next;
	struct split x = {.to = a->next->var};

	if (a->next->op != AWK_VAR) {
		awk_fail(w, "split needs an array");
		return awk_int(0);
	}
	if (by && by->op == AWK_REGEX)
		awk_fail(w, "split: give the separator as a string");
	fs = by ? text_arg(w, by) : w->fs->value.kind ? awk_str(w, w->fs->value) : " ";
	awk_delete(x.to, NULL);
	awk_split(w, s, fs, add_piece, &x);
	return awk_int(x.n);
}

/* The replacement of one match: & is the match, \& an ampersand. */
static void put_replacement(struct sh_buf *b, const char *text, const char *match, size_t n)
{
	for (; *text; text++) {
		if (text[0] == '\\' && text[1] == '&')
			sh_buf_putc(b, *++text);
		else if (*text == '&')
			sh_buf_put(b, match, n);
		else
			sh_buf_putc(b, *text);
	}
}

static struct awk_value fn_sub(struct awk *w, const struct awk_node *a, bool all)
{
	static const struct awk_node zero = {.op = AWK_CONST};
	static const struct awk_node record = {.op = AWK_FIELD, .a = (struct awk_node *)&zero};
	const struct awk_node *to = a->next->next ? a->next->next : &record;
	const char *by = text_arg(w, a->next), *s = text_arg(w, to);
	size_t len = strlen(s), at = 0, done = 0;
	struct sh_buf b = {0};
	struct sh_match m;
	s64 count = 0;
	bool own;
	struct sh_regex *re = awk_regex(w, a, &own);

	while (re && at <= len && (all || !count) && sh_regex_match(re, s, len, at, &m)) {
		sh_buf_put(&b, s + done, m.from[0] - done);
		put_replacement(&b, by, s + m.from[0], m.to[0] - m.from[0]);
		done = m.to[0];
		at = m.to[0] + (m.to[0] == m.from[0]);
		if (m.to[0] == m.from[0] && done < len)
			sh_buf_putc(&b, s[done++]);
		count++;
	}
	if (done < len)
		sh_buf_puts(&b, s + done);
	if (count && !w->failed)
		awk_assign(w, to, text_result(w, sh_buf_str(&b), b.len));
	sh_buf_free(&b);
	if (own)
		sh_regex_free(re);
	return awk_int(count);
}

static struct awk_value fn_match(struct awk *w, const struct awk_node *a)
{
	const char *s = text_arg(w, a);
	struct sh_match m = {.from = {-1}, .to = {-2}};
	bool own, yes;
	struct sh_regex *re = awk_regex(w, a->next, &own);

	yes = re && sh_regex_match(re, s, strlen(s), 0, &m);
	if (own)
		sh_regex_free(re);
	awk_set(w, w->rstart, awk_int(yes ? m.from[0] + 1 : 0));
	awk_set(w, w->rlength, awk_int(yes ? m.to[0] - m.from[0] : -1));
	return w->rstart->value;
}

static struct awk_value fn_case(struct awk *w, const struct awk_node *a, bool upper)
{
	const char *s = text_arg(w, a);
	char *copy = sh_strdup(&w->tmp, s);

	for (char *p = copy; p && *p; p++)
		if (is_alpha(*p))
			*p = upper ? *p & ~32 : *p | 32;
	return awk_string(copy ? copy : "");
}

static struct awk_value fn_sprintf(struct awk *w, const struct awk_node *a)
{
	struct sh_buf b = {0};
	struct awk_value v;

	awk_format(w, &b, text_arg(w, a), a->next);
	v = text_result(w, sh_buf_str(&b), b.len);
	sh_buf_free(&b);
	return v;
}

static struct awk_value fn_strtonum(struct awk *w, const struct awk_node *a)
{
	const char *s = text_arg(w, a), *end;

	if (s[0] == '0' && (s[1] | 32) == 'x')
		return awk_int(parse_digits(s + 2, &end, 16));
	return awk_number(sh_dec_parse(s, &end));
}

/* In the order of the parser's table. */
struct awk_value awk_call(struct awk *w, const struct awk_node *n)
{
	const struct awk_node *a = n->a;

	switch (n->n) {
	case 0:
		return fn_length(w, a);
	case 1:
		return fn_substr(w, a);
	case 2:
		return fn_index(w, a);
	case 3:
		return fn_split(w, a);
	case 4:
	case 5:
		return fn_sub(w, a, n->n == 5);
	case 6:
		return fn_match(w, a);
	case 7:
	case 8:
		return fn_case(w, a, n->n == 8);
	case 9:
		return fn_sprintf(w, a);
	case 10:
		return awk_int(int_arg(w, a));
	default:
		return fn_strtonum(w, a);
	}
}

struct format {
	char flags[8];
	int width, precision;
};

/* Behind the %: flags, width, precision; returns the conversion's place. */
static const char *read_format(
    struct awk *w, const char *f, struct format *x, const struct awk_node **args)
{
	size_t n = strspn(f, "-+ #0");

	*x = (struct format){.precision = -1};
	memcpy(x->flags, f, MIN(n, sizeof(x->flags) - 1));
	f += n;
	if (*f == '*' && *args) {
		x->width = MIN(MAX(int_arg(w, *args), (s64)-FIELD_MAX), (s64)FIELD_MAX);
		*args = (*args)->next;
		f++;
	} else {
		x->width = MIN(parse_digits(f, &f, 10), (u64)FIELD_MAX);
	}
	if (*f == '.')
		x->precision = MIN(parse_digits(f + 1, &f, 10), (u64)FIELD_MAX);
	return f;
}

static void put_text(struct sh_buf *out, const struct format *x, const char *s, size_t n)
{
	bool left = strchr(x->flags, '-') || x->width < 0;
	size_t width = x->width < 0 ? -x->width : x->width;

	for (size_t i = n; !left && i < width; i++)
		sh_buf_putc(out, ' ');
	sh_buf_put(out, s, n);
	for (size_t i = n; left && i < width; i++)
		sh_buf_putc(out, ' ');
}

static void put_conversion(
    struct awk *w, struct sh_buf *out, const struct format *x, char c, struct awk_value v)
{
	char format[40], text[48];
	const char *s;
	size_t n;

	switch (c) {
	case 'd':
	case 'i':
	case 'x':
	case 'X':
	case 'o':
	case 'u':
		snprintf(format, sizeof(format),
		    x->precision >= 0 ? "%%%s%d.%dll%c" : "%%%s%d%.0dll%c", x->flags, x->width,
		    x->precision >= 0 ? x->precision : 0, c);
		if (!x->width && x->precision < 0)
			snprintf(format, sizeof(format), "%%%sll%c", x->flags, c);
		sh_buf_printf(out, format, (long long)sh_dec_trunc(awk_num(v)));
		return;
	case 'f':
	case 'e':
	case 'g':
		if (c == 'g')
			sh_dec_text(awk_num(v), text);
		else
			sh_dec_fixed(awk_num(v), x->precision < 0 ? 6 : x->precision, text);
		put_text(out, x, text, strlen(text));
		return;
	case 'c':
		if (v.kind == AWK_NUMBER) {
			text[0] = sh_dec_trunc(v.num);
			put_text(out, x, text, 1);
			return;
		}
		s = awk_str(w, v);
		put_text(out, x, s, *s != 0);
		return;
	default:
		s = awk_str(w, v);
		n = strlen(s);
		put_text(out, x, s, x->precision >= 0 ? MIN(n, (size_t)x->precision) : n);
	}
}

void awk_format(struct awk *w, struct sh_buf *out, const char *f, const struct awk_node *args)
{
	struct format x;

	for (; *f && !w->failed; f++) {
		if (*f != '%') {
			sh_buf_putc(out, *f);
			continue;
		}
		if (f[1] == '%') {
			sh_buf_putc(out, *f++);
			continue;
		}
		f = read_format(w, f + 1, &x, &args);
		if (!*f || !strchr("dixXoufegcs", *f)) {
			awk_fail(w, "bad format");
			return;
		}
		put_conversion(w, out, &x, *f, args ? awk_eval(w, args) : (struct awk_value){0});
		args = args ? args->next : NULL;
	}
	if (out->failed)
		awk_fail(w, "out of memory");
}
