/*
 * The section of types. The first lookup by a name checks all of it; the boot does not, because
 * that would take a tenth of its time. Contexts are those of types.h. After the check, each record
 * lies in the section, as do its names and types, and each chain of modifiers ends.
 */
#include "trace/types/types.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "trace/host_log.h"
#include "trace/host_symbol.h"
#include "trace/host_types.h"

#define CHAIN_MAX 32 /* modifiers and typedefs over a type, and structs in structs */

static struct {
	bool known;		       /* [A] whether there are types */
	const struct types_head *head; /* [A] set last, by types_use(); NULL: there are no types */
	const u16 *at, *words, *function, *named;
	const char *text;
} types;

/* ---- records ---- */

static const u16 *types_record(u32 type)
{
	static const u16 nothing[8];

	return type ? types.words + types.at[type - 1] : nothing;
}

static u32 types_long(const u16 *w)
{
	return w[0] | (u32)w[1] << 16;
}

static const char *types_text(u16 half)
{
	return types.text + 2 * (u32)half;
}

static bool is_modifier(u32 kind)
{
	return kind >= TYPES_TYPEDEF && kind <= TYPES_RESTRICT;
}

/* The type that a pointer or a modifier is made of. */
static u32 types_under(const u16 *r)
{
	return TYPES_KIND(*r) == TYPES_TYPEDEF ? r[2] : r[1];
}

/* Words of a member, a value or a parameter. */
static u32 types_item_words(u16 head)
{
	switch (TYPES_KIND(head)) {
	case TYPES_STRUCT:
	case TYPES_UNION:
		return head & TYPES_WIDE ? 4 : 3;
	case TYPES_ENUM:
		return head & TYPES_WIDE ? 3 : 2;
	case TYPES_ENUM64:
		return 5;
	case TYPES_PROTO:
		return 2;
	default:
		return 0;
	}
}

/* Words before the first of these; 0: no such kind. */
static u32 fixed_words(u16 head)
{
	static const u8 words[] = {[TYPES_INT] = 3,
	    [TYPES_PTR] = 2,
	    [TYPES_ARRAY] = 5,
	    [TYPES_STRUCT] = 4,
	    [TYPES_UNION] = 4,
	    [TYPES_ENUM] = 3,
	    [TYPES_FWD] = 2,
	    [TYPES_TYPEDEF] = 3,
	    [TYPES_VOLATILE] = 2,
	    [TYPES_CONST] = 2,
	    [TYPES_RESTRICT] = 2,
	    [TYPES_PROTO] = 2,
	    [TYPES_ENUM64] = 3};

	return TYPES_KIND(head) < ARRAY_SIZE(words) ? words[TYPES_KIND(head)] : 0;
}

static u32 record_words(u16 head)
{
	return fixed_words(head) + TYPES_COUNT(head) * types_item_words(head);
}

static bool types_has_name(u32 kind)
{
	return kind != TYPES_PTR && kind != TYPES_ARRAY && kind != TYPES_PROTO &&
	       (kind < TYPES_VOLATILE || kind > TYPES_RESTRICT);
}

/* ---- checking ---- */

static bool name_fits(const struct types_head *h, u32 half)
{
	return 2 * half < h->n_text;
}

/* The names and types of members, values or parameters. */
static bool items_fit(const struct types_head *h, const u16 *r)
{
	u32 kind = TYPES_KIND(*r), step = types_item_words(*r);
	const u16 *item = r + fixed_words(*r);
	bool typed = kind != TYPES_ENUM && kind != TYPES_ENUM64;

	for (u32 i = TYPES_COUNT(*r); step && i; i--, item += step)
		if (!name_fits(h, item[0]) || (typed && item[1] > h->n_types))
			return false;
	return true;
}

static const char *check_record(const struct types_head *h, const u16 *r, u32 room)
{
	u32 kind = room ? TYPES_KIND(*r) : 0;

	if (!room || !fixed_words(*r) || record_words(*r) > room)
		return "a record does not lie in it";
	if (types_has_name(kind) && !name_fits(h, r[1]))
		return "a name does not lie in it";
	if ((kind == TYPES_PTR || is_modifier(kind)) && types_under(r) > h->n_types)
		return "a type is not there";
	if (kind == TYPES_ARRAY && (r[1] > h->n_types || r[2] > h->n_types))
		return "a type is not there";
	if (kind == TYPES_PROTO && r[1] > h->n_types)
		return "a type is not there";
	return items_fit(h, r) ? NULL : "a member does not lie in it";
}

