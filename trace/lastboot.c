/*
 * The region of another boot, read before this one uses it. Its header must agree with its sum; each text, and the names of functions,
 * with theirs; tables that change while the kernel runs are taken entry by entry, and each entry is checked. What the rings hold is
 * ring_buffer_salvage.c's; past.c answers for printing.
 */
#include "trace/lastboot.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/builtin.h"
#include "trace/comm.h"
#include "trace/kept.h"
#include "trace/past.h"
#include "trace/ring_buffer_salvage.h"
#include "trace/trace_array.h"

#define IDS	   65536
#define PIDS	   32768
#define REPORT_MAX 4096
#define NAME	   "lastboot"

static struct trace_past *found; /* between find and offer */
static char report[REPORT_MAX];
static struct seq report_seq;

/* ---- the header ---------------------------------------------------------------------------------------------------- */

static bool inside(const struct kept_header *h, u64 at, u64 size)
{
	return at <= h->size && size <= h->size - at;
}

/* Why the region is none; NULL: it is one. */
static const char *refuse_header(const struct kept_header *h, size_t size)
{
	if (memcmp(h->magic, KEPT_MAGIC, 8))
		return "the memory holds something else, as after power-on";
	if (h->version != KEPT_VERSION || h->header_size != sizeof(*h) ||
	    h->ring_version != rb_salvage_version())
		return "another version of the kernel wrote it";
	if (h->sum != kept_sum(h, offsetof(struct kept_header, sum)))
		return "its header is damaged";
	if (h->size > size || !inside(h, h->symbols_at, h->symbols_size) ||
	    !inside(h, h->texts_at, h->texts_size) ||
	    !inside(h, (u64)h->pool_at * PAGE_SIZE, PAGE_SIZE) || h->base % PAGE_SIZE ||
	    h->symbols_at % 8 || h->texts_at % 8)
		return "its header does not fit the memory";
	return NULL;
}

/* ---- formats --------------------------------------------------------------------------------------------------------- */

/* The text at *at of the used part, which goes on; NULL: the last, or what follows is damaged. */
static const struct kept_text *next_text(const struct kept_header *h, u32 *at)
{
	u32 used = MIN(h->texts_used, h->texts_size);
	const struct kept_text *t = (const void *)((const char *)h + h->texts_at + *at);

	if (*at % 8 || used - *at < sizeof(*t) || *at > used)
		return NULL;
	if (t->size <= sizeof(*t) || t->size % 8 || t->size > used - *at ||
	    t->sum != kept_sum(&t->size, t->size - sizeof(t->sum)) ||
	    t->format_at >= t->size - sizeof(*t) || ((const char *)t)[t->size - 1] ||
	    !t->format_at || t->system[t->format_at - 1])
		return NULL;
	*at += t->size;
	return t;
}

static int take_events(struct trace_past *past, const struct kept_header *h)
{
	const struct kept_text *t;
	u32 count = 0, at = 0;

	while (next_text(h, &at))
		count++;
	past->events = host_alloc((count + 1) * sizeof(*past->events));
	if (!past->events)
		return -ENOMEM;
	for (at = 0; (t = next_text(h, &at));) {
		int err = past_event_make(
		    &past->events[past->event_count], t->id, t->system, t->system + t->format_at);
		if (err == -ENOMEM)
			return err;
		past->event_count += !err;
	}
	return 0;
}

/* ---- names ------------------------------------------------------------------------------------------------------------ */

static int take_symbols(struct trace_past *past, const struct kept_header *h)
{
	const void *from = (const char *)h + h->symbols_at;
	u64 size = h->symbols_size;

	if (size < sizeof(*past->symbols) || h->symbols_sum != kept_sum(from, size))
		return 0;
	past->symbols = host_alloc(size);
	if (!past->symbols)
		return -ENOMEM;
	memcpy(past->symbols, from, size);
	past->symbols_size = size;
	if (past->symbols->count > size / sizeof(struct kept_symbol) ||
	    ((char *)past->symbols)[size - 1]) {
		host_free(past->symbols);
		past->symbols = NULL;
	}
	return 0;
}

static int take_comms(struct trace_past *past, const struct kept_header *h)
{
	u64 at = (u64)h->comms_page * PAGE_SIZE;
	const struct trace_comm_slot *slot = (const void *)((const char *)h + at);
	u32 count = h->comms_size / sizeof(*slot);

	if (!at || !inside(h, at, h->comms_size) || count > PIDS)
		return 0;
	past->comms = host_alloc((count + 1) * sizeof(*past->comms));
	if (!past->comms)
		return -ENOMEM;
	for (; count--; slot++) {
		struct past_comm *to = &past->comms[past->comm_count];

		if (slot->pid <= 0 || slot->pid >= PIDS || slot->comm[15])
			continue;
		to->pid = slot->pid;
		memcpy(to->comm, slot->comm, 16);
		past->comm_count++;
	}
	return 0;
}

