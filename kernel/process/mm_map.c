/*
 * mmap, munmap, mprotect, brk, madvise on one address space. Task context; takes mm->lock. Each
 * checks everything and gets all memory it needs before it changes anything that can be seen.
 */
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/mem/mem.h"
#include "kernel/process/area.h"
#include "kernel/process/mm.h"
#include "kernel/task/task.h"

/* One mmap call, decoded. */
struct map_request {
	u64 addr, len;
	unsigned prot, flags;
	struct file *file;
	u64 offset;
};

static bool shared_type(unsigned flags)
{
	return (flags & MAP_TYPE) != MAP_PRIVATE;
}

/*
 * A single mapping of more than there is of memory is refused unless it says that it will not be
 * filled.
 */
static bool too_much(u64 len, unsigned prot, unsigned flags)
{
	return prot && !(flags & MAP_NORESERVE) && len / PAGE_SIZE > page_total();
}

/*
 * A private mapping of a plain file reads it page by page; everything else is the file's own
 * business.
 */
static bool mm_map_own_pages(const struct map_request *q)
{
	return !shared_type(q->flags) && q->file->vnode &&
	       !(q->file->ops && q->file->ops->no_private_map) &&
	       (q->file->vnode->mode & S_IFMT) == S_IFREG;
}

static int check_file(const struct map_request *q)
{
	unsigned mode = q->file->flags & O_ACCMODE;

	if (mode == O_WRONLY)
		return -EACCES;
	if (shared_type(q->flags) && (q->prot & PROT_W) && mode != O_RDWR)
		return -EACCES;
	if (!mm_map_own_pages(q) && (!q->file->ops || !q->file->ops->mmap))
		return -ENODEV;
	return 0;
}

static int check_request(struct map_request *q)
{
	unsigned type = q->flags & MAP_TYPE;

	if (!q->len)
		return -EINVAL;
	if (type != MAP_SHARED && type != MAP_PRIVATE && type != MAP_SHARED_VALIDATE)
		return -EINVAL;
	if (q->len > USER_END)
		return -ENOMEM;
	q->len = ALIGN_UP(q->len, PAGE_SIZE);
	q->prot &= PROT_R | PROT_W | PROT_X;
	if (q->offset + q->len < q->offset)
		return -EOVERFLOW;
	if (too_much(q->len, q->prot, q->flags))
		return -ENOMEM;
	if (q->flags & MAP_FIXED_NOREPLACE)
		q->flags |= MAP_FIXED;
	return q->file ? check_file(q) : 0;
}

/* Where it goes: an address or negative errno. */
static long choose_address(struct mm *mm, const struct map_request *q)
{
	u64 hint = ALIGN_DOWN(q->addr, PAGE_SIZE), found;

	if (q->flags & MAP_FIXED) {
		if (q->addr != hint)
			return -EINVAL;
		if (q->addr > USER_END - q->len)
			return -ENOMEM;
		if (q->addr < USER_START)
			return -EPERM;
		if ((q->flags & MAP_FIXED_NOREPLACE) && !area_range_free(mm, hint, hint + q->len))
			return -EEXIST;
		return hint;
	}
	if (hint >= USER_START && hint <= USER_END - q->len &&
	    area_range_free(mm, hint, hint + q->len))
		return hint;
	found = area_gap(mm, q->len, USER_START, mm->mmap_top);
	return found ? (long)found : -ENOMEM;
}

/* The area of a request, not yet placed: start 0. 0 or negative errno. */
static int make_area(const struct map_request *q, struct vm_area **out)
{
	bool shared = shared_type(q->flags);
	struct vm_area *a;
	int err = 0;

	if (!q->file && shared)
		a = area_new_shared(q->len, q->prot);
	else
		a = area_new(0, q->len, q->prot, q->file, q->offset);
	if (!a)
		return -ENOMEM;
	a->shared = shared;
	if (q->file && shared && (q->file->flags & O_ACCMODE) == O_RDONLY)
		a->max_prot &= ~PROT_W;
	if (q->file && !mm_map_own_pages(q))
		err = q->file->ops->mmap(q->file, a);
	if (err) {
		area_free(a);
		return err;
	}
	*out = a;
	return 0;
}

