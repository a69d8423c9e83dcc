/*
 * The tracer `function_graph`: a record when a function is entered, and one when it returns, with
 * its value and how long it took.
 *
 * Both are recorded with interrupts off, in any context. A call is followed once its entry is
 * recorded; its state is on the task's shadow stack until it returns. So its depth is one more than
 * that of the innermost followed call, even across interrupts. Calls inherit the marks (`mode`) of
 * their callers, which come from functions of set_graph_function and set_graph_notrace.
 *
 * The fast path calls no hooked function. The slow path may: see function.c for `busy`.
 *
 * A call's level is its depth, with its marks above: `levels` compares both at once.
 */
/* hot: runs with each event */
#include "kernel/lib/errno.h"
#include "trace/event/comm.h"
#include "trace/event/parts.h"
#include "trace/event/record.h"
#include "trace/function/graph.h"
#include "trace/function/priv.h"
#include "trace/host_clock.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"
#include "trace/output/graph.h"
#include "trace/tracer/tracer.h"

/* Bits of host_call.mode. */
enum {
	CALL_INSIDE = 1,  /* of a function of set_graph_function, or that function itself */
	CALL_IN_IRQ = 2,  /* which was called in an interrupt */
	CALL_SILENT = 4,  /* of set_graph_notrace: neither it nor what it calls is recorded */
	CALL_HELD = 8,	  /* no entry was recorded: its return is if it took long enough */
	CALL_RAN = 16,	  /* host_call.start is of host_task_ran() */
	CALL_UNSEEN = 32, /* only what it calls may be recorded; its depth is that of its caller */
	CALL_HANDED_DOWN = CALL_INSIDE | CALL_IN_IRQ | CALL_SILENT,
};

/* Bits of trace_functions.asks: what a call is asked about; 0: the short way. */
enum { ASK_LISTS = 1, ASK_IRQS = 2, ASK_SLEEP = 4, ASK_THRESH = 8, ASK_RETADDR = 16 };

static struct trace_function_table *sets[2]; /* [A] functions wanted, silent; NULL: all, none */
static u32 depth_limit = UINT32_MAX;	     /* [A] */
static u32 depth_written;		     /* [L] 0: no limit */

static void trace_graph_enter(struct host_hook *hook, u64 *slot);

/* ---- sets ---- */

static bool trace_graph_has(const struct trace_function_table *set, u64 addr)
{
	return trace_function_place(set, addr) != TRACE_FUNCTION_NOWHERE;
}

/* Its own hook has all calls, and options. */
static u32 trace_graph_asks(u32 options)
{
	u32 asks = 0;

	if (!(options & TRACE_GRAPH_IRQS))
		asks |= ASK_IRQS;
	if (!(options & TRACE_GRAPH_SLEEP_TIME))
		asks |= ASK_SLEEP;
	if (trace_thresh_ns)
		asks |= ASK_THRESH;
	if (options & TRACE_GRAPH_RETADDR)
		asks |= ASK_RETADDR;
	return asks;
}

static void trace_graph_settle(struct trace_array *tr)
{
	struct trace_functions *f = tr->functions;
	bool own = f && f->hook.leave == trace_graph_leave;
	u32 asks = sets[0] || sets[1] ? ASK_LISTS : 0;

	if (!f)
		return;
	if (own)
		asks |= trace_graph_asks(tr->tracer_options);
	WRITE_ONCE(f->asks, asks);
	WRITE_ONCE(f->levels, asks ? 0 : depth_limit);
	if (own)
		WRITE_ONCE(f->hook.enter, asks ? trace_graph_enter_asked : trace_graph_enter);
}

static void trace_graph_settle_all(void)
{
	struct trace_array *tr;

	list_for_each_entry (tr, &trace_arrays, node)
		trace_graph_settle(tr);
}

int trace_graph_set_list(enum trace_function_list which, const u64 *list)
{
	struct trace_function_table **at = &sets[which == TRACE_GRAPH_SILENT], *old = *at;
	struct trace_function_table *set = list ? trace_function_make_table(list) : NULL;

	if (list && !set)
		return -ENOMEM;
	WRITE_ONCE(*at, set);
	trace_graph_settle_all();
	if (old)
		host_synchronize();
	host_free(old);
	return 0;
}

