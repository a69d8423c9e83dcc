/*
 * One formatter, many sinks. Freestanding and pure: any context, NMI included; uses less than 640
 * bytes of stack (beside what the sink and the hook use) and never allocates.
 *
 * Conversions: d i u x X o c s p %, with flags - 0 + space #, width and precision (* too), lengths
 * hh h l ll z j t. %p of the C standard's kind prints bare hex of 16 digits. Extensions of the
 * kernel's own, taken by the hook the sink's owner sets with fmt_set_pointer_hook(): %pS %ps %pK
 * and so on (a letter right after the p).
 */
#pragma once

#include "kernel/lib/types.h"

/*
 * Where formatted bytes go. `put` may be called any number of times; it never fails (a full sink
 * drops).
 */
struct fmt_sink {
	void (*put)(struct fmt_sink *sink, const char *s, size_t n);
};

/* Formats into the sink; returns the number of bytes produced. */
size_t fmt_vprint(struct fmt_sink *sink, const char *fmt, va_list ap);

/* As the C standard's: always ends `buf` when size > 0; returns the length it would have had. */
int fmt_vsnprintf(char *buf, size_t size, const char *fmt, va_list ap);
int fmt_snprintf(char *buf, size_t size, const char *fmt, ...) __printf(3, 4);
/* The same, but returns the bytes really in `buf`. */
int scnprintf(char *buf, size_t size, const char *fmt, ...) __printf(3, 4);

/*
 * Prints pointer extension `letter` (S or s: symbol with and without offset) for `p` into buf;
 * returns the length, or a negative number for a letter it does not know: then the bare pointer is
 * printed.
 */
typedef int (*fmt_pointer_hook)(char *buf, size_t size, char letter, const void *p);
/* Returns the hook before. */
fmt_pointer_hook fmt_set_pointer_hook(fmt_pointer_hook hook);
