/*
 * Memory for the core on a bare machine: from an arena of zeros, and never given back. A kernel
 * does better.
 */
#include "trace/host_memory.h"

#define ARENA_SIZE (16UL << 20)

static u8 arena[ARENA_SIZE] __attribute__((aligned(PAGE_SIZE)));
static size_t arena_used;

static void *take(size_t size, size_t align)
{
	size_t at = ALIGN_UP(arena_used, align);

	if (size > ARENA_SIZE - at)
		return NULL;
	arena_used = at + size;
	return arena + at;
}

void *host_alloc(size_t size)
{
	return size > ARENA_SIZE ? NULL : take(size, 16);
}

void host_free(void *p)
{
	(void)p;
}

void *host_page_alloc(void)
{
	return take(PAGE_SIZE, PAGE_SIZE);
}

void host_page_free(void *p)
{
	(void)p;
}
