/* Runs and frees the filters of files and systems. filter.h has the contexts. */
/* hot: runs with each event */
#include "trace/event/filter.h"
#include "trace/event/event.h"
#include "trace/host_memory.h"

bool trace_filter_match(const struct trace_filter *f, const void *rec, u32 len)
{
	if (unlikely(len < f->fixed))
		return false;
	const struct filter_insn *in = f->start;
	enum filter_verdict verdict = trace_filter_run_numbers(&in, rec);
	return verdict == FILTER_OPEN ? trace_filter_run_tests(in, rec, len)
				      : verdict == FILTER_YES;
}

void trace_filter_free(struct trace_filter *f)
{
	host_free(f);
}

void trace_filter_drop(struct trace_event_file *file)
{
	trace_filter_free(file->filter);
	file->filter = NULL;
}

void trace_filter_set_refused(
    struct trace_system *sys, struct trace_array *tr, struct trace_filter *refused)
{
	trace_filter_free(sys->refused);
	sys->refused = refused;
	sys->refused_in = refused ? tr : NULL;
}

void trace_filter_drop_array(struct trace_array *tr)
{
	struct trace_system *sys;

	list_for_each_entry (sys, &trace_systems, node)
		if (sys->refused_in == tr)
			trace_filter_set_refused(sys, tr, NULL);
}
