/*
 * mremap on one address space, and what there is of a range. Task context; takes mm->lock. As in
 * mm_map.c everything is checked, and all memory is there, before anything changes that can be
 * seen.
 */
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/mem/mem.h"
#include "kernel/process/area.h"

#define MOVE_SPARE 3 /* areas below the limit, as Linux has it: a move may need them */

/* Moves the pages of [from, from + len) to `to`, where nothing is: 0 or -ENOMEM, nothing moved. */
static int mm_move_pages(struct mm *mm, u64 from, u64 to, u64 len)
{
	u64 va, end = from + len;
	unsigned prot;
	int err = 0;

	for (va = aspace_next(mm->as, from, end); va < end && !err;
	     va = aspace_next(mm->as, va + PAGE_SIZE, end)) {
		u64 pa = aspace_lookup(mm->as, va, &prot);

		err = aspace_map(mm->as, to + (va - from), pa, prot);
	}
	if (err) { /* the pages are counted for where they were */
		for (va = aspace_next(mm->as, to, to + len); va < to + len;
		     va = aspace_next(mm->as, va + PAGE_SIZE, to + len))
			aspace_unmap(mm->as, va);
		return err;
	}
	for (va = aspace_next(mm->as, from, end); va < end;
	     va = aspace_next(mm->as, va + PAGE_SIZE, end))
		aspace_unmap(mm->as, va);
	aspace_flush(mm->as, from, len);
	return 0;
}

/* Puts the area, which is exactly [addr, addr + len), at `to`, with room for new_len. */
static long mm_move_area(struct mm *mm, struct vm_area *a, u64 to, u64 new_len)
{
	struct vm_area *moved = area_copy(a);
	u64 len = a->end - a->start;
	int err;

	if (!moved)
		return -ENOMEM;
	err = mm_move_pages(mm, a->start, to, MIN(len, new_len));
	if (err) {
		area_free(moved);
		return err;
	}
	moved->start = to;
	moved->end = to + new_len;
	mm_drop_pages(mm, a, a->start, a->end); /* those after new_len */
	area_remove(mm, a);
	area_insert(mm, moved);
	area_merge(mm, to, to + new_len);
	return to;
}

/* In place, if nothing is after it: true. */
static bool mm_grow_area(struct mm *mm, struct vm_area *a, u64 end, u64 new_end)
{
	if (a->end != end || new_end > USER_END || !area_range_free(mm, end, new_end))
		return false;
	a->end = new_end;
	area_merge(mm, a->start, new_end);
	return true;
}

static long mm_remap_locked(
    struct mm *mm, u64 addr, u64 len, u64 new_len, unsigned flags, u64 new_addr)
{
	struct vm_area *a = area_find(mm, addr);
	long err;

	/* The tracer's pages are of a size of their own. */
	if (!a || a->end - addr < len || a->again)
		return -EFAULT;
	if (!(flags & MREMAP_FIXED)) {
		if (new_len == len || mm_grow_area(mm, a, addr + len, addr + new_len))
			return addr;
		if (!(flags & MREMAP_MAYMOVE))
			return -ENOMEM;
		new_addr = area_gap(mm, new_len, USER_START, mm->mmap_top);
		if (!new_addr)
			return -ENOMEM;
	}
	if (mm->area_count >= MM_AREAS_MAX - MOVE_SPARE)
		return -ENOMEM;
	err = area_cut_out(mm, addr, addr + len);
	return err ? err : mm_move_area(mm, area_find(mm, addr), new_addr, new_len);
}

static long mm_remap_checked(
    struct mm *mm, u64 addr, u64 len, u64 new_len, unsigned flags, u64 new_addr)
{
	long ret = 0;

	if (flags & MREMAP_FIXED && READ_ONCE(mm->area_count) + 2 >= MM_AREAS_MAX - MOVE_SPARE)
		return -ENOMEM; /* before anything is unmapped */
	if (flags & MREMAP_FIXED)
		ret = mm_unmap(mm, new_addr, new_len);
	if (!ret && new_len < len) {
		ret = mm_unmap(mm, addr + new_len, len - new_len);
		len = new_len;
	}
	if (ret)
		return ret;
	mutex_lock(&mm->lock);
	ret = mm_remap_locked(mm, addr, len, new_len, flags, new_addr);
	mutex_unlock(&mm->lock);
	return ret;
}

long mm_remap(struct mm *mm, u64 addr, u64 len, u64 new_len, unsigned flags, u64 new_addr)
{
	if ((flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED)) || flags == MREMAP_FIXED ||
	    (addr & (PAGE_SIZE - 1)) || !len || !new_len)
		return -EINVAL;
	if (len > USER_END || new_len > USER_END || addr > USER_END - ALIGN_UP(len, PAGE_SIZE))
		return -EINVAL;
	len = ALIGN_UP(len, PAGE_SIZE);
	new_len = ALIGN_UP(new_len, PAGE_SIZE);
	if (new_len > len && (new_len - len) / PAGE_SIZE > page_total())
		return -ENOMEM;
	if ((flags & MREMAP_FIXED) && ((new_addr & (PAGE_SIZE - 1)) || new_addr < USER_START ||
					  new_addr > USER_END - new_len ||
					  (new_addr < addr + len && addr < new_addr + new_len)))
		return -EINVAL;
	if (!mm_is_mapped(mm, addr, 1))
		return -EFAULT;
	return mm_remap_checked(mm, addr, len, new_len, flags, new_addr);
}

bool mm_is_mapped(struct mm *mm, u64 addr, u64 len)
{
	bool full;

	if (len > USER_END || addr > USER_END - len)
		return false;
	mutex_lock(&mm->lock);
	full = !len || area_range_full(mm, ALIGN_DOWN(addr, PAGE_SIZE), addr + len);
	mutex_unlock(&mm->lock);
	return full;
}

int mm_in_core(struct mm *mm, u64 addr)
{
	struct vm_area *a;
	unsigned prot;
	int ret;

	mutex_lock(&mm->lock);
	a = area_find(mm, addr);
	ret = a ? aspace_lookup(mm->as, addr, &prot) != 0 || a->file : -ENOMEM;
	mutex_unlock(&mm->lock);
	return ret;
}
