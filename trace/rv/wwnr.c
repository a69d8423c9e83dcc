/*
 * wwnr, "wakeup while not running", as Linux has it: a task is woken only while no CPU runs it. A
 * wake-up may well come to a task that is about to sleep and still runs: the monitor is there to
 * show such an error. A unit begins when its task goes to sleep.
 */
#include "trace/rv/rv.h"

RV_MONITOR("monitor wwnr task wakeup while not running per-task testing model.\n"
	   "state not_running initial final\n"
	   "state running\n"
	   "event switch_out sched:sched_switch of prev_pid start if prev_state == 1\n"
	   "event switch_out sched:sched_switch of prev_pid if prev_state != 1\n"
	   "event switch_in sched:sched_switch of next_pid\n"
	   "event wakeup sched:sched_wakeup of pid\n"
	   "edge not_running switch_in running\n"
	   "edge not_running wakeup not_running\n"
	   "edge running switch_out not_running\n");
