/* The boundaries linker.ld names, as far as the machine's code asks for them. */
#pragma once

#include "kernel/lib/types.h"

extern char __kernel_start[], __kernel_end[];
extern char __text_start[], __text_end[];
extern char __boot_text_end[]; /* begins at __text_start */
extern char __trace_text_start[], __trace_text_end[];
extern char __lib_text_start[], __lib_text_end[];
extern char __unhooked_start[], __unhooked_end[];
extern char __asm_text_start[], __asm_text_end[];
extern char __slots_start[], __slots_end[]; /* of probes: not in the image's file */
extern char __detours_start[];		    /* the upper part of them */
extern char __noprobe_start[], __noprobe_end[];
extern char __rodata_start[], __rodata_end[];
extern char __data_start[];
extern char __nowatch_start[], __nowatch_end[]; /* probe/watch.h */