/* Empties [start, end). Nothing has changed when it fails. */
static int mm_clear_range(struct mm *mm, u64 start, u64 end)
{
	struct vm_area *a = area_find(mm, start), *next;
	int err;

	/* A hole in an area leaves two of it. */
	if (a && a->start < start && a->end > end && mm->area_count >= MM_AREAS_MAX)
		return -ENOMEM;
	err = area_cut_out(mm, start, end);
	if (err)
		return err;
	list_for_each_entry_safe (a, next, &mm->areas, node) {
		if (a->end <= start)
			continue;
		if (a->start >= end)
			break;
		mm_drop_pages(mm, a, a->start, a->end);
		area_remove(mm, a);
	}
	return 0;
}

static long place_area(struct mm *mm, const struct map_request *q, struct vm_area *a)
{
	long at = choose_address(mm, q);
	int err;

	if (at < 0)
		return at;
	if (mm->area_count > MM_AREAS_MAX)
		return -ENOMEM;
	err = mm_clear_range(mm, at, at + q->len);
	if (err)
		return err;
	a->start = at;
	a->end = at + q->len;
	area_insert(mm, a);
	area_merge(mm, at, at + q->len);
	return at;
}

long __noinline do_mmap(struct file *file, u64 addr, u64 len, u64 prot, u64 flags,
    u64 vm_flags __maybe_unused, u64 pgoff, u64 *populate)
{
	bool zeros = file && file->ops && file->ops->maps_zeros;
	struct map_request q = {addr, len, prot, flags, zeros ? NULL : file, pgoff * PAGE_SIZE};
	struct mm *mm = current()->mm;
	struct vm_area *a;
	long ret = check_request(&q);

	*populate = (flags & MAP_POPULATE) && q.prot ? q.len : 0;
	if (ret)
		return ret;
	ret = make_area(&q, &a);
	if (ret)
		return ret;
	mutex_lock(&mm->lock);
	ret = place_area(mm, &q, a);
	mutex_unlock(&mm->lock);
	if (ret < 0)
		area_free(a);
	return ret;
}

long mm_unmap(struct mm *mm, u64 addr, u64 len)
{
	int err;

	if ((addr & (PAGE_SIZE - 1)) || !len || len > USER_END || addr > USER_END - len)
		return -EINVAL;
	mutex_lock(&mm->lock);
	err = mm_clear_range(mm, addr, addr + ALIGN_UP(len, PAGE_SIZE));
	mutex_unlock(&mm->lock);
	return err;
}

/* May all areas of the range have this protection? */
static int check_protect(struct mm *mm, u64 start, u64 end, unsigned prot)
{
	struct vm_area *a;

	if (!area_range_full(mm, start, end))
		return -ENOMEM;
	list_for_each_entry (a, &mm->areas, node)
		if (a->end > start && a->start < end && (prot & ~a->max_prot))
			return -EACCES;
	return 0;
}

/* Gives the pages of a whole area its new protection; a page others share stays read-only. */
static void protect_pages(struct mm *mm, struct vm_area *a)
{
	u64 va;

	for (va = aspace_next(mm->as, a->start, a->end); va < a->end;
	     va = aspace_next(mm->as, va + PAGE_SIZE, a->end)) {
		unsigned prot = mm_page_prot(a), old;
		u64 pa = aspace_lookup(mm->as, va, &old);

		if (!a->page && page_refs(pa) > 1)
			prot &= ~PROT_W;
		aspace_map(mm->as, va, pa, prot); /* the entry exists: cannot fail */
	}
}

static long protect_locked(struct mm *mm, u64 start, u64 end, unsigned prot)
{
	struct vm_area *a;
	int err = check_protect(mm, start, end, prot);

	if (!err)
		err = area_cut(mm, start, end);
	if (err)
		return err;
	list_for_each_entry (a, &mm->areas, node) {
		if (a->end <= start || a->start >= end || a->prot == prot)
			continue;
		a->prot = prot;
		protect_pages(mm, a);
	}
	aspace_flush(mm->as, start, end - start);
	area_merge(mm, start, end);
	return 0;
}

