/*
 * Part of arch/arch.h: ports of the PC's old devices. Any context; a device's driver says what
 * protects it.
 */
#pragma once

#include "kernel/lib/types.h"

static inline u8 port_in8(u16 port)
{
	u8 v;
	__asm__ volatile("inb %1, %0" : "=a"(v) : "Nd"(port) : "memory");
	return v;
}

static inline u16 port_in16(u16 port)
{
	u16 v;
	__asm__ volatile("inw %1, %0" : "=a"(v) : "Nd"(port) : "memory");
	return v;
}

static inline u32 port_in32(u16 port)
{
	u32 v;
	__asm__ volatile("inl %1, %0" : "=a"(v) : "Nd"(port) : "memory");
	return v;
}

static inline void port_out8(u16 port, u8 v)
{
	__asm__ volatile("outb %0, %1" ::"a"(v), "Nd"(port) : "memory");
}

static inline void port_out16(u16 port, u16 v)
{
	__asm__ volatile("outw %0, %1" ::"a"(v), "Nd"(port) : "memory");
}

static inline void port_out32(u16 port, u32 v)
{
	__asm__ volatile("outl %0, %1" ::"a"(v), "Nd"(port) : "memory");
}

/*
 * Writes n bytes to one port. If a watchpoint is on the port, QEMU may end the instruction after
 * each byte: `n` then counts the bytes that are still to be written.
 */
static inline void port_write8(u16 port, const void *data, size_t n)
{
	const u8 *at = data, *end = at + n;

	while (at < end) {
		n = end - at;
		__asm__ volatile("rep outsb" : "+S"(at), "+c"(n) : "d"(port) : "memory");
	}
}
