/*
 * Opening a trace.dat file, version 6 (man 5 trace-cmd.dat.v6; trace/export/dat_header.c writes
 * them). Where it breaks off is said, and what came before is there: sections, options, and of each
 * CPU the pages that are whole.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/trace/trace.h"

enum {
	OPTION_CPUSTAT = 2,
	OPTION_TRACECLOCK = 4,
	OPTION_UNAME = 5,
	OPTION_TRACEID = 11,
	OPTION_ORIGIN = 0x544c
};

struct reader {
	struct trace *t;
	const uint8_t *data;
	uint64_t size, at;
	const char *section; /* for messages */
	bool broken;
};

static const uint8_t *take(struct reader *r, uint64_t n)
{
	if (r->broken || r->size - r->at < n) {
		if (!r->broken)
			trace_say(r->t, "it breaks off at %llu, in the %s",
			    (unsigned long long)r->size, r->section);
		r->broken = true;
		return NULL;
	}
	r->at += n;
	return r->data + r->at - n;
}

static uint64_t number(struct reader *r, unsigned bytes)
{
	const uint8_t *p = take(r, bytes);
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, bytes);
	return v;
}

static const char *string(struct reader *r)
{
	const uint8_t *p = r->data + r->at,
		      *end = r->size > r->at ? memchr(p, 0, r->size - r->at) : NULL;

	if (r->broken)
		return "";
	if (!end) {
		take(r, r->size - r->at + 1);
		return "";
	}
	r->at += end + 1 - p;
	return (const char *)p;
}

static bool expect(struct reader *r, const char *word)
{
	size_t n = strlen(word) + 1;
	const uint8_t *p = take(r, n);

	if (p && memcmp(p, word, n)) {
		trace_say(r->t, "there is no '%s' at %llu", word, (unsigned long long)r->at - n);
		r->broken = true;
	}
	return !r->broken;
}

static const char *text(struct reader *r, unsigned bytes, uint64_t *size)
{
	*size = number(r, bytes);
	const char *p = (const char *)take(r, *size);

	if (!p)
		*size = 0;
	return p ? p : "";
}

static void formats(struct reader *r, const char *system)
{
	uint64_t size;

	for (uint32_t n = number(r, 4); n && !r->broken; n--) {
		const char *p = text(r, 8, &size);
		if (!r->broken)
			trace_add_format(r->t, system, p, size);
	}
}

static void read_formats(struct reader *r)
{
	uint64_t size;

	r->section = "headers";
	if (expect(r, "header_page"))
		text(r, 8, &size);
	if (expect(r, "header_event"))
		text(r, 8, &size);
	r->section = "formats";
	formats(r, "ftrace");
	for (uint32_t systems = number(r, 4); systems && !r->broken; systems--)
		formats(r, string(r));
}

static void read_names(struct reader *r)
{
	uint64_t size;
	const char *p;

	r->section = "symbols";
	p = text(r, 4, &size);
	trace_parse_symbols(r->t, p, size);
	r->section = "printk formats";
	p = text(r, 4, &size);
	trace_parse_printk(r->t, p, size);
	r->section = "names of tasks";
	p = text(r, 8, &size);
	trace_parse_comms(r->t, p, size);
}

static void add_stats(struct trace *t, const char *p, size_t n)
{
	size_t have = strlen(t->stats), length = strnlen(p, n);

	t->stats = xrealloc(t->stats, have + length + 2);
	memcpy(t->stats + have, p, length);
	memcpy(t->stats + have + length, "\n", 2);
}

static void read_option(struct trace *t, uint16_t id, const char *p, uint64_t size)
{
	if (id == OPTION_CPUSTAT)
		add_stats(t, p, size);
	if (id == OPTION_UNAME) {
		free(t->uname);
		t->uname = xstrndup(p, size);
	}
	if (id == OPTION_ORIGIN) {
		t->origin = (const uint8_t *)p;
		t->origin_size = size;
	}
	if (id == OPTION_TRACEID && size == sizeof(t->id))
		memcpy(&t->id, p, sizeof(t->id));
}

