/*
 * Functions that begin as Linux's do: with an instruction of 5 bytes (there a call of the function tracer, here a nop), one of two
 * bytes, and one that is longer. For those that Linux's documents and their examples probe, at their beginning and a little
 * behind it.
 */
#pragma once

#define LINUX_ENTRY(type, name, ...)                                                               \
	__asm__(".pushsection .text." #name ", \"ax\", @progbits\n\t"                              \
		".globl " #name "\n\t.type " #name ", @function\n\t.balign 16\n" #name ":\n\t"     \
		".byte 0x0f, 0x1f, 0x44, 0, 0\n\t.byte 0x66, 0x90\n\t"                             \
		".byte 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n\t.popsection");                     \
	static type body_##name(__VA_ARGS__) __asm__(".L" #name);                                  \
	static __attribute__((used, noinline, section(".text." #name)))                            \
	type body_##name(__VA_ARGS__)
