/* The buddy allocator. Its user serialises (kernel/mem/page.c: page_lock). */
/* hot: runs with each event */
#include "kernel/mem/buddy.h"
#include "kernel/lib/string.h"

u64 buddy_bytes(u64 max_pfn)
{
	u64 blocks = ALIGN_UP(max_pfn, BLOCK_FRAMES) / BLOCK_FRAMES;
	return blocks * (BLOCK_FRAMES * sizeof(struct frame) + 1);
}

void buddy_init(struct buddy *b, void *memory, u64 max_pfn)
{
	memset(b, 0, sizeof(*b));
	b->nblocks = ALIGN_UP(max_pfn, BLOCK_FRAMES) / BLOCK_FRAMES;
	b->frames = memory;
	b->blocks = (u8 *)(b->frames + b->nblocks * BLOCK_FRAMES);
	b->fresh_from = b->nblocks;
	memset(b->blocks, BLOCK_ABSENT, b->nblocks);
}

static void list_push(struct buddy *b, u64 pfn, unsigned order)
{
	struct frame *f = &b->frames[pfn];

	f->kind = FRAME_FREE;
	f->order = order;
	f->prev = 0;
	f->next = b->head[order];
	if (f->next)
		b->frames[f->next].prev = pfn;
	b->head[order] = pfn;
	b->nonempty |= 1u << order;
}

static void list_remove(struct buddy *b, u64 pfn, unsigned order)
{
	struct frame *f = &b->frames[pfn];

	if (f->next)
		b->frames[f->next].prev = f->prev;
	if (f->prev)
		b->frames[f->prev].next = f->next;
	else if (!(b->head[order] = f->next))
		b->nonempty &= ~(1u << order);
}

/* Makes the frames of a block real: all reserved. */
static void block_ready(struct buddy *b, u64 block)
{
	memset(&b->frames[block * BLOCK_FRAMES], 0, BLOCK_FRAMES * sizeof(struct frame));
	b->blocks[block] = BLOCK_READY;
}

/* Puts the lowest fresh block on the list of the largest runs. */
static bool take_fresh(struct buddy *b)
{
	if (!b->fresh)
		return false;
	while (b->blocks[b->fresh_from] != BLOCK_FRESH)
		b->fresh_from++;
	b->fresh--;
	block_ready(b, b->fresh_from);
	list_push(b, b->fresh_from * BLOCK_FRAMES, MAX_ORDER);
	return true;
}

/* Puts a run back, together with every free buddy. */
static void buddy_free_order(struct buddy *b, u64 pfn, unsigned order)
{
	for (; order < MAX_ORDER; order++) {
		u64 other = pfn ^ (1UL << order);
		struct frame *f = &b->frames[other];
		if (f->kind != FRAME_FREE || f->order != order)
			break;
		list_remove(b, other, order);
		b->frames[MAX(pfn, other)].kind = FRAME_TAIL;
		pfn = MIN(pfn, other);
	}
	list_push(b, pfn, order);
}

/* Part of a block, in the largest aligned runs that fit. */
static void add_part(struct buddy *b, u64 start, u64 end)
{
	u64 block = start / BLOCK_FRAMES;

	if (b->blocks[block] != BLOCK_READY)
		block_ready(b, block);
	while (start < end) {
		unsigned order =
		    MIN(__builtin_ctzl(start | BLOCK_FRAMES), 63 - __builtin_clzl(end - start));
		buddy_free_order(b, start, order);
		start += 1UL << order;
	}
}

void buddy_add(struct buddy *b, u64 start, u64 end)
{
	start = MAX(start, (u64)1);
	end = MIN(end, b->nblocks * BLOCK_FRAMES);
	while (start < end) {
		u64 block = start / BLOCK_FRAMES;
		u64 stop = MIN(end, (block + 1) * BLOCK_FRAMES);
		if (stop - start == BLOCK_FRAMES) {
			b->blocks[block] = BLOCK_FRESH;
			b->fresh++;
			b->fresh_from = MIN(b->fresh_from, block);
		} else {
			add_part(b, start, stop);
		}
		b->free += stop - start;
		b->total += stop - start;
		start = stop;
	}
}

u64 buddy_alloc(struct buddy *b, unsigned order)
{
	u32 enough = b->nonempty >> order;

	if (unlikely(!enough)) {
		if (!take_fresh(b))
			return 0;
		enough = b->nonempty >> order;
	}
	unsigned have = order + __builtin_ctz(enough);
	u64 pfn = b->head[have];
	list_remove(b, pfn, have);
	while (have > order) {
		have--;
		list_push(b, pfn + (1UL << have), have);
	}
	struct frame *f = &b->frames[pfn];
	f->kind = FRAME_PAGE;
	f->order = order;
	f->refs = 1;
	b->free -= 1UL << order;
	return pfn;
}

bool buddy_free(struct buddy *b, u64 pfn, unsigned order)
{
	struct frame *f = buddy_frame(b, pfn);

	if (!f || f->kind != FRAME_PAGE || f->order != order)
		return false;
	f->kind = FRAME_TAIL;
	b->free += 1UL << order;
	buddy_free_order(b, pfn, order);
	return true;
}
