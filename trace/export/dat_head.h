/*
 * Puts together the beginning of a trace.dat file: version 6 of trace-cmd's format (man 5
 * trace-cmd.dat.v6). Two things that trace-cmd does and that page does not state: the clock's name
 * follows the table of CPUs, and an option that trace-cmd does not know is a warning. Shared by the
 * kernel (dat_header.c) and by trapline, which reads a machine's memory; each gives the parts.
 * Pure.
 */
#pragma once

#include "kernel/lib/types.h"

/* Where the bytes go. */
struct dat_sink {
	u64 len; /* bytes put */
	void (*put)(struct dat_sink *to, const void *data, size_t n);
	/* Over bytes that were put before. */
	void (*patch)(struct dat_sink *to, u64 at, const void *data, size_t n);
};

/* One part of it: put(to, arg) puts its bytes. */
struct dat_part {
	void (*put)(struct dat_sink *to, const void *arg);
	const void *arg;
};

enum dat_option {
	DAT_OPTION_END = 0,
	DAT_OPTION_CPUSTAT = 2,
	DAT_OPTION_TRACECLOCK = 4,
	DAT_OPTION_UNAME = 5,
	DAT_OPTION_VERSION = 9,
	DAT_OPTION_TRACEID = 11,
	DAT_OPTION_ORIGIN = 0x544c, /* ours: what made it (tools/trapline/record/origin.h) */
};

/* The parts, in the order of the file. */
struct dat_head {
	struct dat_part page_format;
	struct dat_part formats; /* the tracer's own events, then the systems, with their counts */
	struct dat_part symbols, printks, comms;
	struct dat_part options; /* dat_put_option() and dat_put_trace_id() */
	struct dat_part clock;	 /* its name, or a list with the name in brackets */
	unsigned cpus;
	u32 page_size;
	const u64 *pages; /* of sub-buffers, by CPU: they follow, one CPU's after the other's */
};
/* Puts all of it, up to the first sub-buffer. */
void dat_head_put(struct dat_sink *to, const struct dat_head *head);

void dat_put_string(struct dat_sink *to, const char *text); /* with its NUL */
void dat_put_u16(struct dat_sink *to, u16 v);
void dat_put_u32(struct dat_sink *to, u32 v);
void dat_put_u64(struct dat_sink *to, u64 v);
void dat_put_zeros(struct dat_sink *to, u64 n);
/* Its length, a number of `bytes`, then the part. */
void dat_put_sized(struct dat_sink *to, size_t bytes, struct dat_part part);
void dat_put_option(struct dat_sink *to, enum dat_option id, struct dat_part part);
/* Different in two traces: by it a host's and a guest's find each other. */
void dat_put_trace_id(struct dat_sink *to, u64 seed);
