/*
 * Lines for people. Weak: they are dropped.
 */
#pragma once

#include "kernel/lib/types.h"

void host_log(const char *fmt, ...) __printf(1, 2); /* for the system's log */
/* For every console, whatever else is kept off them. Any context. */
void host_say(const char *fmt, ...) __printf(1, 2);
/* Ends the system with these last words. Any context. Weak: says them. A host may return. */
void host_panic(const char *text);
