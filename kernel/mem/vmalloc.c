/*
 * Kernel address ranges: vmalloc and kernel stacks. Task context (it maps and unmaps). vmap_lock
 * protects the list of ranges; freed stacks are kept mapped in a list of their own (stack_lock),
 * for the next task.
 *
 * Each range is followed by a page that is never mapped, and stacks grow down to the one below
 * them, so that whoever runs over an end faults.
 */
#include "kernel/base/panic.h"
#include "kernel/base/spinlock.h"
#include "kernel/lib/list.h"
#include "kernel/lib/string.h"
#include "kernel/mem/page.h"

/* The lower half of the kernel's mappings is the machine's own: device registers. */
#define VMAP_START (KERNEL_MAP_BASE + (KERNEL_MAP_END - KERNEL_MAP_BASE) / 2)

struct vmap {
	struct list_head node; /* sorted by start */
	u64 start, pages;      /* without the guard page after */
	u64 pa;		       /* of stacks, one run; else 0: page by page below */
	u64 page[];
};

static struct spinlock vmap_lock = SPINLOCK_INIT;
static struct list_head vmaps = LIST_HEAD_INIT(vmaps);

/* Finds room after the first range that is followed by enough of it, and takes it. */
static bool vmap_place(struct vmap *v)
{
	u64 bytes = (v->pages + 1) * PAGE_SIZE;
	u64 at = VMAP_START + PAGE_SIZE;
	struct list_head *before = &vmaps;
	struct vmap *o;

	spin_lock(&vmap_lock);
	list_for_each_entry (o, &vmaps, node) {
		if (o->start - at >= bytes)
			break;
		at = o->start + (o->pages + 1) * PAGE_SIZE;
		before = &o->node;
	}
	bool ok = KERNEL_MAP_END - at >= bytes;
	if (ok) {
		v->start = at;
		list_add(&v->node, before);
	}
	spin_unlock(&vmap_lock);
	return ok;
}

static struct vmap *vmap_find(u64 start)
{
	struct vmap *v, *found = NULL;

	spin_lock(&vmap_lock);
	list_for_each_entry (v, &vmaps, node) {
		if (v->start == start) {
			found = v;
			break;
		}
	}
	spin_unlock(&vmap_lock);
	if (!found)
		panic("vfree: %#lx was never given out", start);
	return found;
}

/* Nobody may reach the range any more. */
static void vmap_drop(struct vmap *v)
{
	spin_lock(&vmap_lock);
	list_del(&v->node);
	spin_unlock(&vmap_lock);
	kfree(v);
}

/* A range of that many pages, not mapped yet; room for as many physical addresses if `scattered`.
 */
static struct vmap *vmap_create(u64 pages, bool scattered)
{
	struct vmap *v = kzalloc(sizeof(*v) + (scattered ? pages * sizeof(v->page[0]) : 0));

	if (!v)
		return NULL;
	v->pages = pages;
	if (!vmap_place(v)) {
		kfree(v);
		return NULL;
	}
	return v;
}

/* Unmaps the first n pages and frees them and the range. */
static void vmap_destroy(struct vmap *v, u64 n)
{
	if (n)
		kernel_unmap(v->start, n * PAGE_SIZE);
	for (u64 i = 0; i < n; i++)
		page_free(v->page[i], 0);
	vmap_drop(v);
}

void *vmalloc(size_t size)
{
	u64 pages = ALIGN_UP(size, PAGE_SIZE) / PAGE_SIZE;

	if (!size || pages > page_total() || mem_is_dead())
		return NULL;
	struct vmap *v = vmap_create(pages, true);
	if (!v)
		return NULL;
	for (u64 i = 0; i < pages; i++) {
		u64 pa = page_alloc(0, false);
		if (pa &&
		    kernel_map(v->start + i * PAGE_SIZE, pa, PAGE_SIZE, PROT_R | PROT_W) == 0) {
			v->page[i] = pa;
			continue;
		}
		if (pa)
			page_free(pa, 0);
		vmap_destroy(v, i);
		return NULL;
	}
	return (void *)v->start;
}

void vfree(void *p)
{
	if (!p)
		return;
	struct vmap *v = vmap_find((u64)p);
	vmap_destroy(v, v->pages);
}

/* ---- Stacks ---- */

#define STACK_ORDER 2
#define STACKS_KEPT                                                                                \
	16 /* more are unmapped, which interrupts every CPU, when the next is asked for */
_Static_assert(KERNEL_STACK_SIZE == PAGE_SIZE << STACK_ORDER, "a stack is one run of pages");

/* Lies at the low end of a stack that nobody uses. */
struct free_stack {
	struct free_stack *next;
};

static struct spinlock stack_lock = SPINLOCK_INIT;
static struct free_stack *stacks; /* [stack_lock] */
static unsigned stacks_kept;	  /* [stack_lock] */

/* One that is kept, if there are more than `least`. */
static struct free_stack *stack_take(unsigned least)
{
	struct free_stack *s = NULL;

	u64 flags = spin_lock_irqsave(&stack_lock);
	if (stacks_kept > least) {
		s = stacks;
		stacks = s->next;
		stacks_kept--;
	}
	spin_unlock_irqrestore(&stack_lock, flags);
	return s;
}

static u64 stack_map(void)
{
	u64 pa = page_alloc(STACK_ORDER, false);

	if (!pa)
		return 0;
	struct vmap *v = vmap_create(1UL << STACK_ORDER, false);
	if (!v)
		goto no_range;
	v->pa = pa;
	if (kernel_map(v->start, pa, KERNEL_STACK_SIZE, PROT_R | PROT_W))
		goto no_tables;
	return v->start + KERNEL_STACK_SIZE;

no_tables:
	vmap_drop(v);
no_range:
	page_free(pa, STACK_ORDER);
	return 0;
}

u64 stack_alloc(void)
{
	struct free_stack *kept = stack_take(0);

	if (!kept)
		return stack_map();
	stack_trim();
	return (u64)kept + KERNEL_STACK_SIZE;
}

void stack_free(u64 top)
{
	struct free_stack *s = (struct free_stack *)(top - KERNEL_STACK_SIZE);

	u64 flags = spin_lock_irqsave(&stack_lock);
	s->next = stacks;
	stacks = s;
	stacks_kept++;
	spin_unlock_irqrestore(&stack_lock, flags);
}

void stack_trim(void)
{
	struct free_stack *s;

	while ((s = stack_take(STACKS_KEPT))) {
		struct vmap *v = vmap_find((u64)s);
		kernel_unmap((u64)s, KERNEL_STACK_SIZE);
		page_free(v->pa, STACK_ORDER);
		vmap_drop(v);
	}
}
