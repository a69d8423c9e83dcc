/*
 * Runtime verification. A monitor is an automaton that follows the events of the kernel while it is
 * enabled, and reports an event that its state does not allow: by the event rv:error_NAME, and by
 * its reactor. rv:event_NAME reports each event that the state allows.
 *
 * A monitor is defined by a text (define.c has the language): the kernel's own ones in a file each
 * of this folder, others by the file rv/define. Its events are bound to the tracer's, in the top
 * instance, by triggers that no list shows.
 *
 * A monitor has units, each with a state of its own: one, or one per CPU, or one per task. A unit
 * is idle until a binding says that its automaton begins, and again after an error.
 *
 * Task context under host_lock, unless said. Legend: [I] set before the monitor is listed, [L]
 * host_lock, [A] read by all CPUs.
 */
#pragma once

#include "kernel/lib/list.h"
#include "trace/event/event.h"
#include "trace/event/trigger.h"

#define RV_SYSTEM   "rv"
#define RV_NAME_MAX 31 /* characters of the names of monitors, states and events */

enum { RV_STATES_MAX = 32, RV_EVENTS_MAX = 32, RV_MONITORS_MAX = 64, RV_TEXT_MAX = 4095 };
enum { RV_IDLE = 0xff }; /* in place of a state: of a unit, and where an error leads */

enum rv_scope { RV_GLOBAL, RV_CPU, RV_TASK };

/* What the hit of a binding does to a unit that is idle; RV_FORGETS: to any. */
enum rv_begin {
	RV_FOLLOWS, /* nothing */
	RV_STARTS,  /* the unit gets the initial state, after the event */
	RV_RUNS,    /* the unit gets the initial state, and the event happens in it */
	RV_FORGETS, /* a new task has that number: the unit becomes idle */
};

struct rv_monitor;

/* An event of a monitor as one of the tracer's events; of one event there may be several. */
struct rv_binding {
	struct trace_trigger trigger;  /* [L] on the event's file while the monitor is enabled */
	struct rv_binding *next;       /* [I] */
	struct rv_monitor *monitor;    /* [I] */
	struct trace_event_call *call; /* [I] counted */
	const char *field;	       /* [I] that has the task's number; NULL: the current task */
	u16 offset;		       /* [I] of the field */
	u8 size;		       /* [I] of the field */
	u8 event;		       /* [I] number in monitor->events; not of RV_FORGETS */
	u8 begin;		       /* [I] enum rv_begin */
};

/* What happens on an error, besides the event. Any context. */
struct rv_reactor {
	const char *name;
	void (*react)(const char *message); /* NULL: nothing */
};
extern const struct rv_reactor rv_reactors[]; /* ends with a NULL name; the first does nothing */

struct rv_monitor {
	struct list_head node;					       /* [L] rv_monitors */
	struct trace_handle handle;				       /* [L] while it is listed */
	struct trace_event_call event, error;			       /* event_NAME, error_NAME */
	char event_name[RV_NAME_MAX + 8], error_name[RV_NAME_MAX + 8]; /* [I] */
	const char *name, *description;				       /* [I] into text */
	char *text;						       /* [I] all names are in it */
	bool built_in;						       /* [I] */
	u8 scope, n_states, n_events, initial;			       /* [I] */
	u32 final;						       /* [I] a bit per state */
	const char *states[RV_STATES_MAX], *events[RV_EVENTS_MAX];     /* [I] */
	u8 to[RV_STATES_MAX][RV_EVENTS_MAX]; /* [I] the next state; RV_IDLE: an error */
	struct rv_binding *bindings;	     /* [I] in the order in which a hit asks them */
	const struct rv_reactor *reactor;    /* [A] */
	bool enabled;			     /* [A] */
	u8 *units;			     /* [A] states, by number; NULL: not enabled */
};

extern struct list_head rv_monitors; /* of rv_monitor.node, in the order of their definition */

struct rv_monitor *rv_find(const char *name); /* NULL */
int rv_enable(struct rv_monitor *m);	      /* 0, -ENOMEM, or why an event cannot be on */
void rv_disable(struct rv_monitor *m);
void rv_disable_all(void);
int rv_set_reactor(struct rv_monitor *m, const char *name); /* 0, -EINVAL */

/* Monitoring off: enabled monitors ignore all events. On again: all their units are idle. */
bool rv_is_monitoring(void);
void rv_set_monitoring(bool on);
/* Reacting off: no reactor is called. */
bool rv_is_reacting(void);
void rv_set_reacting(bool on);

/* ---- rv.c and define.c ---- */

/* A definition that is whole: 0, -EEXIST, -ENOMEM, -ENOSPC (as many as there may be). */
int rv_register(struct rv_monitor *m);
int rv_unregister(struct rv_monitor *m);     /* frees it, too: 0; -EBUSY: it or its events are on */
bool rv_is_busy(const struct rv_monitor *m); /* it or one of its events is on */
/* For one that was never registered. */
void rv_free(struct rv_monitor *m);

/*
 * A write to rv/define: definitions, and "!NAME", which removes one. Ends at the first that is
 * refused. Errors go to error_log. 0, -EINVAL, -ENOENT (no such event, no such monitor), -EEXIST,
 * -EBUSY, -ENOSPC, -ENOMEM.
 */
int rv_define(const char *text, size_t n);
void rv_define_show(struct seq *s); /* what was defined so, as a text that defines it */
int rv_define_clear(void);	    /* removes all of that; -EBUSY: none, since one is enabled */

/*
 * The kernel's own monitors, each defined by a text: RV_MONITOR(text) in a file of its own makes
 * one. One whose events the host does not have is left out.
 */
#define RV_MONITOR(text)                                                                           \
	static const char *const rv_built_in __attribute__((used, section("rv_texts"))) = text

void rv_init(void); /* once the global array is there */
void rv_exit(void); /* after rv_disable_all(), when no array is left */
