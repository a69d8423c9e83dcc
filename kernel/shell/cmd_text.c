/* cut, sort, uniq, tr: text by columns, order and characters. Task context. */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/command.h"

static int ended(struct sh_io *io, const struct sh_reader *r)
{
	if (!r->error || r->error == -EINTR)
		return r->error != 0;
	return sh_fail_errno(io, r->error, "read error");
}

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
	return ended(io, &r);
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

struct sort {
	struct sh_opts o;
	struct sh_arena arena; /* the lines */
	char **line;
	int count, room;
	bool failed;
	u64 key_from, key_to; /* fields; 0: the whole line */
	bool key_numeric, key_reverse;
	char separator; /* 0: runs of blanks */
};

/* Where field number n (from 1) begins. */
static const char *field_start(const struct sort *s, const char *p, u64 n)
{
	while (--n && *p) {
		if (s->separator) {
			const char *next = strchr(p, s->separator);

			if (!next)
				return p + strlen(p);
			p = next + 1;
		} else {
			p += strspn(p, " \t");
			p += strcspn(p, " \t");
		}
	}
	return p;
}

/* The part of the line that is compared: from *from, *n bytes. */
static const char *sort_key(const struct sort *s, const char *line, size_t *n)
{
	const char *from = line, *end;

	*n = strlen(line);
	if (!s->key_from)
		return line;
	from = field_start(s, line, s->key_from);
	end = line + *n;
	if (s->key_to) {
		const char *next = field_start(s, line, s->key_to + 1);

		end = next > from && s->separator && next <= end && *next ? next - 1 : next;
		if (end < from)
			end = from;
	}
	*n = end - from;
	return from;
}

/* A number as sort -n sees it: an optional sign, digits, a fraction. Compared by sign, whole part, fraction. */
static int compare_numbers(const char *a, const char *b)
{
	s64 x, y;
	bool minus_a, minus_b;

	a += strspn(a, " \t");
	b += strspn(b, " \t");
	minus_a = *a == '-';
	minus_b = *b == '-';
	x = parse_digits(a + minus_a, &a, 10);
	y = parse_digits(b + minus_b, &b, 10);
	x = minus_a ? -x : x;
	y = minus_b ? -y : y;
	if (x != y)
		return x < y ? -1 : 1;
	if (*a != '.' || *b != '.')
		return (*a == '.') - (*b == '.');
	for (a++, b++; is_digit(*a) && *a == *b; a++, b++)
		;
	return (is_digit(*a) ? *a : 0) - (is_digit(*b) ? *b : 0);
}

static int fold(int c)
{
	return c >= 'A' && c <= 'Z' ? c | 32 : c;
}

static int compare_text(const struct sort *s, const char *a, size_t na, const char *b, size_t nb)
{
	for (size_t i = 0; i < na && i < nb; i++) {
		unsigned char x = a[i], y = b[i];

		if (sh_opt(&s->o, 'f')) {
			x = fold(x);
			y = fold(y);
		}
		if (x != y)
			return x < y ? -1 : 1;
	}
	return na < nb ? -1 : na > nb;
}

/* By the key alone. */
static int compare_keys(const struct sort *s, const char *a, const char *b)
{
	size_t na, nb;
	const char *ka = sort_key(s, a, &na), *kb = sort_key(s, b, &nb);
	int d;

	if (sh_opt(&s->o, 'b')) {
		for (; na && is_space(*ka); na--)
			ka++;
		for (; nb && is_space(*kb); nb--)
			kb++;
	}
	d = sh_opt(&s->o, 'n') || s->key_numeric ? compare_numbers(ka, kb)
						 : compare_text(s, ka, na, kb, nb);
	return sh_opt(&s->o, 'r') || s->key_reverse ? -d : d;
}

static int compare(const struct sort *s, const char *a, const char *b)
{
	int d = compare_keys(s, a, b);

	if (d || sh_opt(&s->o, 's') || sh_opt(&s->o, 'u'))
		return d;
	d = strcmp(a, b);
	return sh_opt(&s->o, 'r') ? -d : d;
}

