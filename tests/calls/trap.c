/* Signals that the processor causes: which, with which code, and which address they name. */
#include "tests/calls/calls.h"

#include <setjmp.h>
#include <ucontext.h>

static sigjmp_buf back;
static siginfo_t info;
static ucontext_t context;

static void on_trap(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	info = *si;
	memcpy(&context, uc, sizeof(context));
	siglongjmp(back, 1);
}

static void catch_traps(void)
{
	static const int signals[] = {SIGFPE, SIGSEGV, SIGBUS, SIGILL, SIGTRAP};
	static char stack[65536];
	struct sigaction a = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &a, NULL);
}

/* Runs what causes a signal, and says what came. */
static void cause(const char *what, void (*f)(void))
{
	memset(&info, 0, sizeof(info));
	if (!sigsetjmp(back, 1)) {
		f();
		say("%s: nothing", what);
		return;
	}
	say("%s: signal %d, code %d, at the instruction: %d, nowhere: %d, trap %lld, error %lld",
	    what, info.si_signo, info.si_code,
	    info.si_addr == (void *)context.uc_mcontext.gregs[REG_RIP], !info.si_addr,
	    context.uc_mcontext.gregs[REG_TRAPNO], context.uc_mcontext.gregs[REG_ERR]);
}

static unsigned unmasked; /* an exception, as a bit of the control word */

static void compute(void)
{
	unsigned short control = 0x37f & ~unmasked;

	__asm__ volatile("fninit; fldcw %0" : : "m"(control));
	switch (unmasked) {
	case 1: /* with the flag of another exception */
		__asm__ volatile("fld1; fldpi; fdivrp; fldz; fldz; fdivrp; fwait");
		break;
	case 4:
		__asm__ volatile("fld1; fldpi; fdivrp; fld1; fldz; fdivrp; fwait");
		break;
	case 8:
		__asm__ volatile(
		    "filds %0; fld1; fscale; fmul %%st(0), %%st; fmul %%st(0), %%st; fwait"
		    :
		    : "m"((const short){16000}));
		break;
	case 16:
		__asm__ volatile(
		    "filds %0; fld1; fscale; fmul %%st(0), %%st; fmul %%st(0), %%st; fwait"
		    :
		    : "m"((const short){-16000}));
		break;
	case 32:
		__asm__ volatile("fld1; fldpi; fdivrp; fwait");
		break;
	}
}

/* Each exception of the floating-point unit has its own code; what is masked does not count. */
static void test_float(void)
{
	catch_traps();
	for (unmasked = 1; unmasked <= 32; unmasked *= 2) {
		if (unmasked == 2)
			continue;
		say("exception %u", unmasked);
		cause("computing", compute);
		__asm__ volatile("fninit");
	}
}

/* ---- everything else ---- */

static void divide(void)
{
	__asm__ volatile("xor %%ecx, %%ecx; div %%ecx" : : "a"(1), "d"(0) : "ecx", "cc");
}

static void overflow(void)
{
	__asm__ volatile("div %%ecx" : : "a"(0), "d"(5), "c"(1) : "cc");
}

static void undefined(void)
{
	__asm__ volatile("ud2");
}

static void breakpoint(void)
{
	__asm__ volatile("int3");
}

static void halt(void)
{
	__asm__ volatile("hlt");
}

static void far_read(void)
{
	__asm__ volatile("mov (%0), %%al" : : "r"(1UL << 63 | 8) : "rax");
}

static void kernel_read(void)
{
	__asm__ volatile("mov (%0), %%al" : : "r"(-4096L) : "rax");
}

static void null_read(void)
{
	__asm__ volatile("mov (%0), %%al" : : "r"(0L) : "rax");
}

static void step(void)
{
	__asm__ volatile("pushf; orl $0x100, (%%rsp); popf; nop; nop" : : : "cc");
}

/* Faults of a program: the code of each signal, its address, and the trap in its frame. */
static void test_codes(void)
{
	catch_traps();
	cause("a division by zero", divide);
	cause("a quotient that is too large", overflow);
	cause("no instruction", undefined);
	cause("a breakpoint", breakpoint);
	cause("a privileged instruction", halt);
	cause("an address that is none", far_read);
	cause("the kernel's memory", kernel_read);
	cause("nothing", null_read);
	cause("one step", step);
}

