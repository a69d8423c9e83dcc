/*
 * The call sites of every static tracepoint: trace_<event>(...), made from kernel/base/events.def.
 * One nop when off. Any context.
 */
#pragma once

#include "arch/arch.h"

struct task;
struct regs;

#define TRACE_KEY	  struct static_key
#define TRACE_BRANCH(key) static_branch(&key)
#define TRACE_DEF	  "kernel/base/events.def"
#include "trace/event/tracepoint.h"

void events_register(void);	    /* at boot, by trace_glue_init(): gives them to the tracer */
void events_syscall_register(void); /* likewise the events of single system calls */
