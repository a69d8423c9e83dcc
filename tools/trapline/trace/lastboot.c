/*
 * Reading lastboot.bin. See lastboot.h; what of it is believed is said in trace/persist/kept_read.c
 * and trace/ring/recover.c.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/trace/lastboot.h"
#include "tools/trapline/trace/dat_write.h"
#include "trace/persist/kept_read.h"
#include "trace/ring/recover.h"

#define IDS 65536

struct lastboot {
	const struct kept_header *head;
	struct trace trace;
	struct bytes symbols, pages[MAX_CPUS];
	uint64_t seen[MAX_CPUS], lost[MAX_CPUS], last[MAX_CPUS];
	unsigned damaged, outside;
};

bool lastboot_is_in(const char *file)
{
	struct in in;

	if (!strcmp(file, "-") || !in_open(&in, file))
		return false;
	bool found = in.size >= PAGE_SIZE && !memcmp(in.data, KEPT_MAGIC, strlen(KEPT_MAGIC));
	in_close(&in);
	return found;
}

/* ---- formats and names ---- */

/* An id may have been given again: the last format that had it counts. */
static void add_formats(struct lastboot *l)
{
	const struct kept_text **by_id = xmalloc(IDS * sizeof(*by_id)), *t;
	uint32_t at = 0;

	while ((t = kept_next_text(l->head, &at)))
		by_id[t->id] = t;
	for (unsigned id = 0; id < IDS; id++)
		if ((t = by_id[id]))
			trace_add_format(&l->trace, t->system, t->system + t->format_at,
			    strlen(t->system + t->format_at));
	free(by_id);
	trace_index(&l->trace);
}

static void add_comms(struct lastboot *l)
{
	uint32_t count;
	const struct trace_comm_slot *slot = kept_comms(l->head, &count);
	struct bytes text = {.data = NULL};
	char line[40];

	for (; slot && count--; slot++)
		if (kept_is_comm(slot))
			bytes_put(&text, line,
			    snprintf(line, sizeof(line), "%d %.15s\n", slot->pid, slot->comm));
	trace_parse_comms(&l->trace, (const char *)text.data, text.size);
	bytes_free(&text);
}

static void add_symbols(struct lastboot *l)
{
	const struct kept_symbols *s = kept_symbols(l->head);
	char line[24];

	for (uint32_t i = 0; s && i < s->count; i++) {
		const char *name = kept_symbol_name(s, i);
		bytes_put(&l->symbols, line,
		    snprintf(line, sizeof(line), "%016llx %c ",
			(unsigned long long)kept_symbol_start(s, i), kept_symbol_type(s, i)));
		bytes_put(&l->symbols, name, strlen(name));
		bytes_put(&l->symbols, "\n", 1);
	}
}

static void set_clock(struct lastboot *l)
{
	const struct kept_header *h = l->head;
	char line[40];

	trace_set_clock(&l->trace, line, snprintf(line, sizeof(line), "[%.15s]", h->clock));
	if (!strcmp(l->trace.clock, "counter") || !strcmp(l->trace.clock, "uptime") ||
	    !strcmp(l->trace.clock, "x86-tsc"))
		return;
	l->trace.clock_base = h->clock_base;
	l->trace.clock_mult = h->clock_mult ? h->clock_mult : 1ULL << 32;
	if (!strcmp(l->trace.clock, "tai"))
		l->trace.clock_add = h->unix_ns;
}

static void describe(struct lastboot *l, const char *file)
{
	struct trace *t = &l->trace;

	*t = (struct trace){
	    .file = file, .records = RECORDS_OWN, .page_size = PAGE_BYTES, .cpus = MAX_CPUS};
	t->by_id = xmalloc(IDS * sizeof(*t->by_id));
	t->uname = xstrndup(l->head->release, strnlen(l->head->release, sizeof(l->head->release)));
	t->stats = xstrndup("", 0);
	t->cpu = xmalloc(t->cpus * sizeof(*t->cpu));
	add_formats(l);
	add_comms(l);
	add_symbols(l);
	set_clock(l);
}

