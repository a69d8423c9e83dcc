/*
 * A section of types made by hand, for cases and fuzzers: the types of `struct thing` as below, and
 * of the functions do_mkdirat and do_rmdir; first_function and second_function, where the host has
 * them, are of the same two types.
 *
 *     enum color { RED, GREEN = 5, BLUE = -1, WHITE = 0x18000 };
 *     struct point { int x, y; };
 *     struct thing {
 *         const char *name;
 *         char text[16];
 *         struct thing *next;
 *         struct point where;
 *         union { unsigned word; unsigned char bytes[4]; };
 *         enum color color;
 *         unsigned low : 3; int high : 29;
 *         bool on;
 *         int numbers[4];
 *         struct hidden *hidden;
 *         void *any;
 *         s64 big;
 *     };
 *     enum flag : unsigned { FLAG_LOW = 0x12345, FLAG_HIGH = 0x80000000 };
 *     enum level : unsigned short { LEVEL_NONE, LEVEL_MOST = 0xffff };
 *     enum huge : u64 { HUGE_ONE = 1, HUGE_TOP = 0x8001000200030004 };
 *     struct outer {
 *         int first;
 *         const struct {
 *             int middle;
 *             union { unsigned inner_word; unsigned char inner_bytes[4]; };
 *         };
 *         unsigned char rows[0x10003][4];
 *         unsigned : 3, far : 5;
 *         char open[0];
 *     };
 *     int do_mkdirat(int dfd, volatile thing_t *thing, unsigned short mode);
 *     void do_rmdir(struct point where, const char *name);
 */
#pragma once

#include "trace/types/types.h"

/* Its length; it lies in memory that stays. */
size_t types_sample(const void **data);
/* Takes it; types_host_use() takes the host's own again. */
void types_sample_use(void);
void types_host_use(void);
/* Asks everything of the section in use; 0 if it is sound, or how often something made no sense. */
unsigned types_walk(void);
