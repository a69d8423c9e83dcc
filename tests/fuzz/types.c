/*
 * The section of types. Input: a section; or, if it does not begin as one, numbers of words and
 * what is put there, in a section that is sound. Whatever is accepted makes sense.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/trace/types/sample.h"

static void try_section(const void *data, size_t size)
{
	if (types_use(data, size))
		return;
	FUZZ_CHECK(!types_walk());
	FUZZ_CHECK(!types_use(NULL, 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const void *whole;
	uint32_t magic = 0;
	uint16_t patch[2];

	memcpy(&magic, data, size < sizeof(magic) ? size : sizeof(magic));
	size_t n = magic == TYPES_MAGIC ? size : types_sample(&whole);
	uint16_t *copy = malloc(n);
	memcpy(copy, magic == TYPES_MAGIC ? data : whole, n);
	for (size_t i = 0; magic != TYPES_MAGIC && i + sizeof(patch) <= size; i += sizeof(patch)) {
		memcpy(patch, data + i, sizeof(patch));
		copy[patch[0] % (n / 2)] = patch[1];
	}
	try_section(copy, n);
	free(copy);
	return 0;
}
