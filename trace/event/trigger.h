/*
 * Triggers: commands that run when an event is hit, be it recorded or not. The list of an event's
 * file is changed under host_lock and walked by writers in any context; what was taken out keeps
 * its pointer for walkers and is freed after host_synchronize().
 *
 * A trigger may look at the record, by its filter or because its command does. Then its file has
 * TRACE_WAY_LOOKS: the record is built first, and all triggers of the file are called with it. See
 * trace/event/gate.c for the order of things.
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
	TRACE_TRIGGER_HIST = 32, /* these do not: each says itself which are the same */
	/*
	 * nor these: no user puts them in, they come and go with an event that is made of this
	 * one
	 */
	TRACE_TRIGGER_FEED = 64,
	TRACE_TRIGGER_WATCH = 128, /* as HIST */
};

/* trace_trigger_command.flags */
enum {
	TRACE_TRIGGER_LOOKS = 1,     /* it needs the record, with or without a filter */
	TRACE_TRIGGER_POST = 2,	     /* where triggers see the record, it acts last: G6 of gate.c */
	TRACE_TRIGGER_TARGET = 4,    /* its argument begins with SYSTEM:EVENT */
	TRACE_TRIGGER_LAST = 8,	     /* listed after all others, the oldest first */
	TRACE_TRIGGER_FUNCTION = 16, /* calls of functions may pull it, too */
	TRACE_TRIGGER_LATER = 32,    /* later than Linux 6.1: not in the list of available ones */
	/*
	 * the kernel's, not the instance's: acts on tasks that the PID list leaves out, too, and
	 * `enable` does not show that it needs the event
	 */
	TRACE_TRIGGER_UNSEEN = 64,
};

#define TRACE_TRIGGER_UNLIMITED UINT64_MAX

struct host_context;
struct trace_filter;
struct trace_trigger;

/*
 * What a trigger learns about one hit. rec is NULL if no trigger of the file needs the record, and
 * for a trigger that acts last.
 */
struct trace_trigger_hit {
	const struct host_context *ctx; /* NULL: not read; with a record or after it, always set */
	const void *rec;
	u32 len;
};

/* A row of the table of commands. */
struct trace_trigger_command {
	const char *name;
	u8 kind, flags;
	/*
	 * Does what a line says: `rest` is what stands behind the name and its separator, blanks
	 * skipped; NULL: nothing. Parses and checks all of it first. Task context under host_lock;
	 * 0 or negative errno, and then nothing has changed.
	 */
	int (*write)(const struct trace_trigger_command *command, struct trace_event_file *file,
	    bool remove, char *rest);
	/*
	 * Makes what must be there for it to act: 0 or negative errno; and says that it is not
	 * needed any more. NULL: nothing.
	 */
	int (*arm)(struct trace_array *tr);
	void (*disarm)(struct trace_array *tr);
	/* Any context, between host_enter() and host_preempt_enable(); no lock, no allocation. */
	void (*act)(struct trace_trigger *trigger, const struct trace_trigger_hit *hit);
	/* Its line in the list, with the newline. NULL: none. */
	void (*show)(struct seq *s, const struct trace_trigger *trigger);
	/* Frees trigger->data when nobody stands on the trigger any more. NULL: there is none. */
	void (*release)(struct trace_trigger *trigger);
};

struct trace_trigger {
	struct trace_trigger *next;		     /* [A] stays for walkers */
	const struct trace_trigger_command *command; /* [I] */
	struct trace_event_file *file;		     /* [I] whose hits it waits for */
	struct trace_event_file *target;	     /* [I] of TRACE_TRIGGER_TARGET; else NULL */
	struct trace_filter *filter;		     /* [I] NULL: every hit */
	void *data;				     /* [I] the command's own */
	u64 left;		    /* [A] how often it may still act; TRACE_TRIGGER_UNLIMITED */
	struct trace_trigger *dead; /* [L] chain of those taken out together */
	/*
	 * [I] In place of act(), if the event is on for this trigger alone: for one that needs
	 * nothing but numbers among the fields, and changes nothing for the event.
	 * `image` has common fields only if look_common is set. Any context, between
	 * host_preempt_disable() and host_preempt_enable(). NULL: it needs more.
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
 * Calls all triggers of the file. Returns the kinds that are to act after the record, for
 * trace_triggers_post().
 */
u32 trace_triggers_call(
    struct trace_event_file *file, const struct host_context *ctx, const void *rec, u32 len);
/* Calls those alone that have TRACE_TRIGGER_UNSEEN. */
void trace_triggers_call_unseen(
    struct trace_event_file *file, const struct host_context *ctx, const void *rec, u32 len);
/*
 * Calls the triggers of these kinds, snapshot first: as on Linux, what the others record stays in
 * the trace.
 */
void trace_triggers_post(struct trace_event_file *file, const struct host_context *ctx, u32 kinds);
/*
 * For commands. Takes one of the count; false: none is left. What was taken in vain is given back.
 */
bool trace_trigger_take(struct trace_trigger *trigger);
void trace_trigger_give(struct trace_trigger *trigger);
/* Counts that it could not do what it is for. */
void trace_trigger_missed(struct trace_trigger *trigger);

/* ---- the control plane; task context under host_lock ---- */

/* The trigger of this file that excludes one of `kind` (and `target`); NULL. */
struct trace_trigger *trace_trigger_find(
    const struct trace_event_file *file, u32 kind, const struct trace_event_file *target);
/*
 * Puts a trigger into the file's list: 0, -ENOMEM or what its command's arm() said; then it is
 * still the caller's. Command, file, target, filter, data and count are set; what excludes it was
 * looked for.
 */
int trace_trigger_add(struct trace_trigger *trigger);
/* The same in two steps, the second of which cannot fail. */
int trace_trigger_prepare(struct trace_trigger *trigger);
void trace_trigger_link(struct trace_trigger *trigger);
/* What prepare() made is not needed any more; nobody acts on it. */
void trace_trigger_disarm(struct trace_trigger *trigger);
/* Takes it out, for another time: on return nobody acts on it. */
void trace_trigger_cut(struct trace_trigger *trigger);
/* Takes it out and frees it with its filter and data. NULL is fine. */
void trace_trigger_remove(struct trace_trigger *trigger);
/* For one that never was in a list. NULL is fine. */
void trace_trigger_free(struct trace_trigger *trigger);
/* Removes the file's triggers of this kind. */
void trace_triggers_clear_kind(struct trace_event_file *file, u32 kind);
/*
 * Removes all triggers of all files of the array but for feeds, which go with the events that need
 * them.
 */
void trace_triggers_clear(struct trace_array *tr);
