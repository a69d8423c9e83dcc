/*
 * The layout of the section of types, which tools/types makes of a kernel's BTF and types.c reads.
 * It is BTF (docs of Linux: bpf/btf.rst) in half the space: words of 16 bits, and no names of
 * functions, as the table of symbols has them. Plain data, the same for the kernel and for tools.
 *
 * The section is a head, then
 *
 *   u16 at[n_types]            where the record of type 1, 2, ... begins in words[]
 *   u16 words[n_words]         the records
 *   u16 function[n_functions]  for each function of the host, in its order: the type of its
 *                              prototype, 0 if it is not known
 *   u16 named[n_named]         structs, unions, enums and typedefs that have a name, in its order
 *   char text[n_text]          names, each at an even place; the first is empty
 *
 * A name is half its place in text; a type is its number, 0 is void. A record begins with a word of
 * TYPES_KIND, TYPES_FLAG, TYPES_WIDE and a count, and goes on by kind:
 *
 *   INT                  name, encoding; the count is the size in bytes
 *   PTR and modifiers    type
 *   TYPEDEF              name, type
 *   FWD                  name; flag: a union
 *   ARRAY                type of an element, type of the index, number of elements (two words)
 *   STRUCT, UNION        name, size (two words), for each member: name, type, place. The place is
 *                        in bytes; in a wide record two words of bits, and with the flag the upper
 *                        byte is the length of a bit field, as in BTF.
 *   ENUM, ENUM64         name, size, for each: name, value. The value is a word, in a wide record
 *                        two, of ENUM64, which is always wide, four. Flag: values are signed.
 *   PROTO                type of the result, for each parameter: name, type
 */
#pragma once

#include "kernel/lib/types.h"

#define TYPES_MAGIC 0x31505954u /* "TYP1" */

struct types_head {
	u32 magic, size; /* size: of the section, with this */
	u32 n_types, n_words, n_functions, n_named, n_text;
};

/* As in BTF. */
enum types_kind {
	TYPES_VOID,
	TYPES_INT,
	TYPES_PTR,
	TYPES_ARRAY,
	TYPES_STRUCT,
	TYPES_UNION,
	TYPES_ENUM,
	TYPES_FWD,
	TYPES_TYPEDEF,
	TYPES_VOLATILE,
	TYPES_CONST,
	TYPES_RESTRICT,
	TYPES_FUNC, /* of no record: function[] stands for them */
	TYPES_PROTO,
	TYPES_ENUM64 = 19,
};

/* The first word of a record. */
#define TYPES_KIND(word)  ((word)&31u)
#define TYPES_FLAG	  32u
#define TYPES_WIDE	  64u
#define TYPES_COUNT(word) ((u32)(word) >> 7)
#define TYPES_COUNT_MAX	  511u

/* The encoding of an INT, as in BTF. */
enum { TYPES_SIGNED = 1, TYPES_CHAR = 2, TYPES_BOOL = 4 };
