/*
 * Dynamic events: those that are defined while the system runs. Each kind (synthetic events,
 * probes, user events) has its own language for definitions; all definitions are in one list, the
 * file dynamic_events. Task context under host_lock.
 *
 * trace_event_register() and trace_event_unregister() (trace/event/file.c) put an event into all
 * instances and take it out. An event can go only while it is enabled nowhere and nobody holds it;
 * its remaining records go with it. Two sorts keep their records, user events and probes with the
 * legacy arguments: their ids stay taken until the rings are empty (trace/event/retired.c).
 *
 * Synthetic events live here: synth_parse.c reads a definition, synth.c makes and removes the
 * event, synth_record.c records, synth_print.c prints. Kernel code defines them through
 * synth_cmd.h.
 */
#pragma once

#include "kernel/lib/list.h"
#include "kernel/lib/seq.h"

struct dynevent;

/* What a kind can do. Registered by its row in dynevent.c. */
struct dynevent_kind {
	/*
	 * Makes an event of a line of dynamic_events: 0, -ECANCELED when the line is not of this
	 * kind, or the error.
	 */
	int (*create)(const char *line);
	/*
	 * Its line in dynamic_events, without the newline: typed in again it makes the same event.
	 */
	void (*show)(struct seq *s, const struct dynevent *ev);
	/* Enabled, or needed by a trigger, a probe, a caller of trace_get_event_file(). */
	bool (*is_busy)(const struct dynevent *ev);
	/* Takes it out of everything and frees it: 0, or -EBUSY and it stays. */
	int (*free)(struct dynevent *ev);
	/*
	 * Is it meant by "-:[system/]event args"? system NULL: any; event "": any, args: what stood
	 * after, up to the line's end.
	 */
	bool (*match)(
	    const struct dynevent *ev, const char *system, const char *event, const char *args);
};

/* Inside the kind's own object. */
struct dynevent {
	struct list_head node; /* all dynamic events, in order of creation */
	const struct dynevent_kind *kind;
};

extern struct list_head dynevents;

void dynevent_add(struct dynevent *ev, const struct dynevent_kind *kind);
void dynevent_remove(struct dynevent *ev);
/* A line of dynamic_events: a definition, or "-:..." or "!...". */
int dynevent_command(const char *line);
/*
 * "-:[SYSTEM/]NAME [...]" or "!PREFIX:[SYSTEM/]NAME [...]": all events that match, of one kind or
 * (NULL) of any. -EINVAL: malformed; -ENOENT: none; -EBUSY: one that could not go, those before it
 * are gone.
 */
int dynevent_release(const char *line, const struct dynevent_kind *kind);
/* All of a kind (NULL: of every kind), or, when one is busy, none and -EBUSY. */
int dynevent_clear(const struct dynevent_kind *kind);
/* As dynamic_events shows them; NULL: every kind. */
void dynevent_show(struct seq *s, const struct dynevent_kind *kind);

/*
 * A write to one of the definition files: each line, without what stands after a '#', to
 * command(), which gets it as a copy it may cut up. Ends at the first that is refused; those before
 * it have had their effect. n or the error. A line is -EINVAL if it has a NUL, or if it takes
 * DYNEVENT_LINE_MAX bytes or more with its newline; the last one needs none.
 */
#define DYNEVENT_LINE_MAX 4096
long dynevent_write(const void *buf, size_t n, int (*command)(char *line));

/*
 * A name of an event or a field: a letter or _, then letters, digits, _. The caller limits its
 * length.
 */
bool dynevent_good_name(const char *name);
#define DYNEVENT_NAME_MAX 63 /* characters of a probe event's name or group */
