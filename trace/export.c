/*
 * Filling the page of kernel/abi/trace_export.h, and keeping the formats it leads to. Task context under host_lock; readers outside
 * the machine come at any time: a format is whole before it is in the list, and `change` is odd while one is taken out.
 */
#include "trace/export.h"
#include "kernel/abi/trace_export.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/comm.h"
#include "trace/ledger.h"
#include "trace/printk.h"
#include "trace/ring_buffer_priv.h"
#include "trace/trace_array.h"

static union {
	struct trace_export page;
	u8 bytes[PAGE_SIZE];
} export __aligned(PAGE_SIZE);
_Static_assert(sizeof(struct trace_export) <= PAGE_SIZE, "it is one page");
/* struct trace_export_counts is how these begin. */
#define SAME(field)                                                                                \
	_Static_assert(offsetof(struct trace_event_count, field) ==                                \
			   offsetof(struct trace_export_counts, field),                            \
	    #field)
SAME(hit);
SAME(lost);
SAME(filtered);
SAME(pid_filtered);
SAME(soft_off);
SAME(too_deep);
_Static_assert(offsetof(struct trace_ledger, events) == 0, "its counts of events are first");

static void put_offsets(struct trace_export *e)
{
	e->array_buffer = offsetof(struct trace_array, buffer);
	e->array_clock = offsetof(struct trace_array, clock);
	e->array_next = offsetof(struct trace_array, node);
	e->array_name = offsetof(struct trace_array, name);
	e->array_files = offsetof(struct trace_array, files);
	e->array_ledger = offsetof(struct trace_array, ledger);
	e->ledger_size = sizeof(struct trace_ledger);
	e->file_node = offsetof(struct trace_event_file, node);
	e->file_call = offsetof(struct trace_event_file, call);
	e->file_counts = offsetof(struct trace_event_file, counts);
	e->count_size = sizeof(struct trace_event_count);
	e->call_name = offsetof(struct trace_event_call, name);
	e->call_class = offsetof(struct trace_event_call, class);
	e->class_system = offsetof(struct trace_event_class, system);
	e->clock_read = offsetof(struct trace_clock, read);
	e->clock_to_ns = offsetof(struct trace_clock, to_ns);
	e->buffer_cpus = offsetof(struct ring_buffer, cpus);
	e->buffer_lanes = offsetof(struct ring_buffer, lanes);
	e->lane_size = sizeof(struct rb_lane);
	e->lane_ring = offsetof(struct rb_lane, ring);
	e->ring_tail = offsetof(struct rb_ring, tail);
	e->ring_number = offsetof(struct rb_ring, number);
	e->ring_slots = offsetof(struct rb_ring, slots);
	e->ring_count = offsetof(struct rb_ring, count);
	e->ring_evicted_events = offsetof(struct rb_ring, evicted_events);
	e->ring_evicted_pages = offsetof(struct rb_ring, evicted_pages);
	e->ring_page = offsetof(struct rb_ring, page);
	e->ring_next = offsetof(struct rb_ring, next);
	e->ring_skipped = offsetof(struct rb_ring, skipped);
	e->ring_next_seq = offsetof(struct rb_ring, next_seq);
}

void trace_export_init(void)
{
	struct trace_export *e = &export.page;

	e->version = TRACE_EXPORT_VERSION;
	e->size = sizeof(*e);
	host_address_map(&e->direct_base, &e->image_base, &e->image_offset, &e->ram_end);
	host_clock_line(&e->clock_base, &e->clock_mult);
	e->unix_ns = host_unix_ns();
	host_sym_place(e->symbols);
	e->array = (u64)trace_global;
	trace_printk_place(&e->texts, &e->text_count);
	trace_comm_place(&e->comms, &e->comm_count, &e->comm_size);
	strscpy(e->release, host_uname(), sizeof(e->release));
	put_offsets(e);
	e->self = host_page_phys(e);
	memcpy(e->magic, TRACE_EXPORT_MAGIC, sizeof(e->magic)); /* now it may be found */
}

/* System and format; NULL: no memory. */
static struct trace_export_format *make_format(const struct trace_event_call *call)
{
	const char *system = call->class->system;
	size_t head = strlen(system) + 1;

	for (size_t size = 1024;; size *= 2) {
		struct trace_export_format *f = host_alloc(sizeof(*f) + size);
		struct seq s;

		if (!f)
			return NULL;
		seq_init(&s, f->text, size - 1);
		seq_write(&s, system, head);
		trace_event_show_format(&s, call);
		f->id = call->id;
		f->size = s.len;
		if (!s.overflow)
			return f;
		host_free(f);
	}
}

int trace_export_event(struct trace_event_call *call)
{
	struct trace_export_format *f;

	if (call->exported)
		return 0;
	f = make_format(call);
	if (!f)
		return -ENOMEM;
	f->next = export.page.formats;
	atomic_store_release(&export.page.formats, (u64)f);
	call->exported = f;
	return 0;
}

void trace_export_forget(struct trace_event_call *call)
{
	u64 *link = &export.page.formats;

	if (!call->exported)
		return;
	while (*link != (u64)call->exported)
		link = &((struct trace_export_format *)*link)->next;
	atomic_store_release(&export.page.change, export.page.change + 1);
	*link = call->exported->next;
	atomic_store_release(&export.page.change, export.page.change + 1);
	host_free(call->exported);
	call->exported = NULL;
}
