/*
 * Synthetic events: events whose fields are given by whoever defines them (file synthetic_events,
 * s: in dynamic_events, kernel code) and whose records are made of values that hists or kernel code
 * have.
 *
 * A record: the common fields, then 8 bytes a number, dynamic string or stack, SYNTH_STRING_MAX
 * bytes a fixed string; the text of dynamic strings and the words of stacks lie after.
 * Definitions: task context under host_lock; recording: any context.
 */
#pragma once

#include "trace/dynevent/dynevent.h"
#include "trace/event/event.h"
#include "trace/host_context.h"

#define SYNTH_SYSTEM	 "synthetic"
#define SYNTH_NAME_MAX	 255 /* characters of an event's name: a directory is called so */
#define SYNTH_FIELDS_MAX 64
#define SYNTH_STRING_MAX 256 /* with the NUL */
#define SYNTH_STACK_MAX	 16  /* words of a stack in a record: their count, then addresses */
#define SYNTH_DATA_LOC	 "__data_loc " /* begins the type of what is dynamic in `format` */

/* How a type is stored and printed. */
struct synth_type {
	const char *name;
	const char *fmt; /* in print fmt, and with options/verbose */
	u8 size;
	bool negative; /* printed with its sign */
};

struct synth_field {
	const char *name;
	const char *text; /* the type as listed: "unsigned int", "char[16]", "char[]" */
	const struct synth_type *type; /* NULL: a string or a stack */
	u16 size;		       /* of a fixed string as declared; 0: it is dynamic */
	u16 offset;
	bool is_stack;
};

struct synth_event {
	struct dynevent dyn;
	struct trace_event_call call;
	const struct trace_event_field *table; /* as class->fields gives them */
	u32 open;			       /* [A] traces begun and not ended */
	u32 size;			       /* of a record without dynamic strings' text */
	u32 n_dynamic;
	u32 n_fields;
	bool words; /* each field is a number of 8 bytes */
	struct synth_field fields[];
};

extern const struct dynevent_kind synth_dynevent_kind;

struct synth_event *synth_event_find(const char *name); /* NULL */
/*
 * A line of synthetic_events: "NAME TYPE FIELD[; TYPE FIELD ...]" or "!NAME". Errors go to
 * error_log.
 */
int synth_event_command(char *line);
void synth_events_show(struct seq *s);
/* By name: 0, -ENOENT, -EBUSY. */
int synth_event_remove(const char *name);
/*
 * Records in each instance that has the event on. vals: one per field, of strings the address of
 * text that ends within SYNTH_STRING_MAX bytes or is cut there, of stacks that of words up to a 0
 * or as many as there may be. Any context, between host_enter(), which made ctx, and
 * host_preempt_enable().
 */
void synth_event_record(struct synth_event *ev, const struct host_context *ctx, const u64 *vals);

/* ---- of the parser: synth_parse.c ---- */

struct synth_def {
	const char *name;
	u32 n_fields;
	struct synth_field fields[SYNTH_FIELDS_MAX]; /* offsets not yet given */
	char *text;				     /* what all of them point into ... */
	size_t room;				     /* ... and what of it is left */
};

/* What was wrong, as error_log has it. */
struct synth_error {
	const char *text;
	u32 pos; /* in the command */
};

/*
 * "NAME fields ..." that begins at `at` in `cmd` (there for the carets). 0, -EINVAL or -EEXIST and
 * *err, -ENOMEM.
 */
int synth_parse(const char *cmd, const char *at, struct synth_def *def, struct synth_error *err);
void synth_parse_free(struct synth_def *def);
/* Does the line begin as a definition has to: three words before the first ';'? */
bool synth_has_form(const char *line);
extern const char synth_bad_form[];

/* ---- of printing: synth_print.c ---- */

/* class->fields of all of them, and of nothing else. */
const struct trace_event_field *synth_event_table(const struct trace_event_call *call);
void synth_print(struct trace_out *out, const void *rec, u32 len);
void synth_show_fmt(struct seq *s, const struct trace_event_call *call);
extern const struct synth_type synth_types[]; /* ends with a NULL name */

static inline struct synth_event *synth_event_of(const struct trace_event_call *call)
{
	return container_of(call, struct synth_event, call);
}

/* Its text or its words lie after the fields. */
static inline bool synth_is_dynamic(const struct synth_field *f)
{
	return !f->type && !f->size;
}
