/*
 * Filling the page of kernel/abi/trace_export.h, and keeping the formats it leads to. Task context
 * under host_lock; readers outside the machine come at any time: a format is whole before it is in
 * the list, and `change` is odd while one is taken out.
 */
#include "trace/export/export.h"
#include "kernel/abi/trace_export.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/clock.h"
#include "trace/event/comm.h"
#include "trace/event/format.h"
#include "trace/event/ledger.h"
#include "trace/event/parts.h"
#include "trace/host_clock.h"
#include "trace/host_kept.h"
#include "trace/host_memory.h"
#include "trace/host_outside.h"
#include "trace/host_system.h"
#include "trace/output/printk.h"
#include "trace/ring/priv.h"

static union {
	struct trace_export page;
	u8 bytes[PAGE_SIZE];
} export __aligned(PAGE_SIZE);
_Static_assert(sizeof(struct trace_export) <= PAGE_SIZE, "it is one page");
/* struct trace_event_count begins as struct trace_export_counts does. */
#define TRACE_EXPORT_COUNT(name)                                                                   \
	_Static_assert(offsetof(struct trace_event_count, name) ==                                 \
			   offsetof(struct trace_export_counts, name),                             \
	    #name);
#include "kernel/abi/trace_export.def"
_Static_assert(offsetof(struct trace_ledger, events) == 0, "its counts of events are first");

static void put_offsets(struct trace_export *e)
{
#define TRACE_EXPORT_OFFSET(name, type, member) e->name = offsetof(type, member);
#define TRACE_EXPORT_SIZE(name, type)		e->name = sizeof(type);
#include "kernel/abi/trace_export.def"
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

/* The same in as little memory as it needs; as it is if there is none. */
static struct trace_export_format *fit_format(struct trace_export_format *f)
{
	size_t size = sizeof(*f) + f->size + 1;
	struct trace_export_format *fit = host_alloc(size);

	if (!fit)
		return f;
	memcpy(fit, f, size);
	host_free(f);
	return fit;
}

/* System and format; NULL: no memory. */
static struct trace_export_format *make_format(const struct trace_event_call *call)
{
	const char *system = call->class->system;
	size_t head = strlen(system) + 1;

	for (size_t size = 1024;; size *= 2) {
		struct trace_export_format *f = host_alloc(size);
		struct seq s;

		if (!f)
			return NULL;
		seq_init(&s, f->text, size - sizeof(*f) - 1);
		seq_write(&s, system, head);
		trace_event_show_format(&s, call);
		f->id = call->id;
		f->size = s.len;
		if (!s.overflow)
			return fit_format(f);
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