u32 trace_graph_depth(void)
{
	return depth_written;
}

void trace_graph_set_depth(u32 depth)
{
	depth_written = depth;
	WRITE_ONCE(depth_limit, depth ? depth : UINT32_MAX);
	trace_graph_settle_all();
}

/* ---- records ---- */

/* A call that is entered. retaddr 0: where it returns to is not asked. */
struct entered {
	const struct host_call *call;
	u64 retaddr;
};

static inline enum trace_ftrace_id trace_graph_entry_id(const struct entered *e)
{
	return e->retaddr ? TRACE_GRAPH_RETADDR_ENT : TRACE_GRAPH_ENT;
}

static inline u32 trace_graph_entry_size(const struct entered *e)
{
	return e->retaddr ? sizeof(struct rec_graph_retaddr_entry) : sizeof(struct rec_graph_entry);
}

static inline void trace_graph_fill_entry(struct rec_graph_entry *rec, const struct entered *e)
{
	rec->func = e->call->ip;
	rec->depth = e->call->depth;
	if (e->retaddr)
		container_of(rec, struct rec_graph_retaddr_entry, entry)->retaddr = e->retaddr;
}

struct returned {
	const struct host_call *call;
	u64 value, start, end; /* start, end: ns */
};

static inline void trace_graph_fill_exit(struct rec_graph_exit *rec, const struct returned *r)
{
	rec->func = r->call->ip;
	rec->retval = r->value;
	rec->depth = r->call->depth;
	rec->overrun = 0;
	rec->calltime = r->start;
	rec->rettime = r->end;
}

/* For a call that is entered or (e NULL) has returned; false: the ring refused it. */
static inline __attribute__((always_inline)) bool trace_graph_record(struct trace_event_file *file,
    const struct host_context *ctx, const struct entered *e, const struct returned *r)
{
	struct trace_slot slot;
	void *rec = trace_reserve(
	    &slot, file, ctx, e ? trace_graph_entry_size(e) : sizeof(struct rec_graph_exit));

	if (rec && e)
		trace_graph_fill_entry(rec, e);
	else if (rec)
		trace_graph_fill_exit(rec, r);
	if (rec)
		trace_commit_bare(&slot, file, ctx);
	return rec;
}

/* The long way, for the same; false: it is not recorded. */
static __noinline bool trace_graph_long(struct trace_functions *f, const struct host_context *ctx,
    const struct entered *e, const struct returned *r)
{
	struct trace_event_file *file =
	    trace_ftrace_file(f->tr, e ? trace_graph_entry_id(e) : TRACE_GRAPH_RET);
	u8 before;

	local_inc(&file->counts[ctx->cpu].hit);
	if (!trace_function_begin(f->busy, ctx, &before)) {
		local_inc(&file->counts[ctx->cpu].too_deep);
		return false;
	}
	bool done = trace_graph_record(file, ctx, e, r);
	trace_function_end(f->busy, ctx, before);
	return done;
}

bool trace_graph_mark(struct trace_array *tr, u64 ip)
{
	struct host_call call = {.ip = ip};
	u64 now = host_call_ns(host_cycles());
	struct returned r = {&call, 0, now, now};
	struct trace_event_file *entries = trace_ftrace_file(tr, TRACE_GRAPH_ENT),
				*returns = trace_ftrace_file(tr, TRACE_GRAPH_RET);
	struct host_context ctx;

	if (!ring_buffer_record_is_on(tr->buffer))
		return false;
	host_context(&ctx);
	local_inc(&entries->counts[ctx.cpu].hit);
	if (trace_graph_record(entries, &ctx, &(struct entered){.call = &call}, NULL)) {
		local_inc(&returns->counts[ctx.cpu].hit);
		trace_graph_record(returns, &ctx, NULL, &r);
	}
	return true;
}

/* ---- entering ---- */

static bool trace_graph_is_in_irq(const struct host_context *ctx)
{
	return ctx->flags & TRACE_FLAG_HARDIRQ;
}

/* Nobody asks for it: a hit that is left out. */
static void trace_graph_leave_out(struct trace_functions *f, enum trace_ftrace_id id, u32 cpu)
{
	struct trace_event_count *c = &trace_ftrace_file(f->tr, id)->counts[cpu];

	local_inc(&c->hit);
	local_inc(&c->filtered);
}

