/*
 * The symbol table as tools/symtab lays it out in section .symbols, and its lookups as pure functions of a table. Functions
 * only, in address order; a function ends where the next begins. Read-only: any context.
 */
#pragma once

#include "kernel/lib/types.h"

struct sym_table {
	u64 text_start, text_end;
	u32 count, pad;
	const u32
	    *offset; /* from text_start, ascending; of equal ones the global name comes first */
	const u32 *name_at; /* offset in names */
	const u32 *by_name; /* indexes in the order of their names, equal names by address */
	const char *names;
};

/* Index of the function that holds addr, -1 for none. */
long symtab_find(const struct sym_table *t, u64 addr);
/* Index of the first function of that name in address order, -1 for none; *count (may be NULL): how many have it. */
long symtab_by_name(const struct sym_table *t, const char *name, unsigned *count);
const char *symtab_name(const struct sym_table *t, u32 i);
u64 symtab_start(const struct sym_table *t, u32 i);
u64 symtab_size(const struct sym_table *t, u32 i);
