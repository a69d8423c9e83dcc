/*
 * smap HOW: sets what ring 3 can set of RFLAGS and of the segments: AC, which would suspend SMAP in
 * ring 0, DF, which would turn the kernel's copies round, NT, which would make its iret fault, and
 * selectors of FS and GS. Then it enters the kernel in one of the ways there are. For
 * tests/kernel/arch/smap.c, which looks inside the kernel. Each way is instructions alone: no C
 * code runs under these flags.
 */
#include "tests/programs/raw.h"

/* AC, NT, DF; popfq leaves IOPL alone in ring 3. */
#define SET_FLAGS   "pushfq\n\torl $0x47400, (%%rsp)\n\tpopfq\n\t"
#define CLEAR_FLAGS "pushfq\n\tandl $~0x47400, (%%rsp)\n\tpopfq\n\t"

static void page_fault(void)
{
	/* A page that is brought in: the program goes on. */
	long page = map_pages(0, 1, P_READ | P_WRITE, M_PRIVATE);

	__asm__ volatile(SET_FLAGS "movq $7, (%0)\n\t" CLEAR_FLAGS ::"r"(page) : "memory", "cc");
	CHECK_EQ(*(volatile long *)page, 7);
}

static void divide(void)
{
	__asm__ volatile(SET_FLAGS "xorl %%ecx, %%ecx\n\tdivl %%ecx" ::: "eax", "ecx", "edx", "cc");
}

static void protection(void)
{
	__asm__ volatile(SET_FLAGS "cli" ::: "memory", "cc");
}

static void breakpoint(void)
{
	__asm__ volatile(SET_FLAGS "int3" ::: "memory", "cc");
}

static void step(void)
{
	__asm__ volatile("pushfq\n\torl $0x47500, (%%rsp)\n\tpopfq\n\tnop\n\tnop" ::
			     : "memory", "cc");
}

static void system_call(void)
{
	long pid;

	__asm__ volatile(SET_FLAGS "movl $39, %%eax\n\tsyscall\n\t" CLEAR_FLAGS
			 : "=a"(pid)::"rcx", "r11", "memory", "cc");
	CHECK_EQ(pid, syscall0(SYS_getpid));
}

/* For interrupts and NMIs, which come from elsewhere. */
static void spin(void)
{
	long rounds = 20000000;

	__asm__ volatile(SET_FLAGS "1:\tdecq %0\n\tjnz 1b\n\t" CLEAR_FLAGS
			 : "+r"(rounds)::"memory", "cc");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(void);
	} ways[] = {
	    {"page_fault", page_fault},
	    {"divide", divide},
	    {"protection", protection},
	    {"breakpoint", breakpoint},
	    {"step", step},
	    {"system_call", system_call},
	    {"spin", spin},
	};

	__asm__ volatile("movw %w0, %%gs\n\tmovw %w0, %%fs" ::"r"(0x2b));
	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (argc == 2 && !strcmp(argv[1], ways[i].name)) {
			ways[i].fn();
			return check_failures != 0;
		}
	}
	return 3;
}
