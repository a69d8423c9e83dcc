/*
 * Ring-3 address spaces: areas, demand paging, copy on write. Task context; protected by mm->lock.
 */
#pragma once

#include "kernel/mem/vm_area.h"
#include "kernel/task/sync.h"

struct mm {
	struct aspace *as;
	struct mutex lock;
	struct list_head areas;
	u64 brk_start, brk, mmap_top, stack_top;
	u64 arg_start, arg_end, env_end;
	u32 area_count;
	u32 refs;		    /* [A] */
	u64 missing_calls[8];	    /* [A] a bit for each unknown system call already logged */
	struct list_head enablers;  /* kernel/trace/enablers.c */
	struct wait_queue vfork_wq; /* woken when a task stops using it */
	u32 membarrier;		    /* [A] the commands registered with membarrier() */
};

/* mmap's flags, Linux's numbers. */
enum {
	MAP_SHARED = 1,
	MAP_PRIVATE = 2,
	MAP_SHARED_VALIDATE = 3,
	MAP_TYPE = 15,
	MAP_FIXED = 0x10,
	MAP_ANONYMOUS = 0x20,
	MAP_GROWSDOWN = 0x100,
	MAP_NORESERVE = 0x4000,
	MAP_POPULATE = 0x8000,
	MAP_STACK = 0x20000,
	MAP_FIXED_NOREPLACE = 0x100000,
};
#define USER_START	 0x10000UL /* lowest address mmap gives or takes, Linux's mmap_min_addr */
#define USER_STACK_SIZE	 (8UL << 20)
#define USER_STACK_GUARD (1UL << 20)
/* Linux's default vm.max_map_count: mmap() may make one more, a split may not. */
#define MM_AREAS_MAX	 65530

/* The result of a page fault. */
enum mm_fault { MM_FAULT_OK, MM_FAULT_NO_AREA, MM_FAULT_ACCESS, MM_FAULT_BUS, MM_FAULT_OOM };

/*
 * Operations of the code that updates enable words in programs' memory (mm->enablers). For an
 * address space with such words, fork() calls copy() while no word changes and registers the copy's
 * words, or returns NULL; drop() releases them at the end.
 */
struct mm_words_ops {
	struct mm *(*fork)(struct mm *from, struct mm *(*copy)(struct mm *from));
	void (*drop)(struct mm *mm);
};
void mm_words_set(const struct mm_words_ops *ops); /* once, before there are any */

struct mm *mm_create(void);
struct mm *mm_fork(struct mm *from); /* copy on write */
void mm_put(struct mm *mm);
/*
 * `error`: the CPU's bits (1 present, 2 write, 16 fetch). regs: registers of the program that
 * faulted; NULL: the kernel faults the page in.
 */
struct regs;
enum mm_fault mm_fault(struct mm *mm, u64 addr, u64 error, struct regs *regs);
/*
 * Handles an access that the area allows, but whose page is missing or must be copied. Name,
 * arguments and flags are Linux's, for kprobes. mm->lock held.
 */
enum mm_fault handle_mm_fault(struct vm_area *vma, u64 address, u32 flags, struct regs *regs);
/* Copies into an address space that need not be loaded, faulting pages in. 0, -EFAULT, -ENOMEM. */
int mm_write(struct mm *mm, u64 addr, const void *src, size_t n);
/*
 * Faults in the page of addr for writing, as a write by the program would, without writing: 0,
 * -EFAULT, -ENOMEM.
 */
int mm_touch(struct mm *mm, u64 addr);
/*
 * Atomically sets or clears a bit of the byte or word at addr, faulting as a write by the program
 * would: 0, -EFAULT, -ENOMEM.
 */
int mm_change_bit(struct mm *mm, u64 addr, unsigned bit, bool on);
/*
 * Linux's mmap/munmap/mprotect/brk: address or negative errno. `file` is not consumed. do_mmap()
 * has Linux's name and arguments, for kprobes, and maps for the current task; vm_flags: 0, as from
 * mmap(); pgoff: in pages; *populate: the bytes that the caller must fault in at once.
 */
long do_mmap(struct file *file, u64 addr, u64 len, u64 prot, u64 flags, u64 vm_flags, u64 pgoff,
    u64 *populate);
long mm_unmap(struct mm *mm, u64 addr, u64 len);
long mm_protect(struct mm *mm, u64 addr, u64 len, unsigned prot);
/* Linux's mremap: the address or negative errno; flags: MREMAP_... */
enum { MREMAP_MAYMOVE = 1, MREMAP_FIXED = 2 };
long mm_remap(struct mm *mm, u64 addr, u64 len, u64 new_len, unsigned flags, u64 new_addr);
/* True if the whole range is mapped. */
bool mm_is_mapped(struct mm *mm, u64 addr, u64 len);
/* 1 if the page at addr is in memory, else 0; -ENOMEM: nothing is mapped there. */
int mm_in_core(struct mm *mm, u64 addr);
u64 mm_brk(struct mm *mm, u64 brk);
/* MADV_DONTNEED: frees private pages of the range; a later access reads zeros (or the file). */
long mm_discard(struct mm *mm, u64 addr, u64 len);
/* Sets what a child of fork() gets of the range. 0, or -EINVAL, -ENOMEM as madvise() has them. */
enum { MADV_DONTFORK = 10, MADV_DOFORK = 11, MADV_WIPEONFORK = 18, MADV_KEEPONFORK = 19 };
long mm_advise_fork(struct mm *mm, u64 addr, u64 len, int advice);

/*
 * Allocates a page for a program, but not from the kernel's reserve (mem_is_low()): so the shell
 * and the tracer survive a program that takes all memory.
 */
u64 user_page_alloc(bool zero);

/* For mm_map.c and fault.c; mm->lock held. */
void mm_drop_pages(struct mm *mm, struct vm_area *a, u64 start, u64 end);
/* The protection with which an unshared page of this area is mapped. */
unsigned mm_page_prot(const struct vm_area *a);
