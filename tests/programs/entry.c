/*
 * The ways into the kernel from ring 3 and back: the signal of each trap, registers and flags over
 * system calls and signals, and two things that have broken real kernels: returns to addresses that
 * are not canonical, flags that must not get in. Handlers get Linux's siginfo and context, so this
 * goes round the C library.
 */
#include "kernel/abi/linux.h"
#include "tests/programs/check.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void __restore_rt(void); /* crt0.S */

enum { L_SIGILL = 4, L_SIGTRAP = 5, L_SIGBUS = 7, L_SIGFPE = 8, L_SIGSEGV = 11 };

static struct abi_siginfo info;	      /* of the last signal */
static struct abi_sigcontext context; /* of the interrupted code */
static int signals;
static void (*then)(struct abi_ucontext *uc); /* what the handler does to the context */

static void handler(int sig, struct abi_siginfo *si, struct abi_ucontext *uc)
{
	(void)sig;
	info = *si;
	context = uc->uc_mcontext;
	signals++;
	if (then)
		then(uc);
}

static void handle(int sig)
{
	struct abi_sigaction a = {
	    .handler = (uintptr_t)handler,
	    .flags = ABI_SA_SIGINFO | ABI_SA_RESTORER | ABI_SA_NODEFER,
	    .restorer = (uintptr_t)__restore_rt,
	};

	CHECK_EQ(syscall4(SYS_rt_sigaction, sig, (long)&a, 0, 8), 0);
}

/*
 * The instructions below end at this label's address in a register, where the handler sends them.
 */
static uint64_t resume_at;

static void go_on(struct abi_ucontext *uc)
{
	uc->uc_mcontext.rip = resume_at;
	uc->uc_mcontext.rflags &= ~0x40100UL; /* AC, TF */
}

/* Runs instructions that trap; goes on after them. */
#define TRAPS(...)                                                                                 \
	do {                                                                                       \
		signals = 0;                                                                       \
		then = go_on;                                                                      \
		__asm__ volatile("leaq 77f(%%rip), %%rax\n\tmovq %%rax, %0\n\t"                    \
				 "subq $128, %%rsp\n\t" __VA_ARGS__ "\n77:\taddq $128, %%rsp"      \
				 : "=m"(resume_at)                                                 \
				 :                                                                 \
				 : "rax", "rcx", "rdx", "r8", "memory", "cc");                     \
	} while (0)

#define EXPECT_SIGNAL(want, code)                                                                  \
	do {                                                                                       \
		CHECK_EQ(signals, 1);                                                              \
		CHECK_EQ(info.si_signo, want);                                                     \
		CHECK_EQ(info.si_code, code);                                                      \
	} while (0)

static void traps_become_signals(void)
{
	TRAPS("xorl %%ecx, %%ecx\n\tmovl $1, %%eax\n\tcltd\n\tdivl %%ecx");
	EXPECT_SIGNAL(L_SIGFPE, 1);
	TRAPS("ud2");
	EXPECT_SIGNAL(L_SIGILL, 2);
	TRAPS("int3");
	EXPECT_SIGNAL(L_SIGTRAP, 0x80);
	TRAPS("movq $8, %%rcx\n\tmovl (%%rcx), %%eax");
	EXPECT_SIGNAL(L_SIGSEGV, 1);
	CHECK_EQ(info.si_addr, 8);
	TRAPS("leaq 77f(%%rip), %%rcx\n\tmovb $0, (%%rcx)"); /* text is read-only */
	EXPECT_SIGNAL(L_SIGSEGV, 2);
	TRAPS("movq %%rsp, %%rcx\n\tjmp *%%rcx"); /* the stack is not executable */
	EXPECT_SIGNAL(L_SIGSEGV, 2);
	TRAPS("movabsq $0x800000000000, %%rcx\n\tmovl (%%rcx), %%eax"); /* not canonical */
	EXPECT_SIGNAL(L_SIGSEGV, 0x80);
	TRAPS("movq $-4096, %%rcx\n\tmovl (%%rcx), %%eax"); /* the kernel's */
	CHECK_EQ(info.si_signo, L_SIGSEGV);
}

