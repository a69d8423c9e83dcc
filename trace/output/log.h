/* tp_printk: events as lines of the system's log. */
#pragma once

#include "kernel/lib/types.h"

/* For all trace arrays, and those to come. Task context under host_lock. */
void trace_set_printk(bool on);
