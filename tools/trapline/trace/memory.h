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
	int fd; /* -1: the file is memory of somebody's, not a file */
	const uint8_t *file;
	uint64_t size;
	uint64_t missing; /* bytes of a core that breaks off */
	struct segment *segment;
	size_t segments;
};

bool memory_open(struct memory *m, const char *name); /* false: errno says why */
/* Bytes of the caller's, as long as it is open, taken for such a file. */
void memory_open_in(struct memory *m, const uint8_t *data, uint64_t size);
void memory_close(struct memory *m);
bool memory_is_core(const struct memory *m);
/*
 * A RAM of which `above` bytes, the file's last, lie from 4 GiB on: what comes before them is
 * below. Nothing happens if that cannot be.
 */
void memory_split(struct memory *m, uint64_t above);
/*
 * Where the next bytes are that were ever written, from `at` in the file on, and in *end where
 * these end; a hole is not looked at, for looking would fill it. The file's size: nowhere.
 */
uint64_t memory_written(const struct memory *m, uint64_t at, uint64_t *end);
/* n bytes that lie together; NULL: not there. What they hold may change at any time. */
const uint8_t *memory_at(const struct memory *m, uint64_t physical, uint64_t n);
