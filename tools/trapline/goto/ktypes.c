/* See ktypes.h. */
#include "tools/trapline/goto/ktypes.h"

#include <string.h>

#define MAGIC	   0x31505954u
#define HEAD_WORDS 7
#define DEPTH_MOST 32

/* The kinds of records, as in BTF, and the first word of one. */
enum {
	INT = 1,
	PTR,
	ARRAY,
	STRUCT,
	UNION,
	ENUM,
	FWD,
	TYPEDEF,
	VOLATILE,
	CONST,
	RESTRICT,
	FUNC,
	PROTO,
	ENUM64 = 19
};
#define KIND(word)  ((word)&31u)
#define FLAG	    32u
#define WIDE	    64u
#define COUNT(word) ((uint32_t)(word) >> 7)
#define SIGNED	    1

void ktypes_open(struct ktypes *k, const struct elf *kernel)
{
	uint32_t head[HEAD_WORDS];
	size_t size = 0;
	const uint8_t *data = elf_section(kernel, ".types", &size);

	*k = (struct ktypes){.data = NULL};
	/* the linker puts it at a round address */
	for (; data && size >= sizeof(head) && !data[0]; size--)
		data++;
	if (!data || size < sizeof(head))
		return;
	memcpy(head, data, sizeof(head));
	uint64_t need = sizeof(head) + 2ULL * head[2] + 2ULL * head[3] + 2ULL * head[4] +
			2ULL * head[5] + head[6];
	if (head[0] != MAGIC || need > size || !head[6])
		return;
	*k = (struct ktypes){
	    .data = data, .size = size, .types = head[2], .words = head[3], .texts = head[6]};
	k->at = data + sizeof(head);
	k->word = k->at + 2 * (size_t)head[2];
	k->text = (const char *)k->word + 2 * ((size_t)head[3] + head[4] + head[5]);
	if (k->text[k->texts - 1])
		k->data = NULL;
}

static uint16_t half(const uint8_t *p)
{
	return p[0] | p[1] << 8;
}

/* Word i of a type's record; 0: there is none. */
static uint32_t word(const struct ktypes *k, uint32_t id, size_t i)
{
	size_t at;

	if (!k->data || !id || id > k->types)
		return 0;
	at = half(k->at + 2 * (size_t)(id - 1)) + i;
	return at < k->words ? half(k->word + 2 * at) : 0;
}

static uint32_t two_words(const struct ktypes *k, uint32_t id, size_t i)
{
	return word(k, id, i) | word(k, id, i + 1) << 16;
}

static const char *name_of(const struct ktypes *k, uint32_t half_place)
{
	return 2 * half_place < k->texts ? k->text + 2 * half_place : "";
}

/* Past typedefs and qualifiers. */
static uint32_t bare(const struct ktypes *k, uint32_t id)
{
	for (unsigned i = 0; i < DEPTH_MOST; i++) {
		uint32_t kind = KIND(word(k, id, 0));
		if (kind == TYPEDEF)
			id = word(k, id, 2);
		else if (kind == VOLATILE || kind == CONST || kind == RESTRICT)
			id = word(k, id, 1);
		else
			return id;
	}
	return 0;
}

static uint32_t kind_of(const struct ktypes *k, struct ctype t)
{
	return t.stars ? PTR : t.id == CTYPE_WORD ? INT : KIND(word(k, bare(k, t.id), 0));
}

enum ckind ktypes_kind(const struct ktypes *k, struct ctype t)
{
	switch (kind_of(k, t)) {
	case 0:
		return CKIND_VOID;
	case INT:
		return CKIND_NUMBER;
	case PTR:
		return CKIND_POINTER;
	case ARRAY:
		return CKIND_ARRAY;
	case STRUCT:
	case UNION:
		return CKIND_STRUCT;
	case ENUM:
	case ENUM64:
		return CKIND_ENUM;
	}
	return CKIND_OTHER;
}

struct ctype ktypes_target(const struct ktypes *k, struct ctype t)
{
	if (t.stars)
		return (struct ctype){t.id, t.stars - 1};
	return (struct ctype){word(k, bare(k, t.id), 1), 0};
}

uint64_t ktypes_length(const struct ktypes *k, struct ctype array)
{
	return two_words(k, bare(k, array.id), 3);
}

static uint64_t size_within(const struct ktypes *k, struct ctype t, unsigned depth)
{
	uint32_t id = bare(k, t.id);

	switch (kind_of(k, t)) {
	case INT:
		return t.id == CTYPE_WORD ? 8 : COUNT(word(k, id, 0));
	case PTR:
		return 8;
	case ARRAY:
		return depth ? ktypes_length(k, t) * size_within(k, ktypes_target(k, t), depth - 1)
			     : 0;
	case STRUCT:
	case UNION:
		return two_words(k, id, 2);
	case ENUM:
	case ENUM64:
		return word(k, id, 2);
	}
	return 1;
}

uint64_t ktypes_size(const struct ktypes *k, struct ctype t)
{
	return size_within(k, t, DEPTH_MOST);
}