/* Is it wanted, by what was asked? Marks the call, and says how it is to be followed. */
static __noinline bool trace_graph_asked(
    struct host_call *call, const struct host_context *ctx, u32 asks)
{
	const struct trace_function_table *wanted = READ_ONCE(sets[0]),
					  *silent = READ_ONCE(sets[1]);

	if (call->mode & CALL_SILENT)
		return false;
	if (silent && trace_graph_has(silent, call->ip)) {
		call->mode |= CALL_SILENT;
		return true;
	}
	if (wanted && !(call->mode & CALL_INSIDE)) {
		if (!trace_graph_has(wanted, call->ip))
			return false;
		call->mode |= CALL_INSIDE | (trace_graph_is_in_irq(ctx) ? CALL_IN_IRQ : 0);
	}
	if ((asks & ASK_IRQS) && trace_graph_is_in_irq(ctx) && !(call->mode & CALL_IN_IRQ))
		return false;
	if (call->depth >= READ_ONCE(depth_limit))
		return false;
	if (asks & ASK_THRESH)
		call->mode |= CALL_HELD;
	if (asks & ASK_SLEEP) {
		call->mode |= CALL_RAN;
		call->start = host_task_ran();
	}
	return true;
}

/* The long way: whatever is asked, and what the short way has no room for. */
static __noinline void trace_graph_enter_long(struct host_hook *hook, u64 *slot)
{
	struct trace_functions *f = container_of(hook, struct trace_functions, hook);
	const struct host_call *outer = host_call_outer(hook, slot);
	struct host_call call = {.ip = host_entered_ip(slot)};
	struct entered e = {.call = &call};
	struct rec_graph_entry *rec;
	struct host_context ctx;
	struct trace_slot to;
	u32 asks = READ_ONCE(f->asks);

	if (outer) {
		call.depth = outer->depth + 1;
		call.mode = outer->mode & CALL_HANDED_DOWN;
	}
	if (!asks && call.depth >= READ_ONCE(depth_limit))
		return;
	host_context_in(&ctx, host_entered_flags(slot));
	if (asks && !trace_graph_asked(&call, &ctx, asks))
		return;
	if (asks & ASK_RETADDR)
		e.retaddr = host_call_returns_to(slot);
	if (unlikely(call.mode & (CALL_SILENT | CALL_HELD))) {
		trace_graph_leave_out(f, TRACE_GRAPH_ENT, ctx.cpu);
	} else if (likely(!READ_ONCE(f->busy[ctx.cpu])) &&
		   (rec = trace_record_in(&to, trace_ftrace_file(f->tr, trace_graph_entry_id(&e)),
			&ctx, trace_graph_entry_size(&e)))) {
		trace_graph_fill_entry(rec, &e);
		trace_record_end(&to);
	} else if (!trace_graph_long(f, &ctx, &e, NULL)) {
		return;
	}
	if (!(call.mode & CALL_RAN))
		call.start = host_cycles();
	host_call_follow(hook, slot, &call);
}

/*
 * When something is asked: most calls are not below a function of set_graph_function, and that is
 * known soon.
 */
void trace_graph_enter_asked(struct host_hook *hook, u64 *slot)
{
	const struct trace_function_table *wanted = READ_ONCE(sets[0]);
	const struct host_call *outer;
	struct host_calls at;

	if (wanted && !READ_ONCE(sets[1]) && likely(host_calls_top(slot, &at))) {
		outer = host_call_under(hook, at);
		if (likely(!outer || !(outer->mode & (CALL_INSIDE | CALL_SILENT))) &&
		    likely(!trace_graph_has(wanted, host_entered_ip(slot))))
			return;
	}
	trace_graph_enter_long(hook, slot);
}

