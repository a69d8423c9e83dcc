/* printk_formats: the formats trace_printk() has met, and strings that events point at, "0xaddress : "text"" a line. */
#pragma once

struct seq;
/* A string that records point at without holding it, for printk_formats: readers of the binary buffer find it there by its address.
 * It stays for ever. Any context. */
void trace_printk_string(const char *text);
void trace_printk_show_formats(struct seq *s);
