/*
 * The function tracers: records of functions that are called. What the tracer needs of its host is
 * in trace/host_function.h. Task context under host_lock.
 *
 * Words: a set is a bit for each function, in words of 64. `wanted` are those of set_ftrace_filter,
 * `unwanted` those of set_ftrace_notrace; no set of wanted ones means all. So it is with those of
 * set_graph_function and set_graph_notrace, whose functions are `silent`, and stack_trace_filter.
 */
#pragma once

#include "trace/event/array.h"
#include "trace/event/tracer.h"

extern const struct trace_tracer trace_tracer_function, trace_tracer_function_graph;

/* The graph's are function_graph's, the last the stack tracer's: the global array's alone. */
enum trace_function_list {
	TRACE_FUNCTIONS_WANTED,
	TRACE_FUNCTIONS_UNWANTED,
	TRACE_GRAPH_WANTED,
	TRACE_GRAPH_SILENT,
	TRACE_FUNCTIONS_STACK,
	TRACE_FUNCTION_LISTS
};

/*
 * A list that is being changed, by an open file: it begins as it is, or empty, and takes effect as
 * a whole when it is closed.
 */
struct trace_function_edit;
struct trace_function_edit *trace_function_edit_begin(
    struct trace_array *tr, enum trace_function_list which, bool empty); /* NULL: no memory */
/*
 * "NAME", "GLOB", "NUMBER" (from 1, as available_filter_functions lists them); with '!' before it:
 * not these. 0, -EINVAL: there is no such function. The lists of function_graph know no numbers,
 * and what is not in them cannot be taken out.
 */
int trace_function_edit_word(struct trace_function_edit *e, char *word);
int trace_function_edit_end(struct trace_function_edit *e); /* 0 or -ENOMEM: it is as it was */
void trace_function_list_show(
    struct seq *s, struct trace_array *tr, enum trace_function_list which);

/*
 * Adds the functions that "NAME", "GLOB" or "NUMBER" means to a set with a bit for each function; a
 * leading '!' removes them. 0; -EINVAL: there is no such function. Needs no host_lock.
 */
int trace_function_set_word(u64 *set, const char *word);

/* ---- the stack tracer: stack.c ---- */

int trace_stack_switch(bool on); /* 0, -ENOMEM, -EBUSY */
u64 trace_stack_max(void);	 /* any context */
void trace_stack_set_max(u64 size);
int trace_stack_show(struct seq *s); /* 0, -ENOMEM */

/* ---- the profiler: profile.c ---- */

int trace_profile_switch(bool on); /* 0, -ENOMEM, -EBUSY */
bool trace_profile_is_on(void);
int trace_profile_show(struct seq *s, unsigned cpu); /* 0, -ENOMEM */

/*
 * For a tracer that records functions. Between these two calls the kernel calls the hook for the
 * functions of set_ftrace_filter. 0, -ENOMEM, -EBUSY.
 */
struct host_hook;
int trace_functions_start(struct trace_array *tr, const struct host_hook *hook);
void trace_functions_stop(struct trace_array *tr);

/*
 * For a tracer that records calls as function_graph does, but only some: its hook's enter() and
 * leave() call these, one of the last two for each call that was followed. The lists and the depth
 * of function_graph are asked. trace_functions_stop() ends it.
 */
struct host_call;
struct host_returned;
int trace_graph_start(struct trace_array *tr, const struct host_hook *hook); /* as the above */
void trace_graph_enter_asked(struct host_hook *hook, u64 *slot);
void trace_graph_leave(
    struct host_hook *hook, const struct host_call *call, const struct host_returned *ret);
void trace_graph_leave_unseen(struct host_hook *hook);
/*
 * A call that took no time, as a mark; false: recording is off. Any context, as after
 * host_preempt_disable(); the caller prevents recursion.
 */
bool trace_graph_mark(struct trace_array *tr, u64 ip);

/* enabled_functions and touched_functions. */
void trace_functions_show_enabled(struct seq *s, bool touched);
