/*
 * The tracers wakeup and wakeup_rt: how long a woken task waits for a CPU, if its priority number
 * is smaller than that of the task that woke it; wakeup_rt is for real-time tasks alone. The tracer
 * follows one task at a time, the one with the smallest number. It records the wake-up and the
 * switch, each with a stack, and between them (options/function-trace) the functions that the
 * task's CPU calls.
 *
 * One array at a time has one of them. Legend: [L] host_lock, [A] read by all CPUs, [W] the lock of
 * `waiting`, interrupts off.
 */
/* hot: runs with each event */
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "trace/event/clock.h"
#include "trace/event/comm.h"
#include "trace/event/record.h"
#include "trace/function/function.h"
#include "trace/host_cpus.h"
#include "trace/host_function.h"
#include "trace/output/graph.h"
#include "trace/tracer/latency.h"
#include "trace/tracer/tracer.h"

#define OPTIONS_SET   (TRACE_OPT_OVERWRITE | TRACE_OPT_LATENCY_FMT)
#define NO_PRIO	      256 /* above all */
#define REALTIME_PRIO 100 /* Linux's number: those of real-time tasks are smaller */

/* The task that the tracer follows. */
static struct {
	u32 lock;	  /* [A] */
	const void *task; /* [A] changed under the lock; NULL: none */
	u32 prio;	  /* [A] the same; NO_PRIO: none */
	u32 cpu;	  /* [A] whose functions are recorded */
	u32 reports;	  /* [W] tr->latency_reports when it was woken */
	u64 began;	  /* [W] cycles: after its records */
	u64 start;	  /* [W] by the ring's clock: before them */
} waiting;

static struct trace_array *owner; /* [A] the array that has the tracer; NULL: none */
static u32 prio_limit;		  /* [A] by its tracer: tasks below it are followed */
static u8 busy[MAX_CPUS];	  /* [A] by its CPU: recording, which calls functions itself */

static void trace_wakeup_lock(void)
{
	while (!atomic_cas(&waiting.lock, 0U, 1U))
		host_relax();
}

static void trace_wakeup_unlock(void)
{
	atomic_store_release(&waiting.lock, 0);
}

/* The tracer follows no task any more. */
static void trace_wakeup_forget(void)
{
	WRITE_ONCE(waiting.task, NULL);
	WRITE_ONCE(waiting.prio, NO_PRIO);
}

static void trace_wakeup_record(struct trace_array *tr, const struct host_context *ctx,
    enum trace_ftrace_id id, const struct host_sched *from, const struct host_sched *to)
{
	struct trace_event_file *file = trace_ftrace_file(tr, id);
	struct trace_slot slot;

	local_inc(&file->counts[ctx->cpu].hit);
	struct rec_context_switch *rec = trace_reserve(&slot, file, ctx, sizeof(*rec));
	if (!rec)
		return;
	rec->prev_pid = from->pid;
	rec->prev_prio = from->prio;
	rec->prev_state = from->state;
	rec->next_pid = to->pid;
	rec->next_prio = to->prio;
	rec->next_state = to->state;
	rec->next_cpu = to->cpu;
	trace_commit_bare(&slot, file, ctx);
	trace_record_stack(tr, ctx);
}

static void trace_wakeup_follow(
    struct trace_array *tr, const struct host_sched *woken, const struct host_sched *curr)
{
	struct host_context ctx;

	host_context(&ctx);
	WRITE_ONCE(waiting.task, woken->task);
	WRITE_ONCE(waiting.prio, woken->prio);
	WRITE_ONCE(waiting.cpu, woken->cpu);
	waiting.reports = READ_ONCE(tr->latency_reports);
	waiting.start = ring_buffer_time_stamp(tr->buffer);
	trace_wakeup_record(tr, &ctx, TRACE_WAKE, curr, woken);
	waiting.began = host_cycles();
}

void trace_wakeup_woken(const struct host_sched *woken, const struct host_sched *curr)
{
	struct trace_array *tr = READ_ONCE(owner);

	if (unlikely(!tr) || woken->prio >= curr->prio || woken->prio >= READ_ONCE(waiting.prio) ||
	    woken->prio >= READ_ONCE(prio_limit) || !ring_buffer_record_is_on(tr->buffer))
		return;
	host_preempt_disable();
	WRITE_ONCE(busy[host_cpu()], true);
	trace_wakeup_lock();
	if (woken->prio < waiting.prio)
		trace_wakeup_follow(tr, woken, curr);
	trace_wakeup_unlock();
	WRITE_ONCE(busy[host_cpu()], false);
	host_preempt_enable();
}

static void trace_wakeup_arrived(
    struct trace_array *tr, u64 now, const struct host_sched *prev, const struct host_sched *next)
{
	struct host_context ctx;
	struct trace_latency found = {
	    .ns = trace_latency_ns(now - waiting.began),
	    .start = trace_clock_ns(tr, waiting.start),
	};

	if (!ring_buffer_record_is_on(tr->buffer))
		return;
	host_context(&ctx);
	trace_wakeup_record(tr, &ctx, TRACE_CTX, prev, next);
	if (!trace_latency_is_long(tr, found.ns))
		return;
	found.cpu = ctx.cpu;
	host_task_of(next->task, &found.task);
	trace_latency_report(tr, &ctx, &found, waiting.reports);
}

