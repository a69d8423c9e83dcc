/* System calls on the address space: mmap, munmap, mprotect, brk, madvise. Task context. */
#include "arch/arch.h"
#include "kernel/fs/file.h"
#include "kernel/process/mm.h"
#include "kernel/syscall/user.h"

enum {
	MADV_NORMAL,
	MADV_RANDOM,
	MADV_SEQUENTIAL,
	MADV_WILLNEED,
	MADV_DONTNEED,
	MADV_FREE = 8,
	MADV_LAST = 25
};

/*
 * Touches the pages of a new mapping, as MAP_POPULATE asks; what cannot be had now comes by a
 * fault, or not.
 */
static void populate(struct mm *mm, u64 start, u64 len, unsigned prot)
{
	for (u64 va = start; va < start + len; va += PAGE_SIZE)
		if (mm_fault(mm, va, prot & PROT_W ? 2 : 0, NULL))
			return;
}

long __x64_sys_mmap(const struct regs *r)
{
	struct file *f = NULL;
	u32 flags = r->r10;
	u64 wanted;
	long ret;

	if (r->r9 & (PAGE_SIZE - 1))
		return -EINVAL;
	if (!(flags & MAP_ANONYMOUS)) {
		f = sys_fd_get((u32)r->r8);
		if (!f)
			return -EBADF;
	}
	ret = do_mmap(f, r->rdi, r->rsi, r->rdx, flags, 0, f ? r->r9 / PAGE_SIZE : 0, &wanted);
	if (f)
		file_put(f);
	if (ret >= 0 && wanted)
		populate(current()->mm, ret, wanted, r->rdx);
	return ret;
}

long __x64_sys_munmap(const struct regs *r)
{
	return mm_unmap(current()->mm, r->rdi, r->rsi);
}

long __x64_sys_mprotect(const struct regs *r)
{
	if (r->rdx & ~7UL)
		return -EINVAL;
	return mm_protect(current()->mm, r->rdi, r->rsi, r->rdx);
}

long __x64_sys_brk(const struct regs *r)
{
	return mm_brk(current()->mm, r->rdi);
}

long __x64_sys_madvise(const struct regs *r)
{
	s32 advice = r->rdx;

	if ((r->rdi & (PAGE_SIZE - 1)) || advice < 0 || advice > MADV_LAST)
		return -EINVAL;
	switch (advice) {
	case MADV_DONTNEED:
		return mm_discard(current()->mm, r->rdi, r->rsi);
	case MADV_DONTFORK:
	case MADV_DOFORK:
	case MADV_WIPEONFORK:
	case MADV_KEEPONFORK:
		return mm_advise_fork(current()->mm, r->rdi, r->rsi, advice);
	default:
		return 0;
	}
}

long __x64_sys_mremap(const struct regs *r)
{
	return mm_remap(current()->mm, r->rdi, r->rsi, r->rdx, r->r10, r->r8);
}

enum { MS_ASYNC = 1, MS_INVALIDATE = 2, MS_SYNC = 4 };

/* All files are in memory: there is nothing to do but say whether the range is there. */
long __x64_sys_msync(const struct regs *r)
{
	u32 flags = r->rdx;

	if ((flags & ~(MS_ASYNC | MS_INVALIDATE | MS_SYNC)) || (r->rdi & (PAGE_SIZE - 1)) ||
	    ((flags & MS_ASYNC) && (flags & MS_SYNC)))
		return -EINVAL;
	return mm_is_mapped(current()->mm, r->rdi, r->rsi) ? 0 : -ENOMEM;
}

long __x64_sys_mincore(const struct regs *r)
{
	u64 pages = r->rsi / PAGE_SIZE + !!(r->rsi % PAGE_SIZE);
	u8 part[64];

	if (r->rdi & (PAGE_SIZE - 1))
		return -EINVAL;
	if (r->rsi > USER_END || r->rdi > USER_END - r->rsi)
		return -ENOMEM;
	for (u64 done = 0, n; done < pages; done += n) {
		n = MIN(pages - done, sizeof(part));
		for (u64 i = 0; i < n; i++) {
			int in = mm_in_core(current()->mm, r->rdi + (done + i) * PAGE_SIZE);

			if (in < 0)
				return in;
			part[i] = in;
		}
		if (copy_to_user(r->rdx + done, part, n))
			return -EFAULT;
	}
	return 0;
}

/* Pages of ring 3 never leave memory: what is mapped is locked. */
static long sys_locked(u64 start, u64 len)
{
	u64 skew = start & (PAGE_SIZE - 1);

	return mm_is_mapped(current()->mm, start - skew, len + skew) ? 0 : -ENOMEM;
}

long __x64_sys_mlock(const struct regs *r)
{
	return sys_locked(r->rdi, r->rsi);
}

long __x64_sys_munlock(const struct regs *r)
{
	return sys_locked(r->rdi, r->rsi);
}

long __x64_sys_mlockall(const struct regs *r)
{
	return !r->rdi || (r->rdi & ~7UL) || r->rdi == 4 ? -EINVAL : 0;
}

long __x64_sys_munlockall(const struct regs *r __maybe_unused)
{
	return 0;
}
