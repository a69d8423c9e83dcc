/*
 * Where in the machine's memory the tracer's rings are, for who sees that memory from outside: a debugger, or the host of a virtual
 * machine whose memory is a file (`trapline live`, `trapline extract`). Nothing is done for such a reader while events are recorded; it
 * finds its way by this page, reads what it wants, and looks whether it was still true when it had read it (docs/export.md).
 *
 * The page is found by its first bytes, at a multiple of 4096, when `self` is its physical address. All other addresses are
 * virtual: from direct_base on they are physical addresses plus that; from image_base on, plus that minus image_offset.
 */
#pragma once

#include <stdint.h>

#define TRACE_EXPORT_MAGIC   "Trapline's trace rings\n" /* 23 characters and a NUL */
#define TRACE_EXPORT_VERSION 2

/* The fields of structures of the kernel: what is at which offset of which. */
#define TRACE_EXPORT_OFFSETS(X)                                                                             \
	X(array_buffer) /* of a trace array: its ring buffer, ... */                                        \
	X(array_clock)	/* ... its clock, whose first word is the name's address; ... */                    \
	X(array_next)	/* ... the next array's same place; the list is a ring */                           \
	X(array_name)	/* ... its name, "" for the global one; ... */                                      \
	X(array_files)	/* ... the list of its files of events, a ring of file_node places; ... */          \
	X(array_ledger) /* ... where the counts of events that are gone are: by CPU, ledger_size apart */   \
	X(ledger_size)                                                                                      \
	X(file_node)   /* of a file of an event: its place in that list, ... */                             \
	X(file_call)   /* ... its event, ... */                                                             \
	X(file_counts) /* ... and where its counts are: by CPU, count_size apart; 0: never used */          \
	X(count_size)                                                                                       \
	X(call_name)	/* of an event: where its name is, ... */                                           \
	X(call_class)	/* ... and its class, ... */                                                        \
	X(class_system) /* ... in which is where the system's name is */                                    \
	X(clock_read)	/* of a clock: 0 if it stamps with the TSC */                                       \
	X(clock_to_ns)	/* 0 if its numbers are no times */                                                 \
	X(buffer_cpus)	/* of a buffer: u32, how many lanes it has, ... */                                  \
	X(buffer_lanes) /* ... the first one, ... */                                                        \
	X(lane_size)	/* ... how far apart they are */                                                    \
	X(lane_ring) /* of a lane: its ring. The rest is of that; trace/ring_buffer.c says what it means */ \
	X(ring_tail)                                                                                        \
	X(ring_number)                                                                                      \
	X(ring_slots)                                                                                       \
	X(ring_count)                                                                                       \
	X(ring_evicted_events)                                                                              \
	X(ring_evicted_pages)                                                                               \
	X(ring_page)                                                                                        \
	X(ring_next)                                                                                        \
	X(ring_skipped)                                                                                     \
	X(ring_next_seq)

struct trace_export {
	char magic[24];
	uint64_t self;
	uint32_t version, size;
	uint64_t direct_base, image_base, image_offset;
	uint64_t ram_end;		 /* physical: what of RAM lies above 4 GiB ends there */
	uint64_t clock_base, clock_mult; /* ns = (stamp - base) * mult >> 32 */
	uint64_t unix_ns;		 /* from 1970 to the clock's 0 */
	uint64_t change;  /* odd while the list of formats, or the table of names, is taken apart */
	uint64_t formats; /* the first struct trace_export_format */
	uint64_t array;	  /* the global trace array */
	uint64_t
	    texts; /* addresses of texts that records point at (printk_formats), 0 between them ... */
	uint64_t text_count;
	uint64_t
	    comms; /* where the address of the table of names is: 16 bytes of name, then the pid as s32; each comm_size bytes ... */
	uint64_t comm_count; /* ... and where their number, u32, is */
	uint64_t symbols
	    [5]; /* functions: their number, the first one's address, then addresses: of u32s, how far each is from that;
				of u32s, where its name is in ...; the names */
	uint32_t comm_size;
	char release[44];
#define X(name) uint32_t name;
	TRACE_EXPORT_OFFSETS(X)
#undef X
};

/* Counts of an event, or of those that are gone. hit = recorded + lost + filtered + pid_filtered + soft_off + too_deep */
struct trace_export_counts {
	uint64_t hit, lost, filtered, pid_filtered, soft_off, too_deep;
};

/* Of an event that was in use: its system and the text of its file `format`, each with a NUL. */
struct trace_export_format {
	uint64_t next; /* 0: the last one */
	uint32_t id, size;
	char text[];
};
