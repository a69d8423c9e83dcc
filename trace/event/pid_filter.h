/*
 * set_event_pid and set_event_notrace_pid: whose events an array records; set_ftrace_pid and
 * set_ftrace_notrace_pid: whose calls of functions. The host's scheduler says who runs where; a
 * byte per CPU and array holds what follows from it, so that an event asks one byte and no list. A
 * hook of functions is told, so that calls of other tasks do not even reach it.
 */
#pragma once

#include "trace/event/array.h"
#include "trace/host_context.h"

/*
 * As on Linux, whose task is gone stays listed for a while: here until so many more have gone, or
 * the number comes back.
 */
#define TRACE_PIDS_GONE 8

enum trace_pid_lists { TRACE_PIDS_EVENTS, TRACE_PIDS_FUNCTIONS };

/* What an array has of either from the first list on. */
struct trace_pids {
	struct pid_set *wanted, *unwanted; /* [A] NULL: no such list */
	struct trace_pids *next;	   /* [A] all that have a list */
	struct trace_array *tr;		   /* [I] */
	s32 gone[TRACE_PIDS_GONE]; /* [A] still listed though their tasks are no more; 0: none */
	u32 gone_next;		   /* [A] whose turn it is */
	enum trace_pid_lists of;   /* [I] */
	bool active;		   /* [L] in that list */
};

/*
 * Are the current task's events not wanted? Any context, between host_enter() and
 * host_preempt_enable(), while file->way says PID.
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
 * From the host's scheduler, on the CPU it happens on, which stays the same between begin and end.
 * A switch is an event of both tasks, a wake-up of who wakes and of who is woken: between begin and
 * end an array ignores it only if it would for both.
 */
void trace_pid_switch_begin(s32 prev, s32 next);
void trace_pid_switch_end(s32 next);
void trace_pid_wakeup_begin(s32 woken);
void trace_pid_wakeup_end(s32 current_pid);
/*
 * options/event-fork, options/function-fork: a child of who is listed is listed; whose task is
 * freed is so no more. Preemption off.
 */
void trace_pid_fork(s32 parent, s32 child);
void trace_pid_free(s32 pid);

/*
 * The files. `notrace`: which of the two. A write of any length adds all its pids or, if one is
 * wrong, none: -EINVAL, -EPERM (one is too large, or too many are larger than any task's), -ENOMEM.
 * Returns the bytes taken, fewer than n if there is a NUL. host_lock held.
 */
ssize trace_pid_write(
    struct trace_array *tr, enum trace_pid_lists of, bool notrace, const char *buf, size_t n);
void trace_pid_clear(struct trace_array *tr, enum trace_pid_lists of, bool notrace);
void trace_pid_show(
    struct seq *s, const struct trace_array *tr, enum trace_pid_lists of, bool notrace);
/* The array has another hook, or none: from now on that one is told. */
void trace_pid_set_hook(struct trace_array *tr, struct host_hook *hook);
/* The array goes away: writers have left it, or will before host_synchronize() returns. */
void trace_pid_drop(struct trace_array *tr);
