/*
 * A trace as the commands see it: formats, names, and records in the order of their times over all
 * CPUs. It is read from a trace.dat file (trace_open()). Damage is said, and what is whole is given
 * all the same.
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

/* Where a CPU's records come from, and how far we are. */
struct cpu {
	const uint8_t *pages; /* what there is of them */
	uint64_t bytes;
	uint64_t at; /* of the next page */
	struct page_walk walk;
	bool has; /* walk.record is the next record */
	bool gap; /* events were lost before it: said first */
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
	char *clock, *uname, *stats; /* "" if not said; stats: of all CPUs, then the ledger */
	const uint8_t *origin;	     /* what made it (origin.h), in the file */
	size_t origin_size;
	bool in_ns;
	uint64_t clock_base, clock_mult,
	    /*
	     * of records of a memory: ns = ((time - base) * mult >> 32) + add; mult 0: as they are
	     */
	    clock_add;
	uint64_t id;
	enum records records;
	uint32_t page_size; /* of each of the CPUs' pages */
	struct cpu *cpu;
	unsigned cpus;
	uint64_t pages_done, pages_all;
	bool damaged; /* something was wrong, and said */
};

struct record {
	bool is_gap; /* no record: `lost` events are missing before this time */
	uint64_t lost;
	bool lost_unknown; /* and more, or some if `lost` is 0 */
	unsigned cpu;
	uint64_t time;		   /* ns, if trace.in_ns */
	const struct event *event; /* NULL: there is no format of that number */
	uint16_t id;
	uint8_t flags, preempt;
	int32_t pid;
	const uint8_t *data;
	uint32_t size;
};

/* False, said: it is no trace at all. */
bool trace_open(struct trace *t, const char *name);
/* The same of what was read already, which is the trace's from now on. */
bool trace_open_in(struct trace *t, const char *name, struct in in);
bool trace_next(struct trace *t, struct record *r);
void trace_close(struct trace *t);

const char *trace_comm(const struct trace *t, int32_t pid);
/* The function that an address lies in; NULL: none that the trace names. */
const char *trace_function(const struct trace *t, uint64_t address);
/* "name+0x12" into buf, or false. */
bool trace_symbol(const struct trace *t, uint64_t address, char *buf, size_t size);
/* As field_value(), but a pointer to a text that is known is that text. */
void trace_value(
    const struct trace *t, const struct record *r, const struct field *f, struct value *v);
/* The flags as `trace` has them, 5 characters and a NUL. */
void trace_flags(const struct record *r, char out[6]);

/* Fills what an open trace needs; for those who read other sources. */
void trace_add_format(struct trace *t, const char *system, const char *text, size_t size);
void trace_parse_comms(struct trace *t, const char *text, size_t size);
void trace_parse_symbols(struct trace *t, const char *text, size_t size);
void trace_parse_printk(struct trace *t, const char *text, size_t size);
/* "[local] global ..." */
void trace_set_clock(struct trace *t, const char *text, size_t size);
/* The events by their numbers, once all formats are there; and none of them again. */
void trace_index(struct trace *t);
void trace_drop_formats(struct trace *t);
void trace_say(struct trace *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Says how far it is, for commands that take long (lib/output.h). */
void trace_progress(const struct trace *t);
