/*
 * error_log: the last eight refused commands of an instance, with the place of the error. Task
 * context under host_lock.
 */
#pragma once

#include "kernel/lib/types.h"

struct seq;
struct trace_array;

#define TRACE_ERRORS_KEPT 8

/*
 * where: "event filter parse error" ...; pos: the caret's column in cmd. Allocates; without memory
 * it drops the entry.
 */
void trace_error_log(
    struct trace_array *tr, const char *where, const char *cmd, const char *text, u32 pos);
void trace_error_show(struct seq *s, struct trace_array *tr);
void trace_error_clear(struct trace_array *tr);
