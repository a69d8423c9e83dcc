/*
 * What the tracer core needs from whoever hosts it: the kernel (kernel/trace_glue.c) or a test on
 * the host (tests/host/). Nothing else of the host is known in trace/. "Any context" includes irq,
 * int3 and NMI.
 */
#pragma once

#include "kernel/lib/types.h"

/*
 * Where this code runs, for a record. Filled by one call so that the hot path pays
 * once: `common` is the first eight bytes of every record but for its type, which is 0 here.
 */
struct host_context {
	union {
		struct {
			u16 type_zero;
			u8 flags;	  /* Linux's trace flags: TRACE_FLAG_* */
			u8 preempt_count; /* depth seen by the traced code, at most 15; bits 4-7
					     migrate-disable depth */
			s32 pid;
		};
		u64 common;
	};
	u32 cpu;
};

enum {
	TRACE_FLAG_IRQS_OFF = 0x01,
	TRACE_FLAG_IRQS_NOSUPPORT = 0x02,
	TRACE_FLAG_NEED_RESCHED = 0x04,
	TRACE_FLAG_HARDIRQ = 0x08,
	TRACE_FLAG_SOFTIRQ = 0x10,
	TRACE_FLAG_PREEMPT_RESCHED = 0x20,
	TRACE_FLAG_NMI = 0x40,
	TRACE_FLAG_BH_OFF = 0x80,
};

/* Functions that record and are made outside trace/: a host may want to know their addresses, see host_stack(). */
#define __trace_text __attribute__((section(".trace.text")))

/*
 * Any context. The task stays on this CPU from hold to exit; they nest. host_cpu() is stable only between the two. host_context()
 * says where the code runs around the innermost hold. A host may have these five inline, in a header that it names when it is built.
 */
#ifdef TRACE_HOST_INLINE
#include TRACE_HOST_INLINE
#else
void host_hold(void);
void host_context(struct host_context *ctx);
void host_exit(void);
unsigned long host_cpu(void);
void host_current_comm(char comm[16]);
#endif
static inline void host_enter(struct host_context *ctx)
{
	host_hold();
	host_context(ctx);
}
unsigned host_cpu_count(void); /* CPUs numbered 0..n-1 */
u64 host_clock(void);	       /* TSC cycles; any context */
u64 host_clock_ns(u64 clock);  /* cycles to ns since boot; any context */

/* Task context, may sleep. Memory is zeroed; NULL or 0 when there is none. */
void *host_alloc(size_t size);
void host_free(void *p);
void *host_page_alloc(void); /* PAGE_SIZE, aligned */
void host_page_free(void *p);
u64 host_pages_free(void);	   /* how many there are to be had, about */
u64 host_page_phys(const void *p); /* for mmap; 0 on the host */

/* One big mutex for the control plane (files, definitions). Task context, recursive use is a bug.
 */
void host_lock(void);
void host_unlock(void);
/* Returns when every CPU has left every tracer section (host_enter..host_exit) it was in. Task
 * context. */
void host_synchronize(void);
/* fn(arg) on each CPU, with interrupts off there; waits. Task context. */
void host_on_each_cpu(void (*fn)(void *), void *arg);
void host_on_cpu(unsigned cpu, void (*fn)(void *), void *arg);
/* The same at a moment when that CPU is in no tracer section: only an NMI can come in. Task context, may sleep. */
void host_on_quiet_cpu(unsigned cpu, void (*fn)(void *), void *arg);

/* Readers that wait. host_wake() may be called from any context (it defers by itself where it
 * must). */
struct host_waiters;
struct host_waiters *host_waiters_alloc(void);
void host_waiters_free(struct host_waiters *w);
/* Sleeps until cond(arg) is true after a wake, or a signal: 0 or -EINTR. */
int host_wait(struct host_waiters *w, bool (*cond)(void *), void *arg);
void host_wake(struct host_waiters *w);

/*
 * Workers: a task of the host's that calls step(arg), sleeps as many nanoseconds as that returned, and so on. start: cpu < 0 is any;
 * NULL: no memory. stop: when it returns, step() does not run any more. move: from within step(), which goes on on that CPU. All in
 * task context.
 */
struct host_worker;
struct host_worker *host_worker_start(const char *name, int cpu, u64 (*step)(void *arg), void *arg);
void host_worker_stop(struct host_worker *w);
void host_worker_move(unsigned cpu);
/* Only NMIs come in between the two. What the first returns is the second's. */
u64 host_irqs_off(void);
void host_irqs_restore(u64 flags);
/* SMIs that came to this CPU since it was reset; false: it does not count them, and *n stays. Any context. */
bool host_smi_count(u64 *n);

/* Switches tracepoints: on[i] says what keys[i] becomes; all in one pass over the text. Task
 * context. */
