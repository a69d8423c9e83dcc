/* Device interrupts by global system interrupt number. Handlers run in irq context with interrupts
 * off. */
#pragma once

#include "kernel/lib/types.h"

#define IRQ_LINES 128

typedef bool (*irq_handler)(void *arg); /* returns true if its device caused the interrupt */
/*
 * Routes the line to CPU 0 and unmasks it. Lines may be shared. 0, -ENODEV (no such line), -ENOMEM.
 */
int irq_request(unsigned irq, const char *name, irq_handler fn, void *arg);
/* An ISA line to its global system interrupt (ACPI overrides). */
unsigned irq_from_isa(unsigned isa);

/* For /proc/interrupts. */
struct irq_action;
struct irq_line {
	struct irq_action *first; /* [A] NULL: nobody asked for it */
	u64 count;		  /* [C] CPU 0, which gets all of them */
	u32 unclaimed;		  /* [C] consecutive interrupts that no handler claimed */
	bool off;		  /* [C] too many were unclaimed: the line is masked for good */
};
const struct irq_line *irq_line(unsigned irq); /* NULL: number too big */
const char *irq_action_name(
    const struct irq_line *line, unsigned i); /* i-th handler's; NULL at the end */
/*
 * The reasons for inter-processor interrupts; the event ipi_raise points at these strings. NULL: no
 * more.
 */
const char *irq_ipi_reason(unsigned i);