/* Merge sort, so that equal lines keep their order. */
static void merge_sort(const struct sort *s, char **v, char **scratch, int n)
{
	for (int width = 1; width < n && !os_interrupted(); width *= 2) {
		for (int at = 0; at < n; at += 2 * width) {
			int mid = MIN(at + width, n), end = MIN(at + 2 * width, n), i = at, k = mid;

			for (int to = at; to < end; to++)
				scratch[to] = k >= end || (i < mid && compare(s, v[i], v[k]) <= 0)
						  ? v[i++]
						  : v[k++];
		}
		memcpy(v, scratch, n * sizeof(*v));
	}
}

static int sort_file(struct sh_io *io, struct file *f, const char *name, void *ctx)
{
	struct sort *s = ctx;
	struct sh_buf line = {0};
	struct sh_reader r;

	(void)name;
	if (sh_reader_init(&r, io, f))
		return sh_fail(io, "out of memory");
	while (!s->failed && sh_getline(&r, &line)) {
		size_t n = line.len - (line.s[line.len - 1] == '\n');

		if (s->count == s->room) {
			int room = s->room ? s->room * 2 : 256;
			char **bigger = krealloc(s->line, room * sizeof(*bigger));

			s->failed |= !bigger;
			s->line = bigger ? bigger : s->line;
			s->room = bigger ? room : s->room;
		}
		if (!s->failed && !(s->line[s->count++] = sh_strndup(&s->arena, line.s, n)))
			s->failed = true;
	}
	sh_buf_free(&line);
	sh_reader_free(&r);
	return s->failed ? sh_fail(io, "out of memory") : ended(io, &r);
}

/* -k FROM[nr][,TO[nr]] */
static bool sort_options(struct sh_io *io, struct sort *s)
{
	const char *k = sh_optval(&s->o, 'k');

	if (sh_opt(&s->o, 't'))
		s->separator = *sh_optval(&s->o, 't');
	if (!k)
		return true;
	s->key_from = parse_digits(k, &k, 10);
	for (; *k; k++) {
		if (*k == 'n')
			s->key_numeric = true;
		else if (*k == 'r')
			s->key_reverse = true;
		else if (*k == '.')
			parse_digits(k + 1, &k, 10), k--;
		else if (*k == ',')
			s->key_to = parse_digits(k + 1, &k, 10), k--;
		else if (!is_alpha(*k))
			break;
	}
	if (!*k && s->key_from)
		return true;
	sh_fail(io, "bad key '%s'", sh_optval(&s->o, 'k'));
	return false;
}

static int sort_all(struct sh_io *io, struct sort *s, int argc, char **argv)
{
	char **scratch;
	int bad = sh_each_file(io, argc - s->o.at, argv + s->o.at, sort_file, s);

	if (s->failed || !s->count)
		return bad;
	scratch = kmalloc(s->count * sizeof(*scratch));
	if (!scratch)
		return sh_fail(io, "out of memory");
	merge_sort(s, s->line, scratch, s->count);
	for (int i = 0; i < s->count && !io->error; i++) {
		if (i && sh_opt(&s->o, 'u') && !compare_keys(s, s->line[i - 1], s->line[i]))
			continue;
		sh_puts(io, s->line[i]);
		sh_putc(io, '\n');
	}
	kfree(scratch);
	return bad;
}

int sh_cmd_sort(struct sh_io *io, int argc, char **argv)
{
	struct sort *s = kzalloc(sizeof(*s));
	int bad = 1;

	if (!s)
		return sh_fail(io, "out of memory");
	if (!sh_options(io, argc, argv, "nrufbsk:t:", &s->o) && sort_options(io, s))
		bad = sort_all(io, s, argc, argv);
	kfree(s->line);
	sh_arena_free(&s->arena);
	kfree(s);
	return bad;
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
	return ended(io, &r);
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
	return ended(io, &r);
}
