/*
 * Monitors while they run: the step that a hit makes, the records and reactions that come of it;
 * and enabling, disabling, listing. rv.h has the words. A hit runs in any context, between
 * host_enter() and host_preempt_enable(), without lock or allocation; the rest is task context
 * under host_lock.
 *
 * A hit makes these steps:
 *   V1 the unit is found: the only one, the CPU's, or that of the task whose number a field has
 *   V2 the unit's state is replaced by the one that the event leads to; where that is none, the
 *      unit becomes idle
 *   V3 the event is recorded, or the error: first the reactor acts
 * V2 is one compare-and-exchange: an interrupt, or for tasks another CPU, may hit the same unit.
 *
 * What V3 records may be hit by monitors in turn, by way of a probe of that event. So at most
 * DEPTH_MAX hits are at work on a CPU; a hit above that is counted as missed.
 */
/* hot: runs with each event */
#include "trace/rv/rv.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/file.h"
#include "trace/event/filter.h"
#include "trace/event/record.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_files.h"
#include "trace/host_log.h"
#include "trace/host_memory.h"
#include "trace/output/print.h"

enum {
	CPU_STRIDE = 64,   /* bytes from the unit of a CPU to the next one's */
	TASKS_MAX = 32768, /* numbers of tasks are below that; 0, the idle task, is each CPU's */
	DEPTH_MAX = 4,	   /* task, two interrupts, NMI */
};

struct list_head rv_monitors = LIST_HEAD_INIT(rv_monitors);
static bool monitoring = true, reacting = true; /* [A] */
static u8 depth[MAX_CPUS];			/* [C] */

/* ---- records ---- */

/* Of a monitor of tasks the number comes first. */
struct rv_rec_event {
	struct trace_entry ent;
	u32 state, event, next_state; /* __data_loc */
	bool final_state;
};

struct rv_rec_task_event {
	struct trace_entry ent;
	s32 id;
	u32 state, event, next_state;
	bool final_state;
};

struct rv_rec_error {
	struct trace_entry ent;
	u32 state, event;
};

struct rv_rec_task_error {
	struct trace_entry ent;
	s32 id;
	u32 state, event;
};

#define NUMBER(type_, rec, field, signed_)                                                         \
	{                                                                                          \
		.type = type_, .name = #field, .offset = offsetof(struct rec, field),              \
		.size = sizeof(((struct rec *)0)->field), .is_signed = signed_,                    \
		.kind = TRACE_FIELD_NUMBER                                                         \
	}
#define TEXT(rec, field)                                                                           \
	{                                                                                          \
		.type = "__data_loc char[]", .name = #field,                                       \
		.offset = offsetof(struct rec, field), .size = sizeof(u32), .is_signed = true,     \
		.kind = TRACE_FIELD_DYN_STRING                                                     \
	}