void trace_wakeup_switched(const struct host_sched *prev, const struct host_sched *next)
{
	u64 now = host_cycles();
	struct trace_array *tr = READ_ONCE(owner);

	if (likely(next->task != READ_ONCE(waiting.task)) || unlikely(!tr))
		return;
	host_preempt_disable();
	WRITE_ONCE(busy[host_cpu()], true);
	trace_wakeup_lock();
	if (next->task == waiting.task) {
		trace_wakeup_arrived(tr, now, prev, next);
		trace_wakeup_forget();
	}
	trace_wakeup_unlock();
	WRITE_ONCE(busy[host_cpu()], false);
	host_preempt_enable();
}

/* A function is called or returns on that CPU. */
static bool trace_wakeup_sees_call(u32 cpu)
{
	return READ_ONCE(waiting.task) && READ_ONCE(waiting.cpu) == cpu && !READ_ONCE(busy[cpu]) &&
	       likely(READ_ONCE(owner));
}

/*
 * The hook calls this for each function called on any CPU. Preemption is off, interrupts may be on.
 */
static void trace_wakeup_call(
    struct host_hook *hook __maybe_unused, u64 ip, u64 parent, u64 *slot __maybe_unused)
{
	struct trace_array *tr = READ_ONCE(owner);
	u32 cpu = host_cpu();

	if (!trace_wakeup_sees_call(cpu) || unlikely(!tr))
		return;
	WRITE_ONCE(busy[cpu], true);
	trace_latency_call(tr, ip, parent);
	WRITE_ONCE(busy[cpu], false);
}

/* With options/display-graph: interrupts are off. */
static void trace_wakeup_enter(struct host_hook *hook, u64 *slot)
{
	u32 cpu = host_cpu();

	if (!trace_wakeup_sees_call(cpu)) {
		trace_graph_enter_unseen(hook, slot);
		return;
	}
	WRITE_ONCE(busy[cpu], true);
	trace_graph_enter_asked(hook, slot);
	WRITE_ONCE(busy[cpu], false);
}

static void trace_wakeup_leave(
    struct host_hook *hook, const struct host_call *call, const struct host_returned *ret)
{
	u32 cpu = host_cpu();

	if (!trace_wakeup_sees_call(cpu)) {
		trace_graph_leave_unseen(hook);
		return;
	}
	WRITE_ONCE(busy[cpu], true);
	trace_graph_leave(hook, call, ret);
	WRITE_ONCE(busy[cpu], false);
}

/* ---- the tracer ---- */

static struct trace_latency_functions functions = {
    .hook.fn = trace_wakeup_call,
    .graph = {.enter = trace_wakeup_enter, .leave = trace_wakeup_leave},
}; /* [L] */

static void trace_wakeup_reset(struct trace_array *tr)
{
	host_wakeups_watch(false);
	WRITE_ONCE(owner, NULL);
	trace_latency_set_functions(tr, &functions, false);
	host_synchronize();
	trace_wakeup_forget();
	trace_comm_users(-1, 0);
	trace_latency_stop(tr);
}

static int trace_wakeup_start(struct trace_array *tr)
{
	trace_wakeup_forget();
	trace_comm_users(1, 0);
	functions.is_graph = tr->options & TRACE_OPT_DISPLAY_GRAPH;
	WRITE_ONCE(owner, tr);
	int err = trace_latency_set_functions(tr, &functions, tr->options & TRACE_OPT_FUNCTION);
	if (!err && !host_wakeups_watch(true))
		err = -EOPNOTSUPP;
	if (err)
		trace_wakeup_reset(tr);
	return err;
}

static int trace_wakeup_init_below(struct trace_array *tr, u32 limit)
{
	int err = owner ? -EBUSY : trace_comm_prepare();

	if (!err)
		err = trace_latency_start(tr, OPTIONS_SET);
	if (err)
		return err;
	WRITE_ONCE(prio_limit, limit);
	return trace_wakeup_start(tr);
}

static int trace_wakeup_init(struct trace_array *tr)
{
	return trace_wakeup_init_below(tr, NO_PRIO);
}

static int trace_wakeup_rt_init(struct trace_array *tr)
{
	return trace_wakeup_init_below(tr, REALTIME_PRIO);
}

static int trace_wakeup_set_graph(struct trace_array *tr, bool graph)
{
	WRITE_ONCE(owner, NULL);
	host_synchronize();
	trace_wakeup_forget();
	int err = trace_latency_set_graph(tr, &functions, graph);
	WRITE_ONCE(owner, tr);
	return err;
}

static int trace_wakeup_option(struct trace_array *tr, u64 bit, bool on)
{
	switch (bit) {
	case TRACE_OPT_FUNCTION:
		return trace_latency_set_functions(tr, &functions, on);
	case TRACE_OPT_DISPLAY_GRAPH:
		return trace_wakeup_set_graph(tr, on);
	default:
		return trace_latency_option(tr, bit, on);
	}
}

const struct trace_tracer trace_tracer_wakeup = {
    .name = "wakeup",
    .init = trace_wakeup_init,
    .reset = trace_wakeup_reset,
    .option = trace_wakeup_option,
    .shows_longest = true,
    .graph = &trace_graph_wakeup_printer,
};

const struct trace_tracer trace_tracer_wakeup_rt = {
    .name = "wakeup_rt",
    .init = trace_wakeup_rt_init,
    .reset = trace_wakeup_reset,
    .option = trace_wakeup_option,
    .shows_longest = true,
    .graph = &trace_graph_wakeup_printer,
};
