/*
 * Shared by the cases of triggers: lines and paths, on the events of tests/unit/trace/sample.def.
 */
#pragma once

#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "trace/host_lock.h"
#include "trace/trigger/trigger.h"

#define TRIGGER	      "events/unit/unit_numbers/trigger"
#define TEXT	      "events/unit/unit_text/trigger"
#define TARGET	      "events/unit/unit_flags/enable"
#define ENABLE_FLAGS  "enable_event:unit:unit_flags"
#define DISABLE_FLAGS "disable_event:unit:unit_flags"

static inline void trigger_fire(int a)
{
	trace_unit_numbers(a, 0, 0, 0);
}

/* No trigger anywhere, as at start. */
static inline void trigger_fresh(void)
{
	trace_fresh();
	host_lock();
	trace_triggers_clear(trace_global);
	host_unlock();
}

/* Does a trigger file show this? "": what it shows when there is none. */
static inline bool trigger_is_listed(const char *path, const char *list)
{
	const char *text = trace_get(path, NULL);

	return *list ? !strcmp(text, list)
		     : str_has_prefix(text, "# Available triggers:\n# traceon ");
}
