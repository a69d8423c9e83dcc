/*
 * A clock for machine_clock(): each reading comes STEP_NS after the one before. At reading number
 * `at` of `reads`, `steal_ns` more have passed, and meanwhile() runs; `at` 0: at none.
 */
#pragma once

#include "tests/host/machine.h"

#define STEP_NS 100

static struct {
	u64 now, reads, at, steal_ns;
	void (*meanwhile)(void);
} script;

static u64 clock_of_script(void)
{
	script.now += STEP_NS;
	if (++script.reads == script.at) {
		script.now += script.steal_ns;
		if (script.meanwhile)
			script.meanwhile();
	}
	return script.now;
}
