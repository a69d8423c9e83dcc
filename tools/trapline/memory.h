/*
 * A machine's memory as a file: the RAM of a QEMU (memory-backend-file, share=on), while it runs and after, or an ELF core of it
 * (dump-guest-memory). Bytes are found by physical address.
 */
#pragma once

#include "tools/trapline/trapline.h"

struct segment {
	uint64_t physical, size;
	const uint8_t *data;
};

struct memory {
	const uint8_t *file;
	uint64_t size;
	struct segment *segment;
	size_t segments;
};

bool memory_open(struct memory *m, const char *name); /* false: errno says why */
void memory_close(struct memory *m);
bool memory_is_core(const struct memory *m);
/* n bytes that lie together; NULL: not there. What they hold may change at any time. */
const uint8_t *memory_at(const struct memory *m, uint64_t physical, uint64_t n);
