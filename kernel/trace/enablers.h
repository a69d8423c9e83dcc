/*
 * Enablers (since Linux 6.4): words of a program in which a bit is set while a user event is
 * enabled. They belong to an address space: a child of fork() gets them, execve() and exit drop
 * them. Task context; the caller holds no lock, unless a comment says otherwise.
 */
#pragma once

#include "kernel/lib/list.h"

struct mm;
struct user_event;

/* Is that bit of the current task's registered already? */
bool user_enablers_has(u64 addr, unsigned bit);
/*
 * Keeps the bit of the current task's word as the event is, from now on. The event stays for that
 * long; the caller holds it meanwhile. 0, -ENOMEM, -EADDRINUSE, or -EFAULT: the word cannot be
 * written.
 */
int user_enablers_add(u64 addr, unsigned bit, struct user_event *ev);
/* Lets go of the bit and clears it: 0, -ENOENT, -EFAULT (it is let go all the same). */
int user_enablers_remove(u64 addr, unsigned bit);
/* An event has changed since the words were last set. [A] Set by host_user_events_changed(). */
extern u32 user_enablers_due;
/*
 * Sets all bits to the present state of their events, and drops events that nothing refers to any
 * more. A word that cannot be written is tried again the next time. Each task that gives the
 * control lock up calls this while `user_enablers_due` is set. If the caller holds its mm->lock, or
 * is in this file already, this does nothing: that task calls it again afterwards.
 */
void user_enablers_settle(void);
/*
 * At boot, before there are programs: fork() and the end of an address space see to its words from
 * now on.
 */
void user_enablers_init(void);
