/*
 * The region as this boot uses it. The pool's pages are handed out in order and given back with
 * their ring; only this boot knows which are in use. Task context under host_lock, unless kept.h
 * says otherwise.
 *
 * kernel/mem/page.c reserves the region at a fixed place that a warm reset keeps. The global
 * array's rings take their pages from it (struct ring_buffer_store). At the next boot, before
 * anything is recorded, lastboot.c checks the header and the tables (kept_read.c, which `trapline
 * extract` shares) and trace/ring/recover.c checks the rings. `instances/lastboot` is a trace array
 * whose records print with the dead kernel's formats, names and clock (prevboot.c,
 * prevboot_event.c).
 */
#include "trace/persist/kept.h"
#include "kernel/abi/trace_export.h"
#include "kernel/lib/string.h"
#include "trace/event/format.h"
#include "trace/event/parts.h"
#include "trace/host_clock.h"
#include "trace/host_cpus.h"
#include "trace/host_kept.h"
#include "trace/host_memory.h"
#include "trace/host_symbol.h"
#include "trace/host_system.h"
#include "trace/ring/recover.h"

#define TEXTS_SHARE 8 /* of the region: an eighth for formats */

static struct kept_header *header; /* NULL: there is no region */
static u8 *used;		   /* a byte for each page of the pool */
static u32 pool_pages, pool_hint, pool_used;

static void *page_at(u32 number)
{
	return (char *)header + (u64)number * PAGE_SIZE;
}

static u32 page_number(const void *p)
{
	return ((const char *)p - (const char *)header) / PAGE_SIZE;
}

static bool kept_holds(const void *p)
{
	return header && (u64)p - (u64)header < header->size;
}

/* ---- the pool ---- */

/* Where n free pages begin, from `from` on; pool_pages: nowhere. */
static u32 kept_find_free(u32 from, unsigned n)
{
	for (u32 i = from; i + n <= pool_pages; i++) {
		unsigned free = 0;

		while (free < n && !used[i + free])
			free++;
		if (free == n)
			return i;
		i += free;
	}
	return pool_pages;
}

void *kept_alloc(unsigned n)
{
	u32 i;

	if (!header || !n || n > pool_pages - pool_used)
		return NULL;
	i = kept_find_free(pool_hint, n);
	if (i == pool_pages)
		i = kept_find_free(0, n);
	if (i == pool_pages)
		return NULL;
	memset(&used[i], 1, n);
	pool_used += n;
	pool_hint = i + n;
	return memset(page_at(header->pool_at + i), 0, (u64)n * PAGE_SIZE);
}

bool kept_free(void *p, unsigned n)
{
	if (!kept_holds(p))
		return false;
	pool_hint = page_number(p) - header->pool_at;
	memset(&used[pool_hint], 0, n);
	pool_used -= n;
	return true;
}

/* The struct is whole when it comes, and still is when it goes. */
static void kept_ring_at(const void *ring, unsigned cpu, bool came)
{
	u32 number = page_number(ring);

	for (unsigned i = 0; i < KEPT_RINGS; i++) {
		struct kept_ring *r = &header->rings[i];
		if (r->page != (came ? 0 : number))
			continue;
		r->cpu = cpu;
		WRITE_ONCE(r->page, came ? number : 0);
		return;
	}
}

static const struct ring_buffer_store store = {
    .alloc = kept_alloc, .free = kept_free, .holds = kept_holds, .ring_at = kept_ring_at};

/* ---- what goes with it ---- */

/* Bytes of the functions' names and their tables. */
static size_t kept_symbols_size(const struct host_symbols *from)
{
	return sizeof(struct kept_symbols) + KEPT_SYMBOL_WORDS(from->count) * sizeof(u32) +
	       from->names_size;
}

static void put_symbols(struct kept_symbols *to, const struct host_symbols *from)
{
	u64 count = from->count;

	to->start = from->start;
	to->end = from->end;
	to->count = count;
	to->names_size = from->names_size;
	memcpy(to->tables, from->offset, count * sizeof(u32));
	memcpy(to->tables + count, from->name_at, count * sizeof(u32));
	memcpy(to->tables + 2 * count, from->global,
	    (KEPT_SYMBOL_WORDS(count) - 2 * count) * sizeof(u32));
	memcpy(to->tables + KEPT_SYMBOL_WORDS(count), from->names, from->names_size);
}

