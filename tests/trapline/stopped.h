/*
 * A stopped machine made by hand, for the cases of trapline goto: a kernel's file with symbols and
 * types, and a gdb stub in a thread, with registers and memory.
 */
#pragma once

#include <pthread.h>

#include "tools/trapline/goto/goto.h"

/* ---- a kernel's file ---- */

#define KERNEL_TEXT 0xffffffff80100000ULL
#define KERNEL_DATA 0xffffffff80200000ULL

/* Bytes of an ELF file with these symbols, whose type is STT_..., and a section `.types`. */
struct stopped_symbol {
	const char *name;
	uint64_t address, size;
	unsigned type, section;
};
struct bytes stopped_elf(
    const struct stopped_symbol *symbol, size_t n, const void *types, size_t types_size);

/* The section of types that the cases share; its C is in stopped.c. */
struct bytes stopped_types(void);
/* The symbols, and both. */
extern const struct stopped_symbol stopped_symbols[];
void stopped_kernel(struct elf *e);

/* All that the function prints and says; the caller frees it. */
char *stopped_caught(void (*what)(void *context), void *context);

/* ---- a gdb stub ---- */

struct stopped_memory {
	uint64_t address;
	const void *bytes;
	size_t size;
};

struct stopped {
	struct gdb gdb;
	const struct stopped_memory *memory;
	size_t memories;
	uint64_t r[2][GDB_REGISTERS]; /* of two CPUs */
	unsigned cpu;		      /* that was selected last */
	char log[4096];		      /* what was asked, a line each */
	pthread_t thread;
	int fd[2];
};

void stopped_begin(struct stopped *s, const struct stopped_memory *memory, size_t n);
void stopped_end(struct stopped *s);
