/*
 * A symbol table as tools/symtab lays it out in section .symbols, and its lookups as pure functions
 * of a table. It has the symbols of one section in address order; each ends where the next begins.
 * Read-only: any context.
 */
#pragma once

#include "kernel/lib/types.h"

struct sym_table {
	u64 text_start, text_end;
	u32 count;
	u32 type; /* of local symbols, as nm has it: 't' */
	const u32
	    *offset; /* from text_start, ascending; of equal ones the global name comes first */
	const u32 *name_at; /* offset in names */
	const u16 *by_name; /* indexes in the order of their names, equal names by address */
	const char *names;  /* up to by_name */
	const u32 *global;  /* a bit for each symbol */
	const u32 *hooked;  /* the same; NULL: none is. Functions that begin with a hook */
};

/* Index of the function that holds addr, -1 for none. */
long symtab_find(const struct sym_table *t, u64 addr);
/*
 * Index of the first function of that name in address order, -1 for none; *count (may be NULL): how
 * many have it. *recent (may be NULL): the place in by_name where the last search ended. It is
 * tried first, any value is safe, and it is set to where this search ended.
 */
long symtab_by_name(const struct sym_table *t, const char *name, unsigned *count, u32 *recent);
const char *symtab_name(const struct sym_table *t, u32 i);
u64 symtab_start(const struct sym_table *t, u32 i);
/* 't' or 'T', as nm has it. */
char symtab_type(const struct sym_table *t, u32 i);
bool symtab_hooked(const struct sym_table *t, u32 i);
u64 symtab_size(const struct sym_table *t, u32 i);
