/*
 * Where in the machine's memory the tracer's rings are, for who sees that memory from outside: a
 * debugger, or the host of a virtual machine whose memory is a file (`trapline live`, `trapline
 * extract`). Nothing is done for such a reader while events are recorded; it finds its way by this
 * page, reads what it wants, and looks whether it was still true when it had read it
 * (docs/export.md).
 *
 * The page is found by its first bytes, at a multiple of 4096, when `self` is its physical address.
 * All other addresses are virtual: from direct_base on they are physical addresses plus that; from
 * image_base on, plus that minus image_offset.
 */
#pragma once

#include <stdint.h>

#define TRACE_EXPORT_MAGIC   "Trapline's trace rings\n" /* 23 characters and a NUL */
#define TRACE_EXPORT_VERSION 4

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
	/* addresses of texts that records point at (printk_formats), 0 between them ... */
	uint64_t texts;
	uint64_t text_count;
	/*
	 * where the address of the table of names is: 16 bytes of name, then the pid as s32;
	 * each comm_size bytes ...
	 */
	uint64_t comms;
	uint64_t comm_count; /* ... and where their number, u32, is */
	/*
	 * Functions: their number, the first one's address, then addresses: of u32s, how far each
	 * is from that; of u32s, where its name is in ...; the names; of u32s with a bit for each
	 * that is not static.
	 */
	uint64_t symbols[6];
	uint32_t comm_size;
	char release[44];
#define TRACE_EXPORT_OFFSET(name, ...) uint32_t name;
#define TRACE_EXPORT_SIZE(name, ...)   uint32_t name;
#include "kernel/abi/trace_export.def"
};

/* Counts of an event, or of removed events. hit = the sum of all others + recorded */
struct trace_export_counts {
#define TRACE_EXPORT_COUNT(name) uint64_t name;
#include "kernel/abi/trace_export.def"
};

/* Of an event that was in use: its system and the text of its file `format`, each with a NUL. */
struct trace_export_format {
	uint64_t next; /* 0: the last one */
	uint32_t id, size;
	char text[];
};
