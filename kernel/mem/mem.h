/*
 * Page frames, kmalloc, and kernel address ranges. Callers: task and irq context, unless said; not
 * NMI. Protected inside by spinlocks with interrupts off.
 *
 * range.c turns the loader's map into ranges, buddy.c hands out frames of them. A block of 4 MiB
 * that is wholly free is not touched before it is needed, so boot costs the same with 48 MiB as
 * with 8 GiB. kmalloc.c keeps objects of 13 sizes in pages whose state is in their frame. vmalloc.c
 * gives a stack an unmapped page below it.
 */
#pragma once

#include "arch/arch.h"

struct boot_info;

/* Boot: learns the usable ranges, keeps kernel, initrd and low 1 MiB out. */
void mem_init(const struct boot_info *bi);

/*
 * 2^order contiguous pages, zeroed if `zero`; physical address or 0. Buddy allocator; orders
 * 0..MAX_ORDER.
 */
#define MAX_ORDER 10
u64 page_alloc(unsigned order, bool zero);
void page_free(u64 pa, unsigned order);
/*
 * Shared pages (copy on write): a count per frame. page_alloc() gives 1; page_put() frees at 0.
 * Order 0 only.
 */
void page_get(u64 pa);
void page_put(u64 pa);
unsigned page_refs(u64 pa);
/*
 * RAM that nobody else is given, at the same place each boot, and what lies in it from before;
 * NULL: there is none.
 */
void *mem_kept(size_t *size);
u64 page_total(void); /* frames */
u64 page_free_count(void);
/*
 * Less is free than is kept for the kernel itself: programs, files and pipes get no page then.
 */
u64 mem_low_bytes(void);
bool mem_is_low(void);

/*
 * As in every kernel; up to 4 MiB; aligned to 16 (to the size for powers of two up to 4096). NULL
 * when there is none.
 */
void *kmalloc(size_t size);
void *kzalloc(size_t size);
void *krealloc(void *p, size_t size);
void kfree(const void *object);
size_t ksize(const void *p); /* bytes really usable */
char *kstrdup(const char *s);
char *kstrndup(const char *s, size_t max);

/* Virtually contiguous pages; task context. */
void *vmalloc(size_t size);
void vfree(void *p);
/*
 * A kernel stack with an unmapped guard page below it: returns its top, 0 if none.
 * KERNEL_STACK_SIZE bytes.
 */
u64 stack_alloc(void);
/*
 * Any context but NMI: the stack stays mapped, for the next. stack_alloc() and stack_trim() unmap
 * what is more than a few.
 */
void stack_free(u64 top);
void stack_trim(void);

/*
 * Called when a task gets no memory. Panics if vm.panic_on_oom asks for it, else returns. Task
 * context.
 */
void mem_exhausted(void);
/* vm.panic_on_oom, 0 to 2; other values are -EINVAL. */
unsigned mem_panic_on_oom(void);
int mem_set_panic_on_oom(u64 how);

/*
 * Boot: sets memory aside for after a panic. Then: from here on nothing but that is given out, and
 * the heap stays as it is.
 */
void mem_reserve(void);
void mem_use_reserve(void);

/*
 * Fault injection for tests: the n-th allocation from now (page or kmalloc) fails; 0 turns it off.
 */
void mem_fail_nth(u64 n);
