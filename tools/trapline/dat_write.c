/*
 * Writing trace.dat, version 6, as trace/export/dat_header.c in the kernel does, with what there is
 * in its memory. Records are turned into Linux's format by the kernel's own
 * trace/export/dat_page.c. The ledger is what the counts in memory tell (guest_texts.c).
 */
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/dat_write.h"
#include "trace/export/dat_page.h"

enum { OPTION_CPUSTAT = 2, OPTION_TRACECLOCK = 4, OPTION_UNAME = 5, OPTION_TRACEID = 11 };

static const char page_format[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

static void put_string(struct bytes *b, const char *s)
{
	bytes_put(b, s, strlen(s) + 1);
}

static void put_number(struct bytes *b, unsigned bytes, uint64_t v)
{
	bytes_put(b, &v, bytes);
}

static void put_sized(struct bytes *b, unsigned bytes, const void *data, size_t n)
{
	put_number(b, bytes, n);
	bytes_put(b, data, n);
}

static void put_option(struct bytes *b, uint16_t id, const void *data, size_t n)
{
	put_number(b, 2, id);
	put_sized(b, 4, data, n);
}

/* ---- formats: those of one system behind each other ---- */

static bool is_first(const struct trace *t, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(t->event[k].system, t->event[i].system))
			return false;
	return true;
}

static void put_system(struct bytes *b, const struct trace *t, const char *system)
{
	size_t at = b->size;
	uint32_t count = 0;

	put_number(b, 4, 0);
	for (size_t i = 0; i < t->events; i++)
		if (!strcmp(t->event[i].system, system)) {
			put_sized(b, 8, t->event[i].text, strlen(t->event[i].text));
			count++;
		}
	memcpy(b->data + at, &count, sizeof(count));
}

static void put_formats(struct bytes *b, const struct trace *t)
{
	put_system(b, t, "ftrace");
	size_t at = b->size;
	uint32_t systems = 0;

	put_number(b, 4, 0);
	for (size_t i = 0; i < t->events; i++)
		if (strcmp(t->event[i].system, "ftrace") && is_first(t, i)) {
			put_string(b, t->event[i].system);
			put_system(b, t, t->event[i].system);
			systems++;
		}
	memcpy(b->data + at, &systems, sizeof(systems));
}

/* ---- names and options ---- */

static void put_printks(struct bytes *b, const struct trace *t)
{
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
	put_sized(b, 4, text.data, text.size);
	bytes_free(&text);
}

static void put_comms(struct bytes *b, const struct trace *t)
{
	struct bytes text = {.data = NULL};
	char line[64];

	for (size_t i = 0; i < t->comms.count; i++)
		bytes_put(&text, line,
		    snprintf(line, sizeof(line), "%u %.40s\n", (unsigned)t->comms.name[i].key,
			t->comms.name[i].text));
	put_sized(b, 8, text.data, text.size);
	bytes_free(&text);
}

static void put_options(struct bytes *b, const struct dat_about *a)
{
	const struct trace *t = a->trace;
	uint64_t all = 0;
	char text[160];

	put_string(b, "options  ");
	for (unsigned cpu = 0; cpu < t->cpus; cpu++) {
		int n = snprintf(text, sizeof(text), "CPU: %u\nentries: %llu\noverrun: %llu\n", cpu,
		    (unsigned long long)a->seen[cpu], (unsigned long long)a->lost[cpu]);
		put_option(b, OPTION_CPUSTAT, text, n + 1);
		all += a->seen[cpu];
	}
	if (a->ledger.size)
		put_option(b, OPTION_CPUSTAT, a->ledger.data, a->ledger.size);
	put_option(b, OPTION_TRACECLOCK, "", 1);
	put_option(b, OPTION_UNAME, t->uname, strlen(t->uname) + 1);
	uint64_t id = (a->unix_ns ^ all) * 0x9e3779b97f4a7c15UL | 1;
	put_option(b, OPTION_TRACEID, &id, sizeof(id));
	put_number(b, 2, 0);
}

