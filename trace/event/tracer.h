/*
 * A tracer records by itself while recording is on. Each trace array has one; "nop" does nothing.
 * trace/tracer/tracer.h lists all tracers. Task context under host_lock.
 */
#pragma once

#include "kernel/lib/types.h"

struct seq;
struct trace_array;
struct trace_entry;
struct trace_line;
struct trace_out;
struct trace_reader;

/* Options of tracers: bits of trace_array.tracer_options. Those of function_graph are its own. */
enum {
	TRACE_FUNC_STACK = 1,
	TRACE_FUNC_NO_REPEATS = 0x1000,
	TRACE_GRAPH_OVERRUN = 2,
	TRACE_GRAPH_CPU = 4,
	TRACE_GRAPH_OVERHEAD = 8,
	TRACE_GRAPH_PROC = 0x10,
	TRACE_GRAPH_DURATION = 0x20,
	TRACE_GRAPH_ABSTIME = 0x40,
	TRACE_GRAPH_IRQS = 0x80,
	TRACE_GRAPH_TAIL = 0x100,
	TRACE_GRAPH_RETVAL = 0x200,
	TRACE_GRAPH_RETVAL_HEX = 0x400,
	TRACE_GRAPH_SLEEP_TIME = 0x800,
	TRACE_GRAPH_GRAPH_TIME = 0x2000, /* the profiler's, as on Linux */
	TRACE_GRAPH_RETADDR = 0x4000,
	TRACE_GRAPH_RELTIME = 0x8000, /* no option: a column of the latency tracers */
};
#define TRACE_TRACER_OPTIONS /* on at start */                                                     \
	(TRACE_GRAPH_CPU | TRACE_GRAPH_OVERHEAD | TRACE_GRAPH_DURATION | TRACE_GRAPH_IRQS |        \
	    TRACE_GRAPH_SLEEP_TIME | TRACE_GRAPH_GRAPH_TIME)
struct trace_tracer_option {
	const char *name;
	u32 bit;
};

/* The result of asking a tracer to print a record. */
enum trace_printed {
	TRACE_NOT_PRINTED, /* it is to be printed in the ordinary way */
	TRACE_PRINTED,
	TRACE_PRINTED_BOTH /* with the record that follows on its CPU */
};

/* A tracer's own lines. Contexts are those of trace/output/output.h. */
struct trace_printer {
	size_t cpu_size; /* size of the state kept per CPU between lines; zeroed at first */
	void (*header)(struct seq *s, const struct trace_reader *r);
	/*
	 * cpu: the state of the record's CPU; NULL: not known. next: its next record; NULL: none
	 * yet.
	 */
	enum trace_printed (*line)(struct trace_out *out, const struct trace_line *line, void *cpu,
	    const struct trace_entry *next, u32 next_len);
};

struct trace_tracer {
	const char *name;
	/* it becomes the array's tracer: 0 or negative errno */
	int (*init)(struct trace_array *tr);
	void (*reset)(struct trace_array *tr);
	/* A user switched tracing_on of the tracer's array. */
	void (*start)(struct trace_array *tr);
	void (*stop)(struct trace_array *tr);
	const struct trace_tracer_option *options; /* ends with a NULL name; NULL: none */
	void (*options_changed)(struct trace_array *tr);
	/* A user changes a trace option of the tracer's array: 0, or an error to refuse it. */
	int (*option)(struct trace_array *tr, u64 bit, bool on);
	/*
	 * The tracer takes snapshots, and no other user can. `trace` shows the last snapshot, from
	 * the beginning of the array's longest latency on.
	 */
	bool shows_longest;
	const struct trace_printer *printer; /* NULL: lines as of any tracer */
	const struct trace_printer *graph;   /* the same with options/display-graph */
	/* The columns above the lines; NULL: those of any tracer, or the printer's. */
	void (*header)(struct seq *s);
};
extern const struct trace_tracer trace_tracer_nop;

/* Sets the tracer nop, whatever files are open. */
void trace_tracer_drop(struct trace_array *tr);
