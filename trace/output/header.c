/* The header of `trace`, in its five forms. Task context under host_lock. */
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/options.h"
#include "trace/event/tracer.h"
#include "trace/host_cpus.h"
#include "trace/host_system.h"
#include "trace/output/header.h"
#include "trace/output/print.h"
#include "trace/output/reader.h"

struct totals {
	u64 in_buffer, written;
};

/*
 * What was read away counts in neither, nor what is hidden, with all that was overwritten before
 * it.
 */
static struct totals trace_count_entries(const struct trace_reader *r)
{
	struct ring_buffer_stats st;
	u64 all, overruns;

	if (r->longest.alone) {
		ring_buffer_stats(r->buffer, r->longest.cpu, &st);
		all = st.entries;
		overruns = st.overrun;
	} else {
		all = ring_buffer_entries(r->buffer);
		overruns = ring_buffer_overruns(r->buffer);
	}
	u64 entries = all - MIN(all, r->hidden);

	return (struct totals){entries, entries + overruns - r->hidden_overruns};
}

static void put_totals(struct seq *s, const struct trace_reader *r)
{
	struct totals t = trace_count_entries(r);

	seq_printf(s, "# entries-in-buffer/entries-written: %lu/%lu   #P:%u\n#\n", t.in_buffer,
	    t.written, host_cpu_count());
}

static void put_columns(struct seq *s, bool tgid)
{
	seq_printf(s, "#           TASK-PID    %s CPU#     TIMESTAMP  FUNCTION\n",
	    tgid ? "   TGID   " : "");
	seq_printf(
	    s, "#              | |      %s   |         |         |\n", tgid ? "     |    " : "");
}

static void put_columns_irq(struct seq *s, bool tgid)
{
	static const char blanks[] = "            ";
	int n = tgid ? 12 : 2;

	seq_printf(
	    s, "#                            %.*s  _-----=> irqs-off/BH-disabled\n", n, blanks);
	seq_printf(s, "#                            %.*s / _----=> need-resched\n", n, blanks);
	seq_printf(s, "#                            %.*s| / _---=> hardirq/softirq\n", n, blanks);
	seq_printf(s, "#                            %.*s|| / _--=> preempt-depth\n", n, blanks);
	seq_printf(s, "#                            %.*s||| / _-=> migrate-disable\n", n, blanks);
	seq_printf(s, "#                            %.*s|||| /     delay\n", n, blanks);
	seq_printf(
	    s, "#           TASK-PID  %.*s CPU#  |||||  TIMESTAMP  FUNCTION\n", n, "     TGID   ");
	seq_printf(
	    s, "#              | |    %.*s   |   |||||     |         |\n", n, "       |    ");
}

static void trace_put_place(struct seq *s, const struct trace_reader *r, const char *what, u64 addr)
{
	struct trace_out out;

	trace_out_init(&out, s, r->tr->options);
	out.symbols = r->symbols;
	seq_puts(s, what);
	trace_print_ip(&out, addr);
	seq_putc(s, '\n');
}

static void put_latency(struct seq *s, const struct trace_reader *r)
{
	const struct trace_latency *l = &r->longest;
	struct totals t = trace_count_entries(r);

	seq_printf(s, "# %s latency trace v1.1.5 on %s\n", r->tr->tracer->name, host_release());
	seq_puts(s, "# --------------------------------------------------------------------\n");
	seq_printf(s, "# latency: %lu us, #%lu/%lu, CPU#%u | (M:%s VP:0, KP:0, SP:0 HP:0 #P:%u)\n",
	    (l->ns + 500) / 1000, t.in_buffer, t.written, l->cpu, host_preemption(),
	    host_cpu_count());
	seq_puts(s, "#    -----------------\n");
	seq_printf(s, "#    | task: %.16s-%d (uid:%u nice:%d policy:%u rt_prio:%u)\n", l->task.comm,
	    l->task.pid, l->task.uid, l->task.nice, l->task.policy, l->task.rt_priority);
	seq_puts(s, "#    -----------------\n");
	if (l->from) {
		trace_put_place(s, r, "#  => started at: ", l->from);
		trace_put_place(s, r, "#  => ended at:   ", l->to);
		seq_puts(s, "#\n");
	}
	seq_puts(s, "#\n");
}

static void put_latency_columns(struct seq *s)
{
	seq_puts(s, "#                    _------=> CPU#            \n"
		    "#                   / _-----=> irqs-off/BH-disabled\n"
		    "#                  | / _----=> need-resched    \n"
		    "#                  || / _---=> hardirq/softirq \n"
		    "#                  ||| / _--=> preempt-depth   \n"
		    "#                  |||| / _-=> migrate-disable \n"
		    "#                  ||||| /     delay           \n"
		    "#  cmd     pid     |||||| time  |   caller     \n"
		    "#     \\   /        ||||||  \\    |    /       \n");
}

bool trace_print_latency_head(struct seq *s, const struct trace_reader *r)
{
	if (trace_reader_empty(r)) /* the file of a CPU: this CPU's buffer */
		return false;
	put_latency(s, r);
	return true;
}

static void trace_print_flags_head(struct seq *s, const char *single)
{
	seq_printf(s,
	    "#                                _-----=> irqs-off\n"
	    "#                               / _----=> need-resched\n"
	    "#                              | / _---=> hardirq/softirq\n"
	    "#                              || / _--=> preempt-depth\n"
	    "#                              ||| / _-=> migrate-disable%s",
	    single);
}

void trace_print_osnoise_header(struct seq *s)
{
	trace_print_flags_head(s, "                         MAX\n");
	seq_puts(s,
	    "#                              |||| /     delay                                   "
	    "SINGLE      Interference counters:\n"
	    "#                              |||||               RUNTIME      NOISE  %% OF CPU  "
	    "NOISE    +-----------------------------+\n"
	    "#           TASK-PID      CPU# |||||   TIMESTAMP    IN US       IN US  AVAILABLE  "
	    "IN US     HW    NMI    IRQ   SIRQ THREAD\n"
	    "#              | |         |   |||||      |           |             |    |        "
	    "    |      |      |      |      |      |\n");
}

void trace_print_timerlat_header(struct seq *s)
{
	trace_print_flags_head(s, "\n");
	seq_puts(s,
	    "#                              |||| /     delay\n"
	    "#                              |||||            ACTIVATION\n"
	    "#           TASK-PID      CPU# |||||   TIMESTAMP   ID            CONTEXT           "
	    "      LATENCY\n"
	    "#              | |         |   |||||      |         |                  |           "
	    "            |\n");
}

void trace_print_header(struct seq *s, const struct trace_reader *r)
{
	const struct trace_array *tr = r->tr;
	u64 options = tr->options;

	seq_printf(s, "# tracer: %s\n#\n", tr->tracer->name);
	if (tr->tracer->header) {
		tr->tracer->header(s);
		return;
	}
	if (!(options & TRACE_OPT_CONTEXT_INFO))
		return;
	if (r->printer) {
		r->printer->header(s, r);
	} else if (options & TRACE_OPT_LATENCY_FMT) {
		if (trace_print_latency_head(s, r) && !(options & TRACE_OPT_VERBOSE))
			put_latency_columns(s);
	} else if (!(options & TRACE_OPT_VERBOSE)) {
		put_totals(s, r);
		if (options & TRACE_OPT_IRQ_INFO)
			put_columns_irq(s, options & TRACE_OPT_RECORD_TGID);
		else
			put_columns(s, options & TRACE_OPT_RECORD_TGID);
	}
}
