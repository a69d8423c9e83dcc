/*
 * kernel.elf as a file: whether it is one that this loader can start, and putting it in its place.
 * Pure.
 */
#pragma once

#include "boot/boot_info.h"

#include <stddef.h>

#define KERNEL_MAX_SIZE	    (64u << 20) /* in memory */
#define KERNEL_MAX_SEGMENTS 8

struct kernel_segment {
	uint64_t offset, file_size; /* in the file */
	uint64_t vaddr, size;
};

struct kernel_image {
	uint64_t base, size; /* linked addresses; whole pages */
	uint64_t entry;
	uint32_t segment_count;
	struct kernel_segment segments[KERNEL_MAX_SEGMENTS];
};

/* Reads the headers of a file of `size` bytes. NULL, or a sentence's end: "kernel.elf ...". */
const char *kernel_image_check(struct kernel_image *img, const void *file, size_t size);
/*
 * Copies it to `to`, which has img->size bytes and stands for img->base. What no segment fills
 * becomes 0.
 */
void kernel_image_load(const struct kernel_image *img, const void *file, void *to);