/* Modifiers end at a type, and arrays at their elements. */
static bool chain_ends(const u16 *at, const u16 *words, u32 type)
{
	for (unsigned i = 0; i < CHAIN_MAX; i++) {
		const u16 *r = type ? words + at[type - 1] : NULL;
		if (!r || (!is_modifier(TYPES_KIND(*r)) && TYPES_KIND(*r) != TYPES_ARRAY))
			return true;
		type = types_under(r);
	}
	return false;
}

static const char *check_head(const struct types_head *h, size_t size)
{
	if (size < sizeof(*h) || h->magic != TYPES_MAGIC)
		return "it is of another kind";
	u64 n = (u64)h->n_types + h->n_words + h->n_functions + h->n_named;
	if (h->size != size || sizeof(*h) + n * sizeof(u16) + h->n_text != size)
		return "it has another size than it says";
	if (h->n_types > UINT16_MAX || !h->n_text)
		return "it has too many types";
	return NULL;
}

static const char *check_section(const struct types_head *h, size_t size)
{
	const char *why = check_head(h, size);

	if (why)
		return why;
	const u16 *at = (const u16 *)(h + 1), *words = at + h->n_types;
	const u16 *function = words + h->n_words, *named = function + h->n_functions;
	const char *text = (const char *)(named + h->n_named);
	if (text[0] || text[h->n_text - 1])
		return "its names have no end";
	for (u32 i = 0; i < h->n_types && !why; i++)
		why = check_record(h, words + at[i], at[i] < h->n_words ? h->n_words - at[i] : 0);
	for (u32 i = 1; i <= h->n_types && !why; i++)
		why = chain_ends(at, words, i) ? NULL : "a type is made of itself";
	for (u32 i = 0; i < h->n_functions && !why; i++)
		if (function[i] > h->n_types ||
		    (function[i] && TYPES_KIND(words[at[function[i] - 1]]) != TYPES_PROTO))
			why = "a function has no prototype";
	for (u32 i = 0; i < h->n_named && !why; i++)
		if (!named[i] || named[i] > h->n_types ||
		    !types_has_name(TYPES_KIND(words[at[named[i] - 1]])))
			why = "a name belongs to no type";
	return why;
}

const char *types_use(const void *data, size_t size)
{
	const struct types_head *h = data;
	const char *why = h ? check_section(h, size) : NULL;

	if (why)
		return why;
	if (h) {
		types.at = (const u16 *)(h + 1);
		types.words = types.at + h->n_types;
		types.function = types.words + h->n_words;
		types.named = types.function + h->n_functions;
		types.text = (const char *)(types.named + h->n_named);
	}
	atomic_store_release(&types.head, h);
	atomic_store_release(&types.known, true);
	return NULL;
}

/* Two CPUs that look up the first name at the same time write the same values. */
static const struct types_head *types_section(void)
{
	size_t size;

	if (unlikely(!atomic_load_acquire(&types.known))) {
		const void *data = host_types(&size);
		const char *why = types_use(data, size);

		if (why)
			host_log("types: the section is refused: %s", why);
		atomic_store_release(&types.known, true);
	}
	return atomic_load_acquire(&types.head);
}

const void *types_used(size_t *size)
{
	const struct types_head *h = types_section();

	*size = h ? h->size : 0;
	return h;
}

/* ---- types ---- */

enum types_kind types_kind(u32 type)
{
	return (enum types_kind)TYPES_KIND(*types_record(type));
}

const char *types_name(u32 type)
{
	const u16 *r = types_record(type);

	return type && types_has_name(TYPES_KIND(*r)) ? types_text(r[1]) : "";
}

u32 types_strip(u32 type)
{
	const u16 *r = types_record(type);

	while (is_modifier(TYPES_KIND(*r))) {
		type = types_under(r);
		r = types_record(type);
	}
	return type;
}

u32 types_target(u32 type, u32 *count)
{
	const u16 *r = types_record(type);

	*count = TYPES_KIND(*r) == TYPES_ARRAY ? types_long(r + 3) : 0;
	return TYPES_KIND(*r) == TYPES_PTR || *count ? r[1] : 0;
}

u32 types_size(u32 type)
{
	u32 n = 1, count;

	for (;;) {
		const u16 *r = types_record(type = types_strip(type));
		switch (TYPES_KIND(*r)) {
		case TYPES_INT:
			return n * TYPES_COUNT(*r);
		case TYPES_PTR:
			return n * sizeof(void *);
		case TYPES_STRUCT:
		case TYPES_UNION:
			return n * types_long(r + 2);
		case TYPES_ENUM:
		case TYPES_ENUM64:
			return n * r[2];
		case TYPES_ARRAY:
			type = types_target(type, &count);
			n *= count;
			break;
		default:
			return 0;
		}
	}
}

