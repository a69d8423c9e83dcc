/*
 * The kernel's types, read from the section of its file that tools/types made
 * (trace/types/section.h has the layout). The section is untrusted: an invalid entry yields no
 * type.
 */
#pragma once

#include "tools/trapline/goto/elf.h"

/* A type of the section, with `stars` levels of pointers to it. 0 is void. */
struct ctype {
	uint32_t id;
	unsigned stars;
};
#define CTYPE_WORD 0xffffffffu /* not in the section: an unsigned type of 8 bytes */

enum ckind {
	CKIND_VOID,
	CKIND_NUMBER,
	CKIND_POINTER,
	CKIND_ARRAY,
	CKIND_STRUCT,
	CKIND_ENUM,
	CKIND_OTHER
};

struct ktypes {
	const uint8_t *data; /* NULL: the kernel has none */
	size_t size;
	uint32_t types, words, texts;
	const uint8_t *at, *word;
	const char *text;
};

struct cmember {
	const char *name; /* "": without a name */
	struct ctype type;
	uint64_t bit;	   /* from the begin of the struct */
	unsigned bit_size; /* of a bit field; 0: it is none */
};

void ktypes_open(struct ktypes *k, const struct elf *kernel);
/* "struct task", "u64", "unsigned long": false: there is no such type. */
bool ktypes_named(const struct ktypes *k, const char *name, struct ctype *type);
enum ckind ktypes_kind(const struct ktypes *k, struct ctype t);
uint64_t ktypes_size(const struct ktypes *k, struct ctype t);
bool ktypes_is_signed(const struct ktypes *k, struct ctype t);
/* True if the type is a character of one byte. */
bool ktypes_is_char(const struct ktypes *k, struct ctype t);
/* The type that a pointer points to, or of an array's elements. */
struct ctype ktypes_target(const struct ktypes *k, struct ctype t);
uint64_t ktypes_length(const struct ktypes *k, struct ctype array);
/* Finds a member of a struct or union by number. False: there is none with this number. */
bool ktypes_member(const struct ktypes *k, struct ctype t, size_t i, struct cmember *m);
/* Finds a member by name, also inside unnamed members. */
bool ktypes_find(const struct ktypes *k, struct ctype t, const char *name, struct cmember *m);
/* The name of an enum's value (NULL: none), and the value of a name of any enum. */
const char *ktypes_enum_name(const struct ktypes *k, struct ctype t, uint64_t value);
bool ktypes_enum_value(const struct ktypes *k, const char *name, uint64_t *value);
