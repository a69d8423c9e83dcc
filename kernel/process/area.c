/*
 * The areas of an address space: see area.h. Pure list work (host tests run it too); the caller
 * holds mm->lock.
 */
#include "kernel/process/area.h"

#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/mem/mem.h"

struct vm_area *area_find_above(struct mm *mm, u64 addr)
{
	struct vm_area *a;

	list_for_each_entry (a, &mm->areas, node)
		if (a->end > addr)
			return a;
	return NULL;
}

struct vm_area *area_find(struct mm *mm, u64 addr)
{
	struct vm_area *a = area_find_above(mm, addr);

	return a && a->start <= addr ? a : NULL;
}

bool area_range_free(struct mm *mm, u64 start, u64 end)
{
	struct vm_area *a = area_find_above(mm, start);

	return !a || a->start >= end;
}

bool area_range_full(struct mm *mm, u64 start, u64 end)
{
	struct vm_area *a;

	list_for_each_entry (a, &mm->areas, node) {
		if (a->end <= start)
			continue;
		if (a->start > start)
			return false;
		if (a->end >= end)
			return true;
		start = a->end;
	}
	return false;
}

u64 area_gap(struct mm *mm, u64 len, u64 low, u64 high)
{
	struct vm_area *a;
	u64 best = 0, from = low;

	if (high < low || len > high - low)
		return 0;
	list_for_each_entry (a, &mm->areas, node) {
		if (a->start >= high)
			break;
		if (a->start > from && a->start - from >= len)
			best = a->start - len;
		from = MAX(from, a->end);
	}
	return from <= high && high - from >= len ? high - len : best;
}

struct vm_area *area_new(u64 start, u64 end, unsigned prot, struct file *file, u64 offset)
{
	struct vm_area *a = kzalloc(sizeof(*a));

	if (!a)
		return NULL;
	list_init(&a->node);
	a->start = start;
	a->end = end;
	a->prot = prot;
	a->max_prot = PROT_R | PROT_W | PROT_X;
	a->file = file ? file_get(file) : NULL;
	a->offset = offset;
	a->file_end = ~0UL;
	return a;
}

struct vm_area *area_copy(const struct vm_area *from)
{
	struct vm_area *a = kmalloc(sizeof(*a));

	if (!a)
		return NULL;
	*a = *from;
	list_init(&a->node);
	if (a->file)
		file_get(a->file);
	if (a->again)
		a->again(a);
	return a;
}

void area_free(struct vm_area *a)
{
	if (a->gone)
		a->gone(a);
	if (a->file)
		file_put(a->file);
	kfree(a);
}

void area_insert(struct mm *mm, struct vm_area *a)
{
	struct vm_area *next = area_find_above(mm, a->start);

	a->mm = mm;
	list_add_tail(&a->node, next ? &next->node : &mm->areas);
	mm->area_count++;
}

void area_remove(struct mm *mm, struct vm_area *a)
{
	list_del(&a->node);
	mm->area_count--;
	area_free(a);
}

/* -ENOMEM if there are more than `most` areas before the split. */
static int area_split(struct mm *mm, u64 addr, u32 most)
{
	struct vm_area *a = area_find(mm, addr), *tail;

	if (!a || a->start == addr)
		return 0;
	if (mm->area_count > most)
		return -ENOMEM;
	tail = area_copy(a);
	if (!tail)
		return -ENOMEM;
	tail->start = addr;
	tail->offset += addr - a->start;
	a->end = addr;
	list_add(&tail->node, &a->node);
	mm->area_count++;
	return 0;
}

int area_cut(struct mm *mm, u64 start, u64 end)
{
	int err = area_split(mm, start, MM_AREAS_MAX - 1);

	return err ? err : area_split(mm, end, MM_AREAS_MAX - 1);
}

int area_cut_out(struct mm *mm, u64 start, u64 end)
{
	int err = area_split(mm, start, UINT32_MAX);

	return err ? err : area_split(mm, end, UINT32_MAX);
}

static bool alike(const struct vm_area *a, const struct vm_area *b)
{
	if (a->end != b->start || a->prot != b->prot || a->max_prot != b->max_prot ||
	    a->shared != b->shared)
		return false;
	if (a->dont_fork != b->dont_fork || a->wipe_on_fork != b->wipe_on_fork)
		return false;
	if (a->file != b->file || a->page != b->page || a->page_arg != b->page_arg)
		return false;
	return !a->file ||
	       (a->offset + (a->end - a->start) == b->offset && a->file_end == b->file_end);
}

void area_merge(struct mm *mm, u64 start, u64 end)
{
	struct vm_area *a, *next;

	list_for_each_entry_safe (a, next, &mm->areas, node) {
		if (a->end < start || &next->node == &mm->areas)
			continue;
		if (a->start > end)
			return;
		if (!alike(a, next))
			continue;
		next->start = a->start;
		next->offset = a->offset;
		area_remove(mm, a);
	}
}
