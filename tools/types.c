/*
 * Makes the kernel's section of types: `types BTF FUNCTIONS OUT`. BTF is what pahole makes of a
 * linked kernel, FUNCTIONS the names of its functions in the order of the table of symbols, a line
 * each, and OUT gets the layout of trace/types/section.h. The order of the types is pahole's, so
 * the same kernel gives the same bytes.
 */
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/types/section.h"

static const char *btf_text;  /* names */
static const char *btf_types; /* records */
static size_t btf_text_size, btf_types_size;
static const struct btf_type **type_of; /* by pahole's number, from 1 */
static u32 n_btf;
static u16 *number_of; /* ours, by pahole's number; 0: it has none */

static struct {
	u16 *at;
	u32 n, room;
} at, words, functions, named;

static struct {
	char *bytes;
	u32 n, room;
} text;

static void die(const char *what)
{
	fprintf(stderr, "types: %s\n", what);
	exit(1);
}

static void *grow(void *p, u32 n, u32 *room, size_t size)
{
	if (n < *room)
		return p;
	*room = *room ? 2 * *room : 1024;
	p = realloc(p, *room * size);
	if (!p)
		die("out of memory");
	return p;
}

#define put(array, value)                                                                          \
	do {                                                                                       \
		u32 value_ = (value);                                                              \
		if (value_ > UINT16_MAX)                                                           \
			die("too much for 16 bits");                                               \
		(array).at = grow((array).at, (array).n, &(array).room, sizeof(u16));              \
		(array).at[(array).n++] = value_;                                                  \
	} while (0)

static void put_long(u32 value)
{
	put(words, value & 0xffff);
	put(words, value >> 16);
}

/* ---- reading ---- */

static char *read_file(const char *path, size_t *size)
{
	FILE *in = fopen(path, "rb");
	char *data = NULL;

	*size = 0;
	if (!in)
		die("cannot read the input");
	for (size_t room = 1 << 16;; room *= 2) {
		data = realloc(data, room + 1);
		if (!data)
			die("out of memory");
		*size += fread(data + *size, 1, room - *size, in);
		if (*size < room)
			break;
	}
	data[*size] = '\0';
	fclose(in);
	return data;
}

static const char *name_at(u32 offset)
{
	if (offset >= btf_text_size)
		die("a name is outside the names");
	return btf_text + offset;
}

/* Bytes after the common part of a record. */
static size_t tail_of(const struct btf_type *t)
{
	u32 n = BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
		return sizeof(u32);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return n * 3 * sizeof(u32);
	case BTF_KIND_FUNC_PROTO:
		return n * sizeof(struct btf_param);
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
		return 0;
	default:
		die("a type of an unknown kind");
		return 0;
	}
}

static void read_btf(const char *path)
{
	size_t size;
	const char *data = read_file(path, &size);
	const struct btf_header *h = (const struct btf_header *)data;

	if (size < sizeof(*h) || h->magic != BTF_MAGIC || h->version != BTF_VERSION ||
	    h->hdr_len + (size_t)h->type_off + h->type_len > size ||
	    h->hdr_len + (size_t)h->str_off + h->str_len > size)
		die("this is no BTF");
	btf_types = data + h->hdr_len + h->type_off;
	btf_types_size = h->type_len;
	btf_text = data + h->hdr_len + h->str_off;
	btf_text_size = h->str_len;
	u32 room = 0, ours = 0;
	for (size_t i = 0; i < btf_types_size; n_btf++) {
		const struct btf_type *t = (const struct btf_type *)(btf_types + i);
		u32 again = room;

		type_of = grow(type_of, n_btf + 1, &room, sizeof(*type_of));
		number_of = grow(number_of, n_btf + 1, &again, sizeof(*number_of));
		type_of[n_btf + 1] = t;
		number_of[n_btf + 1] = BTF_INFO_KIND(t->info) == BTF_KIND_FUNC ? 0 : ++ours;
		i += sizeof(*t) + tail_of(t);
		if (i > btf_types_size || ours == UINT16_MAX)
			die("too many types");
	}
	number_of[0] = 0;
}

/* ---- names ---- */

