/*
 * A trace array is an instance of the tracer: its ring buffer, the state of every event in it, its
 * options and clock. The global one is tracefs' top directory, the others are made and removed in
 * instances/. All changes are made under host_lock in task context; writers read [A] fields in any
 * context.
 */
#pragma once

#include "kernel/lib/list.h"
#include "trace/event/ftrace.h"
#include "trace/event/handle.h"
#include "trace/event/latency.h"
#include "trace/event/options.h"
#include "trace/host_wait.h"
#include "trace/ring/ring.h"

struct trace_clock;
struct trace_event_file;

/*
 * trace_event_file.way: why an event takes the general path, or is not recorded at all. The first
 * group is the array's, the same in all its files; the second each file's own. Changed by
 * trace_file_way(), from any context.
 */
enum {
	TRACE_WAY_WAKE = 1,	  /* somebody waits for events */
	TRACE_WAY_STACK = 2,	  /* options/stacktrace */
	TRACE_WAY_USER_STACK = 4, /* options/userstacktrace */
	TRACE_WAY_PRINT = 8,	  /* tp_printk */
	TRACE_WAY_PID = 16,	  /* set_event_pid, set_event_notrace_pid */
	TRACE_WAY_ARRAY = 31,

	TRACE_WAY_MORE = 32,	   /* of the first live file: others are live, too */
	TRACE_WAY_SOFT_OFF = 64,   /* live for triggers or other users only: not recorded */
	TRACE_WAY_FILTER = 128,	   /* file->filter */
	TRACE_WAY_TRIGGER = 256,   /* file->triggers */
	TRACE_WAY_LOOKS = 512,	   /* one of them needs the record, so it is built first */
	TRACE_WAY_OFF = 1024,	   /* the ring was off at the last hit; it may be on again */
	TRACE_WAY_CONSUMED = 2048, /* of a live file: its tracepoint has consumers */
	TRACE_WAY_FULL = 4096, /* a ring was full at a hit; set alone, cleared at some later one */

	TRACE_WAY_AFTER = TRACE_WAY_WAKE | TRACE_WAY_STACK | TRACE_WAY_USER_STACK,
	/*
	 * The bits by which the dispatcher of an event (tracepoint_define.h) selects a short path.
	 */
	TRACE_WAY_ASKS = TRACE_WAY_OFF | TRACE_WAY_FULL | TRACE_WAY_PID | TRACE_WAY_MORE |
			 TRACE_WAY_SOFT_OFF | TRACE_WAY_TRIGGER | TRACE_WAY_LOOKS |
			 TRACE_WAY_CONSUMED,
	TRACE_WAY_ALONE = TRACE_WAY_SOFT_OFF | TRACE_WAY_TRIGGER,
};

struct trace_array {
	struct ring_buffer *buffer;	   /* [A] */
	u32 way;			   /* [L] TRACE_WAY_ARRAY bits, copied to all files */
	u64 options;			   /* [A] TRACE_OPT_* bits */
	const struct trace_clock *clock;   /* [L] */
	const struct trace_tracer *tracer; /* [L] current_tracer; never NULL */
	u32 tracer_options;		   /* [L] of all tracers: trace/event/tracer.h */
	struct trace_functions *functions; /* [L] trace/function/; NULL: never used */
	struct host_hook *hook;		   /* [A] its tracer's, of the calls of functions; NULL */
	struct trace_prevboot
	    *past; /* [I] the boot whose records it shows (trace/persist/lastboot.h), or NULL */
	u64 max_latency_ns;	      /* [A] the longest that the tracer found */
	struct trace_latency longest; /* [A] the same, of a latency tracer: what `trace` shows */
	u32 latency_reports;	      /* [A] twice its changes so far; odd: it changes just now */
	u64 latency_options;	      /* [L] what the options were before its tracer came */
	u64 latency_set;	      /* [L] those that it has set */
	/* [A] bytes to record of the data that a system call's argument points to; 0: none */
	u32 user_data;
	struct trace_array *osnoise_next; /* [A] the next with osnoise or timerlat */
	size_t wanted_size;		  /* [L] bytes per CPU once it is used */
	bool expanded;			  /* [L] it has that size */
	u64 time_start; /* [L] ns: when it was last cleared; `trace` shows nothing older */
	u64 cpumask;	/* [L] a bit per CPU that records */
	u64 piped;	/* [L] a bit per CPU whose trace_pipe is open */
	u32 raw_opens;	/* [L] how often trace_pipe_raw and snapshot_raw are open */
	u32 readers, full_readers; /* [L] readers that wait: for any record, for buffer_percent */
	struct host_waiters *waiters, *full_waiters; /* [I] theirs: trace/event/wait.c */
	u32 wakes;				     /* [A] trace_wake_all() so far */
	u32 buffer_percent;			     /* [L] */
	u32 mapped; /* [L] mappings of its CPUs' buffers: no snapshot is taken */
	struct ring_buffer
	    *snapshot;	    /* [A] the spare buffer (trace/event/snapshot.h); NULL: none */
	u32 snapshot_lock;  /* [A] held to exchange the two or to work on either */
	u32 snapshot_users; /* [L] users that may take a snapshot at any time */
	u32 snapshot_conds; /* [L] histograms with snapshot(): nobody else may replace theirs */
	u32 snapshot_frees; /* [L] how often it was freed */
	u32 trace_opens,
	    snapshot_opens;	     /* [L] open for reading: then their buffer keeps its size */
	struct trace_ledger *ledger; /* [L] what is gone (trace/event/ledger.h) */
	u64 snapshot_missed;	     /* [A] snapshots not taken, because the buffers were busy */
	struct trace_event_file *static_files; /* [I] one block for the events known at creation */
	u32 static_count;
	struct trace_event_file *ftrace[TRACE_FTRACE_IDS]; /* [I] files of ftrace:*, by id */
	struct list_head files; /* [L] trace_event_file.node, newest first */
	struct list_head
	    node; /* [L] all trace arrays; the global one is first, the others by name */
	struct trace_handle handle; /* [L] */
	u32 refs;		    /* [L] open files and other users: removal returns -EBUSY */
	u8 pid_ignore[MAX_CPUS];    /* [A] by CPU: the running task's events are not wanted */
	struct trace_pids
	    *pids[2]; /* [L] its pid lists (trace/event/pid_filter.h), of events and of functions;
			 NULL: never used */
	struct list_head errors; /* [L] error_log */
	u32 error_count;
	char name[256]; /* "" for the global one */
};

