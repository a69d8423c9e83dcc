/*
 * The call sites of every static tracepoint: trace_<event>(...), made from kernel/base/events.def.
 * One nop when off. Any context.
 */
#pragma once

#include "arch/arch.h"

struct task;
struct regs;

extern const char _stext[]; /* the beginning of the kernel's code */

#define TRACE_KEY	  struct static_key
#define TRACE_BRANCH(key) static_branch(&key)
#define TRACE_DEF	  "kernel/base/events.def"
#include "trace/event/event.h"
#include "trace/event/tracepoint.h"

void events_register(void);	    /* at boot, by trace_glue_init(): gives them to the tracer */
void events_syscall_register(void); /* likewise the events of single system calls */

/*
 * The call sites of those, for kernel_syscall(), by the number of a call that exists. While any of
 * them is on, a call whose own event is off costs four instructions more here.
 */
extern struct static_key key_sys_call_enter, key_sys_call_exit;
extern struct trace_event_call *events_sys_enter[], *events_sys_exit[]; /* [I] after boot */
void events_sys_enter_record(struct trace_event_call *call, const struct regs *regs, long nr);
void events_sys_exit_record(struct trace_event_call *call, long nr, long ret);

static inline void trace_sys_call_enter(const struct regs *regs, long nr)
{
	if (static_branch(&key_sys_call_enter) && READ_ONCE(events_sys_enter[nr]->live))
		events_sys_enter_record(events_sys_enter[nr], regs, nr);
}

/* Returns ret, which is in r->rax, too: no register is saved for it. */
static inline long trace_sys_call_exit(const struct regs *r, long nr, long ret)
{
	if (static_branch(&key_sys_call_exit) && READ_ONCE(events_sys_exit[nr]->live)) {
		events_sys_exit_record(events_sys_exit[nr], nr, ret);
		return READ_ONCE(r->rax);
	}
	return ret;
}
