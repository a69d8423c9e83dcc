/* NMIs for whoever wants them: tests, and what looks at a CPU from outside. */
#pragma once

#include "arch/arch.h"

/* NMI context: true if the NMI was this handler's. */
typedef bool (*nmi_handler_fn)(struct regs *r);
/* Task context. 0, -EBUSY (no slot left). */
int nmi_handler_add(nmi_handler_fn fn);
/*
 * Sets the one function that is called at the begin and at the end of each NMI. At boot, on the
 * only CPU there is; fn runs in NMI context.
 */
void nmi_observer_set(void (*fn)(bool enter));
/* When it returns, the handler runs nowhere. Task context, interrupts on. */
void nmi_handler_remove(nmi_handler_fn fn);
