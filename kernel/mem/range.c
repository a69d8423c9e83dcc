/* Sets of physical ranges. Boot only, one CPU. */
#include "kernel/mem/range.h"
#include "kernel/lib/string.h"

#define LOW_END 0xa0000 /* where a PC's RAM ends below 1 MiB */

static void range_delete(struct range_set *set, unsigned i, unsigned n)
{
	memmove(&set->r[i], &set->r[i + n], (set->count - i - n) * sizeof(set->r[0]));
	set->count -= n;
}

static bool range_insert(struct range_set *set, unsigned i, u64 start, u64 end)
{
	if (set->count == RANGE_MAX)
		return false;
	memmove(&set->r[i + 1], &set->r[i], (set->count - i) * sizeof(set->r[0]));
	set->r[i].start = start;
	set->r[i].end = end;
	set->count++;
	return true;
}

void range_add(struct range_set *set, u64 start, u64 end)
{
	unsigned i = 0, n = 0;

	if (start >= end)
		return;
	while (i < set->count && set->r[i].end < start)
		i++;
	/* r[i] .. r[i+n-1] touch the new range and become one with it. */
	for (; i + n < set->count && set->r[i + n].start <= end; n++) {
		start = MIN(start, set->r[i + n].start);
		end = MAX(end, set->r[i + n].end);
	}
	if (!n) {
		range_insert(set, i, start, end);
		return;
	}
	set->r[i].start = start;
	set->r[i].end = end;
	range_delete(set, i + 1, n - 1);
}

void range_remove(struct range_set *set, u64 start, u64 end)
{
	if (start >= end)
		return;
	for (unsigned i = 0; i < set->count;) {
		u64 s = set->r[i].start, e = set->r[i].end;
		if (e <= start || s >= end) {
			i++;
		} else if (s >= start && e <= end) {
			range_delete(set, i, 1);
		} else if (s < start && e > end) {
			/* A hole. Without room for both halves the upper one is given up, never the
			 * hole. */
			set->r[i].end = start;
			range_insert(set, i + 1, end, e);
			return;
		} else if (s < start) {
			set->r[i++].end = start;
		} else {
			set->r[i++].start = end;
		}
	}
}

bool range_holds(const struct range_set *set, u64 start, u64 end)
{
	for (unsigned i = 0; i < set->count; i++)
		if (set->r[i].start <= start && end <= set->r[i].end)
			return start < end;
	return false;
}

static u64 end_of(u64 base, u64 size)
{
	u64 end;
	return __builtin_add_overflow(base, size, &end) ? UINT64_MAX : end;
}

static u64 page_up(u64 a)
{
	return a > UINT64_MAX - PAGE_SIZE ? UINT64_MAX & ~(PAGE_SIZE - 1) : ALIGN_UP(a, PAGE_SIZE);
}

/* Any byte used makes its page unusable. */
static void range_remove_pages(struct range_set *set, u64 base, u64 size)
{
	if (size)
		range_remove(set, ALIGN_DOWN(base, PAGE_SIZE), page_up(end_of(base, size)));
}

static void range_add_usable(struct range_set *set, const struct boot_info *bi)
{
	unsigned n = MIN(bi->range_count, (uint32_t)BOOT_MAX_RANGES);

	set->count = 0;
	for (unsigned i = 0; i < n; i++)
		if (bi->ranges[i].type == BOOT_MEM_USABLE)
			range_add(set, page_up(bi->ranges[i].base),
			    ALIGN_DOWN(end_of(bi->ranges[i].base, bi->ranges[i].size), PAGE_SIZE));
	for (unsigned i = 0; i < n; i++)
		if (bi->ranges[i].type != BOOT_MEM_USABLE)
			range_remove_pages(set, bi->ranges[i].base, bi->ranges[i].size);
	range_remove_pages(set, bi->kernel_base, bi->kernel_size);
	range_remove_pages(set, bi->initrd_base, bi->initrd_size);
}

void range_set_from_boot(struct range_set *set, const struct boot_info *bi, u64 limit)
{
	range_add_usable(set, bi);
	range_remove(set, 0, 0x100000);
	range_remove(set, limit, UINT64_MAX);
}

u64 range_low_page(const struct boot_info *bi)
{
	static struct range_set set; /* too large for a stack; used once at boot */

	range_add_usable(&set, bi);
	range_remove(&set, LOW_END, UINT64_MAX);
	range_remove(&set, 0, PAGE_SIZE);
	return set.count ? set.r[set.count - 1].end - PAGE_SIZE : 0;
}
