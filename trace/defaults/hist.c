/*
 * Replaces trace/hist/ where a host does not link it: a `hist` command is refused, and the file
 * `hist` is empty.
 */
#include "kernel/lib/errno.h"
#include "trace/defaults/weak.h"
#include "trace/event/parts.h"
#include "trace/hist/trigger.h"

__weak int hist_trigger_write(const struct trace_trigger_command *command __maybe_unused,
    struct trace_event_file *file __maybe_unused, bool remove __maybe_unused,
    char *rest __maybe_unused)
{
	return -EINVAL;
}

__weak void hist_trigger_act(struct trace_trigger *trigger __maybe_unused,
    const struct trace_trigger_hit *hit __maybe_unused)
{
}

__weak void hist_trigger_show(
    struct seq *s __maybe_unused, const struct trace_trigger *trigger __maybe_unused)
{
}

__weak void hist_trigger_release(struct trace_trigger *trigger __maybe_unused)
{
}

__weak void hist_trigger_set_paused(
    struct trace_trigger *trigger __maybe_unused, bool paused __maybe_unused)
{
}

__weak int hist_triggers_show(
    struct seq *s __maybe_unused, const struct trace_event_file *file __maybe_unused)
{
	return 0;
}

__weak void hist_triggers_clear(struct trace_event_file *file __maybe_unused)
{
}

__weak bool hist_triggers_hold(const struct trace_array *tr __maybe_unused)
{
	return false;
}
