/*
 * A trace as the commands see it: formats, names, and the records of all CPUs in the order of their
 * times. trace_open() reads it from a trace.dat file. It reports damage, and still returns the
 * intact part.
 */
#pragma once

#include "tools/trapline/trace/format.h"
#include "tools/trapline/trace/page.h"

#define CPUS_MOST 4096

struct name {
	uint64_t key; /* pid, address */
	char *text;
};

struct names {
	struct name *name;
	size_t count;
};

/* The source of a CPU's records, and the present position. */
struct cpu {
	const uint8_t *pages; /* the pages with records */
	uint64_t bytes;
	uint64_t at; /* of the next page */
	struct page_walk walk;
	bool has; /* walk.record is the next record */
	bool gap; /* events were lost before it, which is reported first */
	uint64_t lost;
	bool lost_unknown;
};

struct trace {
	const char *file; /* its name, for messages */
	struct in in;
	struct event *event;
	size_t events;
	struct event **by_id; /* 65536 */
	struct names comms, printks, symbols;
	char *clock, *uname, *stats; /* "" if missing; stats: of all CPUs, then the ledger */
	const uint8_t *origin;	     /* its origin (origin.h), in the file */
	size_t origin_size;
	bool in_ns;
	uint64_t clock_base, clock_mult,
	    /*
	     * of records of a memory: ns = ((time - base) * mult >> 32) + add; mult 0: as they are
	     */
	    clock_add;
	uint64_t id;
	enum records records;
	uint32_t page_size; /* of every page */
	struct cpu *cpu;
	unsigned cpus;
	uint64_t pages_done, pages_all;
	bool damaged; /* damage was found and reported */
};

struct record {
	bool is_gap; /* no record: `lost` events are missing before this time */
	uint64_t lost;
	bool lost_unknown; /* and more, or some if `lost` is 0 */
	unsigned cpu;
	uint64_t time;		   /* ns, if trace.in_ns */
	const struct event *event; /* NULL: there is no format with this id */
	uint16_t id;
	uint8_t flags, preempt;
	int32_t pid;
	const uint8_t *data;
	uint32_t size;
};

/* False, after a message: it is no trace at all. */
bool trace_open(struct trace *t, const char *name);
/* The same for contents already read, which the trace takes over. */
bool trace_open_in(struct trace *t, const char *name, struct in in);
bool trace_next(struct trace *t, struct record *r);
void trace_close(struct trace *t);

const char *trace_comm(const struct trace *t, int32_t pid);
/* The function that contains an address; NULL: none that the trace names. */
const char *trace_function(const struct trace *t, uint64_t address);
/* "name+0x12" into buf, or false. */
bool trace_symbol(const struct trace *t, uint64_t address, char *buf, size_t size);
/* As field_value(), but returns the text of a pointer to a known text. */
void trace_value(
    const struct trace *t, const struct record *r, const struct field *f, struct value *v);
/* The flags in the form of `trace`, 5 characters and a NUL. */
void trace_flags(const struct record *r, char out[6]);

/* Add parts of a trace, for readers of other sources. */
void trace_add_format(struct trace *t, const char *system, const char *text, size_t size);
void trace_parse_comms(struct trace *t, const char *text, size_t size);
void trace_parse_symbols(struct trace *t, const char *text, size_t size);
void trace_parse_printk(struct trace *t, const char *text, size_t size);
/* "[local] global ..." */
void trace_set_clock(struct trace *t, const char *text, size_t size);
/* Builds the index of events by id once all formats are added; and drops all formats again. */
void trace_index(struct trace *t);
void trace_drop_formats(struct trace *t);
void trace_say(struct trace *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Reports progress, for long commands (lib/output.h). */
void trace_progress(const struct trace *t);
