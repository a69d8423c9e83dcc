/*
 * The function tracers record calls of functions. trace/host_function.h lists what they need of the
 * host. Task context under host_lock.
 *
 * Words: a set is an array of 64-bit words with a bit for each function. `wanted` functions are
 * those of set_ftrace_filter, `unwanted` ones those of set_ftrace_notrace; without a set of wanted
 * functions, all are wanted. The same holds for set_graph_function, set_graph_notrace (whose
 * functions are `silent`) and stack_trace_filter.
 */
#pragma once

#include "trace/event/array.h"
#include "trace/event/tracer.h"

extern const struct trace_tracer trace_tracer_function, trace_tracer_function_graph;

/*
 * Lists of function_graph (TRACE_GRAPH_*) and of the stack tracer exist in the global array alone.
 */
enum trace_function_list {
	TRACE_FUNCTIONS_WANTED,
	TRACE_FUNCTIONS_UNWANTED,
	TRACE_GRAPH_WANTED,
	TRACE_GRAPH_SILENT,
	TRACE_FUNCTIONS_STACK,
	TRACE_FUNCTION_LISTS
};

/*
 * A list that an open file is changing. It begins with the present contents or empty, and takes
 * effect as a whole when the file is closed.
 */
struct trace_function_edit;
struct trace_function_edit *trace_function_edit_begin(
    struct trace_array *tr, enum trace_function_list which, bool empty); /* NULL: no memory */
/*
 * Adds "NAME", "GLOB" or "NUMBER" (from 1, in the order of available_filter_functions); a leading
 * '!' removes these. 0, -EINVAL: there is no such function. The lists of function_graph accept no
 * numbers, and refuse to remove a function that they do not contain.
 */
int trace_function_edit_word(struct trace_function_edit *e, char *word);
/* 0 or -ENOMEM: the list is unchanged */
int trace_function_edit_end(struct trace_function_edit *e);
void trace_function_list_show(
    struct seq *s, struct trace_array *tr, enum trace_function_list which);

/*
 * Adds the functions of "NAME", "GLOB" or "NUMBER" to a set; a leading '!' removes them. 0;
 * -EINVAL: there is no such function. Needs no host_lock.
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
 * For a tracer that records only some calls in the way of function_graph: its hook's enter() calls
 * one of the first two, its leave() one of the last two. The lists and the depth of function_graph
 * apply, also where the function of a list is one that the tracer does not see.
 * trace_functions_stop() ends it.
 */
struct host_call;
struct host_returned;
int trace_graph_start(struct trace_array *tr, const struct host_hook *hook); /* as the above */
void trace_graph_enter_asked(struct host_hook *hook, u64 *slot);
void trace_graph_enter_unseen(struct host_hook *hook, u64 *slot);
void trace_graph_leave(
    struct host_hook *hook, const struct host_call *call, const struct host_returned *ret);
void trace_graph_leave_unseen(struct host_hook *hook);
/*
 * Records a call that took no time, as a mark; false: recording is off. Any context, as after
 * host_preempt_disable(); the caller prevents recursion.
 */
bool trace_graph_mark(struct trace_array *tr, u64 ip);

/* enabled_functions and touched_functions. */
void trace_functions_show_enabled(struct seq *s, bool touched);
