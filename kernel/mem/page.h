/* Frames and fault injection, for the files of kernel/mem alone. */
#pragma once

#include "arch/arch.h"
#include "kernel/mem/buddy.h"

extern struct buddy mem_buddy; /* kernel/mem/page.c; its lists under page_lock */

static inline struct frame *frame_of(u64 pa)
{
	return buddy_frame(&mem_buddy, pa / PAGE_SIZE);
}

/* As page_alloc() and page_free(), but neither traced nor made to fail: for kmalloc, which is both
 * by itself. */
u64 page_take(unsigned order);
void page_give(u64 pa, unsigned order);

extern u64 mem_fail_countdown; /* [A] 0: off */
bool mem_fail_count(void);

/*
 * After a panic the heap is left as it is: memory comes from a reserve taken at boot, a few hundred
 * KiB. mem_fail_countdown is then MEM_DEAD, so that living kernels ask one question only.
 */
#define MEM_DEAD (~0UL)
static inline bool mem_is_dead(void)
{
	return unlikely(READ_ONCE(mem_fail_countdown) == MEM_DEAD);
}
/*
 * For kmalloc() and page_alloc(): NULL unless the heap is dead and the reserve has room; aligned as
 * they promise, zeroed.
 */
void *reserve_alloc(size_t size);
void reserve_free(const void *p);   /* what is none of the reserve's stays where it is */
size_t reserve_size(const void *p); /* bytes usable; 0: none of the reserve's */

/* Is this the allocation that is to fail? Called once by each. */
static inline bool mem_must_fail(void)
{
	return unlikely(READ_ONCE(mem_fail_countdown)) && mem_fail_count();
}
