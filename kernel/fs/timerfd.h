/* A timer whose ends are read and waited for as a file: timerfd(2). Task context. */
#pragma once

#include "kernel/fs/vfs.h"
#include "kernel/task/timer.h"

/* `base`: the offset of its clock from clock_ns(). NULL: no memory. */
struct file *timerfd_create(u64 base, u32 flags);
bool timerfd_is(const struct file *f);
/* Sets the timer (`absolute`: by its clock) and returns the old setting in *old. */
void timerfd_set(
    struct file *f, const struct timer_setting *set, bool absolute, struct timer_setting *old);
void timerfd_get(struct file *f, struct timer_setting *now);
