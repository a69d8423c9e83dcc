/*
 * The host's types by name: functions and their parameters, structs and their members, enums. They
 * come from a section that the build makes (section.h). The first lookup by a name checks it, in
 * task context; if it is damaged, the log has the reason, and the host has no types. Later calls
 * only read it, in any context.
 *
 * A type is a number, 0 is void. Each function below takes any number that one of them gave. For a
 * type of a kind that it is not for, a function returns 0, NULL or false.
 */
#pragma once

#include "kernel/lib/seq.h"
#include "kernel/lib/types.h"
#include "trace/types/section.h"

/*
 * Uses this section from now on and returns NULL; the caller leaves it where it is. Or returns what
 * is wrong with it, and the one before stays in use. data NULL: the host has no types.
 */
const char *types_use(const void *data, size_t size);
/* The section in use; NULL: none. */
const void *types_used(size_t *size);

/* ---- functions ---- */

/* The prototype of a function of the host; 0: there is no such function, or it is not known. */
u32 types_function(const char *name);
/* The prototype of a tracepoint's call, by the event's name; 0: there is none. */
u32 types_tracepoint(const char *event);
u32 types_result(u32 proto); /* 0: void */
unsigned types_param_count(u32 proto);
/* The name of a parameter, and its type; "": it has none. */
const char *types_param(u32 proto, unsigned i, u32 *type);

/* The number of the parameter of that name; -1: there is none. */
int types_param_find(u32 proto, const char *name, size_t len, u32 *type);

/* ---- types ---- */

/* A struct, union, enum or typedef; 0: there is none of this name. */
u32 types_find(const char *name);
/* The type under const, volatile, restrict and typedefs. */
u32 types_strip(u32 type);
enum types_kind types_kind(u32 type);
const char *types_name(u32 type); /* "": it has none */
/* Of a pointer: what it points to. Of an array: its elements, *count of them. */
u32 types_target(u32 type, u32 *count);
/* Bytes; 0: void, a function, or a struct that is only declared. */
u32 types_size(u32 type);
/* The encoding of an integer: TYPES_SIGNED and others. */
u32 types_encoding(u32 type);

struct types_member {
	u32 type;
	u32 at;	  /* bits from the beginning of the struct that was asked for */
	u32 bits; /* of a bit field; 0: it is none */
};
/* The member of that name of a struct or union, or of an anonymous one in it. */
bool types_member(u32 type, const char *name, size_t len, struct types_member *out);
/* "NR_read" of an enum's value 0; NULL: it has none of this value. */
const char *types_enum_name(u32 type, s64 value);

/* btf.c. All types in the format that Linux calls BTF, with the functions' names. */
void types_show_btf(struct seq *s);
