/* printk_formats: the formats trace_printk() has met, "0xaddress : "text"" a line. */
#pragma once

struct seq;
void trace_printk_show_formats(struct seq *s);
