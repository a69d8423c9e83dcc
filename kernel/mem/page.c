/*
 * Page frames: finds the memory at boot, then gives pages out and takes them back. Task and irq
 * context, not NMI. page_lock (interrupts off) protects the buddy allocator; reference counts are
 * atomic. Takes no other lock inside.
 */
/* hot: runs with each event */
#include "kernel/mem/page.h"
#include "boot/boot_info.h"
#include "kernel/base/cmdline.h"
#include "kernel/base/events.h"
#include "kernel/base/panic.h"
#include "kernel/base/spinlock.h"
#include "kernel/lib/string.h"
#include "kernel/mem/check.h"
#include "kernel/mem/range.h"

struct buddy mem_buddy;
u64 mem_fail_countdown;
static struct spinlock page_lock = SPINLOCK_INIT;

/* The direct map ends here; what lies above cannot be used. */
#define DIRECT_MAP_SIZE (64UL << 40)

/* Memory for the flight recorder: a share of the RAM, within bounds. */
#define KEPT_SHARE 16
#define KEPT_LEAST (4UL << 20)
#define KEPT_MOST  (64UL << 20)

void mem_fail_nth(u64 n)
{
	atomic_store(&mem_fail_countdown, n);
}

bool mem_fail_count(void)
{
	u64 n = atomic_load(&mem_fail_countdown);

	if (n == MEM_DEAD)
		return true;
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

static u64 kept_base, kept_size;

void *mem_kept(size_t *size)
{
	*size = kept_size;
	return kept_size ? phys_to_virt(kept_base) : NULL;
}

/*
 * trace_kept=SIZE, or reserve_mem=SIZE:ALIGN:NAME as Linux spells it (trace/boot_instance.c has the
 * name); without either a sixteenth of the memory.
 */
static u64 kept_wanted(const struct range_set *set)
{
	u64 ram = 0;

	for (unsigned i = 0; i < set->count; i++)
		ram += set->r[i].end - set->r[i].start;
	u64 usual = MAX(KEPT_LEAST, MIN(ram / KEPT_SHARE, KEPT_MOST));
	return ALIGN_DOWN(cmdline_u64("trace_kept", cmdline_u64("reserve_mem", usual)), PAGE_SIZE);
}

/*
 * A loader that keeps memory says where. Else this kernel chooses, the same way in each boot of a
 * machine: one of a few places that firmware leaves alone at a reset, as it works near the end of
 * RAM and below 32 MiB.
 */
static void keep_memory(struct range_set *set, const struct boot_info *bi)
{
	static const u64 places[] = {0x4000000, 0x3000000, 0x2000000, 0x10000000};
	u64 size = kept_wanted(set);

	if (bi->lastboot_size) {
		kept_base = bi->lastboot_base;
		kept_size = size ? ALIGN_DOWN(bi->lastboot_size, PAGE_SIZE) : 0;
		return;
	}
	for (unsigned i = 0; size && !kept_size && i < ARRAY_SIZE(places); i++)
		if (range_holds(set, places[i], places[i] + size)) {
			kept_base = places[i];
			kept_size = size;
		}
	if (kept_size)
		range_remove(set, kept_base, kept_base + kept_size);
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
	keep_memory(&set, bi);
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
	if (unlikely(order > MAX_ORDER) || mem_must_fail()) {
		void *p = reserve_alloc(PAGE_SIZE << order);
		return p ? virt_to_phys(p) : 0;
	}
	u64 pa = page_take(order);
	if (unlikely(!pa))
		return 0;
	mem_check_page_alloc(pa, order);
	if (zero)
		memset(phys_to_virt(pa), 0, PAGE_SIZE << order);
	trace_mm_page_alloc(pa / PAGE_SIZE, order, zero);
	return pa;
}

void page_free(u64 pa, unsigned order)
{
	if (mem_is_dead()) {
		reserve_free(phys_to_virt(pa));
		return;
	}
	trace_mm_page_free(pa / PAGE_SIZE, order);
	mem_check_page_free(pa, order);
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

u64 mem_low_bytes(void)
{
	return MIN(page_total() / 32, 1024UL) * PAGE_SIZE;
}

bool mem_is_low(void)
{
	return page_free_count() * PAGE_SIZE < mem_low_bytes();
}

u64 arch_page_alloc(void)
{
	return page_alloc(0, true);
}

void arch_page_free(u64 pa)
{
	page_free(pa, 0);
}
