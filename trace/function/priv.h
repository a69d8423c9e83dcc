/* Shared by the files of the function tracers. Legend as in trace/event/event.h. */
#pragma once

#include "trace/function/function.h"
#include "trace/host_context.h"
#include "trace/host_function.h"

/* The last call recorded on a CPU, and the number of its repeats. */
struct trace_function_last {
	u64 ip, parent_ip;
	u64 stamp; /* of the last repeat, by the ring's clock */
	u16 repeats;
};

/* The state of an array, allocated at the first use of its lists, commands or function tracer. */
struct trace_functions {
	struct host_hook hook;
	struct trace_array *tr;		  /* [I] */
	u64 *lists[TRACE_FUNCTION_LISTS]; /* [L] by enum trace_function_list; NULL: none */
	struct trace_commands *commands;  /* [L] command.c; NULL: never used */
	struct trace_function_module *modules[TRACE_FUNCTION_LISTS]; /* [L] the same */
	bool on;     /* [L] its tracer is a function tracer, and the hook is registered */
	u32 options; /* [A] of function, TRACE_FUNC_* bits: they select the slow path */
	u32 asks;    /* [A] of function_graph: graph.c */
	u64 levels;  /* [A] the same: calls of lower levels take the fast path */
	struct trace_event_file *entries, *returns; /* [I] the same: its files, once it was used */
	/* [L] of calls that function_graph followed before it last began */
	struct trace_function_calls {
		u64 missed, left, ended; /* host_hook's */
		u64 cut;		 /* were under way when it ended */
	} gone;
	u8 busy[MAX_CPUS]; /* [C] the context that is recording on the slow path; 0: none */
	struct trace_function_last last[MAX_CPUS]; /* [C] who is busy, alone */
};

/* NULL: no memory. */
struct trace_functions *trace_functions_of(struct trace_array *tr);
/* Sets `set` to the wanted functions (NULL: all) without the unwanted ones (NULL: none). */
void trace_functions_fill_set(u64 *set, const u64 *wanted, const u64 *unwanted);
/* NULL: no memory. The caller frees it. */
u64 *trace_functions_make_set(const u64 *wanted, const u64 *unwanted);
static inline size_t trace_function_set_size(void)
{
	return (host_function_count() + 63) / 64 * sizeof(u64);
}

static inline bool trace_function_in(const u64 *set, unsigned i)
{
	return set[i / 64] >> i % 64 & 1;
}

static inline void trace_function_put(u64 *set, unsigned i, bool in)
{
	u64 bit = 1UL << i % 64;

	set[i / 64] = in ? set[i / 64] | bit : set[i / 64] & ~bit;
}

/*
 * A hash table of the addresses where functions begin, with open addressing, at least half empty. A
 * function keeps its place in it for the table's lifetime. Any context.
 */
struct trace_function_table {
	u32 shift, mask;
	u64 at[]; /* 0: an empty place */
};
#define TRACE_FUNCTION_NOWHERE (~0UL)
/*
 * Makes the table of the functions in a list, by number; NULL: of all functions. Returns NULL if
 * there is no memory. Task context.
 */
struct trace_function_table *trace_function_make_table(const u64 *list);

static inline u64 trace_function_first_place(const struct trace_function_table *t, u64 addr)
{
	return addr * 0x9e3779b97f4a7c15 >> t->shift;
}

static inline u64 trace_function_place(const struct trace_function_table *t, u64 addr)
{
	for (u64 i = trace_function_first_place(t, addr); t->at[i]; i = (i + 1) & t->mask)
		if (t->at[i] == addr)
			return i;
	return TRACE_FUNCTION_NOWHERE;
}

/*
 * Executes "[!]FUNCTIONS:NAME[:PARAM]", split into its parts; param NULL: none. 0, -EINVAL,
 * -ENODEV, -ENOMEM, -EBUSY, or the trigger's error.
 */
int trace_command_write(struct trace_array *tr, char *functions, const char *name, char *param);
void trace_commands_show(struct seq *s, const struct trace_functions *f);
void trace_commands_drop(struct trace_functions *f);
/*
 * The number of commands on a function in all arrays. Linux counts each as a user; here one hook
 * serves all.
 */
unsigned trace_commands_count(unsigned function, unsigned *arrays);

/* The stack tracer's list changed. `room`, here and below: scratch memory for a set. */
void trace_stack_changed(u64 *room);
/* The lists of the global array changed, which the profiler uses: it now wants these. */
void trace_profile_changed(const u64 *set);
/* Its lists changed. */
void trace_functions_changed(struct trace_array *tr, u64 *room);
/* The number of calls that function_graph follows and that have not returned yet. */
u64 trace_graph_calls(const struct trace_functions *f);
/*
 * Guard code against recursion if it may call hooked functions, whose hits lead back to it. The
 * code has its own `busy`: for each CPU the context that runs the code, 0 for none. False: this
 * context runs it already. *before is for trace_function_end(). Any context that stays on its CPU.
 */
bool trace_function_begin(u8 busy[MAX_CPUS], const struct host_context *ctx, u8 *before);
void trace_function_end(u8 busy[MAX_CPUS], const struct host_context *ctx, u8 before);
