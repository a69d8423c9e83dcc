/*
 * The limit of areas in an address space, with Linux's edges (mm/mmap.c, mm/mremap.c of 6.1). To
 * make 65,530 areas would take long: the count alone is set. Task context.
 */
#include "kernel/process/area.h"
#include "kernel/fs/file.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/task/task.h"

#define AREA  0x10000000UL /* ten pages that can be read */
#define PAGES 10
#define AT(n) (AREA + (n)*PAGE_SIZE)
#define AWAY  0x20000000UL

static long protect_middle(struct mm *mm)
{
	return mm_protect(mm, AT(3), PAGE_SIZE, PROT_R | PROT_W);
}

static long protect_head(struct mm *mm)
{
	return mm_protect(mm, AT(0), PAGE_SIZE, PROT_R | PROT_W);
}

static long unmap_middle(struct mm *mm)
{
	return mm_unmap(mm, AT(3), PAGE_SIZE);
}

static long unmap_tail(struct mm *mm)
{
	return mm_unmap(mm, AT(PAGES - 1), PAGE_SIZE);
}

static long map_another(struct mm *mm)
{
	u64 populate;
	long at;

	current()->mm = mm;
	at = do_mmap(NULL, AWAY, PAGE_SIZE, PROT_R, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, 0, 0,
	    &populate);
	current()->mm = NULL;
	return at == AWAY ? 0 : at;
}

static long move_middle(struct mm *mm)
{
	long at = mm_remap(mm, AT(3), PAGE_SIZE, 2 * PAGE_SIZE, MREMAP_MAYMOVE, 0);

	return at > 0 ? 0 : at;
}

static long move_to(struct mm *mm)
{
	long at = mm_remap(mm, AT(3), PAGE_SIZE, PAGE_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, AWAY);

	return at == AWAY ? 0 : at;
}

/* Each call when there are `most` areas, and when there is one more. */
static const struct {
	long (*call)(struct mm *mm);
	u32 most;
	u32 more; /* areas that it adds */
} rows[] = {
    {protect_middle, MM_AREAS_MAX - 2, 2},
    {protect_head, MM_AREAS_MAX - 1, 1},
    {unmap_middle, MM_AREAS_MAX - 1, 1},
    {unmap_tail, MM_AREAS_MAX + 1, 0},
    {map_another, MM_AREAS_MAX, 1},
    {move_middle, MM_AREAS_MAX - 4, 2},
    {move_to, MM_AREAS_MAX - 6, 2},
};

static struct mm *mm_with(u32 count)
{
	struct mm *mm = mm_create();
	struct vm_area *a = area_new(AT(0), AT(PAGES), PROT_R, NULL, 0);

	EXPECT(mm && a);
	area_insert(mm, a);
	mm->area_count = count;
	return mm;
}

static void limit(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct mm *mm = mm_with(rows[i].most);

		EXPECT_EQ(rows[i].call(mm), 0);
		EXPECT_EQ(mm->area_count, rows[i].most + rows[i].more);
		mm_put(mm);
		if (rows[i].most > MM_AREAS_MAX)
			continue; /* never refused */
		mm = mm_with(rows[i].most + 1);
		EXPECT_EQ(rows[i].call(mm), -ENOMEM);
		EXPECT(area_range_full(mm, AT(0), AT(PAGES)));
		mm_put(mm);
	}
}

static const struct ktap_case cases[] = {
    {"areas.limit", limit},
    {NULL, NULL},
};
const struct ktap_suite suite_areas = {cases};
