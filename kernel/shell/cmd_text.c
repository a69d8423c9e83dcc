/* cut, uniq, tr: text by columns, repetition and characters. Task context. */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/command.h"

#define RANGES_MAX 16

struct cut {
	u64 from[RANGES_MAX], to[RANGES_MAX];
	int ranges;
	bool fields, only_delimited;
	char delimiter;
};

/* "1,3-5,7-": numbers from 1. */
static bool cut_list(struct sh_io *io, struct cut *c, const char *s)
{
	while (*s && c->ranges < RANGES_MAX) {
		const char *end;
		u64 from = 1, to;

		if (is_digit(*s))
			from = parse_digits(s, &s, 10);
		to = from;
		if (*s == '-') {
			s++;
			to = is_digit(*s) ? parse_digits(s, &end, 10) : ~0UL;
			s = is_digit(*s) ? end : s;
		}
		if (!from || to < from || (*s && *s != ','))
			break;
		c->from[c->ranges] = from;
		c->to[c->ranges++] = to;
		s += *s == ',';
	}
	if (!*s && c->ranges)
		return true;
	sh_fail(io, "bad list");
	return false;
}

static bool cut_has(const struct cut *c, u64 n)
{
	for (int i = 0; i < c->ranges; i++)
		if (n >= c->from[i] && n <= c->to[i])
			return true;
	return false;
}

static void cut_fields(struct sh_io *io, const struct cut *c, const char *s, size_t n)
{
	bool first = true;
	u64 field = 1;

	if (!memchr(s, c->delimiter, n)) {
		if (!c->only_delimited)
			sh_printf(io, "%.*s\n", (int)n, s);
		return;
	}
	for (const char *end = s + n; s <= end; field++) {
		const char *next = memchr(s, c->delimiter, end - s);

		next = next ? next : end;
		if (cut_has(c, field)) {
			if (!first)
				sh_putc(io, c->delimiter);
			sh_put(io, s, next - s);
			first = false;
		}
		s = next + 1;
	}
	sh_putc(io, '\n');
}

static int cut_file(struct sh_io *io, struct file *f, const char *name, void *ctx)
{
	const struct cut *c = ctx;
	struct sh_buf line = {0};
	struct sh_reader r;

	(void)name;
	if (sh_reader_init(&r, io, f))
		return sh_fail(io, "out of memory");
	while (!io->error && sh_getline(&r, &line)) {
		size_t n = line.len - (line.s[line.len - 1] == '\n');

		if (c->fields) {
			cut_fields(io, c, line.s, n);
			continue;
		}
		for (size_t i = 0; i < n; i++)
			if (cut_has(c, i + 1))
				sh_putc(io, line.s[i]);
		sh_putc(io, '\n');
	}
	sh_buf_free(&line);
	sh_reader_free(&r);
	return sh_read_status(&r);
}

int sh_cmd_cut(struct sh_io *io, int argc, char **argv)
{
	struct cut c = {.delimiter = '\t'};
	struct sh_opts o;
	const char *list;

	if (sh_options(io, argc, argv, "b:c:f:d:s", &o))
		return 1;
	c.fields = sh_opt(&o, 'f');
	c.only_delimited = sh_opt(&o, 's');
	list = c.fields		 ? sh_optval(&o, 'f')
	       : sh_opt(&o, 'c') ? sh_optval(&o, 'c')
				 : sh_optval(&o, 'b');
	if (!list)
		return sh_fail(io, "expected a list of bytes, characters, or fields");
	if (sh_opt(&o, 'd')) {
		if (strlen(sh_optval(&o, 'd')) != 1)
			return sh_fail(io, "the delimiter must be a single character");
		c.delimiter = *sh_optval(&o, 'd');
	}
	if (!cut_list(io, &c, list))
		return 1;
	return sh_each_file(io, argc - o.at, argv + o.at, cut_file, &c);
}

/* One group of equal lines. */
static void uniq_put(
    struct sh_io *io, const struct sh_opts *o, const struct sh_buf *line, u64 count)
{
	if (!count || (sh_opt(o, 'd') && count < 2) || (sh_opt(o, 'u') && count > 1))
		return;
	if (sh_opt(o, 'c'))
		sh_printf(io, "%7llu ", (unsigned long long)count);
	sh_put(io, line->s, line->len);
	sh_putc(io, '\n');
}

/* What is compared: the line without -f fields. */
static const char *uniq_key(const char *s, u64 fields)
{
	while (fields--) {
		s += strspn(s, " \t");
		s += strcspn(s, " \t");
	}
	return s;
}