/* ---- rings ------------------------------------------------------------------------------------------------------------ */

static void drop_pages(struct past_cpu *c)
{
	for (u32 i = 0; i < c->count; i++)
		host_page_free(c->pages[i]);
	host_free(c->pages);
	*c = (struct past_cpu){.pages = NULL};
}

static int copy_pages(struct past_cpu *c, const struct rb_image *im, const struct rb_salvaged *from,
    const struct rb_salvage *sum)
{
	*c = (struct past_cpu){.sum = *sum, .evicted = sum->evicted, .found = true};
	c->pages = host_alloc((sum->good + 1) * sizeof(*c->pages));
	if (!c->pages)
		return -ENOMEM;
	for (; c->count < sum->good; c->count++) {
		c->pages[c->count] = host_page_alloc();
		if (!c->pages[c->count])
			return -ENOMEM;
		rb_salvage_copy(im, &from[c->count], c->pages[c->count]);
	}
	return 0;
}

/* A CPU may have two, of the buffer and of its spare one: the one with the latest event counts. */
static int take_rings(struct trace_past *past, const struct kept_header *h, struct rb_image *im,
    u8 *seen, struct rb_salvaged *out, u32 pages)
{
	memset(seen, 1, h->pool_at);
	for (u32 i = 0; i < KEPT_RINGS; i++) {
		const struct kept_ring *r = &h->rings[i];
		struct rb_salvage sum;

		if (r->page < h->pool_at || r->page >= pages || r->cpu >= MAX_CPUS)
			continue;
		struct past_cpu *c = &past->cpus[r->cpu];
		if (!rb_salvage_ring(im, r->page, seen, out, pages, &sum) ||
		    (c->found && c->sum.last >= sum.last))
			continue;
		drop_pages(c);
		int err = copy_pages(c, im, out, &sum);
		if (err)
			return err;
	}
	return 0;
}

struct known_ids {
	u8 bit[IDS / 8];
	bool any;
};

static bool is_known(void *arg, u16 id)
{
	const struct known_ids *k = arg;

	return k->any || k->bit[id / 8] >> id % 8 & 1;
}

static int salvage(struct trace_past *past, const struct kept_header *h)
{
	u32 pages = h->size / PAGE_SIZE;
	struct known_ids *known = host_alloc(sizeof(*known));
	u8 *seen = host_alloc(pages);
	struct rb_salvaged *out = host_alloc(pages * sizeof(*out));
	struct rb_image im = {h, h->size, h->base, is_known, known};
	int err = -ENOMEM;

	if (known && seen && out) {
		known->any = h->texts_full;
		for (u32 i = 0; i < past->event_count; i++)
			known->bit[past->events[i].call.id / 8] |= 1 << past->events[i].call.id % 8;
		err = take_rings(past, h, &im, seen, out, pages);
	}
	host_free(known);
	host_free(seen);
	host_free(out);
	return err;
}

/* ---- finding ---------------------------------------------------------------------------------------------------------- */

void trace_past_free(struct trace_past *past)
{
	if (!past)
		return;
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
		drop_pages(&past->cpus[cpu]);
	for (u32 i = 0; i < past->event_count; i++)
		past_event_free(&past->events[i]);
	host_free(past->events);
	host_free(past->symbols);
	host_free(past->comms);
	host_free(past);
}

/* Whether functions lie where they do now. */
static bool is_same_kernel(const struct kept_symbols *symbols)
{
	const char *name, *names;
	u64 start, size, i = 0;

	if (!symbols)
		return false;
	names = (const char *)&symbols->symbol[symbols->count];
	for (; host_sym_nth(i, &name, &start, &size); i++)
		if (i >= symbols->count || symbols->symbol[i].start != start ||
		    strcmp(names + symbols->symbol[i].name_at, name))
			return false;
	return i == symbols->count;
}

/* Names whose place is behind the end would be read there. */
static bool symbols_are_sound(const struct trace_past *past)
{
	const struct kept_symbols *s = past->symbols;
	u64 head = sizeof(*s) + s->count * sizeof(struct kept_symbol);

	if (head > past->symbols_size)
		return false;
	for (u64 i = 0; i < s->count; i++)
		if (s->symbol[i].name_at >= past->symbols_size - head)
			return false;
	return true;
}

static int take(struct trace_past *past, const struct kept_header *h)
{
	past->clock_base = h->clock_base;
	past->clock_mult = h->clock_mult ? h->clock_mult : 1UL << 32;
	past->unix_ns = h->unix_ns;
	past->ended = h->ended;
	memcpy(past->clock, h->clock, sizeof(past->clock));
	past->clock[sizeof(past->clock) - 1] = '\0';
	int err = take_events(past, h);
	if (!err)
		err = take_symbols(past, h);
	if (!err && past->symbols && !symbols_are_sound(past)) {
		host_free(past->symbols);
		past->symbols = NULL;
	}
	past->same_kernel = is_same_kernel(past->symbols);
	if (!err)
		err = take_comms(past, h);
	return err ? err : salvage(past, h);
}

