/* The boundaries linker.ld names, as far as the machine's code asks for them. */
#pragma once

#include "kernel/lib/types.h"

extern char __kernel_start[], __kernel_end[];
extern char __text_start[], __text_end[];
extern char __noprobe_start[], __noprobe_end[];
extern char __rodata_start[], __rodata_end[];
extern char __data_start[];

/* Code that runs before a breakpoint is known to be a probe's, and entry code: may not be probed, holds no patched site. */
#define __noprobe __attribute__((section(".noprobe.text"), noinline))
