/*
 * Events for kernel code: finding an event's file in an instance, and enabling events. Synthetic
 * events are made and traced without a shell by trace/dynevent/synth_cmd.h and synth_record.h,
 * probe events by trace/probe/kprobe_cmd.h. Names, arguments and results are those of Linux's
 * events document, section 7.
 *
 * Task context, may sleep; these functions take host_lock by themselves.
 */
#pragma once

#include "kernel/lib/err.h"
#include "trace/event/event.h"

/*
 * The file of an event in an instance (NULL: the global one). The file, its event and its instance
 * stay until trace_put_event_file(). ERR_PTR(-ENOENT): no such instance; -EINVAL: no such event.
 */
struct trace_event_file *trace_get_event_file(
    const char *instance, const char *system, const char *event);
void trace_put_event_file(struct trace_event_file *file);
/*
 * Enables or disables events; NULL stands for any system, any event. 0; -EINVAL: nothing matches;
 * -ENOENT: tr is NULL; -ENOMEM.
 */
int trace_array_set_clr_event(
    struct trace_array *tr, const char *system, const char *event, bool enable);
