/*
 * Facts about another boot: filled in by lastboot.c, under host_lock; read by prevboot.c, in any
 * context that prints.
 */
#pragma once

#include "trace/persist/kept.h"
#include "trace/persist/prevboot_event.h"
#include "trace/ring/recover.h"

struct prevboot_cpu {
	struct ring_buffer_page **pages;
	u32 count;
	u64 overrun;
	struct rb_recovery sum;
	bool found;
};

struct prevboot_comm {
	s32 pid;
	char comm[16];
};

struct trace_prevboot {
	u32 ended; /* enum kept_end, or damaged */
	u64 clock_base, clock_mult, unix_ns;
	char clock[16], release[32];
	bool same_kernel; /* functions have the names and places that they have now */
	struct kept_symbols *symbols;
	struct prevboot_event *events; /* by id */
	u32 event_count;
	struct prevboot_comm *comms;
	u32 comm_count;
	struct prevboot_cpu cpus[MAX_CPUS];
};

/* A number may have been given again: the last one that had it counts. NULL: none had it. */
struct prevboot_event *prevboot_event_of(const struct trace_prevboot *past, unsigned id);
