/*
 * trace_printk(), and printk_formats: the formats it has met, and strings that events point at,
 * "0xaddress : "text"" a line.
 */
#pragma once

#include "kernel/lib/types.h"

struct seq;
/*
 * Records a line as Linux's bprint ("function: text"). Any context. Returns bytes or negative
 * errno.
 */
int trace_printk(const char *fmt, ...) __printf(1, 2);
int trace_vprintk(u64 ip, const char *fmt, va_list ap);
/* Text that stays where it is: its address is recorded ("bputs"). */
int trace_puts(const char *str);

/*
 * A string that records point at without holding it, for printk_formats: readers of the binary
 * buffer find it there by its address. It stays for ever. Any context.
 */
/* The table of these addresses and its size, for a reader outside the machine. */
void trace_printk_place(u64 *where, u64 *count);
void trace_printk_string(const char *text);
void trace_printk_show_formats(struct seq *s);
