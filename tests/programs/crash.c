/*
 * crash HOW: does something forbidden, to see what becomes of a program that does. Ends normally
 * only if nothing stopped it.
 */
#include <stdio.h>
#include <string.h>

static void read_null(void)
{
	(void)*(volatile int *)0;
}

static void write_text(void)
{
	*(volatile char *)read_null = 0;
}

static void read_kernel(void)
{
	(void)*(volatile int *)0xffffffff80100000UL;
}

static void divide(void)
{
	__asm__ volatile("xorl %%ecx, %%ecx; divl %%ecx" ::: "eax", "ecx", "edx", "cc");
}

static void illegal(void)
{
	__asm__ volatile("ud2");
}

static void privileged(void)
{
	__asm__ volatile("cli");
}

static void breakpoint(void)
{
	__asm__ volatile("int3");
}

static void run_stack(void)
{
	unsigned char code[] = {0xc3}; /* ret */

	((void (*)(void))(void *)code)();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(void);
	} ways[] = {
	    {"null", read_null},
	    {"text", write_text},
	    {"kernel", read_kernel},
	    {"divide", divide},
	    {"illegal", illegal},
	    {"privileged", privileged},
	    {"breakpoint", breakpoint},
	    {"stack", run_stack},
	};

	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (argc == 2 && !strcmp(argv[1], ways[i].name))
			ways[i].fn();
	printf("crash: nothing stopped it\n");
	return 3;
}