long mm_protect(struct mm *mm, u64 addr, u64 len, unsigned prot)
{
	long ret;

	if ((addr & (PAGE_SIZE - 1)) || (prot & ~(PROT_R | PROT_W | PROT_X)))
		return -EINVAL;
	if (!len)
		return 0;
	if (len > USER_END || addr > USER_END - len)
		return -ENOMEM;
	mutex_lock(&mm->lock);
	ret = protect_locked(mm, addr, addr + ALIGN_UP(len, PAGE_SIZE), prot);
	mutex_unlock(&mm->lock);
	return ret;
}

long mm_discard(struct mm *mm, u64 addr, u64 len)
{
	struct vm_area *a;
	u64 end;
	long ret;

	if ((addr & (PAGE_SIZE - 1)) || len > USER_END || addr > USER_END - len)
		return -EINVAL;
	end = addr + ALIGN_UP(len, PAGE_SIZE);
	mutex_lock(&mm->lock);
	ret = len && !area_range_full(mm, addr, end) ? -ENOMEM : 0;
	list_for_each_entry (a, &mm->areas, node)
		if (a->end > addr && a->start < end && !a->shared && !a->page)
			mm_drop_pages(mm, a, MAX(a->start, addr), MIN(a->end, end));
	mutex_unlock(&mm->lock);
	return ret;
}

static int area_advise_fork(struct vm_area *a, int advice)
{
	if (advice == MADV_DONTFORK || advice == MADV_DOFORK) {
		a->dont_fork = advice == MADV_DONTFORK;
		return 0;
	}
	if (advice == MADV_WIPEONFORK && (a->file || a->shared))
		return -EINVAL;
	a->wipe_on_fork = advice == MADV_WIPEONFORK;
	return 0;
}

/*
 * Areas before one that refuses have taken the advice, and so have those beside a hole, as on
 * Linux.
 */
static long advise_fork_locked(struct mm *mm, u64 start, u64 end, int advice)
{
	struct vm_area *a;
	long err = area_cut(mm, start, end);

	list_for_each_entry (a, &mm->areas, node)
		if (!err && a->end > start && a->start < end)
			err = area_advise_fork(a, advice);
	if (!err && !area_range_full(mm, start, end))
		err = -ENOMEM;
	area_merge(mm, start, end);
	return err;
}

long mm_advise_fork(struct mm *mm, u64 addr, u64 len, int advice)
{
	long ret;

	if ((addr & (PAGE_SIZE - 1)) || len > USER_END || addr > USER_END - len)
		return -EINVAL;
	if (!len)
		return 0;
	mutex_lock(&mm->lock);
	ret = advise_fork_locked(mm, addr, addr + ALIGN_UP(len, PAGE_SIZE), advice);
	mutex_unlock(&mm->lock);
	return ret;
}

static int grow_brk(struct mm *mm, u64 from, u64 to)
{
	struct vm_area *a;

	if (too_much(to - mm->brk_start, PROT_R, 0) || !area_range_free(mm, from, to))
		return -ENOMEM;
	a = area_new(from, to, PROT_R | PROT_W, NULL, 0);
	if (!a)
		return -ENOMEM;
	area_insert(mm, a);
	area_merge(mm, from, to);
	return 0;
}

u64 mm_brk(struct mm *mm, u64 brk)
{
	u64 old_end, new_end;
	int err = 0;

	mutex_lock(&mm->lock);
	if (brk >= mm->brk_start && brk <= mm->mmap_top) {
		old_end = ALIGN_UP(mm->brk, PAGE_SIZE);
		new_end = ALIGN_UP(brk, PAGE_SIZE);
		if (new_end > old_end)
			err = grow_brk(mm, old_end, new_end);
		else if (new_end < old_end)
			err = mm_clear_range(mm, new_end, old_end);
		if (!err)
			mm->brk = brk;
	}
	brk = mm->brk;
	mutex_unlock(&mm->lock);
	return brk;
}
