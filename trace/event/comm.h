/*
 * saved_cmdlines and saved_tgids: which name and thread group a pid had when it was last seen
 * running while events were on and a buffer recorded. Written by the host's switch and wakeup paths
 * (any context, irqs off) and when a task is renamed, read under host_lock.
 */
#pragma once

#include "trace/event/event.h"

struct seq;

/*
 * The tracepoints whose call sites call the functions below; they are kept on while somebody wants
 * names. Once, at boot.
 */
void trace_comm_set_keys(struct trace_key *const *keys, unsigned count);
/* From the switch path, for the task that goes, and then for the one that comes. */
void trace_comm_switch_out(s32 pid, s32 tgid, const char *comm);
void trace_comm_switch_in(s32 pid, s32 tgid, const char *comm);
/* From a wakeup, for the waker and for the woken task. */
void trace_comm_wakeup(s32 pid, s32 tgid, const char *comm);
/* The task gets a new name (execve, prctl). Task context, preemption off. */
void trace_comm_rename(s32 pid, s32 tgid, const char comm[16]);
/*
 * A buffer was switched on, or is on from its beginning; or it was switched off, or ends while it
 * is on. Any context.
 */
void trace_comm_recording(bool on);
/* Makes room for them, once: 0 or -ENOMEM. host_lock held. */
int trace_comm_prepare(void);
void trace_comm_exit(void); /* gives the table back: nobody records any more */
/*
 * Names, thread groups are wanted by so many more (or less). trace_comm_prepare() came before.
 * host_lock held.
 */
void trace_comm_users(int names, int tgids);
/* "<idle>", "<...>" or the name kept. */
void trace_comm_find(s32 pid, char comm[16]);
s32 trace_tgid_find(s32 pid); /* 0: not known */
void trace_comm_show(struct seq *s);
void trace_tgid_show(struct seq *s);
/*
 * Where the address of the table is and where its size, how large one of it is: for who reads from
 * outside.
 */
void trace_comm_place(u64 *table, u64 *count, u32 *size);
u32 trace_comm_size(void);
int trace_comm_resize(u64 n); /* 0, -EINVAL, -ENOMEM */
