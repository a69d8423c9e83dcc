/*
 * Replaces trace/probe/ where a host does not link it: no line defines a probe, and none is listed.
 */
#include "kernel/lib/errno.h"
#include "trace/defaults/weak.h"
#include "trace/probe/probe.h"

/* "This line is of another kind." */
static int create_none(const char *line __maybe_unused)
{
	return -ECANCELED;
}

__weak const struct dynevent_kind probe_dynevent_kind = {.create = create_none};
__weak const struct dynevent_kind fprobe_dynevent_kind = {.create = create_none};
__weak const struct dynevent_kind tprobe_dynevent_kind = {.create = create_none};
__weak const struct dynevent_kind event_probe_dynevent_kind = {.create = create_none};
__weak const struct dynevent_kind wprobe_dynevent_kind = {.create = create_none};

__weak int wprobe_trigger_write(const struct trace_trigger_command *command __maybe_unused,
    struct trace_event_file *file __maybe_unused, bool remove __maybe_unused,
    char *rest __maybe_unused)
{
	return -ENOENT;
}

__weak void wprobe_trigger_set(
    struct trace_trigger *t __maybe_unused, const struct trace_trigger_hit *hit __maybe_unused)
{
}

__weak void wprobe_trigger_clear(
    struct trace_trigger *t __maybe_unused, const struct trace_trigger_hit *hit __maybe_unused)
{
}

__weak void wprobe_trigger_show(
    struct seq *s __maybe_unused, const struct trace_trigger *t __maybe_unused)
{
}

__weak void wprobe_trigger_release(struct trace_trigger *t __maybe_unused)
{
}

__weak int probe_command(char *line __maybe_unused)
{
	return -EINVAL;
}

__weak void probe_profile_show(struct seq *s __maybe_unused)
{
}
