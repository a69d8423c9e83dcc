/*
 * A ring of sub-buffers that were recovered from another run (recover.c). Task context; nobody
 * writes or reads there meanwhile.
 */
#include "kernel/lib/errno.h"
#include "trace/host_memory.h"
#include "trace/ring/priv.h"
#include "trace/ring/recover.h"

int ring_buffer_adopt(
    struct ring_buffer *rb, int cpu, struct ring_buffer_page *const *pages, u32 n, u64 overrun)
{
	struct rb_ring *ring = rb->cpu_buffers[cpu].ring;
	u64 *slots = n < ring->count ? ring->slots : host_alloc(2 * n * sizeof(*slots)), *old;

	if (!slots)
		return -ENOMEM;
	old = ring->slots;
	for (u32 i = 0; i < MIN((u64)n, ring->count); i++)
		host_page_free(rb_slot_page(old[i]));
	for (u32 i = 0; i < n; i++)
		slots[i] = rb_slot_make(pages[i], RB_FIRST_GEN);
	if (slots != old) {
		host_free(old);
		ring->slots = slots;
		ring->count = n;
	}
	ring->overrun_events = overrun;
	if (n) {
		ring->unsure = ring->number = rb_number_make(RB_FIRST_GEN, n - 1);
		ring->tail.a = rb_tail_make(1, (const char *)pages[n - 1] + PAGE_SIZE);
	}
	return 0;
}
