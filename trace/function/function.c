/*
 * The tracer `function`: a record for each call of a function, with the place it was called from.
 *
 * Hits come in any context, preemption off. Code of the fast path is inline or not hooked, so it
 * cannot recurse. The slow path (a ring that moves to the next sub-buffer, a waiting reader, a
 * stack) may call hooked functions: `busy` names the context that runs it, and hits in that context
 * are counted but not recorded. An interrupt or NMI in between has another context.
 */
/* hot: runs with each event */
#include "trace/function/function.h"
#include "kernel/lib/errno.h"
#include "trace/event/ftrace.h"
#include "trace/event/clock.h"
#include "trace/event/comm.h"
#include "trace/event/pid_filter.h"
#include "trace/event/record.h"
#include "trace/event/wait.h"
#include "trace/function/priv.h"
#include "trace/host_memory.h"

/* A context, as `busy` has it. */
enum {
	CONTEXT = TRACE_FLAG_HARDIRQ | TRACE_FLAG_SOFTIRQ | TRACE_FLAG_NMI,
	CONTEXT_BUSY = 1 /* in a task it is the only bit */
};
_Static_assert(!(CONTEXT & CONTEXT_BUSY), "a bit of its own");

static inline void trace_function_fill(struct rec_function *rec, u64 ip, u64 parent_ip)
{
	rec->ip = ip;
	rec->parent_ip = parent_ip;
}

/* ---- options/func-no-repeats ---- */

static void trace_function_record_repeats(
    struct trace_functions *f, const struct host_context *ctx, const struct trace_function_last *l)
{
	struct trace_event_file *file = trace_ftrace_file(f->tr, TRACE_FUNC_REPEATS);
	struct trace_slot slot;

	local_inc(&file->counts[ctx->cpu].hit);
	struct rec_func_repeats *rec = trace_reserve(&slot, file, ctx, sizeof(*rec));
	if (!rec)
		return;
	u64 now = ring_buffer_time_stamp(slot.rb);
	u64 delta = trace_clock_ns(f->tr, now) - trace_clock_ns(f->tr, l->stamp);
	rec->ip = l->ip;
	rec->parent_ip = l->parent_ip;
	rec->count = l->repeats;
	rec->top_delta_ts = delta >> 32;
	rec->bottom_delta_ts = delta;
	trace_commit_bare(&slot, file, ctx);
}

/* Is it the last call again? Else it is the last from now on, and how often that came is told. */
static bool trace_function_repeats(
    struct trace_functions *f, const struct host_context *ctx, u64 ip, u64 parent_ip)
{
	struct trace_function_last *l = &f->last[ctx->cpu];

	if (l->ip == ip && l->parent_ip == parent_ip && l->repeats < UINT16_MAX) {
		l->stamp = ring_buffer_time_stamp(f->tr->buffer);
		l->repeats++;
		return true;
	}
	if (l->repeats)
		trace_function_record_repeats(f, ctx, l);
	*l = (struct trace_function_last){.ip = ip, .parent_ip = parent_ip};
	return false;
}

/* ---- a call ---- */

static void trace_function_record(
    struct trace_functions *f, const struct host_context *ctx, u64 ip, u64 parent_ip)
{
	struct trace_event_file *file = trace_ftrace_file(f->tr, TRACE_FN);
	struct trace_slot slot;

	local_inc(&file->counts[ctx->cpu].hit);
	struct rec_function *rec = trace_reserve(&slot, file, ctx, sizeof(*rec));
	if (!rec)
		return;
	trace_function_fill(rec, ip, parent_ip);
	trace_commit_bare(&slot, file, ctx);
	if (READ_ONCE(f->options) & TRACE_FUNC_STACK)
		trace_record_stack(f->tr, ctx);
}

bool trace_function_begin(u8 busy[MAX_CPUS], const struct host_context *ctx, u8 *before)
{
	u8 context = (ctx->flags & CONTEXT) | CONTEXT_BUSY;

	*before = busy[ctx->cpu];
	if (*before == context)
		return false;
	WRITE_ONCE(busy[ctx->cpu], context);
	return true;
}

void trace_function_end(u8 busy[MAX_CPUS], const struct host_context *ctx, u8 before)
{
	WRITE_ONCE(busy[ctx->cpu], before);
}

