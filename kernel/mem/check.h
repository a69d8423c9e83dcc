/*
 * What a kernel that looks for wrong accesses wants to know of pages (`make sanitized-address`;
 * tests/kernel/sanitize/address.c). Every other kernel tells nobody.
 */
#pragma once

#include "kernel/lib/types.h"

#ifdef SANITIZE_address
/* Given out from now on, and not any more. Any context. */
void mem_check_page_alloc(u64 pa, unsigned order);
void mem_check_page_free(u64 pa, unsigned order);
#else
static inline void mem_check_page_alloc(u64 pa __maybe_unused, unsigned order __maybe_unused)
{
}

static inline void mem_check_page_free(u64 pa __maybe_unused, unsigned order __maybe_unused)
{
}
#endif
