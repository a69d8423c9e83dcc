/*
 * Address <-> name, from a table made at link time (tools/symtab). Read-only after boot: any
 * context, NMI included.
 */
#pragma once

#include "kernel/lib/types.h"

struct seq;

/*
 * Another name for a function of this file, for kprobes: what Linux called it in other releases. It
 * is never printed where an address gets a name.
 */
#define SYM_ALIAS(alias_, function)                                                                \
	extern __typeof__(function) alias_ __attribute__((weak, alias(#function)))

/* The function that holds addr: its name, and where it starts and how long it is; NULL for none. */
const char *sym_find(u64 addr, u64 *start, u64 *size);
/*
 * The address of a function, by its name or an alias; 0: none. *count (may be NULL): how many have
 * that name.
 */
u64 sym_address(const char *name, unsigned *count);
/* The address of the first variable or constant of that name; 0: none. */
u64 sym_data_address(const char *name);
/* Lines as /proc/kallsyms has them: address, type, name. */
void sym_show(struct seq *s);
/* "name+0x12/0x40" or the bare hex; returns length. `offset` false: the name only. */
int sym_print(char *buf, size_t size, u64 addr, bool offset);
/* Walks functions in address order; false at the end. */
bool sym_nth(unsigned i, const char **name, u64 *start, u64 *size);
/* As nm has it, of the function of that number; 0: there is none. */
char sym_type(unsigned i);
bool sym_is_text(u64 addr);
/* Does the function of that number begin with a hook (kernel/kprobe/hook.h)? */
bool sym_hooked(unsigned i);
/* The number of the function that holds addr, -1 for none; how many there are. */
long sym_index(u64 addr);
unsigned sym_count(void);
/* The table of the functions. */
const struct sym_table *sym_functions(void);
/* As host_sym_place() of trace/host_outside.h. */
void sym_place(u64 place[6]);
