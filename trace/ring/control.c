/*
 * Creates, frees and changes ring buffers: the operations that must exclude writers (resizing:
 * resize.c). Task context; may sleep. The owner of a buffer ensures one control call at a time on
 * it (host_lock()). Writers may run all the time, on all CPUs; readers too, unless said otherwise.
 * To keep writers away, stop recording and wait until those under way have left; to keep readers
 * away, take the CPU buffer's reader lock (rb_stop_cpus() does both). An event that is hit
 * meanwhile is refused and counted as `disabled`.
 */
#include "kernel/lib/errno.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"
#include "trace/ring/pages.h"

size_t rb_pages_for(size_t size, unsigned order)
{
	u64 data = rb_page_data(rb_mask_of(order));
	size_t count = size / data + (size % data != 0);

	return MAX(count, (size_t)2);
}

/* ---- A ring ---- */

void rb_reset_ring(struct rb_ring *ring)
{
	struct ring_buffer_totals past = {0};

	rb_ring_totals(ring, &past);
	past.cleared += past.unread;
	past.unread = 0;
	ring->past = past;
	ring->resets++;
	for (size_t i = 0; i < ring->count; i++)
		rb_put_free_page(ring->slots, i, rb_slot_page(ring->slots[i]));
	rb_ring_tail_init(ring);
	ring->overrun_events = ring->overrun_pages = 0;
	ring->dropped = ring->commit_overrun = ring->too_large = 0;
	ring->nested = ring->discarded = 0;
	ring->disabled_before = READ_ONCE(ring->disabled);
	rb_reader_init(ring, ring->page, ring->spare);
	if (ring->map)
		rb_map_reset(ring);
}

/* ---- A buffer ---- */

static bool rb_change_bit(u32 *word, u32 bit, bool on)
{
	u32 before = on ? atomic_fetch_or(word, bit) : atomic_fetch_and(word, ~bit);

	return !(before & bit) == on;
}

/*
 * True if it changed. Any context, on several CPUs at once. A caller that finds at the end that
 * another has changed the word goes over the CPU buffers again, so the last one has seen the final
 * word. Buffers of CPUs that have no ring yet are left to the caller that changes the word.
 */
static bool rb_set_flag(struct ring_buffer *rb, u32 flag, bool on)
{
	bool changed = rb_change_bit(&rb->slow, flag, on), now;
	unsigned cpus = changed ? MAX_CPUS : READ_ONCE(rb->cpus);

	do {
		now = atomic_load(&rb->slow) & flag;
		for (unsigned cpu = 0; cpu < cpus; cpu++)
			rb_change_bit(&rb->cpu_buffers[cpu].slow, flag, now);
	} while (!(atomic_load(&rb->slow) & flag) == now);
	return changed;
}

static void rb_set_clock(struct ring_buffer *rb, u64 (*clock)(void))
{
	rb->clock = clock;
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
		rb->cpu_buffers[cpu].clock = clock;
	rb_set_flag(rb, RB_SLOW_CLOCK, clock);
}

struct ring_buffer *ring_buffer_alloc(size_t size, unsigned flags, u64 (*clock)(void))
{
	struct ring_buffer *rb = host_alloc(sizeof(*rb));

	_Static_assert(sizeof(struct rb_cpu_buffer) == 64, "a CPU buffer is one cache line");
	if (!rb)
		return NULL;
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++) {
		rb->cpu_buffers[cpu].slow = RB_SLOW_NO_RING;
		rb->cpu_buffers[cpu].page_mask = rb_mask_of(flags / RB_FL_ORDER);
	}
	rb_set_clock(rb, clock);
	rb->order = flags / RB_FL_ORDER;
	rb->count = rb_pages_for(size, rb->order);
	rb->overwrite = flags & RB_FL_OVERWRITE;
	rb->kept = flags & RB_FL_KEPT;
	if (ring_buffer_add_cpus(rb)) {
		ring_buffer_free(rb);
		return NULL;
	}
	return rb;
}

int ring_buffer_add_cpus(struct ring_buffer *rb)
{
	while (rb->cpus < host_cpu_count()) {
		struct rb_cpu_buffer *cpu_buffer = &rb->cpu_buffers[rb->cpus];
		struct rb_ring *ring = rb_ring_alloc(rb, rb->cpus);

		if (!ring)
			return -ENOMEM;
		atomic_store_release(&cpu_buffer->ring, ring);
		atomic_and(&cpu_buffer->slow, ~RB_SLOW_NO_RING);
		atomic_store_release(&rb->cpus, rb->cpus + 1);
	}
	return 0;
}

