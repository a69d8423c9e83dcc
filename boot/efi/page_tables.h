/*
 * The tables the kernel is entered with: RAM one to one and at the direct map, in pages of 2 MiB,
 * and the image where it is linked, in pages of 4 KiB. Pure: `memory` is where the tables' physical
 * addresses are, too.
 */
#pragma once

#include <stdint.h>

struct page_tables {
	uint64_t *top;
	uint64_t next, end; /* free memory for tables */
};

/* Bytes needed for RAM up to `ram_end` and an image of `size`. */
uint64_t page_tables_bytes(uint64_t ram_end, uint64_t size);
/*
 * `memory`: page-aligned, that many bytes. Maps [0, ram_end), at least 4 GiB, at 0 and at `direct`;
 * and `size` bytes from `image` at `link`.
 */
void page_tables_make(struct page_tables *t, uint64_t memory, uint64_t ram_end, uint64_t direct,
    uint64_t link, uint64_t image, uint64_t size);
