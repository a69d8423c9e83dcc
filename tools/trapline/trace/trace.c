/* Names and records of a trace. See trace.h. */
#include "tools/trapline/trace/trace.h"
#include "tools/trapline/lib/output.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void trace_say(struct trace *t, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say("%s: %s", t->file, text);
	t->damaged = true;
}

/* ---- names ---- */

static void add_name(struct names *names, uint64_t key, const char *text, size_t n)
{
	if (!(names->count & (names->count - 1)))
		names->name = xrealloc(
		    names->name, (names->count ? names->count * 2 : 1) * sizeof(struct name));
	names->name[names->count++] = (struct name){key, xstrndup(text, n)};
}

static int by_key(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static void sort_names(struct names *names)
{
	if (names->count)
		qsort(names->name, names->count, sizeof(struct name), by_key);
}

/* The last one whose key is not larger; NULL: there is none. */
static const struct name *find_name(const struct names *names, uint64_t key)
{
	size_t n = COUNT_UP_TO(names->name, names->count, key, key);

	return n ? &names->name[n - 1] : NULL;
}

static void free_names(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->name[i].text);
	free(names->name);
}

static void each_line(struct trace *t, const char *text, size_t size,
    void (*fn)(struct trace *t, const char *line, size_t n))
{
	while (size) {
		const char *stop = memchr(text, '\n', size);
		size_t n = stop ? (size_t)(stop - text) : size;
		char line[1024];

		size_t length = n < sizeof(line) - 1 ? n : sizeof(line) - 1;
		memcpy(line, text, length);
		line[length] = '\0';
		fn(t, line, length);
		n += stop != NULL;
		text += n;
		size -= n;
	}
}

static void comm_line(struct trace *t, const char *line, size_t n)
{
	char *end;
	unsigned long pid = strtoul(line, &end, 10);

	if (end > line && *end == ' ')
		add_name(&t->comms, pid, end + 1, n - (end + 1 - line));
}

static void symbol_line(struct trace *t, const char *line, size_t n)
{
	char *end;
	unsigned long long address = strtoull(line, &end, 16);

	(void)n;
	if (end > line && end[0] == ' ' && end[1] && end[2] == ' ')
		add_name(&t->symbols, address, end + 3, strcspn(end + 3, " \t"));
}

/* 0xffffffff80100000 : "text\n" */
static void printk_line(struct trace *t, const char *line, size_t n)
{
	char text[1024], *end;
	unsigned long long address = strtoull(line, &end, 16);
	size_t length = 0;

	if (end == line || strncmp(end, " : \"", 4) || line[n - 1] != '"')
		return;
	for (const char *p = end + 4; p < line + n - 1; p++) {
		if (*p == '\\' && p + 1 < line + n - 1) {
			p++;
			text[length++] = *p == 'n' ? '\n' : *p == 't' ? '\t' : *p;
		} else {
			text[length++] = *p;
		}
	}
	add_name(&t->printks, address, text, length);
}

void trace_parse_comms(struct trace *t, const char *text, size_t size)
{
	free_names(&t->comms);
	t->comms = (struct names){.count = 0};
	each_line(t, text, size, comm_line);
	sort_names(&t->comms);
}

void trace_parse_symbols(struct trace *t, const char *text, size_t size)
{
	each_line(t, text, size, symbol_line);
	sort_names(&t->symbols);
}

void trace_parse_printk(struct trace *t, const char *text, size_t size)
{
	each_line(t, text, size, printk_line);
	sort_names(&t->printks);
}

const char *trace_comm(const struct trace *t, int32_t pid)
{
	const struct name *n = find_name(&t->comms, (uint32_t)pid);

	if (pid == 0)
		return "<idle>";
	return n && n->key == (uint32_t)pid ? n->text : "<...>";
}

static const struct name *find_symbol(const struct trace *t, uint64_t address)
{
	const struct name *n = find_name(&t->symbols, address);

	return n && address - n->key <= 1 << 20 ? n : NULL;
}

const char *trace_function(const struct trace *t, uint64_t address)
{
	const struct name *n = find_symbol(t, address);

	return n ? n->text : NULL;
}

bool trace_symbol(const struct trace *t, uint64_t address, char *buf, size_t size)
{
	const struct name *n = find_symbol(t, address);

	if (!n)
		return false;
	snprintf(buf, size, "%s+0x%llx", n->text, (unsigned long long)(address - n->key));
	return true;
}

void trace_set_clock(struct trace *t, const char *text, size_t size)
{
	static const char *const in_ns[] = {
	    "local", "global", "perf", "mono", "mono_raw", "boot", "tai"};
	const char *open = memchr(text, '[', size),
		   *end = open ? memchr(open, ']', text + size - open) : NULL;

	free(t->clock);
	t->clock = end ? xstrndup(open + 1, end - open - 1) : xstrndup("local", 5);
	t->in_ns = false;
	for (size_t i = 0; i < sizeof(in_ns) / sizeof(in_ns[0]); i++)
		t->in_ns |= !strcmp(t->clock, in_ns[i]);
}

