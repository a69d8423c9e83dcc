/* Synthetic events traced by kernel code, as in Linux's events document, section 7. Any context. */
#pragma once

#include "trace/event/record.h"
#include "trace/host_context.h"

/*
 * A value per field, in order: numbers, and addresses of strings. An event that is off is no error.
 * -EINVAL: not a synthetic event, or another number of values than it has fields: nothing is
 * recorded.
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
	char *rec; /* the record's image; NULL: there was no room for it */
	unsigned cur_field;
	bool add_next, add_name;
};

/*
 * Piece by piece. Between start and end the caller stays on its CPU and must not sleep; until the
 * end nothing of the record is seen, and the event cannot be removed. start: -EOPNOTSUPP for an
 * event with dynamic strings, whose room cannot be known yet; then there is nothing to end.
 */
int synth_event_trace_start(
    struct trace_event_file *file, struct synth_event_trace_state *trace_state);
/*
 * The next field, or one by name, not both in one trace. -EINVAL: both, no such field, no field
 * left, a string that is NULL.
 */
int synth_event_add_next_val(u64 val, struct synth_event_trace_state *trace_state);
int synth_event_add_val(
    const char *field_name, u64 val, struct synth_event_trace_state *trace_state);
/* After every start that gave 0, whatever the additions gave. */
int synth_event_trace_end(struct synth_event_trace_state *trace_state);
