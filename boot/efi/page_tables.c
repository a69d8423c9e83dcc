/* Four-level page tables, made once. Pure. */
#include "boot/efi/page_tables.h"

#define PAGE	  4096ull
#define LARGE	  (2ull << 20)
#define GIB	  (1ull << 30)
#define PTE_TABLE 0x003 /* present, writable */
#define PTE_2M	  0x083 /* and a page of this level */
#define PTE_ADDR  0x000ffffffffff000ull

static uint64_t whole_gib(uint64_t ram_end)
{
	return ram_end < 4 * GIB ? 4 * GIB : (ram_end + GIB - 1) & ~(GIB - 1);
}

/*
 * A table of 2 MiB pages for each GiB and one above for each 512, twice at the top; and for the
 * image.
 */
uint64_t page_tables_bytes(uint64_t ram_end, uint64_t size)
{
	uint64_t gib = whole_gib(ram_end) / GIB;
	uint64_t image = size / LARGE + 2 + 2;

	return (1 + 2 * (gib + gib / 512 + 2) + image) * PAGE;
}

static uint64_t *new_table(struct page_tables *t)
{
	uint64_t *table = (uint64_t *)t->next;

	for (unsigned i = 0; i < 512; i++)
		table[i] = 0;
	t->next += PAGE;
	return table;
}

static uint64_t *table_below(struct page_tables *t, uint64_t *entry)
{
	if (!*entry)
		*entry = (uint64_t)new_table(t) | PTE_TABLE;
	return (uint64_t *)(*entry & PTE_ADDR);
}

/* One page of 2 MiB (level 1) or 4 KiB (level 0). */
static void map_page(struct page_tables *t, uint64_t va, uint64_t entry, unsigned level)
{
	uint64_t *table = t->top;

	for (unsigned at = 3; at > level; at--)
		table = table_below(t, &table[va >> (12 + 9 * at) & 511]);
	table[va >> (12 + 9 * level) & 511] = entry;
}

void page_tables_make(struct page_tables *t, uint64_t memory, uint64_t ram_end, uint64_t direct,
    uint64_t link, uint64_t image, uint64_t size)
{
	t->next = memory;
	t->end = memory + page_tables_bytes(ram_end, size);
	t->top = new_table(t);
	for (uint64_t at = 0; at < whole_gib(ram_end); at += LARGE) {
		map_page(t, at, at | PTE_2M, 1);
		map_page(t, direct + at, at | PTE_2M, 1);
	}
	for (uint64_t at = 0; at < size; at += PAGE)
		map_page(t, link + at, (image + at) | PTE_TABLE, 0);
}