static int uniq_file(struct sh_io *io, struct file *f, const char *name, void *ctx)
{
	const struct sh_opts *o = ctx;
	struct sh_buf line = {0}, last = {0}, swap;
	struct sh_reader r;
	u64 count = 0, skip = 0;

	(void)name;
	if (sh_opt(o, 'f') && !sh_number(io, sh_optval(o, 'f'), &skip))
		return 1;
	if (sh_reader_init(&r, io, f))
		return sh_fail(io, "out of memory");
	while (!io->error && sh_getline(&r, &line)) {
		line.len -= line.s[line.len - 1] == '\n';
		sh_buf_str(&line);
		if (count && !strcmp(uniq_key(line.s, skip), uniq_key(last.s, skip))) {
			count++;
			continue;
		}
		uniq_put(io, o, &last, count);
		swap = last;
		last = line;
		line = swap;
		count = 1;
	}
	uniq_put(io, o, &last, count);
	sh_buf_free(&line);
	sh_buf_free(&last);
	sh_reader_free(&r);
	return sh_read_status(&r);
}

int sh_cmd_uniq(struct sh_io *io, int argc, char **argv)
{
	struct sh_opts o;

	if (sh_options(io, argc, argv, "cduf:", &o))
		return 1;
	return sh_each_file(io, MIN(argc - o.at, 1), argv + o.at, uniq_file, &o);
}

/* Characters of a tr set, in order, up to 256 and more for ranges given twice. */
struct tr_set {
	u8 c[512];
	size_t n;
};

static void tr_add(struct tr_set *s, unsigned lo, unsigned hi)
{
	for (unsigned i = lo; i <= hi && s->n < sizeof(s->c); i++)
		s->c[s->n++] = i;
}

static u8 tr_char(const char **p)
{
	static const char from[] = "abfnrtv\\", to[] = "\a\b\f\n\r\t\v\\";
	const char *s = *p, *at;
	unsigned v = 0;

	if (*s != '\\' || !s[1]) {
		*p = s + 1;
		return *s;
	}
	s++;
	if (*s >= '0' && *s <= '7') {
		for (int i = 0; i < 3 && *s >= '0' && *s <= '7'; i++)
			v = v * 8 + *s++ - '0';
		*p = s;
		return v;
	}
	at = strchr(from, *s);
	*p = s + 1;
	return at ? to[at - from] : *s;
}

static void tr_parse(struct tr_set *s, const char *p)
{
	while (*p) {
		const char *end = p[0] == '[' && p[1] == ':' ? strstr(p + 2, ":]") : NULL;
		u8 lo;

		if (end) {
			for (unsigned i = 0; i < 256; i++)
				if (sh_class_has(p + 2, end - p - 2, i))
					tr_add(s, i, i);
			p = end + 2;
			continue;
		}
		lo = tr_char(&p);
		if (p[0] == '-' && p[1]) {
			p++;
			tr_add(s, lo, tr_char(&p));
		} else {
			tr_add(s, lo, lo);
		}
	}
}

struct tr {
	struct tr_set a, b;
	bool first[256], squeeze[256]; /* in the first set; in the set that -s looks at */
	u8 map[256];
};

static void tr_tables(struct tr *t, const struct sh_opts *o, const char *one, const char *two)
{
	struct tr_set *a = &t->a, *b = &t->b;
	size_t k = 0;

	tr_parse(a, one);
	if (two)
		tr_parse(b, two);
	for (size_t i = 0; i < a->n; i++)
		t->first[a->c[i]] = true;
	for (unsigned i = 0; i < 256; i++) {
		t->map[i] = i;
		t->first[i] ^= sh_opt(o, 'c');
	}
	if (b->n && !sh_opt(o, 'd')) {
		for (size_t i = 0; !sh_opt(o, 'c') && i < a->n; i++)
			t->map[a->c[i]] = b->c[MIN(i, b->n - 1)];
		for (unsigned i = 0; sh_opt(o, 'c') && i < 256; i++)
			if (t->first[i])
				t->map[i] = b->c[MIN(k++, b->n - 1)];
	}
	for (size_t i = 0; i < b->n; i++)
		t->squeeze[b->c[i]] = true;
	if (!two)
		memcpy(t->squeeze, t->first, sizeof(t->squeeze));
}

int sh_cmd_tr(struct sh_io *io, int argc, char **argv)
{
	struct sh_opts o;
	struct sh_reader r;
	struct tr *t;
	int c, last = -1;

	if (sh_options(io, argc, argv, "cds", &o))
		return 1;
	if (o.at == argc || (argc - o.at < 2 && !sh_opt(&o, 'd') && !sh_opt(&o, 's')))
		return sh_fail(io, "a set is missing");
	t = kzalloc(sizeof(*t));
	if (!t || sh_reader_init(&r, io, io->in)) {
		kfree(t);
		return sh_fail(io, "out of memory");
	}
	tr_tables(t, &o, argv[o.at], o.at + 1 < argc ? argv[o.at + 1] : NULL);
	while (!io->error && (c = sh_getc(&r)) >= 0) {
		if (sh_opt(&o, 'd') && t->first[c])
			continue;
		c = t->map[c];
		if (sh_opt(&o, 's') && c == last && t->squeeze[c])
			continue;
		sh_putc(io, c);
		last = c;
	}
	sh_reader_free(&r);
	kfree(t);
	return sh_read_status(&r);
}
