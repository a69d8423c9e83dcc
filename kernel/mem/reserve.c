/*
 * Memory for after a panic: the heap may be damaged or locked then, and is left as it is. Units of
 * 256 bytes in one block of pages; each first unit given out knows how many follow. One CPU, no
 * locks.
 */
#include "kernel/base/printk.h"
#include "kernel/lib/string.h"
#include "kernel/mem/page.h"

#define ORDER 7U /* 512 KiB: the files of the tracer want pages for each CPU */
#define UNIT  256UL
#define UNITS ((PAGE_SIZE << ORDER) / UNIT)

static char *reserve; /* NULL: none was set aside */
static u16 *given;    /* [UNITS] units given out from this one on; 0: it is free */

void mem_reserve(void)
{
	u64 pa = page_alloc(ORDER, false);

	given = kzalloc(UNITS * sizeof(*given));
	if (pa && given)
		reserve = phys_to_virt(pa);
	else
		pr_err("no memory to set aside for after a panic");
}

void mem_use_reserve(void)
{
	mem_fail_nth(MEM_DEAD);
}

static u64 reserve_round(size_t size)
{
	u64 units = 1;

	if (size >= PAGE_SIZE)
		return ALIGN_UP(size, PAGE_SIZE) / UNIT;
	while (units * UNIT < size)
		units *= 2;
	return units;
}

/*
 * Sizes are powers of two up to a page, then pages: so steps of the size, but of a page at most,
 * keep all aligned.
 */
void *reserve_alloc(size_t size)
{
	u64 units = reserve_round(size), step = MIN(units, PAGE_SIZE / UNIT), run = 0;

	if (!mem_is_dead() || !reserve || units > UNITS)
		return NULL;
	for (u64 at = 0; at + units <= UNITS; at += step) {
		for (run = 0; run < units && !given[at + run]; run++)
			;
		if (run == units) {
			given[at] = units;
			for (u64 i = 1; i < units; i++)
				given[at + i] = 1;
			return memset(reserve + at * UNIT, 0, units * UNIT);
		}
	}
	return NULL;
}

static bool reserve_has(const void *p)
{
	return reserve && (const char *)p >= reserve && (const char *)p < reserve + UNITS * UNIT;
}

void reserve_free(const void *p)
{
	u64 at = reserve_has(p) ? ((const char *)p - reserve) / UNIT : 0;

	if (reserve_has(p))
		memset(&given[at], 0, given[at] * sizeof(*given));
}

size_t reserve_size(const void *p)
{
	return reserve_has(p) ? given[((const char *)p - reserve) / UNIT] * UNIT : 0;
}
