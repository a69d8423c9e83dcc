/* System calls on the address space: mmap, munmap, mprotect, brk, madvise. Task context. */
#include "arch/arch.h"
#include "kernel/syscall/user.h"
#include "kernel/process/mm.h"

enum {
	MADV_NORMAL,
	MADV_RANDOM,
	MADV_SEQUENTIAL,
	MADV_WILLNEED,
	MADV_DONTNEED,
	MADV_FREE = 8,
	MADV_LAST = 25
};

/* Touches the pages of a new mapping, as MAP_POPULATE asks; what cannot be had now comes by a fault, or not. */
static void populate(struct mm *mm, u64 start, u64 len, unsigned prot)
{
	for (u64 va = start; va < start + len; va += PAGE_SIZE)
		if (mm_fault(mm, va, prot & PROT_W ? 2 : 0))
			return;
}

long sys_mmap(const u64 *a)
{
	struct mm *mm = current()->mm;
	struct file *f = NULL;
	u32 flags = a[3];
	long ret;

	if (a[5] & (PAGE_SIZE - 1))
		return -EINVAL;
	if (!(flags & MAP_ANONYMOUS)) {
		f = fd_get((u32)a[4]);
		if (!f)
			return -EBADF;
	}
	ret = mm_map(mm, a[0], a[1], a[2], flags, f, f ? a[5] : 0);
	if (f)
		file_put(f);
	if (ret >= 0 && (flags & MAP_POPULATE) && (a[2] & 7))
		populate(mm, ret, a[1], a[2]);
	return ret;
}

long sys_munmap(const u64 *a)
{
	return mm_unmap(current()->mm, a[0], a[1]);
}

long sys_mprotect(const u64 *a)
{
	if (a[2] & ~7UL)
		return -EINVAL;
	return mm_protect(current()->mm, a[0], a[1], a[2]);
}

long sys_brk(const u64 *a)
{
	return mm_brk(current()->mm, a[0]);
}

long sys_madvise(const u64 *a)
{
	s32 advice = a[2];

	if ((a[0] & (PAGE_SIZE - 1)) || advice < 0 || advice > MADV_LAST)
		return -EINVAL;
	return advice == MADV_DONTNEED ? mm_discard(current()->mm, a[0], a[1]) : 0;
}
