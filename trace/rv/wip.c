/*
 * wip, "wakeup in preemptive", as Linux has it: a CPU may wake a task only with preemption off. A
 * unit begins when its CPU turns preemption on.
 */
#include "trace/rv/rv.h"

RV_MONITOR("monitor wip cpu wakeup in preemptive per-cpu testing monitor.\n"
	   "state preemptive initial final\n"
	   "state non_preemptive\n"
	   "event preempt_enable preemptirq:preempt_enable start\n"
	   "event sched_waking sched:sched_waking\n"
	   "event preempt_disable preemptirq:preempt_disable\n"
	   "edge preemptive preempt_disable non_preemptive\n"
	   "edge non_preemptive preempt_enable preemptive\n"
	   "edge non_preemptive sched_waking non_preemptive\n");