static void privileged_is_refused(void)
{
	TRAPS("cli");
	EXPECT_SIGNAL(L_SIGSEGV, 0x80);
	TRAPS("hlt");
	EXPECT_SIGNAL(L_SIGSEGV, 0x80);
	TRAPS("movl $0x3f8, %%edx\n\tinb %%dx, %%al");
	EXPECT_SIGNAL(L_SIGSEGV, 0x80);
	TRAPS("int $0x80");
	EXPECT_SIGNAL(L_SIGSEGV, 0x80);
	TRAPS("int $2"); /* no NMI by instruction */
	EXPECT_SIGNAL(L_SIGSEGV, 0x80);
	TRAPS("int $8");
	EXPECT_SIGNAL(L_SIGSEGV, 0x80);
	TRAPS("movq %%cr3, %%rax");
	EXPECT_SIGNAL(L_SIGSEGV, 0x80);
	TRAPS("movl $0xc0000082, %%ecx\n\trdmsr");
	EXPECT_SIGNAL(L_SIGSEGV, 0x80);
	TRAPS("swapgs");
	CHECK_EQ(signals, 1);
}

/* Where the CPU has UMIP, the addresses of the kernel's tables stay hidden. */
static void tables_are_hidden(void)
{
	uint32_t a = 0, b, c = 0, d;

	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	if (a < 7)
		return;
	a = 7;
	c = 0;
	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	if (!(c & 4))
		return;
	TRAPS("sgdt (%%rsp)");
	EXPECT_SIGNAL(L_SIGSEGV, 0x80);
	TRAPS("sidt (%%rsp)");
	EXPECT_SIGNAL(L_SIGSEGV, 0x80);
	TRAPS("str %%eax");
	EXPECT_SIGNAL(L_SIGSEGV, 0x80);
}

/* One step of TF, also over a system call; SIGBUS for what is not aligned under AC. */
static void flags_that_trap(void)
{
	TRAPS("pushfq\n\torl $0x100, (%%rsp)\n\tpopfq\n\tnop\n\tnop");
	EXPECT_SIGNAL(L_SIGTRAP, 2);
	TRAPS("pushfq\n\torl $0x100, (%%rsp)\n\tmovl $39, %%eax\n\tpopfq\n\tsyscall\n\tnop");
	EXPECT_SIGNAL(L_SIGTRAP, 2);
	TRAPS("movq %%rsp, %%rcx\n\tpushfq\n\torl $0x40000, (%%rsp)\n\tpopfq\n\tmovl 1(%%rcx), "
	      "%%eax");
	CHECK(signals <= 1); /* an emulator may not check it */
	if (signals)
		EXPECT_SIGNAL(L_SIGBUS, 1);
}

/* DF, AC and NT set by ring 3 neither break the kernel nor get lost. */
static void flags_over_a_call(void)
{
	uint64_t after;
	long pid;

	__asm__ volatile("pushfq\n\torl $0x44400, (%%rsp)\n\tpopfq\n\t"
			 "movl $39, %%eax\n\tsyscall\n\t"
			 "pushfq\n\tpopq %0\n\t"
			 "pushfq\n\tandl $~0x44400, (%%rsp)\n\tpopfq"
			 : "=&r"(after), "=a"(pid)
			 :
			 : "rcx", "r11", "memory", "cc");
	CHECK_EQ(pid, getpid());
	CHECK_EQ(after & 0x44400, 0x44400);
}

