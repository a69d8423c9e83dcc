/* See live.h. The machine does nothing for it, and nothing differently. */
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/trace/live.h"

#define PAGES_MOST 2048 /* of a CPU in one look */

/* Formats of events that came, and were removed since. */
static void keep_formats(struct live *l, const struct trace *old)
{
	bool any = false;

	for (size_t i = 0; i < old->events; i++) {
		const struct event *e = &old->event[i];

		if (!l->came[e->id] || l->trace.by_id[e->id])
			continue;
		trace_add_format(&l->trace, e->system, e->text, strlen(e->text));
		any = true;
	}
	if (any)
		trace_index(&l->trace);
}

void live_describe(struct live *l)
{
	struct trace old = l->trace;

	guest_describe(&l->guest, &l->trace, old.file);
	l->trace.page_size = old.page_size;
	keep_formats(l, &old);
	l->trace.damaged |= old.damaged;
	trace_close(&old);
}

bool live_open(struct live *l, const char *file, const char *instance)
{
	struct memory memory;

	if (memory_open(&memory, file))
		return live_open_in(l, file, &memory, instance);
	say_errno(file);
	return false;
}

bool live_open_in(
    struct live *l, const char *file, const struct memory *memory, const char *instance)
{
	*l = (struct live){.seen = 0};
	if (!guest_open(&l->guest, file, memory, instance))
		return false;
	l->pages = xmalloc(l->guest.cpus * sizeof(*l->pages));
	l->came = xmalloc(65536 * sizeof(*l->came));
	guest_describe(&l->guest, &l->trace, file);
	return true;
}

void live_close(struct live *l)
{
	for (unsigned cpu = 0; cpu < l->guest.cpus; cpu++)
		bytes_free(&l->pages[cpu]);
	free(l->pages);
	free(l->came);
	trace_close(&l->trace);
	guest_close(&l->guest);
}

/* Records of one CPU, up to the next gap, which begins the next look. */
static bool look_at_cpu(struct live *l, unsigned cpu)
{
	struct cpu *c = &l->trace.cpu[cpu];
	struct bytes *pages = &l->pages[cpu];
	static uint8_t page[PAGE_MOST];
	const uint32_t size = l->trace.page_size;
	uint64_t lost;
	bool unknown;

	pages->size = 0;
	while (pages->size < (size_t)PAGES_MOST * PAGE_BYTES &&
	       guest_next(&l->guest, cpu, page, size, &lost, &unknown)) {
		if (lost || unknown)
			page_lost(page, lost, unknown);
		l->lost += lost;
		l->lost_unknown |= unknown;
		bytes_put(pages, page, size);
	}
	*c = (struct cpu){.pages = pages->data, .bytes = pages->size};
	return pages->size;
}

/* Notes the events that it brought. Are all of them known? */
static bool knows_all(struct live *l)
{
	bool all = true;

	for (unsigned cpu = 0; cpu < l->guest.cpus; cpu++)
		for (size_t at = 0; at < l->pages[cpu].size; at += l->trace.page_size) {
			struct page_walk w;
			uint16_t id;

			page_begin(&w, RECORDS_OWN, l->pages[cpu].data + at, l->trace.page_size);
			while (page_next(&w)) {
				if (w.length < sizeof(id))
					continue;
				memcpy(&id, w.record, sizeof(id));
				l->came[id] = true;
				all &= !!l->trace.by_id[id];
			}
		}
	return all;
}

bool live_look(struct live *l)
{
	bool any = false;

	l->trace.page_size = guest_page_size(&l->guest);
	for (unsigned cpu = 0; cpu < l->guest.cpus; cpu++)
		any |= look_at_cpu(l, cpu);
	if (any)
		guest_names(&l->guest, &l->trace);
	if (any && !knows_all(l)) {
		live_describe(l);
		for (unsigned cpu = 0; cpu < l->guest.cpus; cpu++)
			l->trace.cpu[cpu] =
			    (struct cpu){.pages = l->pages[cpu].data, .bytes = l->pages[cpu].size};
	}
	l->seen = 0;
	for (unsigned cpu = 0; cpu < l->guest.cpus; cpu++)
		l->seen += l->guest.cpu[cpu].seen;
	return any;
}
