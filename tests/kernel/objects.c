/* See objects.h. Task context; nothing else may allocate meanwhile. */
#include "tests/kernel/objects.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/mem/mem.h"
#include "kernel/mem/page.h"
#include "tests/kernel/threads.h"

#define MOST 100 /* allocations of an action */
#define RUNS 5

u64 objects_in_use(void)
{
	u64 count = 0;

	page_free_count(); /* with this a sanitized kernel lets go of what was freed */
	for (u64 block = 0; block < mem_buddy.nblocks; block++) {
		if (mem_buddy.blocks[block] != BLOCK_READY)
			continue;
		const struct frame *f = mem_buddy.frames + block * BLOCK_FRAMES;
		for (unsigned i = 0; i < BLOCK_FRAMES; i++)
			count += f[i].kind == FRAME_SLAB ? f[i].used : f[i].kind == FRAME_LARGE;
	}
	return count;
}

bool leaves_nothing(void (*act)(void))
{
	for (unsigned run = 0; run < RUNS; run++) {
		u64 pages = settled_free_pages(), objects = objects_in_use();

		act();
		if (settled_free_pages() >= pages && objects_in_use() <= objects)
			return true;
	}
	return false;
}

void expect_no_leftovers(const char *what, int (*act)(void), void (*undo)(void))
{
	unsigned n = 0;
	int err;

	EXPECT_EQ(act(), 0); /* tables that the kernel makes once stay */
	undo();
	u64 before = objects_in_use();
	do {
		mem_fail_nth(++n);
		err = act();
		mem_fail_nth(0);
		if (err)
			EXPECT_EQ(err, -ENOMEM);
		else
			undo();
		u64 after = objects_in_use();
		if (after != before)
			ktap_note("%s, allocation %u: %lu objects, not %lu", what, n,
			    (unsigned long)after, (unsigned long)before);
		EXPECT_EQ(after, before);
	} while (err && n < MOST);
	EXPECT_EQ(err, 0);
	EXPECT(n > 1);
}
