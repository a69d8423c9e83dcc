/*
 * Part of arch/arch.h: pages, address spaces and the memory of ring 3.
 *
 * Address space (x86-64, 4-level):
 *   0000000000001000 - 00007fffffffefff   ring 3
 *   ffff888000000000 +64 TiB              direct map of all RAM, never executable; kernel text and
 *                                         rodata read-only here too
 *   ffffc90000000000 +32 TiB              kernel mappings: stacks with guard pages, device
 *                                         registers, vmalloc
 *   ffffffff80000000 +1 GiB               the kernel image, linked 1 MiB above its start; W^X by
 *                                         section
 */
#pragma once

#include "kernel/lib/types.h"

#define DIRECT_MAP_BASE	  0xffff888000000000UL
#define KERNEL_MAP_BASE	  0xffffc90000000000UL
#define KERNEL_MAP_END	  0xffffe90000000000UL
#define KERNEL_IMAGE_BASE 0xffffffff80000000UL
#define USER_END	  0x00007ffffffff000UL /* first address ring 3 may not use */
#define KERNEL_STACK_SIZE 16384UL /* of every task and idle loop; an unmapped page lies below */

/* The distance of the loaded image from 1 MiB; set before its first use. */
extern u64 kernel_image_offset;

static inline void *phys_to_virt(u64 pa)
{
	return (void *)(pa + DIRECT_MAP_BASE);
}

static inline __attribute__((always_inline)) u64 virt_to_phys(const void *va)
{
	u64 a = (u64)va;
	return a >= KERNEL_IMAGE_BASE ? a - KERNEL_IMAGE_BASE + kernel_image_offset
				      : a - DIRECT_MAP_BASE;
}

/* ---- Pages and address spaces ---- */

enum { PROT_R = 1, PROT_W = 2, PROT_X = 4, PROT_USER = 8, PROT_NOCACHE = 16, PROT_COMBINE = 32 };

/*
 * Kernel mappings. `prot` without PROT_USER. All CPUs see the change when these return. Task
 * context. 0 or -ENOMEM.
 */
int kernel_map(u64 va, u64 pa, u64 size, unsigned prot);
void kernel_unmap(u64 va, u64 size);
/* Maps device registers, uncached; NULL if out of room. */
void *device_map(u64 pa, u64 size);
/*
 * Maps a framebuffer: the CPU combines writes and may reorder them; reads are not cached. NULL if
 * out of room.
 */
void *screen_map(u64 pa, u64 size);
/* Like device_map() but cached and read-only: ACPI tables. */
const void *firmware_map(u64 pa, u64 size);
/* True if the kernel can read these bytes now. Walks the page tables; any context. */
bool kernel_readable(const void *p, size_t n);

/* The result of checking all walls; `breaches` of them do not hold. */
struct arch_walls {
	u64 pages, tables;
	unsigned cpus, breaches;
};
/*
 * Nothing is writable and executable, text and rodata and the tables that map them are read-only,
 * ring 3 reaches nothing of the kernel, stacks have guard pages, each CPU has its protections on.
 * report() is called for each breach. Task context, interrupts on.
 */
void arch_walls_check(
    struct arch_walls *sum, void (*report)(void *arg, const char *text), void *arg);

struct aspace; /* the page tables of one ring-3 address space */
struct aspace *aspace_create(void);
void aspace_destroy(struct aspace *as); /* frees the tables, not the pages mapped */
/*
 * One page, replaces; 0 or -ENOMEM. prot 0 keeps the page where aspace_lookup() and aspace_unmap()
 * find it, but the CPU sees nothing there in any ring (mprotect to PROT_NONE).
 */
int aspace_map(struct aspace *as, u64 va, u64 pa, unsigned prot);
/*
 * The first mapped page (prot 0 too) at or above va and below end, skipping empty tables; end if
 * there is none.
 */
u64 aspace_next(struct aspace *as, u64 va, u64 end);
/*
 * Removes one page's mapping; returns its physical address or 0. Needs aspace_flush() before the
 * page is used again.
 */
u64 aspace_unmap(struct aspace *as, u64 va);
/* The physical address mapped at va (0: none), and its protection. */
u64 aspace_lookup(struct aspace *as, u64 va, unsigned *prot);
void aspace_flush(struct aspace *as, u64 va, u64 size); /* on all CPUs that have it loaded */
void aspace_switch(struct aspace *as);			/* NULL: the kernel's own tables */

/* ---- Ring-3 memory. 0 or -EFAULT; never more than n bytes touched; the range is checked. ---- */

/* Task context; may sleep in a page fault. */
int copy_from_user(void *dst, u64 src, size_t n);
int copy_to_user(u64 dst, const void *src, size_t n);
/* Returns the number of bytes not copied: 0 if all were. Every byte before the fault is copied. */
size_t copy_from_user_left(void *dst, u64 src, size_t n);
int get_user_u32(u32 *dst, u64 src); /* in one read, if it is aligned */
/*
 * Compares and exchanges in one step: 0, with the value found in *old, equal or not. Any context. A
 * page that is missing or read-only is -EFAULT: this never faults it in.
 */
int user_cmpxchg_u32(u64 dst, u32 *old, u32 value);
/*
 * Copies up to and with the NUL; length without it, -EFAULT, or -ENAMETOOLONG when size bytes held
 * none.
 */
long strncpy_from_user(char *dst, u64 src, size_t size);
/* The same from any context: a page that is not mapped is -EFAULT and is never faulted in. */
int copy_from_user_nofault(void *dst, u64 src, size_t n);
/* Kernel memory that may be unmapped (bad pointers in probes). Any context. */
int copy_from_kernel_nofault(void *dst, const void *src, size_t n);
int copy_to_kernel_nofault(void *dst, const void *src, size_t n);
