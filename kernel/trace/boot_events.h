/* The boot as events: from the machine's reset to the first task in ring 3. */
#pragma once

#include "kernel/lib/types.h"

struct boot_info;
struct trace_early;

/* Notes the steps before the tracer starts. Called once, by trace_glue_init(); `bi` stays. */
const struct trace_early *boot_events_of(const struct boot_info *bi);