/* A function that a list has is followed all the same: what it calls may be looked at. */
void trace_graph_enter_unseen(struct host_hook *hook, u64 *slot)
{
	const struct trace_function_table *wanted = READ_ONCE(sets[0]),
					  *silent = READ_ONCE(sets[1]);
	struct host_call call = {.ip = host_entered_ip(slot), .depth = UINT32_MAX};

	if (silent && trace_graph_has(silent, call.ip))
		call.mode = CALL_SILENT;
	else if (wanted && trace_graph_has(wanted, call.ip))
		call.mode = CALL_INSIDE;
	else
		return;
	const struct host_call *outer = host_call_outer(hook, slot);
	if (outer) {
		call.depth = outer->depth;
		call.mode |= outer->mode & CALL_HANDED_DOWN;
	}
	call.mode |= CALL_UNSEEN;
	trace_graph_leave_out(
	    container_of(hook, struct trace_functions, hook), TRACE_GRAPH_ENT, host_cpu());
	host_call_follow(hook, slot, &call);
}

/*
 * When nothing is asked but the depth. The call is begun first: then all that is known of it lies
 * there, and few registers are needed.
 */
static void trace_graph_enter(struct host_hook *hook, u64 *slot)
{
	struct trace_functions *f = container_of(hook, struct trace_functions, hook);
	struct rec_graph_entry *rec;
	struct host_context ctx;
	struct host_call *call;
	struct host_calls at;
	struct trace_slot to;
	u64 level;

	if (unlikely(!host_calls_top(slot, &at)))
		goto lengthy;
	level = host_call_next_level(hook, at);
	barrier();
	/* What is read plainly here the compiler compares where it lies. */
	if (unlikely(level >= f->levels)) {
		if (level <= UINT32_MAX && READ_ONCE(f->levels))
			return;
		goto lengthy;
	}
	call = host_call_begin(hook, at, slot);
	if (unlikely(!call))
		goto lengthy;
	call->ip = host_entered_ip(slot);
	call->level = level;
	call->start = host_cycles();
	if (unlikely(f->busy[host_cpu()] | f->entries->way) ||
	    unlikely(!trace_record_at(&to, f->entries, sizeof(*rec), call->start))) {
		host_call_drop(call);
		goto lengthy;
	}
	host_context_in(&ctx, host_entered_flags(slot));
	rec = trace_slot_open(&to, f->entries, &ctx);
	rec->func = call->ip;
	rec->depth = call->depth;
	trace_record_at_end(&to);
	host_call_begun(call, slot);
	return;
lengthy:
	trace_graph_enter_long(hook, slot);
}

/* ---- returning ---- */

/* The long way: of a call with marks, and what the short way has no room for. */
static __noinline void trace_graph_leave_long(
    struct host_hook *hook, const struct host_call *call, const struct host_returned *ret)
{
	struct trace_functions *f = container_of(hook, struct trace_functions, hook);
	struct returned r = {call, ret->value, 0, host_call_ns(host_cycles())};
	struct host_context ctx;
	u64 thresh;

	r.start = !(call->mode & CALL_RAN) ? host_call_ns(call->start)
					   : r.end - (host_task_ran() - call->start);
	host_context_in(&ctx, ret->flags);
	thresh = call->mode & CALL_HELD ? READ_ONCE(trace_thresh_ns) : 0;
	if (call->mode & (CALL_SILENT | CALL_UNSEEN) || r.end - r.start < thresh)
		trace_graph_leave_out(f, TRACE_GRAPH_RET, ctx.cpu);
	else
		trace_graph_long(f, &ctx, NULL, &r);
}

void trace_graph_leave(
    struct host_hook *hook, const struct host_call *call, const struct host_returned *ret)
{
	struct trace_functions *f = container_of(hook, struct trace_functions, hook);
	u64 now = host_cycles();
	struct rec_graph_exit *rec;
	struct host_context ctx;
	struct trace_slot to;

	if (unlikely(call->mode & (CALL_SILENT | CALL_HELD | CALL_RAN | CALL_UNSEEN)) ||
	    unlikely(f->busy[host_cpu()] | f->returns->way) ||
	    unlikely(!trace_record_at(&to, f->returns, sizeof(*rec), now))) {
		trace_graph_leave_long(hook, call, ret);
		return;
	}
	host_context_in(&ctx, ret->flags);
	rec = trace_slot_open(&to, f->returns, &ctx);
	rec->func = call->ip;
	rec->retval = ret->value;
	__builtin_memcpy(&rec->depth, &(u64){call->depth}, sizeof(u64)); /* the overrun is 0 */
	rec->calltime = host_call_ns(call->start);
	barrier(); /* two registers less than if the clock's scale were kept for both */
	rec->rettime = host_call_ns(now);
	trace_record_at_end(&to);
}

