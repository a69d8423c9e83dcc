/* Where a bad run was held, and how it differs from a good one. */
#pragma once

/*
 * Prints where the tasks of the run `bad` were held, and the first events in which `good` differs.
 * Both are names of traces; `good` may be NULL.
 */
void explore_compare(const char *bad, const char *good);
