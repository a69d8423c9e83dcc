/*
 * A program with much text: it touches each page of it, then waits for a signal. See shared_text()
 * in tests/kernel/process/shared_text.c.
 */
#include "tests/programs/raw.h"

#define TEXT_PAGES 64

__asm__(".section .text.padding, \"ax\", @progbits\n"
	".balign 4096\n"
	"text_padding:\n"
	".fill 64 * 4096, 1, 0x90\n"
	".text\n");
extern const volatile char text_padding[];

int main(void)
{
	for (unsigned i = 0; i < TEXT_PAGES; i++)
		(void)text_padding[i * PAGE];
	for (;;)
		syscall0(SYS_pause);
}