void ring_buffer_free(struct ring_buffer *rb)
{
	if (!rb)
		return;
	ring_buffer_record_disable(rb);
	host_synchronize();
	for (unsigned cpu = 0; cpu < rb->cpus; cpu++)
		rb_ring_free(rb->cpu_buffers[cpu].ring, cpu);
	host_free(rb);
}

void rb_refuse_cpus(struct ring_buffer *rb, int from, int to)
{
	for (int cpu = from; cpu <= to; cpu++)
		atomic_add(&rb->cpu_buffers[cpu].slow, RB_SLOW_ONE);
}

void rb_lock_readers(struct ring_buffer *rb, int from, int to)
{
	for (int cpu = from; cpu <= to; cpu++)
		rb_lock_reader(rb, cpu);
}

void rb_stop_cpus(struct ring_buffer *rb, int from, int to)
{
	rb_refuse_cpus(rb, from, to);
	host_synchronize();
	rb_lock_readers(rb, from, to);
}

void rb_start_cpus(struct ring_buffer *rb, int from, int to)
{
	for (int cpu = from; cpu <= to; cpu++) {
		rb_unlock_reader(rb, cpu);
		atomic_sub(&rb->cpu_buffers[cpu].slow, RB_SLOW_ONE);
	}
}

/* ---- Reset and mode ---- */

static void rb_reset_cpus(struct ring_buffer *rb, int from, int to)
{
	rb_stop_cpus(rb, from, to);
	for (int cpu = from; cpu <= to; cpu++)
		rb_reset_ring(rb->cpu_buffers[cpu].ring);
	rb_start_cpus(rb, from, to);
}

void ring_buffer_reset_cpu(struct ring_buffer *rb, int cpu)
{
	if (cpu >= 0 && cpu < (int)rb->cpus)
		rb_reset_cpus(rb, cpu, cpu);
}

void ring_buffer_reset(struct ring_buffer *rb)
{
	rb_reset_cpus(rb, 0, (int)rb->cpus - 1);
}

/* Times of one clock mean nothing to another, so what is in the buffer goes. */
void ring_buffer_set_clock(struct ring_buffer *rb, u64 (*clock)(void))
{
	ring_buffer_lock(rb);
	rb_set_clock(rb, clock);
	for (unsigned cpu = 0; cpu < rb->cpus; cpu++)
		rb_reset_ring(rb->cpu_buffers[cpu].ring);
	ring_buffer_unlock(rb);
}

void ring_buffer_borrow_clock(struct ring_buffer *rb, u64 (*clock)(void))
{
	rb_set_clock(rb, clock);
}

void ring_buffer_change_overwrite(struct ring_buffer *rb, bool on)
{
	rb->overwrite = on;
	for (unsigned cpu = 0; cpu < rb->cpus; cpu++)
		WRITE_ONCE(rb->cpu_buffers[cpu].ring->overwrite, on);
}

/* ---- Stopping and going on ---- */

void ring_buffer_record_disable(struct ring_buffer *rb)
{
	atomic_add(&rb->slow, RB_SLOW_ONE);
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
		atomic_add(&rb->cpu_buffers[cpu].slow, RB_SLOW_ONE);
}

void ring_buffer_record_enable(struct ring_buffer *rb)
{
	atomic_sub(&rb->slow, RB_SLOW_ONE);
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
		atomic_sub(&rb->cpu_buffers[cpu].slow, RB_SLOW_ONE);
}

void ring_buffer_record_disable_cpu(struct ring_buffer *rb, int cpu)
{
	if (cpu >= 0 && cpu < (int)rb->cpus)
		atomic_add(&rb->cpu_buffers[cpu].slow, RB_SLOW_ONE);
}

void ring_buffer_record_enable_cpu(struct ring_buffer *rb, int cpu)
{
	if (cpu >= 0 && cpu < (int)rb->cpus)
		atomic_sub(&rb->cpu_buffers[cpu].slow, RB_SLOW_ONE);
}

bool ring_buffer_record_off(struct ring_buffer *rb)
{
	return rb_set_flag(rb, RB_SLOW_OFF, true);
}

bool ring_buffer_record_on(struct ring_buffer *rb)
{
	return rb_set_flag(rb, RB_SLOW_OFF, false);
}

bool ring_buffer_record_is_on(struct ring_buffer *rb)
{
	return !(READ_ONCE(rb->slow) & ~RB_SLOW_CLOCK);
}

bool ring_buffer_record_is_set_on(struct ring_buffer *rb)
{
	return rb_is_set_on(rb);
}

void ring_buffer_lock(struct ring_buffer *rb)
{
	rb_stop_cpus(rb, 0, (int)rb->cpus - 1);
}

void ring_buffer_unlock(struct ring_buffer *rb)
{
	rb_start_cpus(rb, 0, (int)rb->cpus - 1);
}
