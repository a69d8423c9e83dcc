/*
 * Keys for a machine that does not listen any more: BREAK on a serial console and then a letter,
 * Alt and SysRq and a letter on the keyboard, or a letter into /proc/sysrq-trigger, as Linux has
 * it.
 */
#pragma once

#include "kernel/lib/types.h"

/* /proc/sysrq-trigger and /proc/sys/kernel/sysrq. Boot, task context. */
void sysrq_files_init(void);
/*
 * What a serial console received, and when it last had a BREAK (*armed, ns; 0: not lately): true,
 * the byte is ours and was obeyed. Irq context.
 */
bool sysrq_take(u64 *armed, u8 c);
/* What the key for the monitor does. Boot. */
void sysrq_set_monitor(void (*start)(void));
/* A BREAK came. Irq context. */
void sysrq_arm(u64 *armed);
