/*
 * A trace as Perfetto's protobuf: packets with bundles of ftrace events of a CPU. Events that
 * Perfetto has messages for are those; all others are generic, with each field by name. Intervals
 * and marks that Perfetto does not find by itself are track events (perfetto_tracks.c). Numbers of
 * messages and fields are those of Perfetto's protos/perfetto/trace/. See convert.h.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/convert/perfetto.h"
#include "tools/trapline/convert/convert.h"
#include "tools/trapline/lib/proto.h"
#include "tools/trapline/trace/stats.h"

enum { BUNDLE_CPU = 1, BUNDLE_EVENT = 2, BUNDLE_LOST = 3 };
enum { EVENT_TIME = 1, EVENT_PID = 2, EVENT_FLAGS = 5, EVENT_GENERIC = 327 };
enum {
	GENERIC_NAME = 1,
	GENERIC_FIELD = 2,
	FIELD_NAME = 1,
	FIELD_STR = 3,
	FIELD_INT = 4,
	FIELD_UINT = 5
};

#define BUNDLE_MOST 60000

/*
 * An event with a message of its own: the names of its fields, by their numbers from 1 on. NULL:
 * one that we have not.
 */
struct known {
	const char *system, *name;
	unsigned number;
	const char *field[8];
};
static const struct known knowns[] = {
    {"ftrace", "print", 3, {"ip", "buf"}},
    {"sched", "sched_switch", 4,
	{"prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"}},
    {"power", "cpu_idle", 13, {"state", "cpu_id"}},
    {"sched", "sched_wakeup", 17, {"comm", "pid", "prio", NULL, "target_cpu"}},
    {"sched", "sched_waking", 20, {"comm", "pid", "prio", NULL, "target_cpu"}},
    {"irq", "irq_handler_entry", 36, {"irq", "name"}},
    {"irq", "irq_handler_exit", 37, {"irq", "ret"}},
    {"sched", "sched_wakeup_new", 114, {"comm", "pid", "prio", NULL, "target_cpu"}},
    {"task", "task_newtask", 235, {"pid", "comm", "clone_flags", "oom_score_adj"}},
    {"task", "task_rename", 236, {"pid", "oldcomm", "newcomm", "oom_score_adj"}},
    {"sched", "sched_process_exec", 237, {"filename", "pid", "old_pid"}},
    {"sched", "sched_process_exit", 238, {"comm", "pid", NULL, "prio"}},
    {"sched", "sched_process_fork", 239, {"parent_comm", "parent_pid", "child_comm", "child_pid"}},
    {"sched", "sched_process_free", 240, {"comm", "pid", "prio"}},
    {"sched", "sched_process_wait", 242, {"comm", "pid", "prio"}},
    {"signal", "signal_deliver", 324, {"code", "sa_flags", "sig"}},
    {"signal", "signal_generate", 325, {"code", "comm", "group", "pid", "result", "sig"}},
    {"raw_syscalls", "sys_enter", 329, {"id", "args"}},
    {"raw_syscalls", "sys_exit", 330, {"id", "ret"}},
};

struct writer {
	FILE *out;
	struct trace *t;
	const struct known **known; /* by event id */
	struct bytes *bundle;	    /* by CPU: events */
	bool *lost;		    /* by CPU: before the bundle */
	struct perfetto_tracks tracks;
};

/* Is there a place for each of its fields? Else it is a generic one. */
static bool fits(const struct known *k, const struct event *ev)
{
	if (strcmp(k->system, ev->system) || strcmp(k->name, ev->name))
		return false;
	for (size_t i = ev->commons; i < ev->fields; i++) {
		size_t n = 0;
		while (n < 8 && (!k->field[n] || strcmp(k->field[n], ev->field[i].name)))
			n++;
		if (n == 8)
			return false;
	}
	return true;
}

static const struct known *find_known(const struct event *ev)
{
	for (size_t i = 0; i < sizeof(knowns) / sizeof(knowns[0]); i++)
		if (fits(&knowns[i], ev))
			return &knowns[i];
	return NULL;
}

/* ---- packets ---- */