static void put_header(struct bytes *b, const struct dat_about *a, const struct bytes *pages)
{
	const struct trace *t = a->trace;
	char clock[80];

	bytes_put(b, "\x17\x08\x44tracing6\0\0\x08\0\x10\0\0", 18);
	put_string(b, "header_page");
	put_sized(b, 8, page_format, sizeof(page_format) - 1);
	put_string(b, "header_event");
	put_sized(b, 8, dat_page_header_event, strlen(dat_page_header_event));
	put_formats(b, t);
	put_sized(b, 4, a->symbols.data, a->symbols.size);
	put_printks(b, t);
	put_comms(b, t);
	put_number(b, 4, t->cpus);
	put_options(b, a);
	put_string(b, "flyrecord");
	size_t clock_size = snprintf(clock, sizeof(clock), "[%s]", t->clock);
	uint64_t at = b->size + t->cpus * 16 + 8 + clock_size;
	at += -at % PAGE_BYTES;
	for (unsigned cpu = 0; cpu < t->cpus; cpu++) {
		put_number(b, 8, at);
		put_number(b, 8, pages[cpu].size);
		at += pages[cpu].size;
	}
	put_sized(b, 8, clock, clock_size);
	bytes_zeros(b, -b->size % PAGE_BYTES);
}

/* ---- pages ---- */

struct filling {
	struct ring_buffer_page page;
	struct dat_page put;
	uint64_t lost; /* before it */
	bool any;
};

static void finish(struct filling *f, struct bytes *pages)
{
	if (!f->any)
		return;
	dat_page_end(&f->put, f->page.time_stamp, f->lost);
	bytes_put(pages, &f->page, sizeof(f->page));
	f->any = false;
	f->lost = 0;
}

/* With room for the number of what is lost before it. */
static void start(struct filling *f)
{
	bool number = f->lost && f->lost != RB_LOST_UNKNOWN;

	if (!f->any)
		dat_page_begin(&f->put, &f->page, number ? sizeof(f->lost) : 0);
	f->any = true;
}

static void put_record(struct filling *f, struct bytes *pages, const struct record *r)
{
	start(f);
	if (dat_page_put(&f->put, r->data, r->size, r->time))
		return;
	finish(f, pages);
	start(f);
	dat_page_put(&f->put, r->data, r->size, r->time);
}

void dat_begin(struct dat_writer *w, unsigned cpus)
{
	*w = (struct dat_writer){.cpus = cpus};
	w->filling = xmalloc(w->cpus * sizeof(*w->filling));
	w->pages = xmalloc(w->cpus * sizeof(*w->pages));
}

void dat_take_trace(struct dat_writer *w, struct trace *t)
{
	struct record r;

	while (trace_next(t, &r)) {
		if (!r.is_gap) {
			put_record(&w->filling[r.cpu], &w->pages[r.cpu], &r);
			continue;
		}
		finish(&w->filling[r.cpu], &w->pages[r.cpu]);
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
		for (size_t at = 0; at < w->pages[cpu].size; at += PAGE_BYTES) {
			fwrite(w->pages[cpu].data + at, 1, PAGE_BYTES, out);
			progress("writing the trace", done += PAGE_BYTES, all + 1);
		}
	progress("writing the trace", 1, 1);
}

void dat_finish_trace(struct dat_writer *w, const struct dat_about *about, FILE *out)
{
	struct bytes header = {.data = NULL};

	for (unsigned cpu = 0; cpu < w->cpus; cpu++)
		finish(&w->filling[cpu], &w->pages[cpu]);
	put_header(&header, about, w->pages);
	fwrite(header.data, 1, header.size, out);
	write_pages(w, out);
	bytes_free(&header);
	dat_drop(w);
}

void dat_finish(struct dat_writer *w, const struct live *l, FILE *out)
{
	struct dat_about about = {.trace = &l->trace, .unix_ns = l->guest.head.unix_ns};
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
	for (unsigned cpu = 0; cpu < w->cpus; cpu++)
		bytes_free(&w->pages[cpu]);
	free(w->pages);
	free(w->filling);
	*w = (struct dat_writer){.cpus = 0};
}

void dat_write(struct live *l, FILE *out)
{
	struct dat_writer w;

	dat_begin(&w, l->guest.cpus);
	dat_take(&w, l);
	dat_finish(&w, l, out);
}
