/*
 * Where text goes: every console there is gets the same. Any context; callers keep writers apart
 * (the console lock of kernel/base/printk.c), but for the machine's last words. Consoles are only
 * added.
 */
#pragma once

#include "kernel/lib/types.h"

struct console {
	const char *name; /* "ttyS0", "tty0" */
	void (*write)(struct console *c, const char *s, size_t n);
	void (*drain)(struct console *c); /* waits until all is out; NULL: it always is */
	struct console *next;		  /* [A] */
};

void consoles_add(struct console *c);
/* To all of them. */
void consoles_write(const char *s, size_t n);
void consoles_drain(void);
