/*
 * A 16550 serial port at COM1: polled output, interrupt-driven input. Any context; callers keep
 * writers apart (the console lock of kernel/printk.c). Input and output touch different registers
 * and need no common lock.
 */
#pragma once

#include "kernel/lib/types.h"

#define SERIAL_ISA_IRQ 4

/* 115200 baud, 8N1, FIFO on where there is one. False: no such port; the others then do nothing. */
bool serial_init(void);
/* All n bytes, waiting for room; nothing added. */
void serial_write(const char *s, size_t n);
/* Waits until the last byte has left the shift register. */
void serial_drain(void);
/* From now on received bytes raise the interrupt line. */
void serial_input_enable(void);
/* The next received byte, or -1. The interrupt handler calls it until -1. Bytes with framing or
 * parity errors are dropped. */
int serial_read(void);
