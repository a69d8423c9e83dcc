/*
 * Counts of references to an object. Any context. What is dropped once too often may be another's
 * memory already: that ends the kernel where it happens, and not where the other one finds it.
 */
#pragma once

#include "kernel/base/panic.h"
#include "kernel/lib/atomic.h"

/* One reference less; true: it was the last. */
static inline __attribute__((always_inline)) bool ref_drop(u32 *refs)
{
	u32 left = atomic_sub(refs, 1);

	BUG_ON(left > INT32_MAX);
	return !left;
}