static void lay_out(size_t size, u64 generation, size_t symbols_size)
{
	struct kept_header *h = header;

	memset(h, 0, PAGE_SIZE);
	_Static_assert(sizeof(*h) <= PAGE_SIZE, "the header is one page");
	memcpy(h->magic, KEPT_MAGIC, 8);
	h->version = KEPT_VERSION;
	h->header_size = sizeof(*h);
	h->ring_version = rb_recover_version();
	h->size = size;
	h->base = (u64)h;
	h->generation = generation;
	h->symbols_at = PAGE_SIZE;
	h->symbols_size = symbols_size;
	h->texts_at = ALIGN_UP(h->symbols_at + h->symbols_size, PAGE_SIZE);
	h->texts_size = ALIGN_UP(size / TEXTS_SHARE, PAGE_SIZE);
	h->pool_at = (h->texts_at + h->texts_size) / PAGE_SIZE;
	strscpy(h->release, host_release(), sizeof(h->release));
	strscpy(h->clock, "local", sizeof(h->clock));
}

/* Its sum comes last: before that, it is not a region. */
static void seal(const struct host_symbols *from)
{
	struct kept_symbols *symbols = (void *)((char *)header + header->symbols_at);

	put_symbols(symbols, from);
	header->symbols_sum = kept_sum(symbols, header->symbols_size);
	barrier();
	header->sum = kept_sum(header, offsetof(struct kept_header, sum));
}

bool kept_start(u64 generation)
{
	size_t size;
	void *mem = host_kept_memory(&size);

	if (!mem || size < KEPT_MIN_SIZE)
		return false;
	header = mem;
	struct host_symbols symbols = {.count = 0};
	host_symbols(&symbols);
	lay_out(size, generation, kept_symbols_size(&symbols));
	if (header->pool_at + 4 >= size / PAGE_SIZE) {
		header = NULL;
		return false;
	}
	pool_pages = size / PAGE_SIZE - header->pool_at;
	pool_hint = pool_used = 0;
	used = host_alloc(pool_pages);
	if (!used) {
		header = NULL;
		return false;
	}
	seal(&symbols);
	ring_buffer_set_store(&store);
	return true;
}

void kept_stop(void)
{
	struct trace_event_call *call;

	list_for_each_entry (call, &trace_events, node)
		call->flags &= ~TRACE_CALL_NOTED;
	ring_buffer_set_store(NULL);
	host_free(used);
	used = NULL;
	header = NULL;
}

void kept_update(void)
{
	if (!header)
		return;
	header->unix_ns = host_unix_ns();
	header->cpus = host_cpu_count();
	header->clock_mult = 0; /* not both at once */
	u64 mult;
	host_clock_line(&header->clock_base, &mult);
	WRITE_ONCE(header->clock_mult, mult);
}

void kept_note_clock(const char *name)
{
	if (header)
		strscpy(header->clock, name, sizeof(header->clock));
}

void kept_note_end(enum kept_end how)
{
	if (header && header->ended == KEPT_SILENT)
		WRITE_ONCE(header->ended, how);
}

void kept_note_comms(const void *slots, size_t size)
{
	if (!header)
		return;
	WRITE_ONCE(header->comms_page, 0);
	header->comms_size = size;
	if (kept_holds(slots))
		WRITE_ONCE(header->comms_page, page_number(slots));
}

/* The text is whole before it counts. */
void kept_note_event(struct trace_event_call *call)
{
	if (!header || call->flags & TRACE_CALL_NOTED)
		return;
	call->flags |= TRACE_CALL_NOTED;
	char *end = (char *)header + header->texts_at + header->texts_size;
	struct kept_text *text = (void *)((char *)header + header->texts_at + header->texts_used);
	struct seq s;

	if ((char *)(text + 1) >= end) {
		header->texts_full = 1;
		return;
	}
	seq_init(&s, text->system, end - text->system);
	u32 format_at = strlen(call->class->system) + 1;
	if (call->exported) {
		seq_write(&s, call->exported->text, call->exported->size);
	} else {
		seq_write(&s, call->class->system, format_at);
		trace_event_show_format(&s, call);
	}
	seq_putc(&s, '\0');
	if (s.overflow || s.len + 8 > (size_t)(end - text->system)) {
		header->texts_full = 1;
		return;
	}
	text->id = call->id;
	text->format_at = format_at;
	text->size = ALIGN_UP(sizeof(*text) + s.len, 8UL);
	memset(text->system + s.len, 0, text->size - sizeof(*text) - s.len);
	text->sum = kept_sum(&text->size, text->size - sizeof(text->sum));
	WRITE_ONCE(header->texts_used, header->texts_used + text->size);
}

void kept_show(struct seq *s)
{
	if (!header)
		seq_puts(s, "this boot: keeps nothing\n");
	else
		seq_printf(s,
		    "this boot: generation %lu, %lu KiB kept, %u of %u pages for rings in use\n",
		    header->generation, header->size >> 10, pool_used, pool_pages);
}
