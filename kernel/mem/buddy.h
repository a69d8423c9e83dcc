/*
 * The buddy allocator over page frames, without locks or knowledge of where memory is. Pure: runs
 * on the host too.
 *
 * Words: a *frame* is the record of one physical page, found by its number (pfn). A *block* is
 * 2^MAX_ORDER frames, aligned; no free run is larger, so that buddies never leave a block. A block
 * of which every page is free may be *fresh*: its frames have never been written, and are when the
 * block is first needed. Boot so touches a byte a block and no more.
 */
#pragma once

#include "kernel/lib/types.h"
#include "kernel/mem/mem.h"

#define BLOCK_FRAMES (1UL << MAX_ORDER)

enum frame_kind {
	FRAME_RESERVED, /* not ours to give */
	FRAME_FREE,	/* first of a free run of 2^order */
	FRAME_TAIL,	/* inside of a run, free or not */
	FRAME_PAGE,	/* first of a run given out; refs counts its users */
	FRAME_SLAB,	/* a page of kmalloc objects */
	FRAME_LARGE,	/* first of a run that kmalloc gave out whole */
};

struct frame {
	u32 next, prev; /* in a list of the owner's; pfn, 0: end */
	union {
		u32 refs; /* [A] FRAME_PAGE */
		struct {
			u16 free; /* FRAME_SLAB: offset of the first free object + 1; 0: none */
			u16 used; /* objects given out */
		};
	};
	u16 fresh; /* FRAME_SLAB: offset from where on no object was ever given out */
	u8 kind;   /* enum frame_kind */
	union {
		u8 order; /* FRAME_FREE, FRAME_PAGE, FRAME_LARGE */
		u8 class; /* FRAME_SLAB */
	};
};

enum block_state { BLOCK_ABSENT, BLOCK_FRESH, BLOCK_READY };

struct buddy {
	struct frame *frames; /* nblocks * BLOCK_FRAMES */
	u8 *blocks;	      /* enum block_state each */
	u64 nblocks;
	u64 fresh_from;	 /* no fresh block below this one */
	u64 fresh;	 /* how many there are */
	u64 free, total; /* frames */
	u32 nonempty;	 /* a bit per order: its list has something */
	u32 head[MAX_ORDER + 1];
};

/* Bytes of memory buddy_init() needs to look after frames 0 .. max_pfn-1. */
u64 buddy_bytes(u64 max_pfn);
/* `memory` needs no particular content. Nothing is free yet. */
void buddy_init(struct buddy *b, void *memory, u64 max_pfn);
/* The frames start..end-1 are free from now on. Once for each frame. Frame 0 is never given. */
void buddy_add(struct buddy *b, u64 start, u64 end);
/* First frame of 2^order, aligned to that; 0: none. Its kind is FRAME_PAGE with one reference. */
u64 buddy_alloc(struct buddy *b, unsigned order);
/* False, and nothing changed, if this is not a run that was given out in this order. */
bool buddy_free(struct buddy *b, u64 pfn, unsigned order);
/* NULL for a frame that is not ours. */
static inline struct frame *buddy_frame(const struct buddy *b, u64 pfn)
{
	if (unlikely(
		pfn / BLOCK_FRAMES >= b->nblocks || b->blocks[pfn / BLOCK_FRAMES] != BLOCK_READY))
		return NULL;
	return &b->frames[pfn];
}
