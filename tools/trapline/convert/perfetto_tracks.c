/* Track events, which Perfetto draws as slices and instants. See perfetto.h. */
#include "tools/trapline/convert/perfetto.h"

#include <string.h>

#include "tools/trapline/lib/proto.h"

#define LABEL_MOST 200

enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_THREAD = 4, TRACK_PARENT = 5 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_CATEGORY = 22, EVENT_NAME = 23 };
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3 };

enum track_kind { TRACK_TASK = 1, TRACK_MARKS, TRACK_IRQS, TRACK_CALLS, TRACK_IDLE_CALLS };
#define OF_TASKS (1u << TRACK_MARKS | 1u << TRACK_CALLS) /* tracks within a task's */

static uint64_t uuid_of(enum track_kind kind, uint32_t number)
{
	return (uint64_t)kind << 32 | number;
}

void perfetto_packet(FILE *out, const struct bytes *data)
{
	struct bytes b = {.data = NULL};

	proto_bytes(&b, TRACE_PACKET, data->data, data->size);
	fwrite(b.data, 1, b.size, out);
	bytes_free(&b);
}

/* ---- tracks ---- */

static void put_descriptor(
    struct perfetto_tracks *p, enum track_kind kind, uint32_t number, const char *name)
{
	struct bytes b = {.data = NULL};
	size_t track = proto_begin(&b, PACKET_TRACK_DESCRIPTOR);

	proto_uint(&b, TRACK_UUID, uuid_of(kind, number));
	if (kind == TRACK_TASK) {
		size_t thread = proto_begin(&b, TRACK_THREAD);
		proto_uint(&b, THREAD_PID, number);
		proto_uint(&b, THREAD_TID, number);
		proto_string(&b, THREAD_NAME, name);
		proto_end(&b, thread);
	} else {
		proto_string(&b, TRACK_NAME, name);
		if (OF_TASKS >> kind & 1)
			proto_uint(&b, TRACK_PARENT, uuid_of(TRACK_TASK, number));
	}
	proto_end(&b, track);
	proto_uint(&b, PACKET_SEQUENCE, 1);
	perfetto_packet(p->out, &b);
	bytes_free(&b);
}

static const char *track_name(
    const struct perfetto_tracks *p, enum track_kind kind, uint32_t number, char buf[32])
{
	switch (kind) {
	case TRACK_TASK:
		return trace_comm(p->trace, (int32_t)number);
	case TRACK_MARKS:
		return "marks";
	case TRACK_CALLS:
		return "functions";
	case TRACK_IRQS:
		snprintf(buf, 32, "CPU %u interrupts", number);
		return buf;
	case TRACK_IDLE_CALLS:
		snprintf(buf, 32, "CPU %u functions when idle", number);
		return buf;
	}
	return "";
}

/* Said of once, before the first event on it; its parent before it. */
static uint64_t describe(struct perfetto_tracks *p, enum track_kind kind, uint32_t number)
{
	uint64_t uuid = uuid_of(kind, number), *known;
	char name[32];

	if (OF_TASKS >> kind & 1)
		describe(p, TRACK_TASK, number);
	known = map_at(&p->described, uuid);
	if (*known)
		return uuid;
	*known = 1;
	put_descriptor(p, kind, number, track_name(p, kind, number, name));
	return uuid;
}

/* name: NULL of an end. */
static void put_event(struct perfetto_tracks *p, unsigned type, uint64_t track, uint64_t time,
    const char *system, const char *name)
{
	struct bytes b = {.data = NULL};

	proto_uint(&b, PACKET_TIMESTAMP, time);
	size_t event = proto_begin(&b, PACKET_TRACK_EVENT);
	proto_uint(&b, EVENT_TYPE, type);
	proto_uint(&b, EVENT_TRACK, track);
	if (name) {
		proto_string(&b, EVENT_CATEGORY, system);
		proto_string(&b, EVENT_NAME, name);
	}
	proto_end(&b, event);
	proto_uint(&b, PACKET_SEQUENCE, 1);
	perfetto_packet(p->out, &b);
	bytes_free(&b);
}

/* ---- what goes on them ---- */

/* Text that Perfetto reads in ftrace:print. */
static bool is_systrace(const struct perfetto_tracks *p, const struct record *r)
{
	char text[LABEL_MOST];

	semantics_mark_text(p->trace, r, text, sizeof(text));
	return !strcmp(r->event->system, "ftrace") && text[0] && strchr("BECSFNI", text[0]) &&
	       (!text[1] || text[1] == '|');
}

static bool is_native(const struct perfetto_tracks *p, const struct pairing_interval *v)
{
	const struct event *ev = v->record.event;

	switch (v->kind) {
	case PAIRING_IRQ:
		return !strcmp(ev->name, "irq_handler_entry");
	case PAIRING_SYSCALL:
		return !strcmp(ev->system, "raw_syscalls");
	case PAIRING_CALL:
		return false;
	default:
		return is_systrace(p, &v->record);
	}
}

static uint64_t track_of(struct perfetto_tracks *p, const struct pairing_interval *v)
{
	if (v->kind == PAIRING_IRQ)
		return describe(p, TRACK_IRQS, v->record.cpu);
	if (v->kind == PAIRING_CALL)
		return v->record.pid ? describe(p, TRACK_CALLS, v->record.pid)
				     : describe(p, TRACK_IDLE_CALLS, v->record.cpu);
	return describe(p, v->kind == PAIRING_MARK ? TRACK_MARKS : TRACK_TASK, v->record.pid);
}

static uint64_t put_begin(struct perfetto_tracks *p, const struct pairing_interval *v)
{
	uint64_t track = track_of(p, v);

	put_event(p, TYPE_BEGIN, track, v->begin, v->record.event->system,
	    pairing_name(&p->pairing, v->kind, v->word));
	return track;
}

static void put_moment(struct perfetto_tracks *p, const struct record *r)
{
	char text[LABEL_MOST];

	if (!r->event || p->pairing.semantics[r->event - p->trace->event].kind != SEMANTICS_MARK ||
	    is_systrace(p, r))
		return;
	semantics_mark_text(p->trace, r, text, sizeof(text));
	put_event(
	    p, TYPE_INSTANT, describe(p, TRACK_MARKS, r->pid), r->time, r->event->system, text);
}

/*
 * What is open at the end of the trace stays open. Of others there is no telling how long they
 * were: they are moments.
 */
static void unpaired(void *tracks, const struct pairing_interval *v, enum pairing_reason why)
{
	if (why != PAIRING_OPEN)
		put_moment(tracks, &v->record);
	else if (!is_native(tracks, v))
		put_begin(tracks, v);
}

void perfetto_tracks_begin(struct perfetto_tracks *p, struct trace *t, FILE *out)
{
	*p = (struct perfetto_tracks){.trace = t, .out = out};
	pairing_begin(&p->pairing, t);
	p->pairing.unpaired = unpaired;
	p->pairing.context = p;
}

void perfetto_tracks_record(struct perfetto_tracks *p, const struct record *r)
{
	struct pairing_interval v;

	switch (pairing_record(&p->pairing, r, &v)) {
	case PAIRING_NONE:
		if (!r->is_gap)
			put_moment(p, r);
		break;
	case PAIRING_BEGINS:
		break;
	case PAIRING_ENDS:
		if (!is_native(p, &v))
			put_event(p, TYPE_END, put_begin(p, &v), r->time, NULL, NULL);
		break;
	}
}

void perfetto_tracks_end(struct perfetto_tracks *p)
{
	pairing_end(&p->pairing);
	pairing_free(&p->pairing);
	map_clear(&p->described);
}