static __noinline void trace_function_hit_long(struct trace_functions *f, u64 ip, u64 parent_ip)
{
	struct trace_event_file *file = trace_ftrace_file(f->tr, TRACE_FN);
	struct host_context ctx;
	u8 before;

	host_context(&ctx);
	if (!trace_function_begin(f->busy, &ctx, &before)) {
		local_inc(&file->counts[ctx.cpu].hit);
		local_inc(&file->counts[ctx.cpu].too_deep);
		return;
	}
	/* An interrupted call may be in the middle of `last`. */
	if (before || !(READ_ONCE(f->options) & TRACE_FUNC_NO_REPEATS) ||
	    !trace_function_repeats(f, &ctx, ip, parent_ip))
		trace_function_record(f, &ctx, ip, parent_ip);
	trace_function_end(f->busy, &ctx, before);
}

static void trace_function_hit(
    struct host_hook *hook, u64 ip, u64 parent_ip, u64 *slot_ __maybe_unused)
{
	struct trace_functions *f = container_of(hook, struct trace_functions, hook);
	struct trace_event_file *file = trace_ftrace_file(f->tr, TRACE_FN);
	struct rec_function *rec = NULL;
	struct trace_slot slot;

	if (likely(!READ_ONCE(f->busy[host_cpu()]) && !READ_ONCE(f->options)))
		rec = trace_record(&slot, file, sizeof(*rec));
	if (likely(rec)) {
		trace_function_fill(rec, ip, parent_ip);
		trace_record_end(&slot);
	} else {
		trace_function_hit_long(f, ip, parent_ip);
	}
}

/* ---- the tracer ---- */

static u64 *trace_function_wanted(const struct trace_functions *f)
{
	return trace_functions_make_set(
	    f->lists[TRACE_FUNCTIONS_WANTED], f->lists[TRACE_FUNCTIONS_UNWANTED]);
}

void trace_functions_changed(struct trace_array *tr, u64 *room)
{
	struct trace_functions *f = tr->functions;

	trace_functions_fill_set(
	    room, f->lists[TRACE_FUNCTIONS_WANTED], f->lists[TRACE_FUNCTIONS_UNWANTED]);
	if (f->on)
		host_hook_set(&f->hook, room);
	if (tr == trace_global)
		trace_profile_changed(room);
}

int trace_functions_start(struct trace_array *tr, const struct host_hook *hook)
{
	struct trace_functions *f = trace_functions_of(tr);
	int err = f ? trace_comm_prepare() : -ENOMEM;
	u64 *set = err ? NULL : trace_function_wanted(f);

	if (!err && !set)
		err = -ENOMEM;
	if (!err) {
		f->hook = *hook;
		err = host_hook_add(&f->hook);
	}
	if (!err) {
		f->on = true;
		trace_comm_users(1, 0);
		trace_pid_set_hook(tr, &f->hook);
		host_hook_set(&f->hook, set);
	}
	host_free(set);
	return err;
}

void trace_functions_stop(struct trace_array *tr)
{
	struct trace_functions *f = tr->functions;

	f->on = false;
	trace_pid_set_hook(tr, NULL);
	host_hook_remove(&f->hook);
	f->gone.cut += trace_graph_calls(f);
	f->gone.missed += f->hook.missed;
	f->gone.left += f->hook.left;
	f->gone.ended += f->hook.ended;
	f->hook.missed = f->hook.left = f->hook.ended = 0;
	trace_comm_users(-1, 0);
}

static int trace_function_init(struct trace_array *tr)
{
	static const struct host_hook hook = {.fn = trace_function_hit};

	return trace_functions_start(tr, &hook);
}

static void trace_function_options(struct trace_array *tr)
{
	struct trace_functions *f = trace_functions_of(tr);

	if (f)
		WRITE_ONCE(
		    f->options, tr->tracer_options & (TRACE_FUNC_STACK | TRACE_FUNC_NO_REPEATS));
}

static const struct trace_tracer_option options[] = {
    {"func_stack_trace", TRACE_FUNC_STACK},
    {"func-no-repeats", TRACE_FUNC_NO_REPEATS},
    {.name = NULL},
};

const struct trace_tracer trace_tracer_function = {
    .name = "function",
    .init = trace_function_init,
    .reset = trace_functions_stop,
    .options = options,
    .options_changed = trace_function_options,
};