/* A call keeps every register but rax, rcx and r11. */
static void registers_over_a_call(void)
{
	uint64_t bad = 0;

	for (int i = 0; i < 1000; i++)
		__asm__ volatile("pushq %%rbp\n\t"
				 "movl $0x11, %%ebx\n\tmovl $0x22, %%edx\n\tmovl $0x33, %%esi\n\t"
				 "movl $0x44, %%edi\n\tmovl $0x55, %%ebp\n\tmovl $0x66, %%r8d\n\t"
				 "movl $0x77, %%r9d\n\tmovl $0x88, %%r10d\n\tmovl $0x99, %%r12d\n\t"
				 "movl $0xaa, %%r13d\n\tmovl $0xbb, %%r14d\n\tmovq %%rsp, %%r15\n\t"
				 "movl $39, %%eax\n\tsyscall\n\t"
				 "subl $0x11, %%ebx\n\tsubl $0x22, %%edx\n\tsubl $0x33, %%esi\n\t"
				 "subl $0x44, %%edi\n\tsubl $0x55, %%ebp\n\tsubl $0x66, %%r8d\n\t"
				 "subl $0x77, %%r9d\n\tsubl $0x88, %%r10d\n\tsubl $0x99, %%r12d\n\t"
				 "subl $0xaa, %%r13d\n\tsubl $0xbb, %%r14d\n\tsubq %%rsp, %%r15\n\t"
				 "orq %%rdx, %%rbx\n\torq %%rsi, %%rbx\n\torq %%rdi, %%rbx\n\t"
				 "orq %%rbp, %%rbx\n\torq %%r8, %%rbx\n\torq %%r9, %%rbx\n\t"
				 "orq %%r10, %%rbx\n\torq %%r12, %%rbx\n\torq %%r13, %%rbx\n\t"
				 "orq %%r14, %%rbx\n\torq %%r15, %%rbx\n\tpopq %%rbp\n\t"
				 "orq %%rbx, %0"
				 : "+m"(bad)
				 :
				 : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10",
				 "r11", "r12", "r13", "r14", "r15", "memory", "cc");
	CHECK_EQ(bad, 0);
}

static void change_all(struct abi_ucontext *uc)
{
	struct abi_sigcontext *c = &uc->uc_mcontext;

	c->rcx = 0xc0c0c0c0c0;
	c->r11 = 0x1111111111;
	c->rip += 2; /* after the ud2 */
}

/* What a handler writes into rcx and r11 arrives, though sysret could not give it. */
static void sigreturn_gives_every_register(void)
{
	uint64_t rcx, r11;

	then = change_all;
	__asm__ volatile("ud2\n\tmovq %%rcx, %0\n\tmovq %%r11, %1"
			 : "=&r"(rcx), "=&r"(r11)::"rcx", "r11", "memory");
	CHECK_EQ(rcx, 0xc0c0c0c0c0);
	CHECK_EQ(r11, 0x1111111111);
}

static void change_r11(struct abi_ucontext *uc)
{
	struct abi_sigcontext *c = &uc->uc_mcontext;

	c->rip += 2; /* after the ud2 */
	c->rcx = c->rip;
	c->r11 = 0x1111111111;
}

/* So does r11 alone, where rcx is as sysret would leave it. */
static void sigreturn_gives_r11(void)
{
	uint64_t r11;

	then = change_r11;
	__asm__ volatile("ud2\n\tmovq %%r11, %0" : "=&r"(r11)::"rcx", "r11", "memory");
	CHECK_EQ(r11, 0x1111111111);
}

#define TSS_PORTS 1024 /* a bit each in the bytes of a task state segment, and some more */

static uint32_t port __asm__("port_tried");

/* The machine's ports are not ring 3's: each faults. */
static void no_ports(void)
{
	int faults = 0;

	for (port = 0; port < TSS_PORTS; port++) {
		TRAPS("movl port_tried(%%rip), %%edx\n\tinb %%dx, %%al");
		faults += signals;
	}
	CHECK_EQ(faults, TSS_PORTS);
}

static uint64_t bad_rip;

static void to_bad_rip(struct abi_ucontext *uc)
{
	uc->uc_mcontext.rip = bad_rip;
}

static int status_of(void (*fn)(void))
{
	int status;

	if (fork() == 0) {
		fn();
		_exit(0);
	}
	wait(&status);
	return status;
}

