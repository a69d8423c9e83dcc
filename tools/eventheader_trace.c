/*
 * EventHeader events of traces, read as trapline reads them (tools/trapline/trace/trace.h): all
 * others are passed over.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/eventheader.h"
#include "tools/trapline/trace/eventheader.h"
#include "tools/trapline/trace/trace.h"

/* is_cpu: is it known which CPU's pages they are? */
static void show_records(struct trace *t, bool is_cpu)
{
	char name[EVENTHEADER_NAME_MAX];
	struct eh_record rec;
	struct record r;

	while (trace_next(t, &r)) {
		const char *comm = trace_comm(t, r.pid);
		struct eh_origin origin = {.time = r.time,
		    .in_ns = t->in_ns,
		    .cpu = is_cpu ? (s32)r.cpu : -1,
		    .pid = r.pid,
		    .comm = strcmp(comm, "<...>") ? comm : ""};

		if (eventheader_of(&r, name, &rec))
			show(&rec, &origin);
	}
}

bool show_dat(const char *name, struct in in)
{
	struct trace t;
	bool whole;

	if (!trace_open_in(&t, name, in))
		return false;
	show_records(&t, true);
	whole = !t.damaged;
	trace_close(&t);
	return whole;
}

/* Each begins with its line "name: ". */
static void take_formats(struct trace *t, const char *text, size_t size)
{
	static const char next[] = "\nname: ";
	const char *end = text + size;

	while (text < end) {
		const char *more = memmem(text, end - text, next, strlen(next));
		const char *stop = more ? more + 1 : end;

		trace_add_format(t, "user_events", text, stop - text);
		text = stop;
	}
}

/* What was read of the last page may be no more than what it has. */
static uint8_t *whole_pages(const char *name, const struct in *in, uint32_t page_size, size_t *size)
{
	size_t rest = in->size % page_size;
	uint8_t *pages;
	uint32_t used;

	*size = in->size - rest + (rest ? page_size : 0);
	pages = xmalloc(*size + 1);
	if (in->size)
		memcpy(pages, in->data, in->size);
	if (!rest)
		return pages;
	memcpy(&used, pages + in->size - rest + 8, sizeof(used));
	if (rest < PAGE_HEADER || (used & PAGE_USED) > rest - PAGE_HEADER)
		die(EXIT_DAMAGED, "%s: a sub-buffer is cut", name);
	return pages;
}

bool show_pages(const char *name, struct in in, struct in formats, uint32_t page_size)
{
	struct trace t = {.file = name, .records = RECORDS_OWN, .page_size = page_size, .cpus = 1};
	size_t size;
	uint8_t *pages = whole_pages(name, &in, page_size, &size);
	bool whole;

	t.cpu = xmalloc(sizeof(*t.cpu));
	t.by_id = xmalloc(65536 * sizeof(*t.by_id));
	t.cpu->pages = pages;
	t.cpu->bytes = size;
	take_formats(&t, (const char *)formats.data, formats.size);
	trace_index(&t);
	show_records(&t, false);
	whole = !t.damaged;
	trace_close(&t);
	free(pages);
	return whole;
}
