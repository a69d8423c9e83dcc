/*
 * Writing trace.dat from what is in a machine's memory. trace/export/dat_head.c puts the header
 * together and trace/export/dat_page.c converts records to Linux's format, as in the kernel. The
 * event accounting is made of the counts in memory (guest_texts.c).
 */
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/trace/dat_write.h"
#include "trace/export/dat_head.h"
#include "trace/export/dat_page.h"
#include "tools/trapline/lib/output.h"

#define PAGE_FORMAT                                                                                \
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"                                 \
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"                                \
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"                                 \
	"\tfield: char data;\toffset:16;\tsize:%u;\tsigned:1;\n"

/* A sink in memory. */
struct header {
	struct dat_sink to;
	struct bytes bytes;
};

static void header_put(struct dat_sink *to, const void *data, size_t n)
{
	bytes_put(&container_of(to, struct header, to)->bytes, data, n);
	to->len += n;
}

static void header_patch(struct dat_sink *to, u64 at, const void *data, size_t n)
{
	memcpy(container_of(to, struct header, to)->bytes.data + at, data, n);
}

static void put_bytes(struct dat_sink *to, const void *bytes)
{
	const struct bytes *b = bytes;

	to->put(to, b->data, b->size);
}

static void put_string(struct dat_sink *to, const void *text)
{
	dat_put_string(to, text);
}

static void put_text(struct dat_sink *to, const void *text)
{
	to->put(to, text, strlen(text));
}

/* ---- formats: those of one system after each other ---- */

static bool is_first(const struct trace *t, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(t->event[k].system, t->event[i].system))
			return false;
	return true;
}

static void put_system(struct dat_sink *to, const struct trace *t, const char *system)
{
	u64 at = to->len;
	u32 count = 0;

	dat_put_u32(to, 0);
	for (size_t i = 0; i < t->events; i++)
		if (!strcmp(t->event[i].system, system)) {
			dat_put_sized(to, 8, (struct dat_part){put_text, t->event[i].text});
			count++;
		}
	to->patch(to, at, &count, sizeof(count));
}

static void put_formats(struct dat_sink *to, const void *trace)
{
	const struct trace *t = trace;

	put_system(to, t, "ftrace");
	u64 at = to->len;
	u32 systems = 0;

	dat_put_u32(to, 0);
	for (size_t i = 0; i < t->events; i++)
		if (strcmp(t->event[i].system, "ftrace") && is_first(t, i)) {
			dat_put_string(to, t->event[i].system);
			put_system(to, t, t->event[i].system);
			systems++;
		}
	to->patch(to, at, &systems, sizeof(systems));
}

/* ---- names and options ---- */

static void put_printks(struct dat_sink *to, const void *trace)
{
	const struct trace *t = trace;
	struct bytes text = {.data = NULL};
	char line[32];

	for (size_t i = 0; i < t->printks.count; i++) {
		const struct name *n = &t->printks.name[i];
		bytes_put(&text, line,
		    snprintf(line, sizeof(line), "0x%llx : \"", (unsigned long long)n->key));
		for (const char *p = n->text; *p; p++) {
			const char *escaped = *p == '\n' ? "\\n" : *p == '\t' ? "\\t" : NULL;
			if (!escaped && (*p == '"' || *p == '\\'))
				bytes_put(&text, "\\", 1);
			bytes_put(&text, escaped ? escaped : p, escaped ? 2 : 1);
		}
		bytes_put(&text, "\"\n", 2);
	}
	put_bytes(to, &text);
	bytes_free(&text);
}

static void put_comms(struct dat_sink *to, const void *trace)
{
	const struct trace *t = trace;
	struct bytes text = {.data = NULL};
	char line[64];

	for (size_t i = 0; i < t->comms.count; i++)
		bytes_put(&text, line,
		    snprintf(line, sizeof(line), "%u %.40s\n", (unsigned)t->comms.name[i].key,
			t->comms.name[i].text));
	put_bytes(to, &text);
	bytes_free(&text);
}

