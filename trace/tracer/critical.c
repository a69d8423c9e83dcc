/*
 * The tracers irqsoff, preemptoff and preemptirqsoff: how long a CPU runs with interrupts off, with
 * preemption off, with either off. They record the beginning and the end of each critical section,
 * and between them (options/function-trace) each function that the CPU calls; with
 * options/display-graph as function_graph does, a mark for the beginning and one for the end.
 *
 * One array at a time has one of them. Legend: [L] host_lock, [A] read by all CPUs, [C] its CPU
 * alone, interrupts off.
 */
/* hot: runs with each event */
#include "kernel/lib/errno.h"
#include "trace/event/clock.h"
#include "trace/event/comm.h"
#include "trace/event/record.h"
#include "trace/function/function.h"
#include "trace/host_clock.h"
#include "trace/host_cpus.h"
#include "trace/host_critical.h"
#include "trace/host_function.h"
#include "trace/output/graph.h"
#include "trace/tracer/latency.h"
#include "trace/tracer/tracer.h"

/*
 * TRACE_OPT_LATENCY_FMT lets a user compare a record with its latency. TRACE_OPT_PAUSE_ON_TRACE
 * keeps the buffer while a program reads it.
 */
#define OPTIONS_SET (TRACE_OPT_OVERWRITE | TRACE_OPT_LATENCY_FMT | TRACE_OPT_PAUSE_ON_TRACE)

static struct critical_cpu {
	bool open;   /* [C] a section has begun */
	bool busy;   /* [C] recording, which may call code with sections of its own */
	u32 reports; /* [C] tr->latency_reports when it began */
	u64 began;   /* [C] cycles: after its record */
	u64 start;   /* [C] by the ring's clock: before it */
	u64 from;    /* [C] where it began */
} cpus[MAX_CPUS] __aligned(64);

/* [A] the array that has the tracer; NULL: none. The second with options/display-graph. */
static struct trace_array *owner, *graph_owner;
static struct trace_latency_functions functions; /* [L] */

/* ---- sections ---- */

/* graph: its records are marks. */
static inline __attribute__((always_inline)) void trace_critical_open(
    struct critical_cpu *c, struct trace_array *tr, u64 ip, u64 parent, bool graph)
{
	if (!ring_buffer_record_is_on(tr->buffer))
		return;
	host_preempt_disable();
	c->busy = true;
	c->from = ip;
	c->reports = READ_ONCE(tr->latency_reports);
	c->start = ring_buffer_time_stamp(tr->buffer);
	c->open = graph ? trace_graph_mark(tr, ip) : trace_latency_call(tr, ip, parent);
	c->busy = false;
	host_preempt_enable();
	c->began = host_cycles();
}

static __noinline void trace_critical_begin_graph(struct critical_cpu *c, u64 ip)
{
	struct trace_array *tr = READ_ONCE(graph_owner);

	if (tr)
		trace_critical_open(c, tr, ip, 0, true);
}

void trace_critical_begin(u64 ip, u64 parent)
{
	struct critical_cpu *c = &cpus[host_cpu()];
	struct trace_array *tr = READ_ONCE(owner);

	if (c->open || c->busy)
		return;
	if (unlikely(!tr))
		trace_critical_begin_graph(c, ip);
	else
		trace_critical_open(c, tr, ip, parent, false);
}

static __noinline void trace_critical_found(
    struct trace_array *tr, const struct critical_cpu *c, u64 ns, u64 to)
{
	struct host_context ctx;
	struct trace_latency found = {
	    .ns = ns,
	    .start = trace_clock_ns(tr, c->start),
	    .alone = true,
	    .from = c->from,
	    .to = to,
	};

	host_context(&ctx);
	found.cpu = ctx.cpu;
	host_task_of(NULL, &found.task);
	trace_record_stack(tr, &ctx);
	trace_latency_report(tr, &ctx, &found, c->reports);
}

static inline __attribute__((always_inline)) void trace_critical_close(
    struct critical_cpu *c, struct trace_array *tr, u64 now, u64 ip, u64 parent, bool graph)
{
	u64 ns;

	host_preempt_disable();
	c->busy = true;
	ns = trace_latency_ns(now - c->began);
	if (likely(graph ? trace_graph_mark(tr, ip) : trace_latency_call(tr, ip, parent)) &&
	    unlikely(trace_latency_is_long(tr, ns)))
		trace_critical_found(tr, c, ns, ip);
	c->busy = false;
	host_preempt_enable();
}

static __noinline void trace_critical_end_graph(struct critical_cpu *c, u64 now, u64 ip)
{
	struct trace_array *tr = READ_ONCE(graph_owner);

	if (tr)
		trace_critical_close(c, tr, now, ip, 0, true);
}

void trace_critical_end(u64 ip, u64 parent)
{
	u64 now = host_cycles();
	struct critical_cpu *c = &cpus[host_cpu()];
	struct trace_array *tr = READ_ONCE(owner);

	if (!c->open || c->busy)
		return;
	c->open = false;
	if (unlikely(!tr))
		trace_critical_end_graph(c, now, ip);
	else
		trace_critical_close(c, tr, now, ip, parent, false);
}

