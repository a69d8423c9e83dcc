/* The steps of kernel/main.c that have no header of their own. Each is called once, by main.c. */
#pragma once

#include "kernel/lib/types.h"

struct boot_info;

/* kernel/crash_trigger.c: /proc/trapline/crash */
void crash_trigger_files_init(void);
/* kernel/init.c: pid 1 */
void init_main(void *boot_info);
u64 init_shell_ns(void); /* when the first shell was started; 0: none was. Any context */
/*
 * tests/kernel/main.c, in the test kernel only: runs the cases whose names begin so ("all": every
 * one); returns the failures.
 */
int ktest_main(const char *pattern);
/*
 * tests/bench: measures in a thread of its own, then ends the machine. Pid 1 calls it for bench=.
 */
void bench_start(const char *pattern);
/* tests/kernel/races.c: /proc/trapline/races. Pid 1 calls it for `races`. */
void races_files_init(void);