void trace_add_format(struct trace *t, const char *system, const char *text, size_t size)
{
	struct event ev;

	if (!format_parse(&ev, system, text, size)) {
		trace_say(t, "a format of '%s' cannot be read: its events are unknown", system);
		return;
	}
	if (!(t->events & (t->events - 1)))
		t->event = xrealloc(t->event, (t->events ? t->events * 2 : 1) * sizeof(ev));
	t->event[t->events++] = ev;
}

void trace_value(
    const struct trace *t, const struct record *r, const struct field *f, struct value *v)
{
	field_value(f, r->data, r->size, v);
	if (f->kind != FIELD_TEXT_POINTER || v->kind == VALUE_NONE)
		return;
	const struct name *n = find_name(&t->printks, v->n);
	if (!n || n->key != v->n)
		return;
	v->kind = VALUE_TEXT;
	v->text = n->text;
	v->length = strlen(n->text);
}

void trace_flags(const struct record *r, char out[6])
{
	static const char depth[16] = ".123456789abcdef";
	bool bh = r->flags & 0x80, need = r->flags & 4, lazy = r->flags & 0x20, hard = r->flags & 8;
	bool soft = r->flags & 0x10, nmi = r->flags & 0x40;

	out[0] = r->flags & 1 ? (bh ? 'D' : 'd') : bh ? 'b' : r->flags & 2 ? 'X' : '.';
	out[1] = need ? (lazy ? 'N' : 'n') : lazy ? 'p' : '.';
	out[2] = nmi ? (hard ? 'Z' : 'z') : hard ? (soft ? 'H' : 'h') : soft ? 's' : '.';
	out[3] = depth[r->preempt & 15];
	out[4] = depth[r->preempt >> 4];
	out[5] = '\0';
}

/* ---- records ---- */

/*
 * To the CPU's next record, over pages that end or break. Gaps before pages without records are
 * kept for the next that has some.
 */
static void advance(struct trace *t, struct cpu *c)
{
	while (!(c->has = page_next(&c->walk))) {
		if (c->walk.wrong)
			trace_say(t, "cpu %d, the page at %llu: %s", (int)(c - t->cpu),
			    (unsigned long long)c->at - t->page_size, c->walk.wrong);
		if (c->bytes - c->at < t->page_size)
			return;
		page_begin(&c->walk, t->records, c->pages + c->at, t->page_size);
		c->at += t->page_size;
		t->pages_done++;
		c->lost += c->walk.lost;
		c->lost_unknown |= c->walk.lost_unknown;
		c->gap = c->lost || c->lost_unknown;
	}
}

/* The CPU with the oldest thing to say: its next record, or what is lost at its end. */
static struct cpu *oldest(struct trace *t)
{
	struct cpu *best = NULL;

	for (unsigned i = 0; i < t->cpus; i++) {
		struct cpu *c = &t->cpu[i];
		if (!c->has && !c->gap)
			advance(t, c);
		if ((c->has || c->gap) && (!best || c->walk.time < best->walk.time))
			best = c;
	}
	return best;
}

static void fill(const struct trace *t, const struct page_walk *w, struct record *r)
{
	r->data = w->record;
	r->size = w->length;
	if (r->size < 8)
		return;
	memcpy(&r->id, r->data, sizeof(r->id));
	r->flags = r->data[2];
	r->preempt = r->data[3];
	memcpy(&r->pid, r->data + 4, sizeof(r->pid));
	r->event = t->by_id[r->id];
}

static uint64_t time_of(const struct trace *t, uint64_t stamp)
{
	if (!t->clock_mult)
		return stamp;
	return (uint64_t)((unsigned __int128)(stamp - t->clock_base) * t->clock_mult >> 32) +
	       t->clock_add;
}

bool trace_next(struct trace *t, struct record *r)
{
	struct cpu *c = oldest(t);

	if (!c)
		return false;
	*r = (struct record){.cpu = c - t->cpu, .time = time_of(t, c->walk.time)};
	if (c->gap) {
		r->is_gap = true;
		r->lost = c->lost;
		r->lost_unknown = c->lost_unknown;
		c->gap = c->lost_unknown = false;
		c->lost = 0;
		return true;
	}
	fill(t, &c->walk, r);
	c->has = false;
	return true;
}

void trace_index(struct trace *t)
{
	memset(t->by_id, 0, 65536 * sizeof(*t->by_id));
	for (size_t i = t->events; i-- > 0;)
		t->by_id[t->event[i].id] = &t->event[i];
}

void trace_drop_formats(struct trace *t)
{
	for (size_t i = 0; i < t->events; i++)
		format_free(&t->event[i]);
	free(t->event);
	t->event = NULL;
	t->events = 0;
}

void trace_close(struct trace *t)
{
	trace_drop_formats(t);
	free(t->by_id);
	free_names(&t->comms);
	free_names(&t->printks);
	free_names(&t->symbols);
	free(t->clock);
	free(t->uname);
	free(t->stats);
	free(t->cpu);
	in_close(&t->in);
}

void trace_progress(const struct trace *t)
{
	progress("converting", t->pages_done, t->pages_all + 1);
}
