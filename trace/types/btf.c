/*
 * The section of types in the format that Linux calls BTF, for programs that know it: bpftool,
 * pahole. Types keep their numbers; the functions follow, with names from the table of symbols.
 * Task context.
 */
#include "kernel/lib/string.h"
#include "trace/host_symbol.h"
#include "trace/types/types.h"

#define BTF_MAGIC   0xeb9f
#define BTF_VERSION 1
#define FUNC_STATIC 0
#define FUNC_GLOBAL 1

struct btf_head {
	u16 magic;
	u8 version, flags;
	u32 head_len, types_at, types_len, text_at, text_len;
};

/* What a pass over the types is for: their length, or the bytes. */
struct out {
	struct seq *s; /* NULL: only the length */
	const struct types_head *head;
	const u16 *at, *words, *function;
	const char *text;
	u32 types_len, text_len;
};

static void types_put(struct out *o, u32 word)
{
	o->types_len += sizeof(word);
	if (o->s)
		seq_write(o->s, &word, sizeof(word));
}

static u32 two(const u16 *w)
{
	return w[0] | (u32)w[1] << 16;
}

/* Name, kind with count and flag, size or type. */
static void types_put_record(struct out *o, u16 half, u16 head, u32 count, u32 size)
{
	types_put(o, 2 * (u32)half);
	types_put(o, TYPES_KIND(head) << 24 | count | (head & TYPES_FLAG ? 1u << 31 : 0));
	types_put(o, size);
}

static void types_put_struct(struct out *o, const u16 *r)
{
	const u16 *item = r + 4;

	types_put_record(o, r[1], *r, TYPES_COUNT(*r), two(r + 2));
	for (u32 i = TYPES_COUNT(*r); i; i--) {
		types_put(o, 2 * (u32)item[0]);
		types_put(o, item[1]);
		types_put(o, *r & TYPES_WIDE ? two(item + 2) : 8u * item[2]);
		item += *r & TYPES_WIDE ? 4 : 3;
	}
}

static void types_put_enum(struct out *o, const u16 *r)
{
	bool is_64 = TYPES_KIND(*r) == TYPES_ENUM64;
	const u16 *item = r + 3;

	types_put_record(o, r[1], *r, TYPES_COUNT(*r), r[2]);
	for (u32 i = TYPES_COUNT(*r); i; i--) {
		types_put(o, 2 * (u32)item[0]);
		types_put(o, *r & TYPES_WIDE ? two(item + 1) : item[1]);
		if (is_64)
			types_put(o, two(item + 3));
		item += is_64 ? 5 : *r & TYPES_WIDE ? 3 : 2;
	}
}

static void types_put_type(struct out *o, const u16 *r)
{
	u32 n = TYPES_COUNT(*r);

	switch (TYPES_KIND(*r)) {
	case TYPES_INT:
		types_put_record(o, r[1], *r, 0, n);
		types_put(o, (u32)r[2] << 24 | n * 8);
		break;
	case TYPES_ARRAY:
		types_put_record(o, 0, *r, 0, 0);
		types_put(o, r[1]);
		types_put(o, r[2]);
		types_put(o, two(r + 3));
		break;
	case TYPES_STRUCT:
	case TYPES_UNION:
		types_put_struct(o, r);
		break;
	case TYPES_ENUM:
	case TYPES_ENUM64:
		types_put_enum(o, r);
		break;
	case TYPES_FWD:
		types_put_record(o, r[1], *r, 0, 0);
		break;
	case TYPES_TYPEDEF:
		types_put_record(o, r[1], *r, 0, r[2]);
		break;
	case TYPES_PROTO:
		types_put_record(o, 0, *r, n, r[1]);
		for (u32 i = 0; i < 2 * n; i += 2) {
			types_put(o, 2 * (u32)r[2 + i]);
			types_put(o, r[3 + i]);
		}
		break;
	default: /* a pointer, a modifier */
		types_put_record(o, 0, *r, 0, r[1]);
		break;
	}
}

/* Names of functions follow the section's own. */
static void types_put_function(struct out *o, const struct host_symbol *sym, u16 proto)
{
	types_put(o, o->text_len);
	types_put(o, TYPES_FUNC << 24 | (sym->type == 'T' ? FUNC_GLOBAL : FUNC_STATIC));
	types_put(o, proto);
	o->text_len += strlen(sym->name) + 1;
}

static void types_put_all(struct out *o)
{
	struct host_symbol sym;

	o->types_len = 0;
	o->text_len = o->head->n_text;
	for (u32 i = 0; i < o->head->n_types; i++)
		types_put_type(o, o->words + o->at[i]);
	for (u32 i = 0; i < o->head->n_functions; i++)
		if (o->function[i] && host_sym_nth(i, &sym))
			types_put_function(o, &sym, o->function[i]);
}

static void types_put_text(const struct out *o)
{
	struct host_symbol sym;

	seq_write(o->s, o->text, o->head->n_text);
	for (u32 i = 0; i < o->head->n_functions; i++)
		if (o->function[i] && host_sym_nth(i, &sym))
			seq_write(o->s, sym.name, strlen(sym.name) + 1);
}

void types_show_btf(struct seq *s)
{
	size_t size;
	const struct types_head *h = types_used(&size);

	if (!h)
		return;
	struct out o = {.head = h, .at = (const u16 *)(h + 1)};
	o.words = o.at + h->n_types;
	o.function = o.words + h->n_words;
	o.text = (const char *)(o.function + h->n_functions + h->n_named);
	types_put_all(&o);
	const struct btf_head head = {.magic = BTF_MAGIC,
	    .version = BTF_VERSION,
	    .head_len = sizeof(head),
	    .types_len = o.types_len,
	    .text_at = o.types_len,
	    .text_len = o.text_len};
	o.s = s;
	seq_write(s, &head, sizeof(head));
	types_put_all(&o);
	types_put_text(&o);
}
