/*
 * A machine's memory as a file: the RAM of a QEMU (memory-backend-file, share=on), while it runs
 * and after, or an ELF core of it (dump-guest-memory). Bytes are found by physical address.
 */
#pragma once

#include "tools/trapline/lib/util.h"

struct segment {
	uint64_t physical, size;
	const uint8_t *data;
};

struct memory {
	int fd; /* -1: memory of the caller, not a file */
	const uint8_t *file;
	uint64_t size;
	uint64_t missing; /* bytes missing from a truncated core */
	struct segment *segment;
	size_t segments;
};

bool memory_open(struct memory *m, const char *name); /* false: errno says why */
/* Treats bytes of the caller, which must stay while it is open, as such a file. */
void memory_open_in(struct memory *m, const uint8_t *data, uint64_t size);
void memory_close(struct memory *m);
bool memory_is_core(const struct memory *m);
/*
 * Maps the file's last `above` bytes from 4 GiB on, and the rest below. Changes nothing if the
 * sizes do not allow this.
 */
void memory_split(struct memory *m, uint64_t above);
/*
 * Finds the next bytes ever written, from offset `at` of the file on, and their end in *end. It
 * does not read holes, as reading would fill them. The file's size: there are none.
 */
uint64_t memory_written(const struct memory *m, uint64_t at, uint64_t *end);
/* n contiguous bytes; NULL: not there. Their contents may change at any time. */
const uint8_t *memory_at(const struct memory *m, uint64_t physical, uint64_t n);
