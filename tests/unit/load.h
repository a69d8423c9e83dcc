/*
 * Other CPUs and their interrupts, for cases that load something from several sides: on the host
 * threads and signals (tests/host/machine.c), in the guest what they are called
 * (tests/kernel/load.c).
 */
#pragma once

/* Starts fn(arg) on another CPU, as its task; machine_join() waits for it to return. */
void machine_run(unsigned cpu, void (*fn)(void *), void *arg);
void machine_join(unsigned cpu);

/*
 * Called as an interrupt and as an NMI on the CPU that machine_irq() or machine_nmi() hits. Returns
 * when no CPU is in the handlers of before: an interrupt may come long after it was sent, also
 * after the CPU's task has ended. Some that are sent do not come, lest those that do leave the task
 * no time.
 */
void machine_handlers(void (*irq)(void), void (*nmi)(void));
void machine_irq(unsigned cpu);
void machine_nmi(unsigned cpu);