bool ktypes_is_signed(const struct ktypes *k, struct ctype t)
{
	uint32_t id = bare(k, t.id), kind = kind_of(k, t);

	if (t.stars || t.id == CTYPE_WORD)
		return false;
	return kind == INT ? word(k, id, 2) & SIGNED : kind == ENUM && word(k, id, 0) & FLAG;
}

bool ktypes_is_char(const struct ktypes *k, struct ctype t)
{
	return kind_of(k, t) == INT && t.id != CTYPE_WORD && !t.stars &&
	       !strcmp(name_of(k, word(k, bare(k, t.id), 1)), "char");
}

bool ktypes_member(const struct ktypes *k, struct ctype t, size_t i, struct cmember *m)
{
	uint32_t id = bare(k, t.id), head = word(k, id, 0);
	size_t at;

	if (ktypes_kind(k, t) != CKIND_STRUCT || i >= COUNT(head))
		return false;
	at = 4 + i * (head & WIDE ? 4 : 3);
	*m =
	    (struct cmember){.name = name_of(k, word(k, id, at)), .type = {word(k, id, at + 1), 0}};
	if (!(head & WIDE)) {
		m->bit = 8ULL * word(k, id, at + 2);
		return true;
	}
	m->bit = two_words(k, id, at + 2);
	if (head & FLAG) {
		m->bit_size = m->bit >> 24;
		m->bit &= 0xffffff;
	}
	return true;
}

static bool find_within(
    const struct ktypes *k, struct ctype t, const char *name, struct cmember *m, unsigned depth)
{
	struct cmember one;

	for (size_t i = 0; ktypes_member(k, t, i, &one); i++) {
		if (!strcmp(one.name, name)) {
			*m = one;
			return true;
		}
		if (*one.name || !depth || !find_within(k, one.type, name, m, depth - 1))
			continue;
		m->bit += one.bit;
		return true;
	}
	return false;
}

bool ktypes_find(const struct ktypes *k, struct ctype t, const char *name, struct cmember *m)
{
	return find_within(k, t, name, m, DEPTH_MOST);
}

/* The words that C has for a type which the section has under one name. */
static const char *usual_name(const char *name)
{
	static const char *const names[][2] = {{"unsigned", "unsigned int"}, {"long", "long int"},
	    {"unsigned long", "long unsigned int"}, {"short", "short int"},
	    {"unsigned short", "short unsigned int"}, {"long long", "long long int"},
	    {"unsigned long long", "long long unsigned int"}, {"bool", "_Bool"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i][0], name))
			return names[i][1];
	return name;
}

bool ktypes_named(const struct ktypes *k, const char *name, struct ctype *type)
{
	uint32_t wanted = 0;

	*type = (struct ctype){0, 0};
	if (!strcmp(name, "void"))
		return true;
	if (!strncmp(name, "struct ", 7))
		wanted = STRUCT;
	else if (!strncmp(name, "union ", 6))
		wanted = UNION;
	else if (!strncmp(name, "enum ", 5))
		wanted = ENUM;
	name = wanted ? strchr(name, ' ') + 1 : usual_name(name);
	for (uint32_t id = 1; k->data && id <= k->types; id++) {
		uint32_t kind = KIND(word(k, id, 0));
		if ((wanted ? kind == wanted || (kind == ENUM64 && wanted == ENUM)
			    : kind == INT || kind == TYPEDEF) &&
		    !strcmp(name_of(k, word(k, id, 1)), name)) {
			type->id = id;
			return true;
		}
	}
	return false;
}

/* Value i of an enum and its name. */
static const char *enum_value(const struct ktypes *k, uint32_t id, size_t i, uint64_t *value)
{
	uint32_t head = word(k, id, 0);
	size_t words = KIND(head) == ENUM64 ? 4 : head & WIDE ? 2 : 1, at = 3 + i * (1 + words);

	*value = word(k, id, at + 1);
	if (words == 1 && head & FLAG)
		*value = (int64_t)(int16_t)*value;
	if (words >= 2)
		*value = two_words(k, id, at + 1);
	if (words == 2 && head & FLAG)
		*value = (int64_t)(int32_t)*value;
	if (words == 4)
		*value |= (uint64_t)two_words(k, id, at + 3) << 32;
	return name_of(k, word(k, id, at));
}

const char *ktypes_enum_name(const struct ktypes *k, struct ctype t, uint64_t value)
{
	uint32_t id = bare(k, t.id);
	uint64_t one;

	for (size_t i = 0; i < COUNT(word(k, id, 0)); i++) {
		const char *name = enum_value(k, id, i, &one);
		if (one == value)
			return name;
	}
	return NULL;
}

bool ktypes_enum_value(const struct ktypes *k, const char *name, uint64_t *value)
{
	for (uint32_t id = 1; k->data && id <= k->types; id++) {
		uint32_t head = word(k, id, 0), kind = KIND(head);
		for (size_t i = 0; (kind == ENUM || kind == ENUM64) && i < COUNT(head); i++)
			if (!strcmp(enum_value(k, id, i, value), name))
				return true;
	}
	return false;
}
