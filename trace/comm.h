/*
 * saved_cmdlines and saved_tgids: which name and thread group a pid had when it was last seen
 * running while events were on. Written by the host's switch path (any context, irqs off), read
 * under host_lock.
 */
#pragma once

#include "trace/event.h"

struct seq;

/* An entry of the table, which lies in kept memory if there is room (trace/kept.h). */
struct trace_comm_slot {
	char comm[16];
	s32 pid; /* 0: free */
};

/* The tracepoint whose call site calls trace_comm_switch(); it is kept on while somebody wants
 * names. Once, at boot. */
void trace_comm_set_key(struct trace_key *key);
/* From the switch path, for the task that goes and the one that comes. */
void trace_comm_switch(s32 pid, s32 tgid, const char *comm);
/* Makes room for them, once: 0 or -ENOMEM. host_lock held. */
int trace_comm_prepare(void);
void trace_comm_exit(void); /* gives the table back: nobody records any more */
/* Names, thread groups are wanted by so many more (or less). trace_comm_prepare() came before. host_lock held. */
void trace_comm_users(int names, int tgids);
/* "<idle>", "<...>" or the name kept. */
void trace_comm_find(s32 pid, char comm[16]);
s32 trace_tgid_find(s32 pid); /* 0: not known */
void trace_comm_show(struct seq *s);
void trace_tgid_show(struct seq *s);
/* Where the address of the table is and where its size, how large one of it is: for who reads from outside. */
void trace_comm_place(u64 *table, u64 *count, u32 *size);
u32 trace_comm_size(void);
int trace_comm_resize(u64 n); /* 0, -EINVAL, -ENOMEM */
