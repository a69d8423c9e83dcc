/* NMI handlers, for tests and for code that inspects another CPU. */
#pragma once

#include "arch/arch.h"

/* NMI context: returns true if the NMI was for this handler. */
typedef bool (*nmi_handler_fn)(struct regs *r);
/* Task context. 0, -EBUSY (no slot left). */
int nmi_handler_add(nmi_handler_fn fn);
/*
 * Sets the one function that is called at the begin and at the end of each NMI. Called at boot,
 * before other CPUs start; fn runs in NMI context.
 */
void nmi_observer_set(void (*fn)(bool enter));
/* On return no CPU runs the handler. Task context, interrupts on. */
void nmi_handler_remove(nmi_handler_fn fn);
