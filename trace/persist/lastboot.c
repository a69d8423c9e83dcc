/*
 * The region of another boot, read before this one uses it (kept_read.c says what of it is
 * believed). What the rings hold is trace/ring/recover.c's; prevboot.c answers for printing.
 */
#include "trace/persist/lastboot.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/clock.h"
#include "trace/event/comm.h"
#include "trace/event/ftrace.h"
#include "trace/event/parts.h"
#include "trace/host_cpus.h"
#include "trace/host_kept.h"
#include "trace/host_log.h"
#include "trace/host_memory.h"
#include "trace/host_symbol.h"
#include "trace/persist/kept.h"
#include "trace/persist/prevboot.h"
#include "trace/ring/recover.h"

#define IDS	   65536
#define REPORT_MAX 4096

static struct trace_prevboot *found;	     /* between find and offer */
static char instance_name[256] = "lastboot"; /* changed before the offer alone */
static char report[REPORT_MAX];
static struct seq report_seq;

/* ---- formats ---- */

static int take_events(struct trace_prevboot *past, const struct kept_header *h)
{
	const struct kept_text *t;
	u32 count = 0, at = 0;

	while (kept_next_text(h, &at))
		count++;
	past->events = host_alloc((count + 1) * sizeof(*past->events));
	if (!past->events)
		return -ENOMEM;
	for (at = 0; (t = kept_next_text(h, &at));) {
		int err = prevboot_event_make(
		    &past->events[past->event_count], t->id, t->system, t->system + t->format_at);
		if (err == -ENOMEM)
			return err;
		past->event_count += !err;
	}
	return 0;
}

/* ---- names ---- */

static int take_symbols(struct trace_prevboot *past, const struct kept_header *h)
{
	const struct kept_symbols *from = kept_symbols(h);

	if (!from)
		return 0;
	past->symbols = host_alloc(h->symbols_size);
	if (!past->symbols)
		return -ENOMEM;
	memcpy(past->symbols, from, h->symbols_size);
	return 0;
}

static int take_comms(struct trace_prevboot *past, const struct kept_header *h)
{
	u32 count;
	const struct trace_comm_slot *slot = kept_comms(h, &count);

	if (!slot)
		return 0;
	past->comms = host_alloc((count + 1) * sizeof(*past->comms));
	if (!past->comms)
		return -ENOMEM;
	for (; count--; slot++) {
		struct prevboot_comm *to = &past->comms[past->comm_count];

		if (!kept_is_comm(slot))
			continue;
		to->pid = slot->pid;
		memcpy(to->comm, slot->comm, 16);
		past->comm_count++;
	}
	return 0;
}

/* ---- rings ---- */

static void trace_prevboot_drop_pages(struct prevboot_cpu *c)
{
	for (u32 i = 0; i < c->count; i++)
		host_page_free(c->pages[i]);
	host_free(c->pages);
	*c = (struct prevboot_cpu){.pages = NULL};
}

static int copy_pages(struct prevboot_cpu *c, const struct rb_image *im,
    const struct rb_recovered_page *from, const struct rb_recovery *sum)
{
	*c = (struct prevboot_cpu){.sum = *sum, .overrun = sum->overrun, .found = true};
	c->pages = host_alloc((sum->good + 1) * sizeof(*c->pages));
	if (!c->pages)
		return -ENOMEM;
	for (; c->count < sum->good; c->count++) {
		c->pages[c->count] = host_page_alloc();
		if (!c->pages[c->count])
			return -ENOMEM;
		rb_recover_copy(im, &from[c->count], c->pages[c->count]);
	}
	return 0;
}