struct host_key {
	u32 enabled; /* first word of whatever the host keeps for a key; read-only for the core */
};
void host_keys_set(struct host_key *const *keys, const u8 *on, unsigned n);

/*
 * Asks for user_events_settle(), and for the words of programs to be set, once the control lock is given up: events of programs were
 * switched, or nobody needs one any more. host_lock held.
 */
void host_user_events_changed(void);

/*
 * Probes: code of the host that calls the tracer when it is run, or when it returns. The function is called in any context, between
 * handlers of nothing else of the kind, and stays on its CPU without host_hold(); regs is the host's own, in which a register lies as a u64 at host_reg_find() bytes.
 */
struct host_probe;
struct host_probe_place {
	const char *symbol; /* NULL: addr */
	u64 addr, offset;
	bool is_return;
	int (*fn)(
	    void *arg, const void *regs, u64 ip, u64 ret); /* 0: a host may leave by a jump to it */
	void *arg;
};
/*
 * Made switched off. -ENOENT: there is no such code; -EADDRNOTAVAIL: the symbol occurs more than once; -EILSEQ: inside an
 * instruction; -EINVAL: not to be probed; -ENOMEM. Task context, all of these.
 */
int host_probe_create(const struct host_probe_place *place, struct host_probe **out);
void host_probe_destroy(struct host_probe *p); /* on return fn is not running any more */
/* Takes effect when host_probes_flush() returns, or before: many at once are quicker. Under host_lock. */
void host_probe_switch(struct host_probe *p, bool on);
void host_probes_flush(void);
u64 host_probe_missed(const struct host_probe *p);
/* Of a symbol: 0, -ENOENT, -EADDRNOTAVAIL. */
int host_symbol_check(const char *symbol);
int host_reg_find(const char *name); /* -EINVAL: no such register */
/* Number n of a function's arguments: in which register, or (negative) -1 - word of the stack at its entry. Any context. */
int host_arg_place(unsigned n);
const char *host_stack_register(void); /* names of registers: stack pointer, return value */
const char *host_return_register(void);
/* As host_context(), where fn begins: the flags are those of the code that was probed. Any context. */
#ifdef TRACE_HOST_INLINE
static inline void host_context_probed(struct host_context *ctx, const void *regs);
#else
void host_context_probed(struct host_context *ctx, const void *regs);
#endif

/*
 * The flight recorder (trace/kept.h). Memory that a warm reset keeps, as it was found, whole pages; NULL: none. host_clock_ns(c) is
 * (c - *base) * *mult >> 32; *mult 0: not known yet. Task context.
 */
void *host_kept_memory(size_t *size);
void host_clock_line(u64 *base, u64 *mult);
/*
 * For readers outside the machine: addresses from *direct on are physical ones plus that, those from *image on physical ones plus *image
 * less *offset. RAM ends at physical *ram_end. Task context.
 */
void host_address_map(u64 *direct, u64 *image, u64 *offset, u64 *ram_end);

/* Names. */
s32 host_tgid(s32 pid); /* 0 when unknown */
int host_sym_print(char *buf, size_t size, u64 addr, bool offset);
u64 host_sym_find(const char *name, u64 *size);
const char *host_sym_of(u64 addr, u64 *start, u64 *size);
/* Function number i of the kernel, in the order of their addresses; false: no more. Any context. */
bool host_sym_nth(unsigned i, const char **name, u64 *start, u64 *size);
/* For readers outside the machine, where that table lies: how many there are, the first one's address, then the addresses of u32s: each
 * one's distance from the first, and where its name is behind the last address. All 0: nowhere. */
void host_sym_place(u64 place[5]);
/* "read" of system call 0; NULL: there is none of that number. Any context. */
const char *host_syscall_name(u64 nr);
/* The kernel release, for headers of trace output ("6.1.0"); how it preempts ("preempt"). */
const char *host_release(void);
const char *host_preemption(void);
/* "sysname nodename release machine". */
const char *host_uname(void);
/* Nanoseconds from 1970 to clock 0. */
u64 host_unix_ns(void);
/* Value of a boot parameter ("trace_event"); NULL: not given. n-th occurrence. */
const char *host_param(const char *name, unsigned nth);
/* A line for the system's log. */
void host_log(const char *fmt, ...) __printf(1, 2);
/* A line for every console, whatever else is kept off them. Any context. */
void host_say(const char *fmt, ...) __printf(1, 2);

/* Memory that may not be there; any context; 0 or -EFAULT. */
int host_copy_kernel(void *dst, const void *src, size_t n);
int host_copy_user(void *dst, u64 src, size_t n);
/* Return addresses, innermost first, from the traced code on: what records is left out. Any context. */
unsigned host_stack(u64 *out, unsigned max);
unsigned host_user_stack(u64 *out, unsigned max);
