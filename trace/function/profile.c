/*
 * The function profiler: how often each function was called, and how long its calls took. A call is
 * counted on the CPU where it began, its time on the CPU where it returned. enter() and leave() run
 * with interrupts off and call nothing that is hooked; an NMI between any two instructions adds to
 * the same sums.
 *
 * The file is changed under host_lock. The table of functions and the sums are never freed after
 * the first use, so they can be read while the profiler is off.
 */
/* hot: runs with each event */
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/function/priv.h"
#include "trace/host_clock.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"
#include "trace/output/graph.h"
#include "trace/tracer/tracer.h"

#define NS_PER_US 1000UL

/*
 * A bit of host_call.ip, beside the function's place in the table: `start` is from host_task_ran().
 */
#define CALL_RAN (1UL << 63)

struct trace_profile {
	u64 hits;
	u64 ns;
	u64 squares[2]; /* of each call's ns: the low half, the high half */
};

static struct host_hook hook;
static struct trace_function_table *table;
static struct trace_profile *sums[MAX_CPUS]; /* [C] by place in the table */
static bool on;				     /* [L] */

static inline u32 trace_profile_options(void)
{
	return READ_ONCE(trace_global->tracer_options);
}

/* ---- calls ---- */

/* Follows a call with sleep-time off, or one that the short way cannot. */
static __noinline void trace_profile_follow(struct host_hook *h, u64 place, u64 *slot)
{
	bool ran = !(trace_profile_options() & TRACE_GRAPH_SLEEP_TIME);
	struct host_call call = {.ip = place | (ran ? CALL_RAN : 0)};

	call.start = ran ? host_task_ran() : host_cycles();
	host_call_follow(h, slot, &call);
}

static void trace_profile_enter(struct host_hook *h, u64 *slot)
{
	u64 place = trace_function_place(table, host_entered_ip(slot));
	struct host_calls at;
	struct host_call *call;

	local_inc(&sums[host_cpu()][place].hits);
	if (unlikely(!(trace_profile_options() & TRACE_GRAPH_SLEEP_TIME)) ||
	    unlikely(!host_calls_top(slot, &at))) {
		trace_profile_follow(h, place, slot);
		return;
	}
	call = host_call_begin(h, at, slot);
	if (unlikely(!call)) {
		trace_profile_follow(h, place, slot);
		return;
	}
	call->ip = place;
	call->start = host_cycles();
	call->nested = 0;
	host_call_begun(call, slot);
}

static inline void trace_profile_add(const struct host_call *call, u64 ns)
{
	struct trace_profile *p = sums[host_cpu()] + (call->ip & ~CALL_RAN);

	local_add(&p->ns, ns);
	local_add_square(p->squares, ns);
}

/* For options that ask for another time: without sleep, or without the calls inside. */
static __noinline void trace_profile_leave_asked(
    const struct host_hook *h, const struct host_call *call, u64 ns)
{
	struct host_call *around;

	if (call->ip & CALL_RAN)
		ns = host_task_ran() - call->start;
	if (!(trace_profile_options() & TRACE_GRAPH_GRAPH_TIME)) {
		around = host_call_around(h, call);
		if (around)
			around->nested += ns;
		ns -= MIN(ns, call->nested);
	}
	trace_profile_add(call, ns);
}

static void trace_profile_leave(struct host_hook *h, const struct host_call *call,
    const struct host_returned *ret __maybe_unused)
{
	u64 ns = host_cycles_ns(host_cycles() - call->start);

	if (unlikely(call->ip & CALL_RAN) ||
	    unlikely(!(trace_profile_options() & TRACE_GRAPH_GRAPH_TIME)))
		trace_profile_leave_asked(h, call, ns);
	else
		trace_profile_add(call, ns);
}

/* ---- on and off ---- */

static size_t trace_profile_size(void)
{
	return (table->mask + 1UL) * sizeof(struct trace_profile);
}

/* Allocates the table and the sums. If one allocation fails, the next use keeps the others. */
static int trace_profile_prepare(void)
{
	if (!table)
		table = trace_function_make_table(NULL);
	if (!table)
		return -ENOMEM;
	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++) {
		if (!sums[cpu] && !host_memory_check("a profile", trace_profile_size()))
			sums[cpu] = host_alloc(trace_profile_size());
		if (!sums[cpu])
			return -ENOMEM;
	}
	return 0;
}

/* Called before trace_profile_set(), while no function calls the hook. */
static void trace_profile_clear(void)
{
	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++)
		memset(sums[cpu], 0, trace_profile_size());
}

