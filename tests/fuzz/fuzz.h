/*
 * Shared by the fuzzers. One file of tests/fuzz/ is one fuzzer (libFuzzer under ASan and UBSan),
 * its inputs are kept in tests/fuzz/corpus/NAME/, words of its language in tests/fuzz/NAME.dict
 * (may be missing). It has the whole core and the host of tests/host/ to call, on one CPU.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must be true of every input. */
#define FUZZ_CHECK(cond)                                                                           \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond);         \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/*
 * For a fuzzer that keeps rings from input to input: they have flags in their pointers, which the
 * leak finder takes for none. Host tests of the same code look for leaks.
 */
#define FUZZ_KEEPS_RINGS                                                                           \
	int __lsan_is_turned_off(void);                                                            \
	int __lsan_is_turned_off(void)                                                             \
	{                                                                                          \
		return 1;                                                                          \
	}
