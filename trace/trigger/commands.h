/* The table of trigger commands. */
#pragma once

#include "trace/event/trigger.h"

extern const struct trace_trigger_command trace_trigger_commands[]; /* ends with a NULL name */
