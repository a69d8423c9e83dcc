/* sort: lines by order of their text or numbers. Task context. */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/command.h"

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
	return s->failed ? sh_fail(io, "out of memory") : sh_read_status(&r);
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
