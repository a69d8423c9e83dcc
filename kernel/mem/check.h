/*
 * Reports of allocated and freed pages to the checker of wrong accesses (`make sanitized-address`;
 * tests/kernel/sanitize/address.c). They are empty in every other kernel.
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