static void flush(struct writer *w, unsigned cpu)
{
	struct bytes b = {.data = NULL};

	if (!w->bundle[cpu].size && !w->lost[cpu])
		return;
	size_t bundle = proto_begin(&b, PACKET_FTRACE_EVENTS);
	proto_uint(&b, BUNDLE_CPU, cpu);
	bytes_put(&b, w->bundle[cpu].data, w->bundle[cpu].size);
	if (w->lost[cpu])
		proto_uint(&b, BUNDLE_LOST, 1);
	proto_end(&b, bundle);
	proto_uint(&b, PACKET_SEQUENCE, 1);
	perfetto_packet(w->out, &b);
	bytes_free(&b);
	w->bundle[cpu].size = 0;
	w->lost[cpu] = false;
}

/* ---- events ---- */

static void put_known_field(struct bytes *b, unsigned number, const struct value *v)
{
	switch (v->kind) {
	case VALUE_TEXT:
		proto_bytes(b, number, v->text, v->length);
		break;
	case VALUE_ARRAY:
		for (size_t i = 0; i < v->length; i++)
			proto_int(b, number, value_item(v, i));
		break;
	case VALUE_NONE:
		break;
	default:
		proto_uint(b, number, v->n);
	}
}

static void put_known(
    struct writer *w, struct bytes *b, const struct record *r, const struct known *k)
{
	size_t message = proto_begin(b, k->number);

	for (unsigned i = 0; i < 8; i++) {
		const struct field *f = k->field[i] ? event_field(r->event, k->field[i]) : NULL;
		struct value v;

		if (!f)
			continue;
		trace_value(w->t, r, f, &v);
		put_known_field(b, i + 1, &v);
	}
	proto_end(b, message);
}

/* Arrays have no place there but as text. */
static void put_array_text(struct bytes *b, const struct value *v)
{
	struct bytes text = {.data = NULL};
	char number[32];

	for (size_t i = 0; i < v->length; i++) {
		int n = snprintf(number, sizeof(number), v->is_signed ? "%s%lld" : "%s%llu",
		    i ? "," : "{", (long long)value_item(v, i));
		bytes_put(&text, number, n);
	}
	bytes_put(&text, v->length ? "}" : "{}", v->length ? 1 : 2);
	proto_bytes(b, FIELD_STR, text.data, text.size);
	bytes_free(&text);
}

static void put_generic_field(struct bytes *b, const char *name, const struct value *v)
{
	size_t field = proto_begin(b, GENERIC_FIELD);

	proto_string(b, FIELD_NAME, name);
	switch (v->kind) {
	case VALUE_NONE:
		proto_string(b, FIELD_STR, "(fault)");
		break;
	case VALUE_INT:
		proto_int(b, FIELD_INT, v->n);
		break;
	case VALUE_UINT:
		proto_uint(b, FIELD_UINT, v->n);
		break;
	case VALUE_TEXT:
		proto_bytes(b, FIELD_STR, v->text, v->length);
		break;
	case VALUE_ARRAY:
		put_array_text(b, v);
		break;
	}
	proto_end(b, field);
}

static void put_generic(struct writer *w, struct bytes *b, const struct record *r)
{
	size_t message = proto_begin(b, EVENT_GENERIC);
	char unknown[32];

	snprintf(unknown, sizeof(unknown), "unknown_event_%u", r->id);
	proto_string(b, GENERIC_NAME, r->event ? r->event->name : unknown);
	for (size_t i = r->event ? r->event->commons : 0; r->event && i < r->event->fields; i++) {
		struct value v;

		trace_value(w->t, r, &r->event->field[i], &v);
		put_generic_field(b, r->event->field[i].name, &v);
	}
	proto_end(b, message);
}

static void put_record(struct writer *w, const struct record *r)
{
	struct bytes *b = &w->bundle[r->cpu];
	size_t event = proto_begin(b, BUNDLE_EVENT);
	const struct known *k = r->event ? w->known[r->event - w->t->event] : NULL;

	proto_uint(b, EVENT_TIME, r->time);
	proto_uint(b, EVENT_PID, (uint32_t)r->pid);
	proto_uint(b, EVENT_FLAGS, r->flags);
	if (k)
		put_known(w, b, r, k);
	else
		put_generic(w, b, r);
	proto_end(b, event);
}

/*
 * The bundle says that something is missing before it; an event of ours at that time says how much.
 */
