/*
 * I/O ports of a machine for drivers under test. The host lets no program use ports: each
 * instruction that would faults, and a device made of functions does its work.
 */
#pragma once

#include "kernel/lib/types.h"

struct port_device {
	u16 first, last;		     /* its ports */
	u32 (*in)(u16 port, unsigned bytes); /* of 1, 2 or 4 */
	void (*out)(u16 port, unsigned bytes, u32 v);
};

/* Until ports_end() these devices are there. Other ports read as all ones, as where nothing is. */
void ports_begin(const struct port_device *devices, unsigned count);
void ports_end(void);