static void put_options(struct dat_sink *to, const void *about)
{
	const struct dat_about *a = about;
	const struct trace *t = a->trace;
	uint64_t all = 0;
	char text[160];

	for (unsigned cpu = 0; cpu < t->cpus; cpu++) {
		int n = snprintf(text, sizeof(text), "CPU: %u\nentries: %llu\noverrun: %llu\n", cpu,
		    (unsigned long long)a->seen[cpu], (unsigned long long)a->lost[cpu]);
		dat_put_option(to, DAT_OPTION_CPUSTAT,
		    (struct dat_part){put_bytes, &(struct bytes){(uint8_t *)text, n + 1, 0}});
		all += a->seen[cpu];
	}
	if (a->ledger.size)
		dat_put_option(to, DAT_OPTION_CPUSTAT, (struct dat_part){put_bytes, &a->ledger});
	if (a->origin)
		dat_put_option(to, DAT_OPTION_ORIGIN, (struct dat_part){put_bytes, a->origin});
	dat_put_option(to, DAT_OPTION_TRACECLOCK, (struct dat_part){put_string, ""});
	dat_put_option(to, DAT_OPTION_UNAME, (struct dat_part){put_string, t->uname});
	dat_put_trace_id(to, a->unix_ns ^ all);
}

static void put_header(struct dat_sink *to, const struct dat_about *a, const struct dat_writer *w)
{
	const struct trace *t = a->trace;
	uint64_t *count = xmalloc(t->cpus * sizeof(*count));
	char clock[80], page_format[sizeof(PAGE_FORMAT) + 10];

	for (unsigned cpu = 0; cpu < t->cpus; cpu++)
		count[cpu] = w->pages[cpu].size / w->page_size;
	snprintf(page_format, sizeof(page_format), PAGE_FORMAT, w->page_size - PAGE_HEADER);
	snprintf(clock, sizeof(clock), "[%s]", t->clock);
	dat_head_put(to, &(struct dat_head){
			     .page_format = {put_text, page_format},
			     .formats = {put_formats, t},
			     .symbols = {put_bytes, &a->symbols},
			     .printks = {put_printks, t},
			     .comms = {put_comms, t},
			     .options = {put_options, a},
			     .clock = {put_text, clock},
			     .cpus = t->cpus,
			     .page_size = w->page_size,
			     .pages = count,
			 });
	free(count);
}

/* ---- pages ---- */

struct filling {
	struct ring_buffer_page *page;
	struct dat_page put;
	uint64_t lost; /* before it */
	bool any;
};

static void finish(struct dat_writer *w, unsigned cpu)
{
	struct filling *f = &w->filling[cpu];

	if (!f->any)
		return;
	dat_page_end(&f->put, f->page->time_stamp, f->lost);
	bytes_put(&w->pages[cpu], f->page, w->page_size);
	f->any = false;
	f->lost = 0;
}

/* With room for the number of what is lost before it. */
static void start(struct filling *f, uint32_t size)
{
	bool number = f->lost && f->lost != RB_LOST_UNKNOWN;

	if (!f->any)
		dat_page_begin(&f->put, f->page, size, number ? sizeof(f->lost) : 0);
	f->any = true;
}

static void put_record(struct dat_writer *w, const struct record *r)
{
	struct filling *f = &w->filling[r->cpu];

	start(f, w->page_size);
	if (dat_page_put(&f->put, r->data, r->size, r->time))
		return;
	finish(w, r->cpu);
	start(f, w->page_size);
	dat_page_put(&f->put, r->data, r->size, r->time);
}

