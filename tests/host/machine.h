/*
 * The machine the host tests run on: threads as CPUs, signals as interrupts and NMIs. What is more than trace/host.h asks
 * for, for tests that run on the host only. CPU 0 is the test's own thread.
 */
#pragma once

#include "kernel/lib/types.h"
#include "tests/unit/load.h"

#define HOST_CPUS 4

void machine_start(void);
void machine_stop(void);

/* Values for host_param(); name NULL forgets all. */
void machine_param(const char *name, const char *value);
/* The n-th host_alloc() or host_page_alloc() from now fails; 0: none. */
void machine_fail_alloc(unsigned nth);

/* Registers of a machine that hits probes, by host_reg_find() in this order; and one hit of all that are on there. */
struct machine_regs {
	u64 ax, bx, cx, dx, si, di, bp, sp, ip, r8, r9, r10, r11, r12, r13, r14, r15, cs, ss, flags,
	    orig_ax;
};
void machine_probe_hit(
    const char *symbol, u64 offset, bool is_return, const struct machine_regs *regs);
