/*
 * Triggers: commands that run when an event is hit, recorded or not. The control plane changes the
 * list of an event's file under host_lock; writers walk it in any context. A removed trigger keeps
 * its next pointer for walkers, and is freed after host_synchronize().
 *
 * A trigger may need the record, for its filter or its command. Its file then has TRACE_WAY_LOOKS:
 * the gate builds the record first and calls all triggers of the file with it. trace/event/gate.c
 * has the order of steps.
 *
 * Legend as in trace/event/event.h: [I] set before it is in a list, [L] host_lock, [A] any context.
 */
#pragma once

#include "trace/event/event.h"

/*
 * Triggers of one kind exclude each other on an event (of EVENT and HIST_EVENT: with the same
 * target).
 */
enum trace_trigger_kind {
	TRACE_TRIGGER_ONOFF = 1,
	TRACE_TRIGGER_SNAPSHOT = 2,
	TRACE_TRIGGER_STACKTRACE = 4,
	TRACE_TRIGGER_EVENT = 8,
	TRACE_TRIGGER_HIST_EVENT = 16,
	TRACE_TRIGGER_HIST = 32, /* these do not: each command decides which are equal */
	/* nor these: users cannot add them; they belong to an event that is made from this one */
	TRACE_TRIGGER_FEED = 64,
	TRACE_TRIGGER_WATCH = 128, /* as HIST */
};

/* trace_trigger_command.flags */
enum {
	TRACE_TRIGGER_LOOKS = 1,     /* it needs the record, with or without a filter */
	TRACE_TRIGGER_POST = 2,	     /* if triggers get the record, it acts last: G6 of gate.c */
	TRACE_TRIGGER_TARGET = 4,    /* its argument begins with SYSTEM:EVENT */
	TRACE_TRIGGER_LAST = 8,	     /* listed after all others, the oldest first */
	TRACE_TRIGGER_FUNCTION = 16, /* function commands may use it, too */
	TRACE_TRIGGER_LATER = 32,    /* later than Linux 6.1: not in the list of available ones */
	/*
	 * belongs to the kernel, not to the instance: it also acts for tasks that the PID list
	 * excludes, and `enable` does not show that it needs the event
	 */
	TRACE_TRIGGER_UNSEEN = 64,
};

#define TRACE_TRIGGER_UNLIMITED UINT64_MAX

struct host_context;
struct trace_filter;
struct trace_trigger;

/*
 * The arguments of a trigger for one hit. rec is NULL if no trigger of the file needs the record,
 * and for a trigger that acts last.
 */
struct trace_trigger_hit {
	const struct host_context *ctx; /* NULL: not read; with a record or after it, always set */
	const void *rec;
	u32 len;
	u32 *after; /* act() adds its kind to be called again after the record; NULL: it cannot */
	bool post;  /* the record was made */
};

/* A row of the table of commands. */
struct trace_trigger_command {
	const char *name;
	u8 kind, flags;
	/*
	 * Executes a line of the trigger file. `rest` is the text after the name, its separator and
	 * blanks; NULL: none. Parses and checks all of it first. Task context under host_lock. 0,
	 * or a negative errno without any change.
	 */
	int (*write)(const struct trace_trigger_command *command, struct trace_event_file *file,
	    bool remove, char *rest);
	/* Allocates what act() needs (0 or negative errno), and releases it. NULL: nothing. */
	int (*arm)(struct trace_array *tr);
	void (*disarm)(struct trace_array *tr);
	/* Any context, between host_enter() and host_preempt_enable(); no lock, no allocation. */
	void (*act)(struct trace_trigger *trigger, const struct trace_trigger_hit *hit);
	/* Its line in the list, with the newline. NULL: none. */
	void (*show)(struct seq *s, const struct trace_trigger *trigger);
	/* Frees trigger->data when no walker uses the trigger any more. NULL: there is none. */
	void (*release)(struct trace_trigger *trigger);
};

