/*
 * Memory. Task context, may sleep; no event allocates. What is handed out is zeroed; NULL: there is
 * none.
 */
#pragma once

#include "kernel/lib/types.h"

void *host_alloc(size_t size);
void host_free(void *p);
void *host_page_alloc(void); /* PAGE_SIZE bytes, aligned to that */
void host_page_free(void *p);
/* PAGE_SIZE << order bytes, aligned to that; weak: only order 0 can be had */
void *host_block_alloc(unsigned order);
void host_block_free(void *p, unsigned order);
u64 host_pages_free(void); /* about how many can be had; weak: 65536 */
/*
 * May the tracer keep so many bytes more? 0, or -ENOMEM: the host would have less left than its
 * other users need to undo things, and its log says that there is no memory for `what`. What a
 * command needs only while it runs is not asked for. Weak: 0.
 */
int host_memory_check(const char *what, u64 bytes);
u64 host_page_phys(const void *p); /* physical address, for readers outside; weak: 0, unknown */
