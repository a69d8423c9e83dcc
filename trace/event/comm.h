/*
 * saved_cmdlines and saved_tgids: the name and thread group that a pid had when it last ran while
 * events were on and a buffer recorded. The host's switch and wakeup paths (any context, irqs off)
 * and renames of tasks write them; readers hold host_lock.
 */
#pragma once

#include "trace/event/event.h"

struct seq;

/*
 * Sets the tracepoints whose call sites call the functions below; they stay on while names are
 * wanted. Called once, at boot.
 */
void trace_comm_set_keys(struct trace_key *const *keys, unsigned count);
/* From the switch path: for the previous task, then for the next one. */
void trace_comm_switch_out(s32 pid, s32 tgid, const char *comm);
void trace_comm_switch_in(s32 pid, s32 tgid, const char *comm);
/* From a wakeup, for the waker and for the woken task. */
void trace_comm_wakeup(s32 pid, s32 tgid, const char *comm);
/* The task gets a new name (execve, prctl). Task context, preemption off. */
void trace_comm_rename(s32 pid, s32 tgid, const char comm[16]);
/*
 * A buffer starts (switched on, or created on) or stops (switched off, or freed while on)
 * recording. Any context.
 */
void trace_comm_recording(bool on);
/* Allocates the table, once: 0 or -ENOMEM. host_lock held. */
int trace_comm_prepare(void);
void trace_comm_exit(void); /* frees the table; nobody may record any more */
/*
 * Changes the numbers of users of names and thread groups. After trace_comm_prepare(), host_lock
 * held.
 */
void trace_comm_users(int names, int tgids);
/* "<idle>", "<...>" or the name kept. */
void trace_comm_find(s32 pid, char comm[16]);
s32 trace_tgid_find(s32 pid); /* 0: not known */
void trace_comm_show(struct seq *s);
void trace_tgid_show(struct seq *s);
/*
 * For readers outside the machine: the places of the table's address and length, and the size of an
 * entry.
 */
void trace_comm_place(u64 *table, u64 *count, u32 *size);
u32 trace_comm_size(void);
int trace_comm_resize(u64 n); /* 0, -EINVAL, -ENOMEM */