static volatile long flags_in_handler;

static void note_flags(int sig)
{
	long flags;

	(void)sig;
	__asm__ volatile("pushf; pop %0" : "=r"(flags));
	flags_in_handler = flags;
}

/* A handler's string instructions go upwards, whichever way those of the program went. */
static void test_direction(void)
{
	long result, flags;

	signal(SIGUSR1, note_flags);
	__asm__ volatile("std; syscall; pushf; pop %1; cld"
			 : "=a"(result), "=r"(flags)
			 : "0"((long)SYS_kill), "D"((long)getpid()), "S"((long)SIGUSR1)
			 : "rcx", "r11", "memory");
	say("%ld: %d in the handler, %d after it", result, (int)(flags_in_handler >> 10 & 1),
	    (int)(flags >> 10 & 1));
}

static void touch_backwards(char *p)
{
	__asm__ volatile("std; incb (%0); cld" : : "r"(p) : "memory", "cc");
}

static unsigned unlike(const char *p, size_t n, char want)
{
	unsigned others = 0;

	while (n--)
		others += *p++ != want;
	return others;
}

/* A page that the kernel clears when it is touched is cleared whichever way strings go then. */
static void test_direction_new_page(void)
{
	char *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(p, 'a', 4096);
	memset(p + 8192, 'c', 4096);
	touch_backwards(p + 4096 + 2000);
	say("%d in the page, of the others %u and %u changed", p[4096 + 2000], unlike(p, 4096, 'a'),
	    unlike(p + 8192, 4096, 'c'));
	say("%u of the page are not clear", unlike(p + 4096, 4096, 0));
}

static char *shared;

static void copy_backwards(void)
{
	touch_backwards(shared + 4096 + 2000);
	say("the copy: %c, %u others; beside it %u and %u changed", shared[4096 + 2000],
	    unlike(shared + 4096, 4096, 'b'), unlike(shared, 4096, 'a'),
	    unlike(shared + 8192, 4096, 'c'));
}

/* A page that the kernel copies for a child is copied whole whichever way strings go then. */
static void test_direction_copied_page(void)
{
	shared = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (unsigned i = 0; i < 3; i++)
		memset(shared + i * 4096, 'a' + i, 4096);
	in_child(copy_backwards);
	say("%u of the page changed", unlike(shared + 4096, 4096, 'b'));
}

static unsigned long stepped[32];
static volatile unsigned steps;
static unsigned long steps_from;

static void note_step(int sig, siginfo_t *si, void *uc)
{
	const ucontext_t *c = uc;

	(void)sig;
	(void)si;
	if (steps < 32)
		stepped[steps] = c->uc_mcontext.gregs[REG_RIP] - steps_from;
	steps++;
}

/* A program that steps itself goes on after a system call, and comes to no instruction twice. */
static void test_steps_over_call(void)
{
	struct sigaction a = {.sa_sigaction = note_step, .sa_flags = SA_SIGINFO};
	long result;

	sigaction(SIGTRAP, &a, NULL);
	__asm__ volatile("lea 1f(%%rip), %%rcx; mov %%rcx, %1\n\t"
			 "lea -128(%%rsp), %%rsp; pushf; orl $0x100, (%%rsp); popf\n"
			 "1:\tnop; syscall; nop; nop; mov $-1, %%eax; syscall; nop; nop\n\t"
			 "pushf; andl $~0x100, (%%rsp); popf; lea 128(%%rsp), %%rsp"
			 : "=a"(result), "=m"(steps_from)
			 : "0"((long)SYS_getppid)
			 : "rcx", "r11", "memory", "cc");
	say("%ld after %u steps", result, steps);
	for (unsigned i = 0; i < steps && i < 32; i++)
		say("at %lu", stepped[i]);
}

const struct call_case trap_cases[] = {
    {"trap_float", test_float},
    {"trap_codes", test_codes},
    {"trap_direction", test_direction},
    {"trap_steps_over_call", test_steps_over_call},
    {"trap_direction_new_page", test_direction_new_page},
    {"trap_direction_copied_page", test_direction_copied_page},
    {NULL, NULL},
};