static void put_gap(struct writer *w, const struct record *r)
{
	struct bytes *b = &w->bundle[r->cpu];
	struct value count = {.kind = VALUE_UINT, .n = r->lost},
		     more = {.kind = VALUE_UINT, .n = r->lost_unknown};

	flush(w, r->cpu);
	w->lost[r->cpu] = true;
	size_t event = proto_begin(b, BUNDLE_EVENT);
	proto_uint(b, EVENT_TIME, r->time);
	proto_uint(b, EVENT_PID, 0);
	size_t message = proto_begin(b, EVENT_GENERIC);
	proto_string(b, GENERIC_NAME, "lost_events");
	put_generic_field(b, "count", &count);
	put_generic_field(b, "more", &more);
	proto_end(b, message);
	proto_end(b, event);
}

/* ---- what is said of the trace ---- */

static void put_system(struct writer *w)
{
	struct bytes b = {.data = NULL};
	char system[65] = "", node[65] = "", release[65] = "", machine[65] = "";

	sscanf(w->t->uname, "%64s %64s %64s %64s", system, node, release, machine);
	size_t info = proto_begin(&b, PACKET_SYSTEM_INFO), name = proto_begin(&b, 1);
	proto_string(&b, 1, system);
	proto_string(&b, 2, w->t->uname);
	proto_string(&b, 3, release);
	proto_string(&b, 4, machine);
	proto_end(&b, name);
	proto_end(&b, info);
	proto_uint(&b, PACKET_SEQUENCE, 1);
	proto_uint(&b, PACKET_SEQUENCE_FLAGS, SEQUENCE_STARTS);
	perfetto_packet(w->out, &b);
	bytes_free(&b);
}

static void put_metadata(struct writer *w, const char *name, const char *text)
{
	struct bytes b = {.data = NULL};

	size_t events = proto_begin(&b, PACKET_CHROME_EVENTS), data = proto_begin(&b, 2);
	proto_string(&b, 1, name);
	proto_string(&b, 2, text);
	proto_end(&b, data);
	proto_end(&b, events);
	proto_uint(&b, PACKET_SEQUENCE, 1);
	perfetto_packet(w->out, &b);
	bytes_free(&b);
}

static void put_stats(struct writer *w)
{
	static const struct {
		unsigned number;
		const char *name;
	} counts[] = {{2, "entries"}, {3, "overrun"}, {4, "commit overrun"}, {5, "bytes"},
	    {8, "dropped events"}, {9, "read events"}};
	struct bytes b = {.data = NULL};
	size_t stats = proto_begin(&b, PACKET_FTRACE_STATS);

	proto_uint(&b, 1, 2); /* at the trace's end */
	for (unsigned cpu = 0; cpu < w->t->cpus; cpu++) {
		size_t one = proto_begin(&b, 2);
		proto_uint(&b, 1, cpu);
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
			proto_uint(&b, counts[i].number, stats_number(w->t, cpu, counts[i].name));
		proto_end(&b, one);
	}
	proto_end(&b, stats);
	proto_uint(&b, PACKET_SEQUENCE, 1);
	perfetto_packet(w->out, &b);
	bytes_free(&b);
}

static void put_records(struct writer *w)
{
	struct record r;

	while (trace_next(w->t, &r)) {
		if (w->bundle[r.cpu].size > BUNDLE_MOST)
			flush(w, r.cpu);
		perfetto_tracks_record(&w->tracks, &r);
		if (r.is_gap)
			put_gap(w, &r);
		else
			put_record(w, &r);
		trace_progress(w->t);
	}
	for (unsigned cpu = 0; cpu < w->t->cpus; cpu++)
		flush(w, cpu);
}

void write_perfetto(struct trace *t, FILE *out)
{
	struct writer w = {.out = out, .t = t};

	w.known = xmalloc(t->events * sizeof(*w.known));
	w.bundle = xmalloc(t->cpus * sizeof(*w.bundle));
	w.lost = xmalloc(t->cpus * sizeof(*w.lost));
	for (size_t i = 0; i < t->events; i++)
		w.known[i] = find_known(&t->event[i]);
	put_system(&w);
	put_metadata(&w, "clock", t->clock);
	if (stats_ledger(t))
		put_metadata(&w, "ledger", stats_ledger(t));
	perfetto_tracks_begin(&w.tracks, t, out);
	put_records(&w);
	perfetto_tracks_end(&w.tracks);
	put_stats(&w);
	for (unsigned cpu = 0; cpu < t->cpus; cpu++)
		bytes_free(&w.bundle[cpu]);
	free(w.bundle);
	free(w.known);
	free(w.lost);
}
