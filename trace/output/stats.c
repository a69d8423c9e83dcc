/*
 * The contents of `stats` and `header_page`, and of a trace.dat file's sections on CPUs and pages.
 * Task context under host_lock.
 */
#include "trace/output/stats.h"
#include "kernel/lib/seq.h"
#include "trace/event/array.h"
#include "trace/event/clock.h"

static void trace_show_stamp(struct seq *s, const struct trace_array *tr, const char *what, u64 t)
{
	if (tr->clock->in_ns)
		seq_printf(s, "%s: %5lu.%06lu\n", what, t / 1000000000, t / 1000 % 1000000);
	else
		seq_printf(s, "%s: %lu\n", what, t);
}

void trace_show_stats(
    struct seq *s, const struct trace_array *tr, struct ring_buffer *buffer, unsigned cpu)
{
	struct ring_buffer_stats st;

	ring_buffer_stats(buffer, cpu, &st);
	seq_printf(s, "entries: %lu\noverrun: %lu\ncommit overrun: %lu\nbytes: %lu\n", st.entries,
	    st.overrun, st.commit_overrun, st.bytes);
	trace_show_stamp(
	    s, tr, "oldest event ts", st.oldest_ts ? trace_clock_ns(tr, st.oldest_ts) : 0);
	trace_show_stamp(s, tr, "now ts", trace_clock_now(tr));
	seq_printf(s, "dropped events: %lu\nread events: %lu\n", st.dropped, st.read);
}

void trace_show_page_format(struct seq *s, size_t page_size)
{
	seq_printf(s,
	    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
	    "\tfield: char data;\toffset:%d;\tsize:%lu;\tsigned:1;\n",
	    RB_PAGE_HEADER, page_size - RB_PAGE_HEADER);
}