/*
 * The hook calls this for each function called on any CPU. Preemption is off, interrupts may be on.
 */
static void trace_critical_call(
    struct host_hook *hook __maybe_unused, u64 ip, u64 parent, u64 *slot __maybe_unused)
{
	struct critical_cpu *c = &cpus[host_cpu()];
	struct trace_array *tr = READ_ONCE(owner);

	if (!c->open || c->busy || unlikely(!tr))
		return;
	WRITE_ONCE(c->busy, true);
	trace_latency_call(tr, ip, parent);
	WRITE_ONCE(c->busy, false);
}

/* The same as function_graph sees it: interrupts are off. */
static bool trace_critical_sees_call(const struct critical_cpu *c)
{
	return c->open && !c->busy && likely(READ_ONCE(graph_owner));
}

static void trace_critical_enter(struct host_hook *hook, u64 *slot)
{
	struct critical_cpu *c = &cpus[host_cpu()];

	if (!trace_critical_sees_call(c)) {
		trace_graph_enter_unseen(hook, slot);
		return;
	}
	WRITE_ONCE(c->busy, true);
	trace_graph_enter_asked(hook, slot);
	WRITE_ONCE(c->busy, false);
}

static void trace_critical_leave(
    struct host_hook *hook, const struct host_call *call, const struct host_returned *ret)
{
	struct critical_cpu *c = &cpus[host_cpu()];

	if (!trace_critical_sees_call(c)) {
		trace_graph_leave_unseen(hook);
		return;
	}
	WRITE_ONCE(c->busy, true);
	trace_graph_leave(hook, call, ret);
	WRITE_ONCE(c->busy, false);
}

/* ---- the tracers ---- */

static struct trace_latency_functions functions = {
    .hook.fn = trace_critical_call,
    .graph = {.enter = trace_critical_enter, .leave = trace_critical_leave},
};

/* tr NULL: none. */
static void trace_critical_set_owner(struct trace_array *tr)
{
	WRITE_ONCE(graph_owner, functions.is_graph ? tr : NULL);
	WRITE_ONCE(owner, functions.is_graph ? NULL : tr);
}

static void trace_critical_forget(void)
{
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
		cpus[cpu] = (struct critical_cpu){0};
}

static void trace_critical_reset(struct trace_array *tr)
{
	trace_critical_set_owner(NULL);
	host_critical_watch(0);
	trace_latency_set_functions(tr, &functions, false);
	host_synchronize();
	trace_comm_users(-1, 0);
	trace_latency_stop(tr);
}

/*
 * Sets the owner last, and clears it first: while the host patches its toggles, it may report the
 * beginning of a section without its end.
 */
static int trace_critical_start(struct trace_array *tr, u32 which)
{
	trace_critical_forget();
	trace_comm_users(1, 0);
	functions.is_graph = tr->options & TRACE_OPT_DISPLAY_GRAPH;
	int err = trace_latency_set_functions(tr, &functions, tr->options & TRACE_OPT_FUNCTION);
	if (!err && !host_critical_watch(which))
		err = -EOPNOTSUPP;
	if (err)
		trace_critical_reset(tr);
	else
		trace_critical_set_owner(tr);
	return err;
}

static int trace_critical_init(struct trace_array *tr, u32 which)
{
	int err = owner || graph_owner ? -EBUSY : trace_comm_prepare();

	if (!err)
		err = trace_latency_start(tr, OPTIONS_SET);
	return err ? err : trace_critical_start(tr, which);
}

static int trace_critical_set_graph(struct trace_array *tr, bool graph)
{
	trace_critical_set_owner(NULL);
	host_synchronize();
	trace_critical_forget();
	int err = trace_latency_set_graph(tr, &functions, graph);
	trace_critical_set_owner(tr);
	return err;
}

static int trace_critical_option(struct trace_array *tr, u64 bit, bool on)
{
	switch (bit) {
	case TRACE_OPT_FUNCTION:
		return trace_latency_set_functions(tr, &functions, on);
	case TRACE_OPT_DISPLAY_GRAPH:
		return trace_critical_set_graph(tr, on);
	default:
		return trace_latency_option(tr, bit, on);
	}
}

#define TRACER(name_, which)                                                                       \
	static int trace_##name_##_init(struct trace_array *tr)                                    \
	{                                                                                          \
		return trace_critical_init(tr, which);                                             \
	}                                                                                          \
	const struct trace_tracer trace_tracer_##name_ = {                                         \
	    .name = #name_,                                                                        \
	    .init = trace_##name_##_init,                                                          \
	    .reset = trace_critical_reset,                                                         \
	    .option = trace_critical_option,                                                       \
	    .shows_longest = true,                                                                 \
	    .graph = &trace_graph_critical_printer,                                                \
	}
TRACER(irqsoff, HOST_CRITICAL_IRQS);
TRACER(preemptoff, HOST_CRITICAL_PREEMPT);
TRACER(preemptirqsoff, HOST_CRITICAL_IRQS | HOST_CRITICAL_PREEMPT);