/* A CPU may have two, of the buffer and of its spare one: the one with the latest event counts. */
static int take_rings(struct trace_prevboot *past, const struct kept_header *h, struct rb_image *im,
    u8 *seen, struct rb_recovered_page *out, u32 pages)
{
	memset(seen, 1, h->pool_at);
	for (u32 i = 0; i < KEPT_RINGS; i++) {
		struct rb_recovery sum;
		u32 cpu, page = kept_ring_page(h, i, &cpu);

		if (!page)
			continue;
		struct prevboot_cpu *c = &past->cpus[cpu];
		if (!rb_recover_ring(im, page, seen, out, pages, &sum) ||
		    (c->found && c->sum.last >= sum.last))
			continue;
		trace_prevboot_drop_pages(c);
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

static bool trace_lastboot_is_known(void *arg, u16 id)
{
	const struct known_ids *k = arg;

	return k->any || k->bit[id / 8] >> id % 8 & 1;
}

static int trace_lastboot_recover(struct trace_prevboot *past, const struct kept_header *h)
{
	u32 pages = h->size / PAGE_SIZE;
	struct known_ids *known = host_alloc(sizeof(*known));
	u8 *seen = host_alloc(pages);
	struct rb_recovered_page *out = host_alloc(pages * sizeof(*out));
	struct rb_image im = {h, h->size, h->base, trace_lastboot_is_known, known};
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

/* ---- finding ---- */

void trace_prevboot_free(struct trace_prevboot *past)
{
	if (!past)
		return;
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
		trace_prevboot_drop_pages(&past->cpus[cpu]);
	for (u32 i = 0; i < past->event_count; i++)
		prevboot_event_free(&past->events[i]);
	host_free(past->events);
	host_free(past->symbols);
	host_free(past->comms);
	host_free(past);
}

/* Whether functions lie where they do now. */
static bool is_same_kernel(const struct kept_symbols *then)
{
	struct host_symbols now;

	if (!then || !host_symbols(&now) || then->start != now.start || then->end != now.end ||
	    then->count != now.count || then->names_size != now.names_size)
		return false;
	return !memcmp(then->tables, now.offset, now.count * sizeof(u32)) &&
	       !memcmp(kept_symbol_name(then, 0), now.names, now.names_size);
}

static int take(struct trace_prevboot *past, const struct kept_header *h)
{
	past->clock_base = h->clock_base;
	past->clock_mult = h->clock_mult ? h->clock_mult : 1UL << 32;
	past->unix_ns = h->unix_ns;
	past->ended = h->ended;
	memcpy(past->clock, h->clock, sizeof(past->clock));
	past->clock[sizeof(past->clock) - 1] = '\0';
	memcpy(past->release, h->release, sizeof(past->release));
	past->release[sizeof(past->release) - 1] = '\0';
	int err = take_events(past, h);
	if (!err)
		err = take_symbols(past, h);
	past->same_kernel = is_same_kernel(past->symbols);
	if (!err)
		err = take_comms(past, h);
	return err ? err : trace_lastboot_recover(past, h);
}

static void say_cpus(const struct trace_prevboot *past)
{
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++) {
		const struct rb_recovery *s = &past->cpus[cpu].sum;

		if (past->cpus[cpu].found)
			seq_printf(&report_seq,
			    "cpu%u: %lu events in %u sub-buffers; damaged: %u, not in kept memory: "
			    "%u, overwritten before: %lu events\n",
			    cpu, s->events, s->good, s->damaged, s->outside, s->overrun);
	}
}

static void say_end(const struct trace_prevboot *past)
{
	static const char *const how[] = {
	    [KEPT_SILENT] =
		"without a word: a triple fault, a hang, a watchdog, or the reset button",
	    [KEPT_PANIC] = "by a panic",
	    [KEPT_ORDERLY] = "as it was asked to"};

	if (past->ended < ARRAY_SIZE(how))
		seq_printf(&report_seq, "it ended %s\n", how[past->ended]);
}

static u64 all_events(const struct trace_prevboot *past)
{
	u64 n = 0;

	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
		n += past->cpus[cpu].sum.events;
	return n;
}

static void trace_lastboot_nothing(const char *why)
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
					     : kept_refuse(h, size);

	seq_init(&report_seq, report, sizeof(report) - 1);
	if (why) {
		trace_lastboot_nothing(why);
		return 1;
	}
	found = host_alloc(sizeof(*found));
	if (!found || take(found, h)) {
		trace_prevboot_free(found);
		found = NULL;
		trace_lastboot_nothing("there is no memory to take it into");
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
		trace_prevboot_free(found);
		found = NULL;
		trace_lastboot_nothing("its rings hold no event");
	}
	return h->generation + 1;
}

/* ---- offering ---- */

static void own_clock(struct trace_array *tr, const char *name)
{
	for (const struct trace_clock *c = trace_clocks; c->name; c++)
		if (!strcmp(c->name, name))
			tr->clock = c;
}

/* CPUs that are not up this time have no place to be shown. */
static int adopt(struct trace_array *tr, struct trace_prevboot *past)
{
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++) {
		struct prevboot_cpu *c = &past->cpus[cpu];

		if (cpu >= host_cpu_count() && c->count) {
			seq_printf(&report_seq, "cpu%u is not up: its events are not shown\n", cpu);
			trace_prevboot_drop_pages(c);
			continue;
		}
		if (!c->count)
			continue;
		int err = ring_buffer_adopt(tr->buffer, cpu, c->pages, c->count, c->overrun);
		if (err)
			return err;
		host_free(c->pages);
		c->pages = NULL;
		c->count = 0;
	}
	return 0;
}

void trace_lastboot_name(const char *name)
{
	strscpy(instance_name, name, sizeof(instance_name));
}

void trace_lastboot_offer(void)
{
	struct trace_prevboot *past = found;

	found = NULL;
	if (!past)
		return;
	u64 events = all_events(past);
	for (u32 i = 0; i < past->event_count; i++)
		prevboot_event_match(&past->events[i], past->same_kernel);
	struct trace_array *tr = trace_array_create(instance_name, 1);
	if (!tr) {
		trace_prevboot_free(past);
		trace_lastboot_nothing("there is no memory to show it");
		return;
	}
	tr->past = past;
	trace_array_set_on(tr, false);
	own_clock(tr, past->clock);
	tr->expanded = true;
	if (adopt(tr, past)) {
		trace_array_destroy(tr);
		trace_lastboot_nothing("there is no memory to show it");
		return;
	}
	host_log(
	    "lastboot: %lu events of the last boot are in instances/%s", events, instance_name);
}

struct trace_array *trace_lastboot_silent(void)
{
	struct trace_array *tr = trace_array_find(instance_name);

	return tr && tr->past && tr->past->ended == KEPT_SILENT ? tr : NULL;
}

void trace_lastboot_show(struct seq *s)
{
	seq_write(s, report, report_seq.len);
}