struct trace_trigger {
	struct trace_trigger *next;		     /* [A] stays for walkers */
	const struct trace_trigger_command *command; /* [I] */
	struct trace_event_file *file;		     /* [I] the file whose hits it handles */
	struct trace_event_file *target;	     /* [I] of TRACE_TRIGGER_TARGET; else NULL */
	struct trace_filter *filter;		     /* [I] NULL: every hit */
	void *data;				     /* [I] the command's own */
	u64 left;		    /* [A] how often it may still act; TRACE_TRIGGER_UNLIMITED */
	struct trace_trigger *dead; /* [L] chain of those taken out together */
	/*
	 * [I] Called instead of act() if the event is on for this trigger alone, and the trigger
	 * needs only numeric fields and does not affect the event. `image` has common fields only
	 * if look_common is set. Any context, between host_preempt_disable() and
	 * host_preempt_enable(). NULL: it needs more.
	 */
	void (*look)(struct trace_trigger *trigger, const void *image);
	bool look_common;
};

/* ---- when an event is hit; any context, between host_enter() and host_preempt_enable() ---- */

static inline bool trace_trigger_looks(const struct trace_trigger *t)
{
	return t->filter || (t->command->flags & TRACE_TRIGGER_LOOKS);
}
/*
 * Calls all triggers of the file. Returns the kinds that must act after the record, for
 * trace_triggers_post().
 */
u32 trace_triggers_call(
    struct trace_event_file *file, const struct host_context *ctx, const void *rec, u32 len);
/* Calls only triggers with TRACE_TRIGGER_UNSEEN. */
void trace_triggers_call_unseen(
    struct trace_event_file *file, const struct host_context *ctx, const void *rec, u32 len);
/*
 * Calls the triggers of these kinds, those that take snapshots first: as on Linux, the records of
 * the others then stay in the live trace.
 */
void trace_triggers_post(struct trace_event_file *file, const struct host_context *ctx, u32 kinds);
/*
 * For commands: trace_trigger_take() takes one of the count (false: none is left),
 * trace_trigger_give() returns an unused one.
 */
bool trace_trigger_take(struct trace_trigger *trigger);
void trace_trigger_give(struct trace_trigger *trigger);
/* Counts that the trigger could not act. */
void trace_trigger_missed(struct trace_trigger *trigger);

/* ---- the control plane; task context under host_lock ---- */

/* The trigger of this file that excludes one of `kind` (and `target`); NULL. */
struct trace_trigger *trace_trigger_find(
    const struct trace_event_file *file, u32 kind, const struct trace_event_file *target);
/*
 * Adds a trigger to the file's list. 0; on -ENOMEM or an error of its command's arm() the caller
 * still owns it. The caller has set command, file, target, filter, data and count, and has checked
 * that no other trigger excludes it.
 */
int trace_trigger_add(struct trace_trigger *trigger);
/* The same in two steps, the second of which cannot fail. */
int trace_trigger_prepare(struct trace_trigger *trigger);
void trace_trigger_link(struct trace_trigger *trigger);
/* Undoes trace_trigger_prepare(); the trigger must not be in use. */
void trace_trigger_disarm(struct trace_trigger *trigger);
/* Removes it from the list for later reuse: on return no CPU runs it. */
void trace_trigger_cut(struct trace_trigger *trigger);
/* Removes it and frees it with its filter and data. Accepts NULL. */
void trace_trigger_remove(struct trace_trigger *trigger);
/* Frees a trigger that was never in a list. Accepts NULL. */
void trace_trigger_free(struct trace_trigger *trigger);
/* Removes the file's triggers of this kind. */
void trace_triggers_clear_kind(struct trace_event_file *file, u32 kind);
/*
 * Removes all triggers of all files of the array, except feeds: those go with the events that need
 * them.
 */
void trace_triggers_clear(struct trace_array *tr);