extern struct trace_array *trace_global; /* never NULL after trace_init() */
extern struct list_head trace_arrays;
/*
 * Where trace_printk() records: the one array that has options/trace_printk_dest. Changed under
 * host_lock; any context reads it between host_preempt_disable() and host_preempt_enable(). NULL
 * before trace_init() and after trace_exit().
 */
extern struct trace_array *trace_printk_array;
/* [A] the largest user_data of all of them. */
extern u32 trace_user_data_most;
/* [A] arrays that have options/copy_trace_marker, the global one not counted. */
extern u32 trace_marker_copies;

/* size: bytes per CPU from first use on. NULL: no memory. */
struct trace_array *trace_array_create(const char *name, size_t size);
/*
 * Switches its events off and frees it; the events may fire meanwhile. -EBUSY: it has references;
 * -ENOMEM: nothing has changed.
 */
int trace_array_destroy(struct trace_array *tr);
/* Finds an instance by name ("" is the global one), or by its handle's number; NULL: none. */
struct trace_array *trace_array_find(const char *name);
struct trace_array *trace_array_numbered(u64 number);
/* As mkdir in instances/: with the global array's size and options. -EEXIST, -ENOMEM. */
int trace_instance_create(const char *name, struct trace_array **out);
/* Keeps the array from being removed until trace_array_put(). */
static inline void trace_array_get(struct trace_array *tr)
{
	tr->refs++;
}
static inline void trace_array_put(struct trace_array *tr)
{
	tr->refs--;
}
/* The file of an event ftrace:*, ready for trace_record(). Any context. */
static inline struct trace_event_file *trace_ftrace_file(
    struct trace_array *tr, enum trace_ftrace_id id)
{
	return tr->ftrace[id];
}
/*
 * Gives the buffer, and that of the global array, its full size if it still has the boot minimum:
 * as on Linux, the first use of any array counts. 0 or -ENOMEM.
 */
int trace_array_expand(struct trace_array *tr);
bool trace_array_is_expanded(const struct trace_array *tr);
/*
 * cpu < 0: all. Rounds `bytes` up to sub-buffers, and resizes the snapshot buffer likewise. 0,
 * -EINVAL, -ENOMEM; -EBUSY: either buffer has a reader.
 */
int trace_array_resize(struct trace_array *tr, size_t bytes, int cpu);
/*
 * Sets the sub-buffer size of both buffers to PAGE_SIZE << order bytes; all records are lost. 0;
 * -ENOMEM; -EBUSY: a reader is active. Only sub-buffers of order 0 are kept for another boot.
 */
int trace_array_set_subbuf(struct trace_array *tr, unsigned order);
void trace_array_clear(struct trace_array *tr, int cpu); /* cpu < 0: all */
/* Returns true if the state changed. Any context. */
bool trace_array_set_on(struct trace_array *tr, bool on);
bool trace_array_is_on(struct trace_array *tr);
/* `bytes` is limited to TRACE_USER_DATA_MAX. */
#define TRACE_USER_DATA_MAX 165 /* as on Linux */
void trace_array_set_user_data(struct trace_array *tr, u64 bytes);
void trace_array_set_cpumask(struct trace_array *tr, u64 mask);
/* 0, -EINVAL, -ENOMEM; -EPERM: the array shows another boot and records nothing. */
int trace_array_set_option(struct trace_array *tr, u64 bit, bool on);
/* Sets or clears a bit of TRACE_WAY_ARRAY in all its files. */
void trace_array_set_way(struct trace_array *tr, u32 bit, bool on);
