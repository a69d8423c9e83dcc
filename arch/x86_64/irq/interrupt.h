/*
 * Interrupt vectors and who handles them. Entry code saves struct regs and calls these with
 * interrupts off.
 */
#pragma once

#include "arch/arch.h"

/* Linux's numbers, so that irq_vectors events read the same. */
enum {
	VECTOR_FIRST_DEVICE = 0x30, /* + global system interrupt */
	VECTOR_DEVICES = 128,
	VECTOR_APIC_TIMER = 0xec,
	VECTOR_IPI_CALL = 0xfb,	     /* ipi_send(IPI_CALL) */
	VECTOR_CALL_FUNCTION = 0xfc, /* cpu_call(), cpu_call_all() */
	VECTOR_IPI_RESCHEDULE = 0xfd,
	VECTOR_APIC_ERROR = 0xfe,
	VECTOR_APIC_SPURIOUS = 0xff,
};

/* Vectors 32..255. Calls kernel_irq_enter() and kernel_irq_exit() around the handler itself, and
 * ends the interrupt. */
void interrupt_dispatch(struct regs *r);
/* One more flush that another CPU asked this one for. Interrupts off. */
void interrupt_count_tlb(void);
/* Vector 2, on its own stack, first thing in C. Counts, obeys machine_stop_others(), then
 * kernel_nmi(r). */
void nmi_dispatch(struct regs *r);
