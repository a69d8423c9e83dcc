/*
 * The machine the host tests run on: threads as CPUs, signals as interrupts and NMIs. What is more
 * than trace/host_*.h ask for, for tests that run on the host only. CPU 0 is the test's own thread.
 */
#pragma once

#include "kernel/lib/types.h"
#include "tests/unit/load.h"

#define HOST_CPUS 4

void machine_start(void);
void machine_stop(void);

/*
 * How often host_synchronize() was called. The function is called each time it is done; NULL: none.
 */
u64 machine_waits(void);
void machine_after_wait(void (*fn)(void));

/* The pid of what runs on this CPU; 0: nothing does; -1: again the one that each CPU has. */
void machine_pid(s32 pid);

/* The TRACE_FLAG_ bits of what runs on this CPU from now on. */
void machine_flags(u8 flags);

/* Values for host_param(); name NULL forgets all. */
void machine_param(const char *name, const char *value);
/* The n-th host_alloc() or host_page_alloc() from now fails; 0: none. */
void machine_fail_alloc(unsigned nth);
bool machine_fails_in(void); /* it did not happen yet */
/* Blocks of memory that host_*alloc() gave and nobody gave back. */
long machine_blocks(void);
/* The next host_block_alloc() gives this block, which host_block_alloc() gave before. */
void machine_next_block(void *block);
/*
 * What host_pages_free() says; how many nanoseconds a cycle of host_clock() lasts. Both stay until
 * they are set again.
 */
void machine_pages_free(u64 pages);
void machine_clock_rate(u64 ns);
/* From now on so many CPUs are up, the first ones; 0: all. */
void machine_cpus(unsigned n);

/*
 * From now on that is ring 3's memory, and nothing else; size 0: all memory is, and the kernel's.
 * The function is called before each copy of memory that may not be there; NULL: none.
 */
void machine_user_memory(const void *at, u64 size);
void machine_before_copy(void (*fn)(void));

/* What host_clock() reads, a nanosecond each; NULL: the TSC. */
void machine_clock(u64 (*clock)(void));
/* host_stack() finds these from now on. */
void machine_stack(const u64 *frames, unsigned n);
/* The time of day, in nanoseconds, when host_clock_ns() was 0. */
void machine_unix_ns(u64 ns);
/* "PARENT/NAME" of the last directory that host_directory_made() was given since the last call. */
const char *machine_directory(void);
/* What host_kept_memory() gives. */
void machine_kept(void *memory, size_t size);
/* What host_say() was given since the last call, a line each. */
const char *machine_said(void);
/* Whether host_smi_count() counts, and so many more on this CPU. */
void machine_smis(bool there, unsigned more);
/* Has the n-th worker do its step() once: what that returned, and its name; 0 if there is none. */
u64 machine_work(unsigned nth, char *name);
/* The interrupt of the n-th worker's timer; false: it has none. */
bool machine_due(unsigned nth);
/* The calls of host_*_noise() and host_sample_threshold() since the last call, a line each. */
const char *machine_noises(void);
/*
 * Whether the machine watches critical sections or wake-ups for a tracer; from now on, or no more,
 * it says that it cannot.
 */
bool machine_watches(void);
void machine_cannot_watch(bool cannot);
/* host_task_of() knows these, by their addresses. */
struct host_task;
void machine_tasks(const struct host_task *tasks, unsigned n);

/*
 * Registers of a machine that hits probes, by host_reg_find() in this order; and one hit of all
 * that are on there.
 */
struct machine_regs {
	u64 ax, bx, cx, dx, si, di, bp, sp, ip, r8, r9, r10, r11, r12, r13, r14, r15, cs, ss, flags,
	    orig_ax;
};
void machine_probe_hit(
    const char *symbol, u64 offset, bool is_return, const struct machine_regs *regs);
unsigned machine_probes(void); /* how many there are */
/* An access to each place that is watched, which holds `value` then. */
void machine_watch_hit(const struct machine_regs *regs, u64 value);
