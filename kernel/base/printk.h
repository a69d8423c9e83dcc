/*
 * The kernel's own log and the consoles it goes to. Any context, NMI included (there it is kept and
 * printed later).
 * A line on the console looks like Linux's: "[    0.123456] text". loglevel= and quiet as on Linux;
 *     dmesg keeps all.
 */
#pragma once

#include "kernel/lib/fmt.h"

struct console; /* drivers/console.h */

extern int console_printk[4]; /* Linux's levels; the console shows what is below [0] */

enum { LOG_EMERG, LOG_ALERT, LOG_CRIT, LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO, LOG_DEBUG };

void printk(int level, const char *fmt, ...) __printf(2, 3);
#define pr_err(...)  printk(LOG_ERR, __VA_ARGS__)
#define pr_warn(...) printk(LOG_WARNING, __VA_ARGS__)
#define pr_info(...) printk(LOG_INFO, __VA_ARGS__)

/* Bytes to every console, nothing added. Any context; takes the console lock except in panic. */
void console_write(const char *s, size_t n);
/* The same to one console alone; NULL: to all. */
void console_write_to(struct console *only, const char *s, size_t n);
/* One console more: it gets what the log has kept so far, then everything. Boot, task context. */
void console_add(struct console *c);
/* First thing at boot, when the command line is known: what quiet, debug and loglevel= say. */
void printk_init(void);
void printk_set_level(int console_level);
int printk_level(void);
/*
 * Copies the log on from *pos (0: the oldest kept; else as an earlier call left it) and moves *pos;
 * bytes, 0 at the end.
 */
size_t printk_read(u64 *pos, char *buf, size_t n);
/* From now on: no locks, synchronous (panic). */
void printk_panic_mode(void);
