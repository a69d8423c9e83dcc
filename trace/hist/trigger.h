/*
 * The trigger commands hist, enable_hist and disable_hist (rows of trace/trigger/commands.c), and
 * the file `hist`. Task context under host_lock.
 */
#pragma once

#include "trace/trigger/trigger.h"

struct hist;

int hist_trigger_write(const struct trace_trigger_command *command, struct trace_event_file *file,
    bool remove, char *rest);
void hist_trigger_act(struct trace_trigger *trigger, const struct trace_trigger_hit *hit);
void hist_trigger_show(struct seq *s, const struct trace_trigger *trigger);
void hist_trigger_release(struct trace_trigger *trigger);
/* enable_hist, disable_hist: act on all hists of their target. */
void hist_trigger_set_paused(struct trace_trigger *trigger, bool paused);

/* The file `hist`: all tables of the event. 0 or -ENOMEM. */
int hist_triggers_show(struct seq *s, const struct trace_event_file *file);
/*
 * For opening `trigger` with >: removes all hists of the event, unless another event's hist needs a
 * variable of one.
 */
void hist_triggers_clear(struct trace_event_file *file);

/* Creates or removes a histogram, "keys=... [if ...]", that another histogram needs. */
int hist_trigger_run(struct trace_event_file *file, const char *command, bool remove);
/* The text after "if" of a running histogram; NULL: none. */
const char *hist_trigger_filter(const struct hist *h);
