/*
 * Page frames: finds the memory at boot, then gives pages out and takes them back. Task and irq
 * context, not NMI. page_lock (interrupts off) protects the buddy allocator; reference counts are
 * atomic. Takes no other lock inside.
 */
#include "kernel/mem/page.h"
#include "boot/boot_info.h"
#include "kernel/events.h"
#include "kernel/lib/string.h"
#include "kernel/mem/range.h"
#include "kernel/panic.h"
#include "kernel/task/sync.h"

struct buddy mem_buddy;
u64 mem_fail_countdown;
static struct spinlock page_lock = SPINLOCK_INIT;

/* The direct map ends here; what lies above cannot be used. */
#define DIRECT_MAP_SIZE (64UL << 40)

void mem_fail_nth(u64 n)
{
	atomic_store(&mem_fail_countdown, n);
}

bool mem_fail_count(void)
{
	u64 n = atomic_load(&mem_fail_countdown);

	while (n && !atomic_cas(&mem_fail_countdown, n, n - 1))
		n = atomic_load(&mem_fail_countdown);
	return n == 1;
}

/* Cuts `bytes` off the first range that has them. */
static u64 carve(struct range_set *set, u64 bytes)
{
	for (unsigned i = 0; i < set->count; i++) {
		u64 start = set->r[i].start;
		if (set->r[i].end - start >= bytes) {
			range_remove(set, start, start + ALIGN_UP(bytes, PAGE_SIZE));
			return start;
		}
	}
	panic("no memory for the page frame table: %lu KiB in one piece are needed", bytes >> 10);
}

void mem_init(const struct boot_info *bi)
{
	static struct range_set set; /* too large for a stack; used once */

	range_set_from_boot(&set, bi, DIRECT_MAP_SIZE);
	if ((u64)bi < KERNEL_IMAGE_BASE) { /* else it is part of the image */
		u64 at = virt_to_phys(bi);
		range_remove(
		    &set, ALIGN_DOWN(at, PAGE_SIZE), ALIGN_UP(at + sizeof(*bi), PAGE_SIZE));
	}
	if (!set.count)
		panic("the loader named no usable memory");
	u64 max_pfn = set.r[set.count - 1].end / PAGE_SIZE;
	u64 table = carve(&set, buddy_bytes(max_pfn));
	buddy_init(&mem_buddy, phys_to_virt(table), max_pfn);
	for (unsigned i = 0; i < set.count; i++)
		buddy_add(&mem_buddy, set.r[i].start / PAGE_SIZE, set.r[i].end / PAGE_SIZE);
}

u64 page_take(unsigned order)
{
	u64 flags = spin_lock_irqsave(&page_lock);
	u64 pfn = buddy_alloc(&mem_buddy, order);
	spin_unlock_irqrestore(&page_lock, flags);
	return pfn * PAGE_SIZE;
}

void page_give(u64 pa, unsigned order)
{
	u64 flags = spin_lock_irqsave(&page_lock);
	bool ok = buddy_free(&mem_buddy, pa / PAGE_SIZE, order);
	spin_unlock_irqrestore(&page_lock, flags);
	if (!ok)
		panic("page_free: %#lx was not given out in order %u", pa, order);
}

u64 page_alloc(unsigned order, bool zero)
{
	if (unlikely(order > MAX_ORDER) || mem_must_fail())
		return 0;
	u64 pa = page_take(order);
	if (unlikely(!pa))
		return 0;
	if (zero)
		memset(phys_to_virt(pa), 0, PAGE_SIZE << order);
	trace_mm_page_alloc(pa / PAGE_SIZE, order, zero);
	return pa;
}

void page_free(u64 pa, unsigned order)
{
	trace_mm_page_free(pa / PAGE_SIZE, order);
	page_give(pa, order);
}

/* The frame whose references are counted; NULL: a page that was never given out (the kernel's
 * image, a device). */
static struct frame *counted_frame(u64 pa)
{
	struct frame *f = frame_of(pa);
	return f && f->kind == FRAME_PAGE ? f : NULL;
}

void page_get(u64 pa)
{
	struct frame *f = counted_frame(pa);
	if (f)
		atomic_add(&f->refs, 1);
}

void page_put(u64 pa)
{
	struct frame *f = counted_frame(pa);
	if (f && atomic_sub(&f->refs, 1) == 0)
		page_free(ALIGN_DOWN(pa, PAGE_SIZE), 0);
}

unsigned page_refs(u64 pa)
{
	struct frame *f = counted_frame(pa);
	return f ? atomic_load(&f->refs) : 0;
}

u64 page_total(void)
{
	return mem_buddy.total;
}

u64 page_free_count(void)
{
	return READ_ONCE(mem_buddy.free);
}

u64 arch_page_alloc(void)
{
	return page_alloc(0, true);
}

void arch_page_free(u64 pa)
{
	page_free(pa, 0);
}
