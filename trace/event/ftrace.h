/*
 * The events ftrace:*: records that have no tracepoint and no enable file, with Linux's numbers.
 * The marker, trace_printk and the stack options write these structs; in the ring they are 4-byte
 * aligned. Recording: any context.
 */
#pragma once

#include "trace/event/event.h"

enum trace_ftrace_id {
	TRACE_FN = 1,
	TRACE_CTX,
	TRACE_WAKE,
	TRACE_STACK,
	TRACE_PRINT,
	TRACE_BPRINT,
	TRACE_GRAPH_RET = 10, /* Linux has three more: two of mmiotrace, and branch */
	TRACE_GRAPH_ENT,
	TRACE_USER_STACK,
	TRACE_GRAPH_RETADDR_ENT, /* Linux 6.12 has a block device's record there */
	TRACE_BPUTS,
	TRACE_HWLAT,
	TRACE_OSNOISE,
	TRACE_TIMERLAT,
	TRACE_RAW_DATA,
	TRACE_FUNC_REPEATS,
	TRACE_FTRACE_IDS, /* ids are below */
};

struct rec_print {
	struct trace_entry ent;
	u64 ip;
	char buf[]; /* NUL-terminated */
} __packed __aligned(4);

struct rec_bprint {
	struct trace_entry ent;
	u64 ip;
	const char *fmt;
	u32 buf[]; /* the arguments, trace/output/bprintf.h */
} __packed __aligned(4);

struct rec_bputs {
	struct trace_entry ent;
	u64 ip;
	const char *str;
} __packed __aligned(4);

struct rec_stack {
	struct trace_entry ent;
	s32 size;
	u32 pad;
	u64 caller[];
} __packed __aligned(4);

#define TRACE_USER_FRAMES 8
struct rec_user_stack {
	struct trace_entry ent;
	u32 tgid;
	u32 pad;
	u64 caller[TRACE_USER_FRAMES];
} __packed __aligned(4);

struct rec_raw_data {
	struct trace_entry ent;
	u32 id;
	u8 buf[];
} __packed __aligned(4);

struct rec_function {
	struct trace_entry ent;
	u64 ip, parent_ip;
} __packed __aligned(4);

struct rec_func_repeats {
	struct trace_entry ent;
	u64 ip, parent_ip;
	u16 count;
	u16 top_delta_ts; /* from the last of them to this record, in the unit of the clock */
	u32 bottom_delta_ts;
} __packed __aligned(4);

struct rec_graph_entry {
	struct trace_entry ent;
	u64 func;
	s32 depth;
} __packed __aligned(4);

/* The same, and where it returns to: with options/funcgraph-retaddr. */
struct rec_graph_retaddr_entry {
	struct rec_graph_entry entry;
	u64 retaddr;
} __packed __aligned(4);

struct rec_graph_exit {
	struct trace_entry ent;
	u64 func, retval;
	s32 depth;
	u32 overrun;	       /* always 0: there is no limit to calls under way */
	u64 calltime, rettime; /* ns since boot */
} __packed __aligned(4);

struct rec_hwlat {
	struct trace_entry ent;
	u64 duration, outer_duration, nmi_total_ts; /* microseconds */
	s64 tv_sec, tv_nsec;			    /* when the first was found, since 1970 */
	u32 nmi_count, seqnum, count;
	u32 smi_count; /* where Linux's record has padding: `format` does not name it */
} __packed __aligned(4);

struct rec_osnoise {
	struct trace_entry ent;
	u64 noise, runtime, max_sample; /* microseconds */
	u32 hw_count, nmi_count, irq_count, softirq_count, thread_count;
} __packed __aligned(4);

struct rec_timerlat {
	struct trace_entry ent;
	u32 seqnum;
	s32 context;
	u64 timer_latency; /* nanoseconds */
} __packed __aligned(4);

struct rec_context_switch {
	struct trace_entry ent;
	u32 prev_pid, next_pid, next_cpu;
	u8 prev_prio, prev_state, next_prio, next_state;
} __packed __aligned(4);