static void say_cpus(const struct trace_past *past)
{
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++) {
		const struct rb_salvage *s = &past->cpus[cpu].sum;

		if (past->cpus[cpu].found)
			seq_printf(&report_seq,
			    "cpu%u: %lu events in %u sub-buffers; damaged: %u, not in kept memory: "
			    "%u, overwritten before: %lu events\n",
			    cpu, s->events, s->good, s->damaged, s->outside, s->evicted);
	}
}

static void say_end(const struct trace_past *past)
{
	static const char *const how[] = {
	    [KEPT_SILENT] =
		"without a word: a triple fault, a hang, a watchdog, or the reset button",
	    [KEPT_PANIC] = "by a panic",
	    [KEPT_ORDERLY] = "as it was asked to"};

	if (past->ended < ARRAY_SIZE(how))
		seq_printf(&report_seq, "it ended %s\n", how[past->ended]);
}

static u64 all_events(const struct trace_past *past)
{
	u64 n = 0;

	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
		n += past->cpus[cpu].sum.events;
	return n;
}

static void nothing(const char *why)
{
	seq_printf(&report_seq, "last boot: nothing survived: %s\n", why);
	host_log("lastboot: nothing survived: %s", why);
}

u64 trace_lastboot_find(void)
{
	size_t size;
	const struct kept_header *h = host_kept_memory(&size);
	const char *why = !h		     ? "no memory is kept"
			  : size < PAGE_SIZE ? "the memory kept is too small"
					     : refuse_header(h, size);

	seq_init(&report_seq, report, sizeof(report) - 1);
	if (why) {
		nothing(why);
		return 1;
	}
	found = host_alloc(sizeof(*found));
	if (!found || take(found, h)) {
		trace_past_free(found);
		found = NULL;
		nothing("there is no memory to take it into");
		return h->generation + 1;
	}
	seq_printf(&report_seq,
	    "last boot: generation %lu, clock %s, %s, %u formats, %u names of tasks%s\n",
	    h->generation, found->clock,
	    found->same_kernel ? "the same kernel"
	    : found->symbols   ? "another kernel"
			       : "names of functions damaged",
	    found->event_count, found->comm_count, h->texts_full ? "; formats had no room" : "");
	say_end(found);
	say_cpus(found);
	if (!all_events(found)) {
		trace_past_free(found);
		found = NULL;
		nothing("its rings hold no event");
	}
	return h->generation + 1;
}

/* ---- offering ---------------------------------------------------------------------------------------------------------- */

static void own_clock(struct trace_array *tr, const char *name)
{
	for (const struct trace_clock *c = trace_clocks; c->name; c++)
		if (!strcmp(c->name, name))
			tr->clock = c;
}

/* CPUs that are not up this time have no place to be shown. */
static int adopt(struct trace_array *tr, struct trace_past *past)
{
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++) {
		struct past_cpu *c = &past->cpus[cpu];

		if (cpu >= host_cpu_count() && c->count) {
			seq_printf(&report_seq, "cpu%u is not up: its events are not shown\n", cpu);
			drop_pages(c);
			continue;
		}
		if (!c->count)
			continue;
		int err = ring_buffer_adopt(tr->buffer, cpu, c->pages, c->count, c->evicted);
		if (err)
			return err;
		host_free(c->pages);
		c->pages = NULL;
		c->count = 0;
	}
	return 0;
}

void trace_lastboot_offer(void)
{
	struct trace_past *past = found;

	found = NULL;
	if (!past)
		return;
	u64 events = all_events(past);
	for (u32 i = 0; i < past->event_count; i++)
		past_event_match(&past->events[i], past->same_kernel);
	struct trace_array *tr = trace_array_create(NAME, 1);
	if (!tr) {
		trace_past_free(past);
		nothing("there is no memory to show it");
		return;
	}
	tr->past = past;
	ring_buffer_record_off(tr->buffer);
	own_clock(tr, past->clock);
	tr->expanded = true;
	if (adopt(tr, past)) {
		trace_array_destroy(tr);
		nothing("there is no memory to show it");
		return;
	}
	host_log("lastboot: %lu events of the last boot are in instances/" NAME, events);
}

struct trace_array *trace_lastboot_silent(void)
{
	struct trace_array *tr = trace_array_find(NAME);

	return tr && tr->past && tr->past->ended == KEPT_SILENT ? tr : NULL;
}

void trace_lastboot_show(struct seq *s)
{
	seq_write(s, report, report_seq.len);
}
