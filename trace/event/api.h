/*
 * Events for kernel code: an event's file in an instance, switching it, synthetic events made and traced without a shell. Names,
 * arguments and results are those of Linux's events document, section 7.
 *
 * Definitions and files: task context, may sleep; they take host_lock by themselves. Tracing: any context.
 */
#pragma once

#include "kernel/lib/err.h"
#include "trace/dynevent/cmd.h"
#include "trace/event/record.h"
#include "trace/host_context.h"

struct module; /* there are none here: the kernel is one piece */
#define THIS_MODULE ((struct module *)NULL)

/* ---- files ---- */

/*
 * The file of an event in an instance (NULL: the global one). It, its event and its instance stay until it is put back.
 * ERR_PTR(-ENOENT): no such instance; -EINVAL: no such event.
 */
struct trace_event_file *trace_get_event_file(
    const char *instance, const char *system, const char *event);
void trace_put_event_file(struct trace_event_file *file);
/* On or off; NULL stands for any system, any event. 0; -EINVAL: nothing matches; -ENOENT: tr is NULL; -ENOMEM. */
int trace_array_set_clr_event(
    struct trace_array *tr, const char *system, const char *event, bool enable);

/* ---- synthetic events: definitions ---- */

struct synth_field_desc {
	const char *type; /* as in synthetic_events; "char[16]", "char[]" */
	const char *name;
};

/* 0; -EINVAL: malformed, more than 64 fields; -EEXIST; -ENOMEM. What is wrong is in error_log. */
int synth_event_create(
    const char *name, struct synth_field_desc *fields, unsigned n_fields, struct module *mod);
/* 0; -ENOENT; -EBUSY: it is on, a trigger needs it, or a file of it is held. */
int synth_event_delete(const char *name);

void synth_event_cmd_init(struct dynevent_cmd *cmd, char *buf, int maxlen);
/* Pairs of type and name follow. */
#define synth_event_gen_cmd_start(cmd, name, mod, ...)                                             \
	synth_event_gen_cmd_start_list(cmd, name, mod, ##__VA_ARGS__, NULL)
int synth_event_gen_cmd_start_list(
    struct dynevent_cmd *cmd, const char *name, struct module *mod, ...);
int synth_event_gen_cmd_array_start(struct dynevent_cmd *cmd, const char *name, struct module *mod,
    struct synth_field_desc *fields, unsigned n_fields);
int synth_event_add_field(struct dynevent_cmd *cmd, const char *type, const char *name);
int synth_event_add_field_str(struct dynevent_cmd *cmd, const char *type_name);
int synth_event_add_fields(
    struct dynevent_cmd *cmd, struct synth_field_desc *fields, unsigned n_fields);
/* Defines the event. */
#define synth_event_gen_cmd_end(cmd) dynevent_create(cmd)

/* ---- synthetic events: tracing ---- */

/*
 * A value per field, in order: numbers, and addresses of strings. An event that is off is no error. -EINVAL: not a synthetic event,
 * or another number of values than it has fields: nothing is recorded.
 */
int synth_event_trace_array(struct trace_event_file *file, const u64 *vals, unsigned n_vals);
#define synth_event_trace(file, n_vals, ...)                                                       \
	synth_event_trace_list(                                                                    \
	    file, n_vals, (const u64[]){__VA_ARGS__}, sizeof((u64[]){__VA_ARGS__}) / sizeof(u64))
int synth_event_trace_list(
    struct trace_event_file *file, unsigned n_vals, const u64 *vals, unsigned n_given);

struct synth_event_trace_state {
	struct trace_event_file *file; /* NULL: the event is off, values go nowhere */
	struct host_context ctx;
	struct trace_slot slot;
	char *rec; /* NULL: refused, and counted */
	unsigned cur_field;
	bool add_next, add_name;
};

/*
 * Piece by piece. Between start and end the caller stays on its CPU and must not sleep; until the end nothing of the record is seen, and
 * the event cannot be removed. start: -EOPNOTSUPP for an event with dynamic strings, whose room cannot be known yet; then there is
 * nothing to end.
 */
int synth_event_trace_start(
    struct trace_event_file *file, struct synth_event_trace_state *trace_state);
/* The next field, or one by name, not both in one trace. -EINVAL: both, no such field, no field left, a string that is NULL. */
int synth_event_add_next_val(u64 val, struct synth_event_trace_state *trace_state);
int synth_event_add_val(
    const char *field_name, u64 val, struct synth_event_trace_state *trace_state);
/* After every start that gave 0, whatever the additions gave. */
int synth_event_trace_end(struct synth_event_trace_state *trace_state);

/* ---- probe events: definitions ---- */

void kprobe_event_cmd_init(struct dynevent_cmd *cmd, char *buf, int maxlen);
/* Fields as in kprobe_events, "dfd=%ax": -EINVAL for one that is empty, the 129th, and a command of another type. */
#define kprobe_event_gen_cmd_start(cmd, name, loc, ...)                                            \
	kprobe_event_gen_cmd_start_list(cmd, false, name, loc, ##__VA_ARGS__, NULL)
#define kretprobe_event_gen_cmd_start(cmd, name, loc, ...)                                         \
	kprobe_event_gen_cmd_start_list(cmd, true, name, loc, ##__VA_ARGS__, NULL)
int kprobe_event_gen_cmd_start_list(
    struct dynevent_cmd *cmd, bool is_return, const char *name, const char *loc, ...);
int kprobe_event_add_field(struct dynevent_cmd *cmd, const char *field);
#define kprobe_event_add_fields(cmd, ...) kprobe_event_add_fields_list(cmd, ##__VA_ARGS__, NULL)
int kprobe_event_add_fields_list(struct dynevent_cmd *cmd, ...);
/* Define the event: what is wrong is in error_log. */
#define kprobe_event_gen_cmd_end(cmd)	 dynevent_create(cmd)
#define kretprobe_event_gen_cmd_end(cmd) dynevent_create(cmd)
/* 0; -ENOENT; -EBUSY: it is on, or a file of it is held. */
int kprobe_event_delete(const char *name);
