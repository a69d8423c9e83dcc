/*
 * Replaces trace/user/eventheader/ and eventheader_class.c where a host does not link them: an
 * event of that convention prints as other events of programs do.
 */
#include "trace/defaults/weak.h"
#include "trace/user/user.h"

__weak bool user_event_is_eventheader(const struct user_event *ev __maybe_unused)
{
	return false;
}

__weak void user_eventheader_print(struct trace_out *out, const void *rec, u32 len)
{
	user_event_print(out, rec, len);
}

/* Nobody asks: no event is one. */
__weak void user_eventheader_print_json(
    struct trace_out *out __maybe_unused, const struct trace_line *line __maybe_unused)
{
}