/* The records of one scope and outcome: their fields and their text. */
#define RECORDS(name_, ...)                                                                        \
	static const struct trace_event_field *rv_fields_##name_(                                  \
	    const struct trace_event_call *call __maybe_unused)                                    \
	{                                                                                          \
		static const struct trace_event_field fields[] = {__VA_ARGS__, {.name = NULL}};    \
		return fields;                                                                     \
	}                                                                                          \
	static const struct trace_event_class rv_class_##name_ = {.system = RV_SYSTEM,             \
	    .fixed = sizeof(struct rv_rec_##name_),                                                \
	    .fields = rv_fields_##name_,                                                           \
	    .print = rv_print_##name_}

static void rv_print_states(
    struct trace_out *out, const char *state, const char *event, const char *next, bool final)
{
	seq_printf(out->seq, "%s x %s -> %s%s", state, event, next, final ? " (final)" : "");
}

static void rv_print_event(struct trace_out *out, const void *data, u32 len)
{
	const struct rv_rec_event *rec = data;

	if (len >= sizeof(*rec))
		rv_print_states(out, trace_get_str(rec, len, rec->state),
		    trace_get_str(rec, len, rec->event), trace_get_str(rec, len, rec->next_state),
		    rec->final_state);
}

static void rv_print_task_event(struct trace_out *out, const void *data, u32 len)
{
	const struct rv_rec_task_event *rec = data;

	if (len < sizeof(*rec))
		return;
	seq_printf(out->seq, "%d: ", rec->id);
	rv_print_states(out, trace_get_str(rec, len, rec->state),
	    trace_get_str(rec, len, rec->event), trace_get_str(rec, len, rec->next_state),
	    rec->final_state);
}

static void rv_print_error(struct trace_out *out, const void *data, u32 len)
{
	const struct rv_rec_error *rec = data;

	if (len >= sizeof(*rec))
		seq_printf(out->seq, "event %s not expected in the state %s",
		    trace_get_str(rec, len, rec->event), trace_get_str(rec, len, rec->state));
}

static void rv_print_task_error(struct trace_out *out, const void *data, u32 len)
{
	const struct rv_rec_task_error *rec = data;

	if (len >= sizeof(*rec))
		seq_printf(out->seq, "%d: event %s not expected in the state %s", rec->id,
		    trace_get_str(rec, len, rec->event), trace_get_str(rec, len, rec->state));
}

RECORDS(event, TEXT(rv_rec_event, state), TEXT(rv_rec_event, event), TEXT(rv_rec_event, next_state),
    NUMBER("bool", rv_rec_event, final_state, false));
RECORDS(task_event, NUMBER("int", rv_rec_task_event, id, true), TEXT(rv_rec_task_event, state),
    TEXT(rv_rec_task_event, event), TEXT(rv_rec_task_event, next_state),
    NUMBER("bool", rv_rec_task_event, final_state, false));
RECORDS(error, TEXT(rv_rec_error, state), TEXT(rv_rec_error, event));
RECORDS(task_error, NUMBER("int", rv_rec_task_error, id, true), TEXT(rv_rec_task_error, state),
    TEXT(rv_rec_task_error, event));

#define EVENT_TEXT "%s x %s -> %s%s\", "
#define ERROR_TEXT "event %s not expected in the state %s\", "
#define EVENT_ARGS                                                                                 \
	"__get_str(state), __get_str(event), __get_str(next_state), REC->final_state ? "           \
	"\" (final)\" : \"\""
#define ERROR_ARGS "__get_str(event), __get_str(state)"

/* What a record says: the names, and for an event where it led. */
struct rv_report {
	s32 id;
	const char *state, *event, *next_state; /* NULL: an error */
	bool final;
};

static u32 rv_report_size(const struct rv_report *r, u32 fixed)
{
	return fixed + trace_mem_room(strlen(r->state)) + trace_mem_room(strlen(r->event)) +
	       (r->next_state ? trace_mem_room(strlen(r->next_state)) : 0);
}

static void rv_fill(char *rec, u32 fixed, u32 size, const struct rv_report *r, bool of_task)
{
	u32 *field = (u32 *)(rec + sizeof(struct trace_entry)), at = fixed;

	if (of_task)
		*field++ = r->id;
	*field++ = trace_put_mem(rec, &at, size, r->state, strlen(r->state));
	*field++ = trace_put_mem(rec, &at, size, r->event, strlen(r->event));
	if (!r->next_state)
		return;
	*field++ = trace_put_mem(rec, &at, size, r->next_state, strlen(r->next_state));
	*field = r->final;
}

static void rv_record(struct trace_event_call *call, const struct host_context *ctx,
    const struct rv_report *r, bool of_task)
{
	struct trace_event_file *file = READ_ONCE(call->live);
	u32 fixed = call->class->fixed, size;
	struct trace_slot slot;

	if (!file || unlikely(trace_record_idle(file)))
		return;
	size = rv_report_size(r, fixed);
	char *rec = trace_record_in(&slot, file, ctx, size);
	if (likely(rec)) {
		rv_fill(rec, fixed, size, r, of_task);
		trace_record_end(&slot);
		return;
	}
	if (trace_record_full(file, size))
		return;
	rec = trace_image(size);
	if (rec)
		rv_fill(rec, fixed, size, r, of_task);
	trace_gate_in(file, ctx, rec, size);
	if (rec)
		trace_image_end(size);
}

/* ---- reactions ---- */

static void rv_print_reaction(const char *message)
{
	host_log("%s", message);
}

static void rv_panic_reaction(const char *message)
{
	host_panic(message);
}

const struct rv_reactor rv_reactors[] = {
    {"nop", NULL},
    {"printk", rv_print_reaction},
    {"panic", rv_panic_reaction},
    {.name = NULL},
};

static void rv_react(const struct rv_monitor *m, const struct rv_report *r)
{
	const struct rv_reactor *reactor = READ_ONCE(m->reactor);
	char message[4 * RV_NAME_MAX + 64];

	if (!reactor->react || !READ_ONCE(reacting))
		return;
	fmt_snprintf(message, sizeof(message), "rv: monitor %s does not allow event %s on state %s",
	    m->name, r->event, r->state);
	reactor->react(message);
}

/* ---- a hit ---- */

static u64 rv_number(const void *rec, const struct rv_binding *b)
{
	u64 v = 0;

	memcpy(&v, (const char *)rec + b->offset, b->size);
	return v;
}

/* V1. False: no task has that number. */
static bool rv_find_unit(
    const struct rv_binding *b, const struct trace_trigger_hit *hit, u64 *unit, s32 *id)
{
	const u32 cpu = hit->ctx->cpu;
	u64 pid;

	*id = 0;
	*unit = b->monitor->scope == RV_CPU ? (u64)cpu * CPU_STRIDE : 0;
	if (b->monitor->scope != RV_TASK)
		return true;
	pid = b->field ? rv_number(hit->rec, b) : (u32)hit->ctx->pid;
	*id = pid;
	*unit = pid ? pid : TASKS_MAX + cpu;
	return pid < TASKS_MAX;
}

/* V2. False: the unit stays idle. *from: the state that it happened in, *to: the one it led to. */
static bool rv_step(const struct rv_binding *b, u8 *at, u8 *from, u8 *to)
{
	const struct rv_monitor *m = b->monitor;
	u8 was;

	do {
		was = atomic_load_relaxed(at);
		if (was == RV_IDLE && b->begin == RV_FOLLOWS)
			return false;
		*from = was == RV_IDLE ? m->initial : was;
		*to = was == RV_IDLE && b->begin == RV_STARTS ? m->initial : m->to[*from][b->event];
	} while (!atomic_cas(at, was, *to));
	return was != RV_IDLE || b->begin != RV_STARTS;
}

/* V3. */
static void rv_tell(struct rv_monitor *m, const struct rv_report *r, const struct host_context *ctx)
{
	if (!r->next_state)
		rv_react(m, r);
	rv_record(r->next_state ? &m->event : &m->error, ctx, r, m->scope == RV_TASK);
}

static void rv_hit(struct rv_binding *b, const struct trace_trigger_hit *hit)
{
	struct rv_monitor *m = b->monitor;
	u8 from, to;
	s32 id;
	u64 unit;

	if (!rv_find_unit(b, hit, &unit, &id)) {
		trace_trigger_missed(&b->trigger);
	} else if (b->begin == RV_FORGETS) {
		atomic_store_relaxed(&m->units[unit], RV_IDLE);
	} else if (READ_ONCE(m->enabled) && READ_ONCE(monitoring) &&
		   rv_step(b, &m->units[unit], &from, &to)) {
		const struct rv_report r = {.id = id,
		    .state = m->states[from],
		    .event = m->events[b->event],
		    .next_state = to == RV_IDLE ? NULL : m->states[to],
		    .final = to != RV_IDLE && m->final >> to & 1};
		rv_tell(m, &r, hit->ctx);
	}
}

static void rv_act(struct trace_trigger *t, const struct trace_trigger_hit *hit)
{
	u8 *deep = &depth[hit->ctx->cpu];

	if (*deep >= DEPTH_MAX) {
		trace_trigger_missed(t);
		return;
	}
	WRITE_ONCE(*deep, *deep + 1);
	rv_hit(container_of(t, struct rv_binding, trigger), hit);
	WRITE_ONCE(*deep, *deep - 1);
}

/* Last of the file's triggers, so that bindings act in the order of their definition. */
static const struct trace_trigger_command rv_command = {
    .name = RV_SYSTEM,
    .kind = TRACE_TRIGGER_FEED,
    .flags = TRACE_TRIGGER_LOOKS | TRACE_TRIGGER_LAST | TRACE_TRIGGER_UNSEEN,
    .act = rv_act,
};

/* ---- enabling ---- */

static size_t rv_units_size(const struct rv_monitor *m)
{
	static const size_t sizes[] = {
	    [RV_GLOBAL] = 1, [RV_CPU] = MAX_CPUS * CPU_STRIDE, [RV_TASK] = TASKS_MAX + MAX_CPUS};

	return sizes[m->scope];
}

/* Those in front of `end`, which stay for another time. */
static void rv_cut(struct rv_monitor *m, const struct rv_binding *end)
{
	for (struct rv_binding *b = m->bindings; b != end; b = b->next)
		trace_trigger_cut(&b->trigger);
	host_free(m->units);
	m->units = NULL;
}

int rv_enable(struct rv_monitor *m)
{
	if (m->enabled)
		return 0;
	m->units = host_alloc(rv_units_size(m));
	if (!m->units)
		return -ENOMEM;
	memset(m->units, RV_IDLE, rv_units_size(m));
	for (struct rv_binding *b = m->bindings; b; b = b->next) {
		b->trigger.command = &rv_command;
		b->trigger.file = trace_event_file_of(trace_global, b->call);
		b->trigger.left = TRACE_TRIGGER_UNLIMITED;
		int err = trace_trigger_add(&b->trigger);
		if (err) {
			rv_cut(m, b);
			return err;
		}
	}
	WRITE_ONCE(m->enabled, true); /* after the last: what one binding sees, all do */
	return 0;
}

void rv_disable(struct rv_monitor *m)
{
	if (!m->enabled)
		return;
	WRITE_ONCE(m->enabled, false);
	rv_cut(m, NULL);
}

int rv_set_reactor(struct rv_monitor *m, const char *name)
{
	for (const struct rv_reactor *r = rv_reactors; r->name; r++)
		if (!strcmp(r->name, name)) {
			WRITE_ONCE(m->reactor, r);
			return 0;
		}
	return -EINVAL;
}

bool rv_is_monitoring(void)
{
	return monitoring;
}

/* What happened meanwhile is unknown: so all units begin anew. */
void rv_set_monitoring(bool on)
{
	struct rv_monitor *m;

	if (on && !monitoring)
		list_for_each_entry (m, &rv_monitors, node)
			if (m->enabled)
				memset(m->units, RV_IDLE, rv_units_size(m));
	WRITE_ONCE(monitoring, on);
	host_synchronize();
}

bool rv_is_reacting(void)
{
	return reacting;
}

void rv_set_reacting(bool on)
{
	WRITE_ONCE(reacting, on);
	host_synchronize();
}

/* ---- the list ---- */

struct rv_monitor *rv_find(const char *name)
{
	struct rv_monitor *m;

	list_for_each_entry (m, &rv_monitors, node)
		if (!strcmp(m->name, name))
			return m;
	return NULL;
}

static void rv_prepare_events(struct rv_monitor *m)
{
	bool of_task = m->scope == RV_TASK;

	fmt_snprintf(m->event_name, sizeof(m->event_name), "event_%s", m->name);
	fmt_snprintf(m->error_name, sizeof(m->error_name), "error_%s", m->name);
	m->event = (struct trace_event_call){
	    .class = of_task ? &rv_class_task_event : &rv_class_event,
	    .name = m->event_name,
	    .print_fmt =
		of_task ? "\"%d: " EVENT_TEXT "REC->id, " EVENT_ARGS : "\"" EVENT_TEXT EVENT_ARGS,
	};
	m->error = (struct trace_event_call){
	    .class = of_task ? &rv_class_task_error : &rv_class_error,
	    .name = m->error_name,
	    .print_fmt =
		of_task ? "\"%d: " ERROR_TEXT "REC->id, " ERROR_ARGS : "\"" ERROR_TEXT ERROR_ARGS,
	};
}

static bool rv_list_is_full(void)
{
	const struct rv_monitor *m;
	u32 n = 0;

	list_for_each_entry (m, &rv_monitors, node)
		n++;
	return n >= RV_MONITORS_MAX;
}

int rv_register(struct rv_monitor *m)
{
	if (rv_find(m->name))
		return -EEXIST;
	if (rv_list_is_full())
		return -ENOSPC;
	rv_prepare_events(m);
	int err = trace_event_register(&m->event);
	if (err)
		return err;
	err = trace_event_register(&m->error);
	if (err) {
		trace_event_unregister(&m->event);
		return err;
	}
	for (struct rv_binding *b = m->bindings; b; b = b->next)
		trace_event_get(b->call);
	m->reactor = rv_reactors;
	trace_handle_begin(&m->handle);
	list_add_tail(&m->node, &rv_monitors);
	host_directory_made(m->name, "monitors");
	return 0;
}

void rv_free(struct rv_monitor *m)
{
	struct rv_binding *next;

	for (struct rv_binding *b = m->bindings; b; b = next) {
		next = b->next;
		trace_filter_free(b->trigger.filter);
		host_free(b);
	}
	host_free(m->text);
	host_free(m);
}

bool rv_is_busy(const struct rv_monitor *m)
{
	return m->enabled || trace_event_busy(&m->event) || trace_event_busy(&m->error);
}

int rv_unregister(struct rv_monitor *m)
{
	if (rv_is_busy(m))
		return -EBUSY;
	trace_event_unregister(&m->event);
	trace_event_unregister(&m->error);
	for (struct rv_binding *b = m->bindings; b; b = b->next)
		trace_event_put(b->call);
	trace_handle_end(&m->handle);
	list_del(&m->node);
	rv_free(m);
	return 0;
}

void rv_disable_all(void)
{
	struct rv_monitor *m;

	list_for_each_entry (m, &rv_monitors, node)
		rv_disable(m);
}

void rv_exit(void)
{
	struct rv_monitor *m, *next;

	list_for_each_entry_safe (m, next, &rv_monitors, node)
		rv_unregister(m);
	monitoring = reacting = true;
}
