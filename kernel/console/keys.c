/*
 * The claim is a count; bytes wait in a ring with one writer (the boot CPU's interrupts) and one
 * reader.
 */
#include "kernel/console/keys.h"
#include "kernel/console/keyboard.h"
#include "kernel/console/serial.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/task/sync.h"

#define RING 4096U /* a power of two */

static u32 claims; /* [A] */
static u8 ring[RING];
static u32 head, tail; /* [A] free-running */
static struct wait_queue waiters = WAIT_QUEUE_INIT(waiters);

void keys_claim(void)
{
	atomic_add(&claims, 1);
}

void keys_release(void)
{
	atomic_sub(&claims, 1);
}

bool keys_take(u8 c)
{
	u32 end = atomic_load_relaxed(&tail);

	if (!atomic_load(&claims))
		return false;
	if (end - atomic_load(&head) < RING) {
		ring[end % RING] = c;
		atomic_store(&tail, end + 1); /* before the look at who waits */
	}
	if (!list_empty_lockless(&waiters.waiters))
		wake_up(&waiters);
	return true;
}

int keys_next(void)
{
	u32 at = atomic_load_relaxed(&head);
	u8 c;

	if (at == atomic_load_acquire(&tail))
		return -1;
	c = ring[at % RING];
	atomic_store_release(&head, at + 1);
	return c;
}

u32 keys_waiting(void)
{
	return atomic_load(&tail) - atomic_load(&head);
}

int keys_wait(void)
{
	int e = wait_event_interruptible(&waiters, atomic_load(&head) != atomic_load(&tail));

	return e ? e : keys_next();
}

void keys_look(void)
{
	serial_look();
	keyboard_look();
}