static u32 hash(const char *name)
{
	u32 h = 2166136261u;

	while (*name)
		h = (h ^ (unsigned char)*name++) * 16777619u;
	return h;
}

#define BUCKETS 16384
static struct {
	const char *name;
	u32 half;
} known[BUCKETS];

/* Half the place of a name, which is put there when it comes for the first time. */
static u32 name_of(u32 offset)
{
	const char *name = name_at(offset);
	u32 i = hash(name) % BUCKETS;

	for (u32 tries = 0; known[i].name; i = (i + 1) % BUCKETS) {
		if (!strcmp(known[i].name, name))
			return known[i].half;
		if (++tries == BUCKETS - 1)
			die("too many names");
	}
	known[i].name = name;
	known[i].half = text.n / 2;
	do {
		text.bytes = grow(text.bytes, text.n + 1, &text.room, 1);
		text.bytes[text.n++] = *name;
	} while (*name++);
	if (text.n % 2)
		text.bytes[text.n++] = '\0';
	return known[i].half;
}

/* ---- records ---- */

static u32 number(u32 btf)
{
	if (btf > n_btf)
		die("a type that is not there");
	return number_of[btf];
}

static void put_head(const struct btf_type *t, u32 count, u32 bits)
{
	if (count > TYPES_COUNT_MAX)
		die("too many members");
	put(words, BTF_INFO_KIND(t->info) | bits | count << 7);
}

static void put_int(const struct btf_type *t)
{
	u32 how = *(const u32 *)(t + 1);

	if (BTF_INT_OFFSET(how) || BTF_INT_BITS(how) != t->size * 8)
		die("an integer of a part of its bytes");
	put_head(t, t->size, 0);
	put(words, name_of(t->name_off));
	put(words, BTF_INT_ENCODING(how));
}

static void put_array(const struct btf_type *t)
{
	const struct btf_array *a = (const struct btf_array *)(t + 1);

	put_head(t, 0, 0);
	put(words, number(a->type));
	put(words, number(a->index_type));
	put_long(a->nelems);
}

static void put_struct(const struct btf_type *t)
{
	const struct btf_member *m = (const struct btf_member *)(t + 1);
	u32 n = BTF_INFO_VLEN(t->info), flag = BTF_INFO_KFLAG(t->info) ? TYPES_FLAG : 0;
	bool wide = flag;

	for (u32 i = 0; i < n; i++)
		wide |= m[i].offset % 8 || m[i].offset / 8 > UINT16_MAX;
	put_head(t, n, flag | (wide ? TYPES_WIDE : 0));
	put(words, name_of(t->name_off));
	put_long(t->size);
	for (u32 i = 0; i < n; i++) {
		put(words, name_of(m[i].name_off));
		put(words, number(m[i].type));
		if (wide)
			put_long(m[i].offset);
		else
			put(words, m[i].offset / 8);
	}
}

static void put_enum(const struct btf_type *t)
{
	const u32 *v = (const u32 *)(t + 1);
	bool is_64 = BTF_INFO_KIND(t->info) == BTF_KIND_ENUM64, wide = is_64;
	u32 n = BTF_INFO_VLEN(t->info), step = is_64 ? 3 : 2;

	for (u32 i = 0; i < n; i++)
		wide |= v[i * step + 1] > UINT16_MAX;
	put_head(t, n, (BTF_INFO_KFLAG(t->info) ? TYPES_FLAG : 0) | (wide ? TYPES_WIDE : 0));
	put(words, name_of(t->name_off));
	put(words, t->size);
	for (u32 i = 0; i < n; i++) {
		put(words, name_of(v[i * step]));
		if (!wide)
			put(words, v[i * step + 1]);
		for (u32 k = 1; wide && k < step; k++)
			put_long(v[i * step + k]);
	}
}

static void put_proto(const struct btf_type *t)
{
	const struct btf_param *p = (const struct btf_param *)(t + 1);
	u32 n = BTF_INFO_VLEN(t->info);

	put_head(t, n, 0);
	put(words, number(t->type));
	for (u32 i = 0; i < n; i++) {
		put(words, name_of(p[i].name_off));
		put(words, number(p[i].type));
	}
}