/* From now on pages have that size; those that are full already, too. */
static void grow(struct dat_writer *w, uint32_t size)
{
	for (unsigned cpu = 0; cpu < w->cpus; cpu++) {
		struct bytes pages = {.data = NULL};

		finish(w, cpu);
		for (size_t at = 0; at < w->pages[cpu].size; at += w->page_size) {
			bytes_put(&pages, w->pages[cpu].data + at, w->page_size);
			bytes_zeros(&pages, size - w->page_size);
		}
		bytes_free(&w->pages[cpu]);
		w->pages[cpu] = pages;
		w->filling[cpu].page = xrealloc(w->filling[cpu].page, size);
	}
	w->page_size = size;
}

void dat_begin(struct dat_writer *w, unsigned cpus)
{
	*w = (struct dat_writer){.cpus = cpus};
	w->filling = xmalloc(w->cpus * sizeof(*w->filling));
	w->pages = xmalloc(w->cpus * sizeof(*w->pages));
	grow(w, PAGE_BYTES);
}

void dat_take_trace(struct dat_writer *w, struct trace *t)
{
	struct record r;

	if (t->page_size > w->page_size)
		grow(w, t->page_size);
	while (trace_next(t, &r)) {
		if (!r.is_gap) {
			put_record(w, &r);
			continue;
		}
		finish(w, r.cpu);
		w->filling[r.cpu].lost = r.lost && !r.lost_unknown ? r.lost : RB_LOST_UNKNOWN;
	}
}

void dat_take(struct dat_writer *w, struct live *l)
{
	while (live_look(l))
		dat_take_trace(w, &l->trace);
}

static void write_pages(const struct dat_writer *w, FILE *out)
{
	uint64_t all = 0, done = 0;

	for (unsigned cpu = 0; cpu < w->cpus; cpu++)
		all += w->pages[cpu].size;
	for (unsigned cpu = 0; cpu < w->cpus; cpu++)
		for (size_t at = 0; at < w->pages[cpu].size; at += w->page_size) {
			fwrite(w->pages[cpu].data + at, 1, w->page_size, out);
			progress("writing the trace", done += w->page_size, all + 1);
		}
	progress("writing the trace", 1, 1);
}

void dat_finish_trace(struct dat_writer *w, const struct dat_about *about, FILE *out)
{
	struct header header = {.to = {.put = header_put, .patch = header_patch}};

	for (unsigned cpu = 0; cpu < w->cpus; cpu++)
		finish(w, cpu);
	put_header(&header.to, about, w);
	fwrite(header.bytes.data, 1, header.bytes.size, out);
	write_pages(w, out);
	bytes_free(&header.bytes);
	dat_drop(w);
}

void dat_finish(struct dat_writer *w, const struct live *l, const struct bytes *origin, FILE *out)
{
	struct dat_about about = {
	    .trace = &l->trace, .unix_ns = l->guest.head.unix_ns, .origin = origin};
	uint64_t *counts = xmalloc(2 * l->guest.cpus * sizeof(*counts));

	for (unsigned cpu = 0; cpu < l->guest.cpus; cpu++) {
		counts[cpu] = l->guest.cpu[cpu].seen;
		counts[l->guest.cpus + cpu] = l->guest.cpu[cpu].lost_told;
	}
	about.seen = counts;
	about.lost = counts + l->guest.cpus;
	guest_symbols(&l->guest, &about.symbols);
	bytes_put(&about.ledger, "Ledger:\n", 8);
	guest_ledger(&l->guest, &about.ledger);
	bytes_zeros(&about.ledger, 1);
	dat_finish_trace(w, &about, out);
	bytes_free(&about.symbols);
	bytes_free(&about.ledger);
	free(counts);
}

void dat_drop(struct dat_writer *w)
{
	for (unsigned cpu = 0; cpu < w->cpus; cpu++) {
		bytes_free(&w->pages[cpu]);
		free(w->filling[cpu].page);
	}
	free(w->pages);
	free(w->filling);
	*w = (struct dat_writer){.cpus = 0};
}

void dat_write(struct live *l, FILE *out)
{
	struct dat_writer w;

	dat_begin(&w, l->guest.cpus);
	dat_take(&w, l);
	dat_finish(&w, l, NULL, out);
}
