/* Files of events for kernel code. Task context. */
#include "trace/event/api.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/enable.h"
#include "trace/event/file.h"
#include "trace/host_lock.h"

static struct trace_event_file *get_file(
    const char *instance, const char *system, const char *event)
{
	struct trace_array *tr = instance ? trace_array_find(instance) : trace_global;
	struct trace_event_call *call = NULL;
	struct trace_event_file *file = NULL;

	if (!tr)
		return ERR_PTR(-ENOENT);
	if (system && event)
		call = trace_event_find(system, event);
	if (call)
		file = trace_event_file_of(tr, call);
	if (!file)
		return ERR_PTR(-EINVAL);
	if (trace_file_counts(file))
		return ERR_PTR(-ENOMEM);
	trace_event_get(call);
	trace_array_get(tr);
	return file;
}

struct trace_event_file *trace_get_event_file(
    const char *instance, const char *system, const char *event)
{
	host_lock();
	struct trace_event_file *file = get_file(instance, system, event);
	host_unlock();
	return file;
}

void trace_put_event_file(struct trace_event_file *file)
{
	host_lock();
	trace_event_put(file->call);
	trace_array_put(file->tr);
	host_unlock();
}

int trace_array_set_clr_event(
    struct trace_array *tr, const char *system, const char *event, bool enable)
{
	if (!tr)
		return -ENOENT;
	host_lock();
	int err = trace_set_events(tr, NULL, system, event, enable);
	host_unlock();
	return err;
}