u32 types_encoding(u32 type)
{
	const u16 *r = types_record(type);

	return TYPES_KIND(*r) == TYPES_INT ? r[2] : 0;
}

/* The types of a name are together, in the order of the build. */
u32 types_find(const char *name)
{
	const struct types_head *h = types_section();
	u32 low = 0, high = h ? h->n_named : 0, n = high;

	while (low < high) {
		u32 mid = low + (high - low) / 2;
		if (strcmp(types_name(types.named[mid]), name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < n && !strcmp(types_name(types.named[low]), name) ? types.named[low] : 0;
}

/* ---- functions ---- */

u32 types_function(const char *name)
{
	const struct types_head *h = types_section();
	long i = h ? host_sym_number(name) : -1;

	return i >= 0 && i < h->n_functions ? types.function[i] : 0;
}

/* The macro that declares a tracepoint makes this function, which is called with its arguments. */
u32 types_tracepoint(const char *event)
{
	char name[96];

	if (fmt_snprintf(name, sizeof(name), "trace_record_%s", event) >= (int)sizeof(name))
		return 0;
	return types_function(name);
}

u32 types_result(u32 proto)
{
	const u16 *r = types_record(proto);

	return TYPES_KIND(*r) == TYPES_PROTO ? r[1] : 0;
}

unsigned types_param_count(u32 proto)
{
	const u16 *r = types_record(proto);

	return TYPES_KIND(*r) == TYPES_PROTO ? TYPES_COUNT(*r) : 0;
}

const char *types_param(u32 proto, unsigned i, u32 *type)
{
	const u16 *item = types_record(proto) + 2 + 2 * i;

	if (i >= types_param_count(proto))
		return NULL;
	*type = item[1];
	return types_text(item[0]);
}

static bool is_named(const char *text, const char *name, size_t len)
{
	return !strncmp(text, name, len) && !text[len];
}

int types_param_find(u32 proto, const char *name, size_t len, u32 *type)
{
	const u16 *item = types_record(proto) + 2;

	for (unsigned i = 0; i < types_param_count(proto); i++, item += 2) {
		*type = item[1];
		if (is_named(types_text(item[0]), name, len))
			return i;
	}
	return -1;
}

/* ---- members ---- */

static bool is_struct(u32 kind)
{
	return kind == TYPES_STRUCT || kind == TYPES_UNION;
}

static struct types_member member_of(u16 head, const u16 *item)
{
	u32 at = head & TYPES_WIDE ? types_long(item + 2) : 8u * item[2];

	return (struct types_member){.type = item[1],
	    .at = head & TYPES_FLAG ? at & 0xffffff : at,
	    .bits = head & TYPES_FLAG ? at >> 24 : 0};
}

/* depth: of anonymous structs, of which no sound section has many. */
static bool types_find_member(
    u32 type, const char *name, size_t len, struct types_member *out, unsigned depth)
{
	const u16 *r = types_record(type), *item = r + 4;
	u32 step = types_item_words(*r);

	if (!is_struct(TYPES_KIND(*r)) || depth == 8)
		return false;
	for (u32 i = TYPES_COUNT(*r); i; i--, item += step) {
		struct types_member m = member_of(*r, item);
		if (item[0] && !is_named(types_text(item[0]), name, len))
			continue;
		*out = m;
		if (item[0])
			return true;
		if (types_find_member(types_strip(m.type), name, len, out, depth + 1)) {
			out->at += m.at;
			return true;
		}
	}
	return false;
}

bool types_member(u32 type, const char *name, size_t len, struct types_member *out)
{
	return len && types_find_member(type, name, len, out, 0);
}

static s64 enum_value(u16 head, const u16 *item)
{
	u32 low = head & TYPES_WIDE ? types_long(item + 1) : item[1];

	if (TYPES_KIND(head) == TYPES_ENUM64)
		return low | (u64)types_long(item + 3) << 32;
	return head & TYPES_FLAG ? (s32)low : (s64)low;
}

const char *types_enum_name(u32 type, s64 value)
{
	const u16 *r = types_record(type), *item = r + 3;
	u32 step = types_item_words(*r);

	if (TYPES_KIND(*r) != TYPES_ENUM && TYPES_KIND(*r) != TYPES_ENUM64)
		return NULL;
	for (u32 i = TYPES_COUNT(*r); i; i--, item += step)
		if (enum_value(*r, item) == value)
			return types_text(item[0]);
	return NULL;
}
