/*
 * Readers that wait for events. Weak: nobody can wait, and a read that would have to is interrupted
 * (-EINTR).
 */
#pragma once

#include "kernel/lib/types.h"

struct host_waiters;
struct host_waiters *host_waiters_alloc(void); /* task context; NULL: no memory */
void host_waiters_free(struct host_waiters *w);
/* Sleeps until cond(arg) is true after a wake (0), or a signal comes (-EINTR). Task context. */
int host_wait(struct host_waiters *w, bool (*cond)(void *), void *arg);
void host_wake(
    struct host_waiters *w); /* any context: a host that cannot wake there does it later */
