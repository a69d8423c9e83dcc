/* sort: lines by order of their text or numbers. Task context. */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/command.h"

#define KEYS_MAX 8

/* -k FROM[.C][bfnr][,TO[.C][bfnr]]: fields and characters from 1; TO 0: the end of the line, its C 0: the field's end. */
struct sort_key {
	u64 from, from_char, to, to_char;
	bool numeric, reverse, fold, blanks; /* none: as the options say */
};

struct sort {
	struct sh_opts o;
	struct sh_arena arena; /* the lines */
	char **line;
	int count, room;
	bool failed;
	struct sort_key key[KEYS_MAX]; /* one at least: the whole line */
	int keys;
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

static const char *skip(const char *p, const char *end, u64 n)
{
	return n < (u64)(end - p) ? p + n : end;
}

/* Where the key ends; `end` is the line's. */
static const char *key_end(
    const struct sort *s, const struct sort_key *k, const char *line, const char *end)
{
	const char *next;

	if (!k->to)
		return end;
	if (k->to_char)
		return skip(field_start(s, line, k->to), end, k->to_char);
	next = field_start(s, line, k->to + 1);
	return s->separator && *next ? next - 1 : next;
}

/* The part of the line that is compared: from *from, *n bytes. */
static const char *sort_key(
    const struct sort *s, const struct sort_key *k, const char *line, size_t *n)
{
	const char *end = line + strlen(line), *from = field_start(s, line, k->from);

	if (k->blanks)
		from += strspn(from, " \t");
	from = skip(from, end, k->from_char - 1);
	end = key_end(s, k, line, end);
	*n = end > from ? end - from : 0;
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

static int compare_text(bool folded, const char *a, size_t na, const char *b, size_t nb)
{
	for (size_t i = 0; i < na && i < nb; i++) {
		unsigned char x = a[i], y = b[i];

		if (folded) {
			x = fold(x);
			y = fold(y);
		}
		if (x != y)
			return x < y ? -1 : 1;
	}
	return na < nb ? -1 : na > nb;
}

static int compare_key(const struct sort *s, const struct sort_key *k, const char *a, const char *b)
{
	size_t na, nb;
	const char *ka = sort_key(s, k, a, &na), *kb = sort_key(s, k, b, &nb);
	int d = k->numeric ? compare_numbers(ka, kb) : compare_text(k->fold, ka, na, kb, nb);

	return k->reverse ? -d : d;
}

/* By the keys alone. */
static int compare_keys(const struct sort *s, const char *a, const char *b)
{
	int d = 0;

	for (int i = 0; !d && i < s->keys; i++)
		d = compare_key(s, &s->key[i], a, b);
	return d;
}

static int compare(const struct sort *s, const char *a, const char *b)
{
	int d = compare_keys(s, a, b);

	if (d || sh_opt(&s->o, 's'))
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

/* FIELD[.CHARACTER] and letters; where it ends, NULL: a letter is unknown. */
static const char *parse_place(const char *p, u64 *field, u64 *character, struct sort_key *k)
{
	*field = parse_digits(p, &p, 10);
	if (*p == '.')
		*character = parse_digits(p + 1, &p, 10);
	for (; *p && *p != ','; p++) {
		bool *flag = *p == 'n'	 ? &k->numeric
			     : *p == 'r' ? &k->reverse
			     : *p == 'f' ? &k->fold
			     : *p == 'b' ? &k->blanks
					 : NULL;
		if (!flag)
			return NULL;
		*flag = true;
	}
	return p;
}

/* What the options say, for keys that say nothing. */
static void inherit(const struct sort *s, struct sort_key *k)
{
	if (k->numeric || k->reverse || k->fold || k->blanks)
		return;
	k->numeric = sh_opt(&s->o, 'n');
	k->reverse = sh_opt(&s->o, 'r');
	k->fold = sh_opt(&s->o, 'f');
	k->blanks = sh_opt(&s->o, 'b');
}

static bool add_key(struct sort *s, const char *text)
{
	struct sort_key k = {.from_char = 1};
	const char *p = parse_place(text, &k.from, &k.from_char, &k);

	if (p && *p)
		p = parse_place(p + 1, &k.to, &k.to_char, &k);
	if (!p || *p || !k.from || !k.from_char || s->keys == KEYS_MAX)
		return false;
	inherit(s, &k);
	s->key[s->keys++] = k;
	return true;
}

static bool sort_options(struct sh_io *io, struct sort *s)
{
	if (sh_opt(&s->o, 't'))
		s->separator = *sh_optval(&s->o, 't');
	for (int i = 0; i < s->o.values; i++) {
		const char *text = s->o.value[i].text;

		if (s->o.value[i].letter == 'k' && !add_key(s, text)) {
			sh_fail(io, "bad key '%s'", text);
			return false;
		}
	}
	if (!s->keys)
		add_key(s, "1");
	return true;
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
