/*
 * The call stack of a CPU of a stopped machine. It follows frame pointers through the kernel,
 * across interrupts and traps, into the program, by the rules of arch/x86_64/cpu/unwind.c.
 */
#pragma once

#include "tools/trapline/goto/elf.h"
#include "tools/trapline/goto/gdb.h"

#define STACK_MOST 100

struct frame {
	uint64_t pc;
	bool is_return; /* a return address: the call is before it */
	bool is_user, is_interrupted;
	uint64_t sp, fp; /* sp: 0 where it is not known */
};

/* Fills `frame` from the innermost on, returns how many. */
size_t stack_walk(
    struct gdb *g, const struct elf *kernel, const uint64_t r[GDB_REGISTERS], struct frame *frame);
