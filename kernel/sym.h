/* Address <-> name, from a table made at link time (tools/symtab). Read-only after boot: any context, NMI included. */
#pragma once

#include "kernel/lib/types.h"

/* The function that holds addr: its name, and where it starts and how long it is; NULL for none. */
const char *sym_find(u64 addr, u64 *start, u64 *size);
/* The address of a symbol; 0: none. *count (may be NULL): how many have that name. */
u64 sym_address(const char *name, unsigned *count);
/* The same of a variable. */
u64 sym_data_address(const char *name, unsigned *count);
/* "name+0x12/0x40" or the bare hex; returns length. `offset` false: the name only. */
int sym_print(char *buf, size_t size, u64 addr, bool offset);
/* Walks functions in address order; false at the end. */
bool sym_nth(unsigned i, const char **name, u64 *start, u64 *size);
bool sym_is_text(u64 addr);
/* As host_sym_place() of trace/host.h. */
void sym_place(u64 place[5]);
