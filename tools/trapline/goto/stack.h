/*
 * The call stack of a CPU of a machine that stands: through the kernel by its frame pointers, over
 * interrupts and traps, into the program's. The rules are those of arch/x86_64/cpu/unwind.c.
 */
#pragma once

#include "tools/trapline/goto/elf.h"
#include "tools/trapline/goto/gdb.h"

#define STACK_MOST 100

struct frame {
	uint64_t pc;
	bool is_return; /* of a call: what was called before it */
	bool is_user, is_interrupted;
	uint64_t sp, fp; /* sp: 0 where it is not known */
};

/* Fills `frame` from the innermost on, returns how many. */
size_t stack_walk(
    struct gdb *g, const struct elf *kernel, const uint64_t r[GDB_REGISTERS], struct frame *frame);
