/*
 * Names of addresses. Any context. Weak: no address has a name, no name an address.
 */
#pragma once

#include "kernel/lib/types.h"

int host_sym_print(char *buf, size_t size, u64 addr, bool offset);
u64 host_sym_find(const char *name, u64 *size); /* 0: no such */
const char *host_sym_of(u64 addr, u64 *start, u64 *size);
struct host_symbol {
	const char *name;
	u64 start, size;
	char type; /* as nm has it: 'T', or 't' of a static one */
};
/* Function number i of the host, in the order of their addresses; false: no more. */
bool host_sym_nth(unsigned i, struct host_symbol *out);
/* The same functions as tables, which can be copied whole. */
struct host_symbols {
	u64 start, end;
	u32 count, names_size;
	const u32 *offset;  /* where each begins, from `start`; it ends where the next one begins */
	const u32 *name_at; /* where its name begins */
	const u32 *global;  /* a bit for each: its type is 'T', not 't' */
	const char *names;
};
bool host_symbols(struct host_symbols *out); /* false: there are none */
long host_sym_number(const char *name);	     /* i of the first function of that name; -1: none */
