/*
 * Shared by the cases of trace.dat: reading the file, and taking it apart. One file at a time. Task
 * context.
 */
#pragma once

#include "tests/unit/trace/tools.h"
#include "trace/tracefs/tables.h"

struct dat_file {
	u8 *data;
	u64 size, at;
};
struct dat_file *dat_file(void);
/*
 * A record of that many bytes in the top instance's ring, some of them another number each time;
 * hit as an event is.
 */
void dat_record(u32 length);
void dat_release(void);
struct tracefs_file *dat_open(const char *path);
/* Its first byte alone: it is made now. */
void dat_start(struct tracefs_file *f);
/*
 * Reads the rest of an open one, `step` bytes at a time, after what there is. 0 or the error that
 * ended it.
 */
ssize dat_drain(struct tracefs_file *f, size_t step);
void dat_read(const char *path, size_t step); /* all of it */
/* Up to the table of CPUs; which options there are, a bit each. */
u64 dat_take_header(void);

struct dat_cpu_walk {
	u64 at, end;	   /* in the file */
	u64 offset, bytes; /* in the present page: next record, end of records */
	u64 time;
	u64 lost, unknown; /* events, and gaps of which the number is not said */
	const u8 *data;	   /* of the present record */
	u64 length;
};

/* After the header. */
struct dat_cpu_walk dat_walk(unsigned cpu);
u32 dat_page_size(void); /* that the file says */
bool dat_next(struct dat_cpu_walk *w);
/* The file has what the buffer has, with the same times and bytes; how many records that is. */
u64 dat_check(struct trace_array *tr, struct ring_buffer *rb);
void dat_sum(u64 *records, u64 *lost, u64 *unknown);
