/*
 * Instructions that may fault and where to go on then. C side of section __ex_table; entries are
 * made by the assembly that touches ring-3 or doubtful memory. Read-only: any context.
 */
#pragma once

#include "arch/arch.h"

enum extable_kind {
	EX_FAULT_IN, /* a page of ring 3 that is not there is asked for first */
	EX_NOFAULT,  /* straight to the fixup */
};

struct extable_entry {
	u64 insn, fixup, kind;
};

/* The entry for the instruction at rip; NULL: it must not fault. */
const struct extable_entry *extable_find(u64 rip);
/* Is any of them, or where it leads, in [start, end)? */
bool extable_touches(u64 start, u64 end);