/* ---- rings ---- */

static bool is_known(void *arg, u16 id)
{
	const struct lastboot *l = arg;

	return l->head->texts_full || l->trace.by_id[id];
}

/* Of a CPU's two rings, the buffer's and the spare one's, the one with the latest event counts. */
static void take_ring(struct lastboot *l, unsigned cpu, const struct rb_image *im,
    const struct rb_recovered_page *from, const struct rb_recovery *sum)
{
	union {
		struct ring_buffer_page page;
		uint8_t bytes[PAGE_BYTES];
	} copy;

	if (l->pages[cpu].size && l->last[cpu] >= sum->last)
		return;
	l->pages[cpu].size = 0;
	for (u32 i = 0; i < sum->good; i++) {
		rb_recover_copy(im, &from[i], &copy.page);
		copy.page.commit = from[i].end - from[i].from;
		if (!i && sum->overrun)
			page_lost(copy.bytes, sum->overrun, false);
		bytes_put(&l->pages[cpu], copy.bytes, sizeof(copy.bytes));
	}
	l->seen[cpu] = sum->events;
	l->lost[cpu] = sum->overrun;
	l->last[cpu] = sum->last;
}

static void take_rings(struct lastboot *l)
{
	u32 pages = l->head->size / PAGE_SIZE, cpu;
	struct rb_recovered_page *out = xmalloc(pages * sizeof(*out));
	uint8_t *seen = xmalloc(pages);
	struct rb_image im = {l->head, l->head->size, l->head->base, is_known, l};
	struct rb_recovery sum;

	memset(seen, 1, l->head->pool_at);
	for (unsigned i = 0; i < KEPT_RINGS; i++) {
		u32 page = kept_ring_page(l->head, i, &cpu);
		if (!page || !rb_recover_ring(&im, page, seen, out, pages, &sum))
			continue;
		take_ring(l, cpu, &im, out, &sum);
		l->damaged += sum.damaged;
		l->outside += sum.outside;
	}
	free(out);
	free(seen);
	while (
	    l->trace.cpus > 1 && l->trace.cpus > l->head->cpus && !l->pages[l->trace.cpus - 1].size)
		l->trace.cpus--;
	for (cpu = 0; cpu < l->trace.cpus; cpu++)
		l->trace.cpu[cpu] =
		    (struct cpu){.pages = l->pages[cpu].data, .bytes = l->pages[cpu].size};
}

static void write_trace(struct lastboot *l, FILE *out)
{
	struct dat_about about = {.trace = &l->trace,
	    .symbols = l->symbols,
	    .seen = l->seen,
	    .lost = l->lost,
	    .unix_ns = l->head->unix_ns};
	struct dat_writer w;

	dat_begin(&w, l->trace.cpus);
	dat_take_trace(&w, &l->trace);
	dat_finish_trace(&w, &about, out);
}

static void drop(struct lastboot *l)
{
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
		bytes_free(&l->pages[cpu]);
	bytes_free(&l->symbols);
	trace_close(&l->trace);
}

bool lastboot_write(const char *file, FILE *out, bool *damaged)
{
	struct lastboot l = {.damaged = 0};
	const char *why;
	struct in in;

	if (!in_open(&in, file))
		return false;
	l.head = (const void *)in.data;
	why = in.size < PAGE_SIZE ? "it is too short" : kept_refuse(l.head, in.size);
	if (why) {
		say("%s: no trace of a last boot: %s", file, why);
	} else {
		describe(&l, file);
		take_rings(&l);
		if (l.damaged || l.outside)
			say("%s: sub-buffers damaged: %u, not in kept memory: %u", file, l.damaged,
			    l.outside);
		write_trace(&l, out);
		*damaged = l.damaged || l.trace.damaged;
		drop(&l);
	}
	in_close(&in);
	return !why;
}