static void read_options(struct reader *r, bool *has_clock)
{
	uint64_t size;
	uint16_t id;

	r->section = "options";
	if (!expect(r, "options  "))
		return;
	while ((id = number(r, 2)) && !r->broken) {
		const char *p = text(r, 4, &size);

		if (!r->broken)
			read_option(r->t, id, p, size);
		*has_clock |= id == OPTION_TRACECLOCK;
	}
}

/* Of a CPU's pages those that are there. */
static void place(struct reader *r, struct cpu *c, uint64_t offset, uint64_t size)
{
	int number = c - r->t->cpu;

	if (offset > r->size) {
		trace_say(r->t,
		    "cpu %d: its %llu bytes are missing: the file ends at %llu, before %llu",
		    number, (unsigned long long)size, (unsigned long long)r->size,
		    (unsigned long long)offset);
		return;
	}
	c->pages = r->data + offset;
	c->bytes = size;
	if (size > r->size - offset) {
		c->bytes = r->size - offset;
		trace_say(r->t, "cpu %d: %llu of its %llu bytes are missing: the file ends at %llu",
		    number, (unsigned long long)(size - c->bytes), (unsigned long long)size,
		    (unsigned long long)r->size);
	}
	c->bytes -= c->bytes % r->t->page_size;
	r->t->pages_all += c->bytes / r->t->page_size;
}

static void read_cpus(struct reader *r, uint32_t cpus, bool has_clock)
{
	uint64_t size, (*entry)[2] = xmalloc(cpus * sizeof(*entry));

	r->section = "table of CPUs";
	if (expect(r, "flyrecord")) {
		uint32_t n;
		for (n = 0; n < cpus && !r->broken; n++) {
			entry[n][0] = number(r, 8);
			entry[n][1] = number(r, 8);
		}
		uint32_t whole = r->broken && n ? n - 1 : n; /* rows of the table */
		const char *p = has_clock && !r->broken ? text(r, 8, &size) : NULL;
		if (p && !r->broken)
			trace_set_clock(r->t, p, size);
		r->t->cpu = xmalloc(cpus * sizeof(*r->t->cpu));
		r->t->cpus = whole;
		for (uint32_t i = 0; i < r->t->cpus; i++)
			place(r, &r->t->cpu[i], entry[i][0], entry[i][1]);
	}
	free(entry);
}

static bool is_dat(struct reader *r)
{
	static const uint8_t magic[] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};

	if (r->size < sizeof(magic) || memcmp(r->data, magic, sizeof(magic))) {
		say("%s: this is no trace.dat file", r->t->file);
		return false;
	}
	r->at = sizeof(magic);
	r->section = "first bytes";
	if (strcmp(string(r), "6") || r->broken) {
		say("%s: trace.dat of a version that is not known: 6 is", r->t->file);
		return false;
	}
	if (number(r, 2) != 8 << 8 || r->broken) {
		say("%s: not of a little-endian machine with 64 bits", r->t->file);
		return false;
	}
	r->t->page_size = number(r, 4);
	if (!page_size_ok(r->t->page_size) || r->broken) {
		say("%s: sub-buffers of %u bytes: they have 4096, or more by powers of two",
		    r->t->file, r->t->page_size);
		return false;
	}
	return true;
}

bool trace_open_in(struct trace *t, const char *name, struct in in)
{
	struct reader r = {.t = t, .data = in.data, .size = in.size};
	bool has_clock = false;

	*t = (struct trace){.file = name, .in = in, .records = RECORDS_LINUX};
	if (!is_dat(&r)) {
		in_close(&t->in);
		return false;
	}
	t->by_id = xmalloc(65536 * sizeof(*t->by_id));
	t->uname = xstrndup("", 0);
	t->stats = xstrndup("", 0);
	trace_set_clock(t, "", 0);
	read_formats(&r);
	read_names(&r);
	r.section = "number of CPUs";
	uint32_t cpus = number(&r, 4);
	if (cpus > CPUS_MOST) {
		trace_say(t, "it says that there are %u CPUs", cpus);
		r.broken = true;
	}
	read_options(&r, &has_clock);
	if (!r.broken)
		read_cpus(&r, cpus, has_clock);
	trace_index(t);
	return true;
}

bool trace_open(struct trace *t, const char *name)
{
	struct in in;

	return in_open(&in, name) && trace_open_in(t, name, in);
}
