/*
 * Reading a trace array's records as lines, in the order of their times over all CPUs: without
 * taking them away (`trace`) and taking them away (`trace_pipe`). Task context under host_lock; a
 * reader belongs to one open file.
 */
#pragma once

#include "trace/event/array.h"
#include "trace/output/output.h"

struct trace_head {
	struct ring_buffer_live *live; /* `trace` only */
	struct ring_buffer_event *ev;  /* next record of this CPU; NULL: none */
	u64 stamp, lost;	       /* of `trace`: whether, not how many */
};

struct trace_reader {
	struct trace_array *tr;
	struct ring_buffer *buffer; /* the array's main one or its spare one */
	int cpu;		    /* -1: all */
	unsigned cpus;		    /* heads */
	u64 lines;
	u64 started; /* a bit per CPU that has shown a line */
	u64 hidden,
	    /* of `trace`: records older than the last clearing; what their CPUs overwrote */
	    hidden_overruns;
	bool shows_longest; /* shows the longest latency, hides older records */
	/* That latency when the reader started; zeroed: the reader does not show it. */
	struct trace_latency longest;
	bool annotate; /* say where a CPU's buffer begins */
	struct trace_symbols *symbols;
	struct trace_head *heads;
	/*
	 * Of `trace`: the CPUs that have a next record, as a heap: the oldest is at 0, and none is
	 * older than the one at (its place - 1) / 2.
	 */
	u8 *queue;
	unsigned queued;
	char *copy;			     /* of a record, ... */
	u32 copy_room;			     /* ... which is as long as this at most */
	const struct trace_printer *printer; /* its tracer's when it began; NULL: none */
	/*
	 * What the printer knows: of each CPU, and (of trace_pipe) of the held record's before its
	 * line was made; NULL: there is no printer, or no memory.
	 */
	char *known;
	/*
	 * Of trace_pipe with such a printer: a record that is taken from the ring, in `copy`,
	 * because its line may need the next one; `held.tr` NULL: there is none.
	 */
	struct trace_line held;
	u64 held_lost;
	const struct ring_buffer_event *with_held; /* the next one, if its line has both; NULL */
};

int trace_reader_init(struct trace_reader *r, struct trace_array *tr, struct ring_buffer *buffer,
    int cpu); /* 0 or -ENOMEM */
void trace_reader_free(struct trace_reader *r);

/* `trace`: records stay, and recording goes on. 0 or -ENOMEM. */
int trace_reader_start(struct trace_reader *r);
void trace_reader_finish(struct trace_reader *r);
bool trace_reader_next(struct trace_reader *r, struct seq *s); /* appends a line; false: no more */
/* The lines before the first, of a reader that was started. */
void trace_print_header(struct seq *s, const struct trace_reader *r);
/* Those of latency-format before its columns; false: nothing, as the buffer is empty. */
bool trace_print_latency_head(struct seq *s, const struct trace_reader *r);

/*
 * `trace_pipe`: looks for the oldest record, appends its line (and the number lost before it); it
 * stays until consumed. A snapshot may take it away in between: then it is not consumed, and its
 * line is not to be shown.
 */
bool trace_reader_peek(struct trace_reader *r, struct seq *s, unsigned *cpu);
bool trace_reader_consume(struct trace_reader *r, unsigned cpu);
bool trace_reader_empty(const struct trace_reader *r); /* any context */
