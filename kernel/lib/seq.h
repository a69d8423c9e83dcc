/*
 * seq: a buffer that text is printed to. The caller owns the memory; a seq that overflows keeps
 * what fitted and says so, so that the owner can try again with more room. Any context.
 */
#pragma once

#include "kernel/lib/fmt.h"

struct seq {
	struct fmt_sink sink;
	char *buf;
	size_t size; /* bytes at buf */
	size_t len;  /* bytes used, <= size; the text is not NUL-terminated */
	bool overflow;
};

void seq_init(struct seq *s, char *buf, size_t size);
void seq_printf(struct seq *s, const char *fmt, ...) __printf(2, 3);
void seq_vprintf(struct seq *s, const char *fmt, va_list ap);
void seq_puts(struct seq *s, const char *str);
void seq_putc(struct seq *s, char c);
void seq_write(struct seq *s, const void *data, size_t n);
/*
 * Unsigned decimal, right-aligned in `width` with `pad`: the hot paths of trace output use these
 * and not a format.
 */
void seq_dec(struct seq *s, u64 v, unsigned width, char pad);
/* Lower-case hex without prefix, at least `width` digits. */
void seq_hex(struct seq *s, u64 v, unsigned width);
