/*
 * The first moments of the boot CPU: before paging, descriptor tables and consoles are the
 * kernel's.
 */
#pragma once

#include "arch/arch.h"

struct boot_info;

/* A sentence on COM1 about why this machine will not do, and the end. */
void __noreturn early_die(const char *why);
/*
 * No more tables from boot memory: the kernel's allocator comes next, and what was taken is part of
 * the image now.
 */
void paging_close_boot_memory(struct boot_info *bi);