static void return_to_bad_rip(void)
{
	struct abi_sigaction dfl = {0};

	syscall4(SYS_rt_sigaction, L_SIGSEGV, (long)&dfl, 0, 8);
	then = to_bad_rip;
	__asm__ volatile("ud2");
}

/* The process ends by SIGSEGV; the kernel goes on. */
static void returns_to_nowhere(void)
{
	static const uint64_t nowhere[] = {0, 0x7ffffffff000, 0x7fffffffffff, 0x800000000000,
	    0xffff800000000000, 0xffffffff80100000, 0xffffffffffffffff, 0xdead000000000000};

	for (unsigned i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
		bad_rip = nowhere[i];
		CHECK_EQ(status_of(return_to_bad_rip) & 0x7f, L_SIGSEGV);
	}
}

static void bad_stack_call(void)
{
	/* A system call needs no stack of ring 3; the push after it does. */
	__asm__ volatile("movabsq $0x800000000000, %%rsp\n\tmovl $39, %%eax\n\tsyscall\n\t"
			 "movq $-4096, %%rsp\n\tmovl $39, %%eax\n\tsyscall\n\tint3" ::
			     : "rax", "rcx", "r11", "memory");
}

/* mov to ss holds traps back for one instruction, which here enters the kernel. */
static void mov_ss_then_enter(void)
{
	long pid;

	__asm__ volatile("movl %%ss, %%edx\n\tmovl $39, %%eax\n\tmovl %%edx, %%ss\n\tsyscall"
			 : "=a"(pid)::"rcx", "rdx", "r11", "memory");
	CHECK_EQ(pid, getpid());
	then = NULL;
	signals = 0;
	__asm__ volatile("movl %%ss, %%edx\n\tmovl %%edx, %%ss\n\tint3" ::: "rdx", "memory");
	EXPECT_SIGNAL(L_SIGTRAP, 0x80);
	TRAPS("movl %%ss, %%ecx\n\tmovl $39, %%eax\n\tpushfq\n\torl $0x100, (%%rsp)\n\tpopfq\n\t"
	      "movl %%ecx, %%ss\n\tsyscall\n\tnop");
	CHECK_EQ(info.si_signo, L_SIGTRAP);
}

/* The last instruction of the addresses ring 3 has: the return is to the first it has not. */
static void call_at_the_end(void)
{
	unsigned char *p = mmap((void *)0x7fffffffe000, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	struct abi_sigaction dfl = {0};

	if (p == MAP_FAILED)
		_exit(9);
	syscall4(SYS_rt_sigaction, L_SIGSEGV, (long)&dfl, 0, 8);
	p[4094] = 0x0f; /* syscall */
	p[4095] = 0x05;
	mprotect(p, 4096, PROT_READ | PROT_EXEC);
	__asm__ volatile("movl $39, %%eax\n\tjmp *%0" ::"r"(p + 4094)
			 : "rax", "rcx", "r11", "memory");
}

static void segments_are_linux(void)
{
	uint32_t cs, ss;

	__asm__("movl %%cs, %0\n\tmovl %%ss, %1" : "=r"(cs), "=r"(ss));
	CHECK_EQ(cs, 0x33);
	CHECK_EQ(ss, 0x2b);
}

int main(void)
{
	static const int sigs[] = {L_SIGILL, L_SIGTRAP, L_SIGBUS, L_SIGFPE, L_SIGSEGV};
	int status;

	for (unsigned i = 0; i < sizeof sigs / sizeof *sigs; i++)
		handle(sigs[i]);
	traps_become_signals();
	privileged_is_refused();
	tables_are_hidden();
	flags_that_trap();
	flags_over_a_call();
	registers_over_a_call();
	sigreturn_gives_every_register();
	sigreturn_gives_r11();
	no_ports();
	returns_to_nowhere();
	mov_ss_then_enter();
	segments_are_linux();
	status = status_of(bad_stack_call);
	CHECK(status & 0x7f); /* no stack for the handler's frame */
	status = status_of(call_at_the_end);
	CHECK((status & 0x7f) == L_SIGSEGV || status == 9 << 8);
	return check_failures != 0;
}
