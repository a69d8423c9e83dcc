/*
 * set_event_pid and set_event_notrace_pid select the tasks whose events an array records;
 * set_ftrace_pid and set_ftrace_notrace_pid those whose function calls. The host's scheduler
 * reports which task runs on which CPU. A byte per CPU and array caches the decision, so an event
 * reads one byte and no list. The function hook is told as well, so calls of other tasks do not
 * even reach it.
 */
#pragma once

#include "trace/event/array.h"
#include "trace/host_context.h"

/*
 * As on Linux, the pid of a task that ended stays listed for a while: here until this many more
 * have ended, or the pid is reused.
 */
#define TRACE_PIDS_GONE 8

enum trace_pid_lists { TRACE_PIDS_EVENTS, TRACE_PIDS_FUNCTIONS };

/* The state of an array for either kind, allocated with its first list. */
struct trace_pids {
	struct pid_set *wanted, *unwanted; /* [A] NULL: no such list */
	struct trace_pids *next;	   /* [A] all that have a list */
	struct trace_array *tr;		   /* [I] */
	/* [A] pids still listed although their tasks have ended; 0: none */
	s32 gone[TRACE_PIDS_GONE];
	u32 gone_next;		 /* [A] index of the next to replace */
	enum trace_pid_lists of; /* [I] */
	bool active;		 /* [L] in that list */
};

/*
 * True if the array ignores the current task's events. Any context, between host_enter() and
 * host_preempt_enable(), while file->way has TRACE_WAY_PID.
 */
static inline bool trace_pid_ignored(const struct trace_array *tr, const struct host_context *ctx)
{
	return READ_ONCE(tr->pid_ignore[ctx->cpu]);
}

/*
 * The tracepoints whose call sites call the functions below; they are kept on while there are
 * lists. At most 8; once, at boot.
 */
void trace_pid_set_keys(struct trace_key *const *keys, unsigned n);

/*
 * The host's scheduler calls these on the CPU of the switch or wake-up, and stays on it between
 * begin and end. A switch belongs to both tasks, a wake-up to the waker and the woken task: between
 * begin and end, an array ignores the events only if it would for both.
 */
void trace_pid_switch_begin(s32 prev, s32 next);
void trace_pid_switch_end(s32 next);
void trace_pid_wakeup_begin(s32 woken);
void trace_pid_wakeup_end(s32 current_pid);
/*
 * options/event-fork, options/function-fork: a listed task's child is listed, too; a freed task's
 * pid is removed. Preemption off.
 */
void trace_pid_fork(s32 parent, s32 child);
void trace_pid_free(s32 pid);

/*
 * The files; `notrace` selects the list. A write adds all its pids or, if one is invalid, none:
 * -EINVAL, -EPERM (one is too large, or too many are larger than any task's), -ENOMEM. Returns the
 * bytes consumed, fewer than n if there is a NUL. host_lock held.
 */
ssize trace_pid_write(
    struct trace_array *tr, enum trace_pid_lists of, bool notrace, const char *buf, size_t n);
void trace_pid_clear(struct trace_array *tr, enum trace_pid_lists of, bool notrace);
void trace_pid_show(
    struct seq *s, const struct trace_array *tr, enum trace_pid_lists of, bool notrace);
/* The array has another hook or none; later changes are reported to this one. */
void trace_pid_set_hook(struct trace_array *tr, struct host_hook *hook);
/*
 * The array is about to be freed: writers have left it, or will before host_synchronize() returns.
 */
void trace_pid_drop(struct trace_array *tr);