void trace_graph_leave_unseen(struct host_hook *hook)
{
	trace_graph_leave_out(
	    container_of(hook, struct trace_functions, hook), TRACE_GRAPH_RET, host_cpu());
}

/* ---- what became of calls ---- */

/*
 * Every hit of an entry that was not refused was followed, but for those that were missed; every
 * return is a hit.
 */
static u64 trace_graph_hits(const struct trace_functions *f, enum trace_ftrace_id id, bool entry)
{
	const struct trace_event_count *counts = trace_ftrace_file(f->tr, id)->counts;
	u64 n = 0;

	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++)
		n += counts[cpu].hit - (entry ? counts[cpu].lost + counts[cpu].too_deep : 0);
	return n;
}

static u64 trace_graph_followed(const struct trace_functions *f)
{
	return trace_graph_hits(f, TRACE_GRAPH_ENT, true) +
	       trace_graph_hits(f, TRACE_GRAPH_RETADDR_ENT, true) - f->gone.missed - f->hook.missed;
}

u64 trace_graph_calls(const struct trace_functions *f)
{
	const struct trace_function_calls *gone = &f->gone;

	return trace_graph_followed(f) - trace_graph_hits(f, TRACE_GRAPH_RET, false) - gone->left -
	       f->hook.left - gone->ended - f->hook.ended - gone->cut;
}

void trace_functions_show_calls(struct seq *s, const struct trace_array *tr)
{
	const struct trace_functions *f = tr->functions;
	u64 missed = f ? f->gone.missed + f->hook.missed : 0;

	if (!f || trace_graph_followed(f) + missed == 0)
		return;
	seq_printf(s,
	    "# calls: followed %lu = returned %lu + under way %lu + left otherwise %lu + ended "
	    "with their task %lu + cut off %lu; not followed %lu\n",
	    trace_graph_followed(f), trace_graph_hits(f, TRACE_GRAPH_RET, false),
	    trace_graph_calls(f), f->gone.left + f->hook.left, f->gone.ended + f->hook.ended,
	    f->gone.cut, missed);
}

/* ---- the tracer ---- */

int trace_graph_start(struct trace_array *tr, const struct host_hook *hook)
{
	struct trace_functions *f = trace_functions_of(tr);

	if (!f)
		return -ENOMEM;
	f->hook = *hook;
	f->entries = trace_ftrace_file(tr, TRACE_GRAPH_ENT);
	f->returns = trace_ftrace_file(tr, TRACE_GRAPH_RET);
	trace_graph_settle(tr);
	struct host_hook settled = f->hook;
	return trace_functions_start(tr, &settled);
}

static int trace_graph_init(struct trace_array *tr)
{
	static const struct host_hook hook = {
	    .enter = trace_graph_enter, .leave = trace_graph_leave};

	return trace_graph_start(tr, &hook);
}

static const struct trace_tracer_option options[] = {
    {"funcgraph-overrun", TRACE_GRAPH_OVERRUN},
    {"funcgraph-cpu", TRACE_GRAPH_CPU},
    {"funcgraph-overhead", TRACE_GRAPH_OVERHEAD},
    {"funcgraph-proc", TRACE_GRAPH_PROC},
    {"funcgraph-duration", TRACE_GRAPH_DURATION},
    {"funcgraph-abstime", TRACE_GRAPH_ABSTIME},
    {"funcgraph-irqs", TRACE_GRAPH_IRQS},
    {"funcgraph-tail", TRACE_GRAPH_TAIL},
    {"funcgraph-retval", TRACE_GRAPH_RETVAL},
    {"funcgraph-retval-hex", TRACE_GRAPH_RETVAL_HEX},
    {"funcgraph-retaddr", TRACE_GRAPH_RETADDR},
    {"sleep-time", TRACE_GRAPH_SLEEP_TIME},
    {"graph-time", TRACE_GRAPH_GRAPH_TIME},
    {.name = NULL},
};

const struct trace_tracer trace_tracer_function_graph = {
    .name = "function_graph",
    .init = trace_graph_init,
    .reset = trace_functions_stop,
    .options = options,
    .options_changed = trace_graph_settle,
    .printer = &trace_graph_printer,
};
