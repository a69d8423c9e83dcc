/* The list of consoles. Contexts: console.h. */
#include "drivers/console.h"

#include "kernel/lib/atomic.h"

static struct console *first; /* [A] */

/* The first console, then by ->next; NULL: none. */
static struct console *consoles_first(void)
{
	return atomic_load_acquire(&first);
}

void consoles_add(struct console *c)
{
	struct console **end = &first;

	while (*end)
		end = &(*end)->next;
	atomic_store_release(end, c);
}

void consoles_write(const char *s, size_t n)
{
	for (struct console *c = consoles_first(); c; c = atomic_load_acquire(&c->next))
		c->write(c, s, n);
}

void consoles_drain(void)
{
	for (struct console *c = consoles_first(); c; c = atomic_load_acquire(&c->next))
		if (c->drain)
			c->drain(c);
}
