/*
 * Life of a ring-3 address space: made, copied by fork, taken apart. Task context; mm->lock
 * protects the list of areas and the page tables. Who holds it touches no ring-3 memory (a fault
 * there would take it again).
 *
 * A page of a private area is counted by page_get()/page_put(), once per address space that maps
 * it; one that is mapped by several is mapped read-only by all of them until a write gives the
 * writer its own copy (fault.c).
 */
#include "kernel/process/mm.h"

#include "kernel/base/refs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/process/area.h"

struct mm *mm_create(void)
{
	struct mm *mm = kzalloc(sizeof(*mm));

	if (!mm)
		return NULL;
	mm->as = aspace_create();
	if (!mm->as) {
		kfree(mm);
		return NULL;
	}
	mutex_init(&mm->lock);
	list_init(&mm->areas);
	list_init(&mm->enablers);
	wait_queue_init(&mm->vfork_wq);
	mm->stack_top = USER_END - PAGE_SIZE;
	mm->mmap_top = mm->stack_top - USER_STACK_SIZE - USER_STACK_GUARD;
	mm->refs = 1;
	return mm;
}

u64 user_page_alloc(bool zero)
{
	return mem_is_low() ? 0 : page_alloc(0, zero);
}

unsigned mm_page_prot(const struct vm_area *a)
{
	return a->prot ? a->prot | PROT_R | PROT_USER : 0;
}

#define BATCH 64

/* Pages that are unmapped but may still be in some TLB. */
struct page_batch {
	u64 first, end;
	unsigned n;
	u64 pa[BATCH];
};

static void mm_free_batch(struct mm *mm, struct page_batch *b)
{
	if (b->end > b->first)
		aspace_flush(mm->as, b->first, b->end - b->first);
	for (unsigned i = 0; i < b->n; i++)
		page_put(b->pa[i]);
	b->n = 0;
	b->first = b->end;
}

void mm_drop_pages(struct mm *mm, struct vm_area *a, u64 start, u64 end)
{
	struct page_batch b = {.first = start, .end = start};

	for (u64 va = aspace_next(mm->as, start, end); va < end;
	     va = aspace_next(mm->as, va + PAGE_SIZE, end)) {
		u64 pa = aspace_unmap(mm->as, va);

		b.end = va + PAGE_SIZE;
		if (!a->page)
			b.pa[b.n++] = pa;
		if (b.n == BATCH)
			mm_free_batch(mm, &b);
	}
	mm_free_batch(mm, &b);
}

static const struct mm_words_ops *words;

void mm_words_set(const struct mm_words_ops *ops)
{
	words = ops;
}

/* Nobody uses it any more: no TLB to flush. */
static void mm_destroy(struct mm *mm)
{
	if (!list_empty(&mm->enablers))
		words->drop(mm);
	while (!list_empty(&mm->areas)) {
		struct vm_area *a = list_first_entry(&mm->areas, struct vm_area, node);
		u64 va = aspace_next(mm->as, a->start, a->end);

		for (; !a->page && va < a->end; va = aspace_next(mm->as, va + PAGE_SIZE, a->end))
			page_put(aspace_unmap(mm->as, va));
		area_remove(mm, a);
	}
	aspace_destroy(mm->as);
	kfree(mm);
}

void mm_put(struct mm *mm)
{
	if (ref_drop(&mm->refs))
		mm_destroy(mm);
}

/* One page of a private area: both get it, neither may write it. */
static int share_page(struct mm *from, struct mm *to, u64 va)
{
	unsigned prot;
	u64 pa = aspace_lookup(from->as, va, &prot);
	int err = aspace_map(to->as, va, pa, prot & ~PROT_W);

	if (err)
		return err;
	page_get(pa);
	/* Replacing an entry that exists needs no memory. */
	return prot & PROT_W ? aspace_map(from->as, va, pa, prot & ~PROT_W) : 0;
}

static int fork_area(struct mm *from, struct mm *to, const struct vm_area *a)
{
	struct vm_area *copy;
	u64 va;
	int err = 0;

	if (a->dont_copy || a->dont_fork)
		return 0;
	copy = area_copy(a);
	if (!copy)
		return -ENOMEM;
	area_insert(to, copy);
	if (a->shared || a->page || a->wipe_on_fork)
		return 0; /* its pages come by faults */
	for (va = aspace_next(from->as, a->start, a->end); va < a->end && !err;
	     va = aspace_next(from->as, va + PAGE_SIZE, a->end))
		err = share_page(from, to, va);
	return err;
}

static struct mm *mm_copy_pages(struct mm *from)
{
	struct mm *to = mm_create();
	struct vm_area *a;
	int err = 0;

	if (!to)
		return NULL;
	mutex_lock(&from->lock);
	memcpy(to->missing_calls, from->missing_calls, sizeof(to->missing_calls));
	to->brk_start = from->brk_start;
	to->brk = from->brk;
	to->arg_start = from->arg_start;
	to->arg_end = from->arg_end;
	to->env_end = from->env_end;
	list_for_each_entry (a, &from->areas, node) {
		err = fork_area(from, to, a);
		if (err)
			break;
	}
	aspace_flush(from->as, 0, USER_END);
	mutex_unlock(&from->lock);
	if (!err)
		return to;
	mm_put(to);
	return NULL;
}

struct mm *mm_fork(struct mm *from)
{
	return list_empty(&from->enablers) ? mm_copy_pages(from) : words->fork(from, mm_copy_pages);
}
