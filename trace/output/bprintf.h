/*
 * Formatting in two halves, for trace_printk(): the arguments are packed where the event happens,
 * the text is made when somebody reads it. Words of 4 bytes: an int takes one, a long or a pointer
 * two, a string its bytes with the NUL, filled up. Any context.
 */
#pragma once

#include "kernel/lib/types.h"

struct seq;

/* Packs into `room` words; returns how many are needed, whether there was room or not. */
u32 bprintf_encode(u32 *buf, u32 room, const char *fmt, va_list ap) __printf(3, 0);
/* Prints what was packed; a record too short prints what it has. */
void bprintf_decode(struct seq *s, const char *fmt, const u32 *buf, u32 words);