static void put_type(const struct btf_type *t)
{
	put(at, words.n);
	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
		put_int(t);
		break;
	case BTF_KIND_ARRAY:
		put_array(t);
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		put_struct(t);
		break;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		put_enum(t);
		break;
	case BTF_KIND_FUNC_PROTO:
		put_proto(t);
		break;
	case BTF_KIND_FWD:
		put_head(t, 0, BTF_INFO_KFLAG(t->info) ? TYPES_FLAG : 0);
		put(words, name_of(t->name_off));
		break;
	case BTF_KIND_TYPEDEF:
		put_head(t, 0, 0);
		put(words, name_of(t->name_off));
		put(words, number(t->type));
		break;
	default: /* a pointer or a modifier */
		put_head(t, 0, 0);
		put(words, number(t->type));
		break;
	}
}

/* ---- the index ---- */

struct entry {
	const char *name;
	u32 btf;
};

static int by_name(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : x->btf < y->btf ? -1 : 1;
}

/* The types of these kinds that have a name, sorted; *n of them. */
static struct entry *sorted(bool (*wanted)(u32 kind), u32 *n)
{
	struct entry *e = calloc(n_btf + 1, sizeof(*e));

	if (!e)
		die("out of memory");
	*n = 0;
	for (u32 i = 1; i <= n_btf; i++) {
		const char *name = name_at(type_of[i]->name_off);

		if (*name && wanted(BTF_INFO_KIND(type_of[i]->info)))
			e[(*n)++] = (struct entry){name, i};
	}
	qsort(e, *n, sizeof(*e), by_name);
	return e;
}

static bool is_function(u32 kind)
{
	return kind == BTF_KIND_FUNC;
}

static bool is_named(u32 kind)
{
	return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION || kind == BTF_KIND_ENUM ||
	       kind == BTF_KIND_ENUM64 || kind == BTF_KIND_TYPEDEF;
}

/* 0: there is none, or there are several that differ. */
static u32 proto_of(const struct entry *e, u32 n, const char *name)
{
	u32 low = 0, high = n;

	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (strcmp(e[mid].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == n || strcmp(e[low].name, name) != 0)
		return 0;
	for (u32 i = low + 1; i < n && !strcmp(e[i].name, name); i++)
		if (type_of[e[i].btf]->type != type_of[e[low].btf]->type)
			return 0;
	return number(type_of[e[low].btf]->type);
}

static void put_functions(const char *path)
{
	size_t size;
	char *line = read_file(path, &size);
	u32 n;
	struct entry *e = sorted(is_function, &n);

	for (char *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		put(functions, proto_of(e, n, line));
	}
	free(e);
}

static void put_named(void)
{
	u32 n;
	struct entry *e = sorted(is_named, &n);

	for (u32 i = 0; i < n; i++)
		put(named, number(e[i].btf));
	free(e);
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: types BTF FUNCTIONS OUT\n");
		return 2;
	}
	read_btf(argv[1]);
	name_of(0);
	for (u32 i = 1; i <= n_btf; i++)
		if (number_of[i])
			put_type(type_of[i]);
	put_functions(argv[2]);
	put_named();
	u32 n_words = at.n + words.n + functions.n + named.n;
	struct types_head head = {.magic = TYPES_MAGIC,
	    .n_types = at.n,
	    .n_words = words.n,
	    .n_functions = functions.n,
	    .n_named = named.n,
	    .n_text = text.n,
	    .size = sizeof(head) + n_words * sizeof(u16) + text.n};
	FILE *out = fopen(argv[3], "wb");
	if (!out)
		die("cannot write the output");
	fwrite(&head, sizeof(head), 1, out);
	fwrite(at.at, sizeof(u16), at.n, out);
	fwrite(words.at, sizeof(u16), words.n, out);
	fwrite(functions.at, sizeof(u16), functions.n, out);
	fwrite(named.at, sizeof(u16), named.n, out);
	fwrite(text.bytes, 1, text.n, out);
	if (fclose(out))
		die("cannot write the output");
	return 0;
}