static int trace_profile_set(void)
{
	const struct trace_functions *f = trace_functions_of(trace_global);
	u64 *set = f ? trace_functions_make_set(
			   f->lists[TRACE_FUNCTIONS_WANTED], f->lists[TRACE_FUNCTIONS_UNWANTED])
		     : NULL;

	if (!set)
		return -ENOMEM;
	host_hook_set(&hook, set);
	host_free(set);
	return 0;
}

void trace_profile_changed(const u64 *set)
{
	if (on)
		host_hook_set(&hook, set);
}

int trace_profile_switch(bool to)
{
	if (to == on)
		return 0;
	if (!to) {
		host_hook_remove(&hook);
		on = false;
		return 0;
	}
	hook = (struct host_hook){.enter = trace_profile_enter, .leave = trace_profile_leave};
	int err = trace_profile_prepare();
	if (!err)
		err = host_hook_add(&hook);
	if (err)
		return err;
	trace_profile_clear();
	on = true;
	err = trace_profile_set();
	if (err)
		trace_profile_switch(false);
	return err;
}

bool trace_profile_is_on(void)
{
	return on;
}

/* ---- the files ---- */

struct trace_profile_row {
	const char *name;
	struct trace_profile sum;
};

/* Collects the functions that were called on that CPU; returns their number. */
static unsigned trace_profile_collect(struct trace_profile_row *rows, unsigned cpu)
{
	unsigned n = 0;
	u64 addr;

	for (unsigned i = 0; i < host_function_count(); i++) {
		const char *name = host_function(i, &addr);
		const struct trace_profile *sum =
		    name ? &sums[cpu][trace_function_place(table, addr)] : NULL;
		if (sum && READ_ONCE(sum->hits))
			rows[n++] = (struct trace_profile_row){name, *sum};
	}
	return n;
}

/* Shell's sort: the longest first. */
static void trace_profile_sort(struct trace_profile_row *rows, unsigned n)
{
	for (unsigned gap = n / 2; gap; gap /= 2)
		for (unsigned i = gap; i < n; i++) {
			struct trace_profile_row row = rows[i];
			unsigned k = i;

			for (; k >= gap && rows[k - gap].sum.ns < row.sum.ns; k -= gap)
				rows[k] = rows[k - gap];
			rows[k] = row;
		}
}

/* `d` is less than 2 to the power of 63. */
static unsigned __int128 trace_profile_divide(unsigned __int128 v, u64 d)
{
	unsigned __int128 quotient = 0;
	u64 rest = 0;

	for (int bit = 127; bit >= 0; bit--) {
		rest = rest << 1 | (u64)(v >> bit & 1);
		quotient <<= 1;
		if (rest >= d) {
			rest -= d;
			quotient |= 1;
		}
	}
	return quotient;
}

/* The variance of its calls' times, a thousandth of ns squared, as Linux has it. */
static u64 trace_profile_variance(const struct trace_profile *sum)
{
	unsigned __int128 squares = (unsigned __int128)sum->squares[1] << 64 | sum->squares[0];
	unsigned __int128 square = (unsigned __int128)sum->ns * sum->ns;
	u64 n = sum->hits;

	if (n < 2 || squares * n < square)
		return 0;
	return trace_profile_divide(
	    trace_profile_divide(squares * n - square, n), (n - 1) * NS_PER_US);
}

static void trace_profile_show_row(struct seq *s, const struct trace_profile_row *row)
{
	u64 average = row->sum.ns / row->sum.hits;

	if (average < trace_thresh_ns)
		return;
	seq_printf(s, "  %-30.30s  %10lu    ", row->name, row->sum.hits);
	trace_print_duration(s, row->sum.ns);
	seq_puts(s, "    ");
	trace_print_duration(s, average);
	seq_puts(s, "    ");
	trace_print_duration(s, trace_profile_variance(&row->sum));
	seq_putc(s, '\n');
}

int trace_profile_show(struct seq *s, unsigned cpu)
{
	struct trace_profile_row *rows = NULL;
	unsigned n = 0;

	if (sums[cpu]) {
		rows = host_alloc(host_function_count() * sizeof(*rows));
		if (!rows)
			return -ENOMEM;
		n = trace_profile_collect(rows, cpu);
		trace_profile_sort(rows, n);
	}
	seq_puts(s,
	    "  Function                               Hit    Time            Avg             s^2\n"
	    "  --------                               ---    ----            ---             "
	    "---\n");
	for (unsigned i = 0; i < n; i++)
		trace_profile_show_row(s, &rows[i]);
	host_free(rows);
	return 0;
}
