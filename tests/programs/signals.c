/*
 * Signals: masks, handlers and their flags, frames, restarted calls, stopping, groups, alternate
 * stacks.
 */
#include "tests/programs/raw.h"

static volatile int count, last, last_code, last_pid;
static volatile unsigned long last_addr;
static volatile long blocked_in_handler;
static volatile int *shared_count; /* as count, but a child sees its parent's */

static int *volatile nowhere = (int *)8;

static void reset(void)
{
	count = last = last_code = last_pid = 0;
	last_addr = 0;
}

static void handler(int sig)
{
	count++;
	last = sig;
	if (shared_count)
		(*shared_count)++;
}

static void info_handler(int sig, struct abi_siginfo *i, struct abi_ucontext *uc)
{
	unsigned long mask;

	(void)uc;
	count++;
	last = i->si_signo == sig ? sig : -1;
	last_code = i->si_code;
	last_pid = i->si_pid;
	last_addr = i->si_addr;
	syscall4(SYS_rt_sigprocmask, 0, 0, (long)&mask, 8);
	blocked_in_handler = mask;
}

static long me(void)
{
	return syscall0(SYS_getpid);
}

static long bit(int sig)
{
	return 1L << (sig - 1);
}

static long set_mask(long mask)
{
	long old = 0;

	syscall4(SYS_rt_sigprocmask, ABI_SIG_SETMASK, (long)&mask, (long)&old, 8);
	return old;
}

static void delivery(void)
{
	reset();
	CHECK_EQ(set_handler(L_USR1, handler, 0), 0);
	CHECK_EQ(syscall2(SYS_kill, me(), L_USR1), 0);
	CHECK_EQ(count, 1);
	CHECK_EQ(last, L_USR1);
	set_mask(bit(L_USR1));
	syscall2(SYS_kill, me(), L_USR1);
	syscall2(SYS_kill, me(), L_USR1);
	CHECK_EQ(count, 1);
	long pending = 0;
	CHECK_EQ(syscall2(SYS_rt_sigpending, (long)&pending, 8), 0);
	CHECK_EQ(pending, bit(L_USR1));
	set_mask(0);
	CHECK_EQ(count, 2); /* two are one */
	CHECK_EQ(set_handler(L_USR1, (void *)1, 0), 0);
	syscall2(SYS_kill, me(), L_USR1);
	CHECK_EQ(count, 2);
	/* What is pending and becomes ignored is gone. */
	set_handler(L_USR1, handler, 0);
	set_mask(bit(L_USR1));
	syscall2(SYS_kill, me(), L_USR1);
	set_handler(L_USR1, (void *)1, 0);
	set_handler(L_USR1, handler, 0);
	set_mask(0);
	CHECK_EQ(count, 2);
}

static void refusals(void)
{
	struct abi_sigaction a = {0};
	long mask = 0;

	CHECK_EQ(syscall4(SYS_rt_sigaction, 0, 0, (long)&a, 8), INVAL);
	CHECK_EQ(syscall4(SYS_rt_sigaction, 65, 0, (long)&a, 8), INVAL);
	CHECK_EQ(syscall4(SYS_rt_sigaction, 64, 0, (long)&a, 8), 0);
	CHECK_EQ(syscall4(SYS_rt_sigaction, L_USR1, 0, (long)&a, 4), INVAL);
	CHECK_EQ(set_handler(L_KILL, handler, 0), INVAL);
	CHECK_EQ(set_handler(L_STOP, handler, 0), INVAL);
	CHECK_EQ(syscall4(SYS_rt_sigaction, L_KILL, 0, (long)&a, 8), 0);
	CHECK_EQ(syscall4(SYS_rt_sigprocmask, 3, (long)&mask, 0, 8), INVAL);
	CHECK_EQ(syscall4(SYS_rt_sigprocmask, 0, (long)&mask, 0, 16), INVAL);
	CHECK_EQ(syscall2(SYS_kill, me(), 65), INVAL);
	CHECK_EQ(syscall2(SYS_kill, me(), -1), INVAL);
	CHECK_EQ(syscall2(SYS_kill, 30000, 0), NOSRCH);
	CHECK_EQ(syscall2(SYS_kill, -30000, 0), NOSRCH);
	CHECK_EQ(syscall2(SYS_kill, me(), 0), 0);
	CHECK_EQ(syscall3(SYS_tgkill, me(), me(), 0), 0);
	CHECK_EQ(syscall3(SYS_tgkill, 1, me(), 0), NOSRCH);
	CHECK_EQ(syscall3(SYS_tgkill, 0, me(), 0), INVAL);
	set_mask(-1);
	mask = set_mask(0);
	CHECK_EQ(mask, ~(bit(L_KILL) | bit(L_STOP))); /* two cannot be blocked */
}

static void flags(void)
{
	reset();
	set_handler(L_USR2, info_handler, ABI_SA_SIGINFO);
	syscall2(SYS_kill, me(), L_USR2);
	CHECK_EQ(last, L_USR2);
	CHECK_EQ(last_code, ABI_SI_USER);
	CHECK_EQ(last_pid, me());
	CHECK_EQ(blocked_in_handler, bit(L_USR2));
	syscall3(SYS_tgkill, me(), me(), L_USR2);
	CHECK_EQ(last_code, ABI_SI_TKILL);
	set_handler(L_USR2, info_handler, ABI_SA_SIGINFO | ABI_SA_NODEFER);
	syscall2(SYS_kill, me(), L_USR2);
	CHECK_EQ(blocked_in_handler, 0);
	set_handler(L_USR2, info_handler, ABI_SA_SIGINFO | ABI_SA_RESETHAND);
	syscall2(SYS_kill, me(), L_USR2);
	CHECK_EQ(count, 4);
	struct abi_sigaction a;
	syscall4(SYS_rt_sigaction, L_USR2, 0, (long)&a, 8);
	CHECK_EQ(a.handler, 0);
}

static void die_of_usr2(void)
{
	syscall2(SYS_kill, me(), L_USR2);
}

static void die_without_restorer(void)
{
	struct abi_sigaction a = {(uint64_t)handler, 0, 0, 0};

	syscall4(SYS_rt_sigaction, L_USR1, (long)&a, 0, 8);
	syscall2(SYS_kill, me(), L_USR1);
}

/* A fault's signal cannot be blocked or ignored. */
static void blocked_fault(void)
{
	set_mask(bit(L_SEGV));
	*nowhere = 1;
}

static void ignored_fault(void)
{
	set_handler(L_SEGV, (void *)1, 0);
	*nowhere = 1;
}

static void defaults(void)
{
	static const unsigned char ends[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	    24, 25, 26, 27, 29, 30, 31, 34, 64};
	static const unsigned char nothing[] = {L_CHLD, L_CONT, 23, 28};

	set_handler(L_USR1, 0, 0);
	for (unsigned i = 0; i < sizeof(ends); i++) {
		long pid = syscall0(SYS_fork);

		if (!pid) {
			syscall2(SYS_kill, me(), ends[i]);
			exit_now(1);
		}
		CHECK_EQ(wait_for(pid), ends[i]);
	}
	for (unsigned i = 0; i < sizeof(nothing); i++)
		CHECK_EQ(syscall2(SYS_kill, me(), nothing[i]), 0);
	CHECK_EQ(in_child(die_of_usr2), L_USR2);
	CHECK_EQ(in_child(die_without_restorer), L_SEGV);
	CHECK_EQ(in_child(blocked_fault), L_SEGV);
	CHECK_EQ(in_child(ignored_fault), L_SEGV);
}

/* Registers, the red zone, SSE and x87 state come through a handler that uses them all. */
static void scribbler(int sig)
{
	volatile double d = sig;

	count++;
	for (int i = 0; i < 10; i++)
		d = d * 1.5 + 1 / d;
	__asm__ volatile(
	    "pxor %%xmm0, %%xmm0; pxor %%xmm7, %%xmm7; pxor %%xmm15, %%xmm15; fninit; fldpi" ::
		: "xmm0", "xmm7", "xmm15");
}

static void registers_stay(void)
{
	unsigned long out[8];
	double x = 0;
	long pid = me();

	reset();
	set_handler(L_USR1, scribbler, 0);
	__asm__ volatile(
	    "movq $0x1111, -8(%%rsp)\n\t" /* red zone */
	    "movq $0x2222, -128(%%rsp)\n\t"
	    "mov $0x3333, %%ebx; mov $0x4444, %%r12d; mov $0x5555, %%r15d; mov $0x6666, %%r8d\n\t"
	    "mov $0x7777, %%r9d; movq %%r9, %%xmm7; movq %%r8, %%xmm15; fld1\n\t"
	    "mov %1, %%rdi; mov $10, %%esi; mov $62, %%eax; syscall\n\t"
	    "mov -8(%%rsp), %%rax; mov %%rax, 0(%2); mov -128(%%rsp), %%rax; mov %%rax, 8(%2)\n\t"
	    "mov %%rbx, 16(%2); mov %%r12, 24(%2); mov %%r15, 32(%2); mov %%r8, 40(%2)\n\t"
	    "movq %%xmm7, 48(%2); movq %%xmm15, 56(%2); fstpl %0"
	    : "=m"(x)
	    : "r"(pid), "r"(out)
	    : "rax", "rbx", "rcx", "rdi", "rsi", "r8", "r9", "r11", "r12", "r15", "xmm7", "xmm15",
	    "memory");
	CHECK_EQ(count, 1);
	for (unsigned i = 0; i < 6; i++)
		CHECK_EQ(out[i], 0x1111 * (i + 1));
	CHECK_EQ(out[6], 0x7777);
	CHECK_EQ(out[7], 0x6666);
	CHECK(x == 1.0);
}

/*
 * A child that signals its parent again and again: whenever the parent comes to wait, it will be
 * interrupted.
 */
static long pester(int sig)
{
	long parent = me(), pid = syscall0(SYS_fork);

	while (!pid) {
		sleep_ms(5);
		if (syscall2(SYS_kill, parent, sig) < 0 || syscall0(SYS_getppid) != parent)
			exit_now(0);
	}
	return pid;
}

static void stop_pestering(long pid)
{
	syscall2(SYS_kill, pid, L_KILL);
	CHECK_EQ(wait_for(pid), L_KILL);
}

static void interrupted_calls(void)
{
	int ends[2];
	char c = 0;
	struct abi_timespec t = {100, 0}, left = {0, 0};
	long pest, other;

	reset();
	syscall1(SYS_pipe, (long)ends);
	set_handler(L_USR1, handler, 0);
	pest = pester(L_USR1);
	CHECK_EQ(syscall3(SYS_read, ends[0], (long)&c, 1), INTR);
	CHECK(count > 0);
	CHECK_EQ(syscall2(SYS_nanosleep, (long)&t, (long)&left), INTR);
	CHECK(left.tv_sec > 0 && left.tv_sec < 100);
	CHECK_EQ(syscall0(SYS_pause), INTR);
	CHECK_EQ(syscall4(SYS_wait4, pest, 0, 0, 0), INTR);
	/* Again after the handler, until there is something to report; but sleeping ends. */
	set_handler(L_USR1, handler, ABI_SA_RESTART);
	CHECK_EQ(syscall2(SYS_nanosleep, (long)&t, (long)&left), INTR);
	shared_count = (void *)map_pages(0, 1, P_READ | P_WRITE, M_SHARED);
	other = syscall0(SYS_fork);
	if (!other) {
		while (*shared_count < 2)
			sleep_ms(1);
		syscall3(SYS_write, ends[1], (long)"x", 1);
		exit_now(4);
	}
	CHECK_EQ(syscall3(SYS_read, ends[0], (long)&c, 1), 1);
	CHECK_EQ(wait_for(other), 4 << 8);
	CHECK(*shared_count > 1);
	/* A signal that is ignored interrupts nothing. */
	set_handler(L_USR1, (void *)1, 0);
	t = (struct abi_timespec){0, 30000000};
	CHECK_EQ(syscall2(SYS_nanosleep, (long)&t, 0), 0);
	stop_pestering(pest);
	syscall1(SYS_close, ends[0]);
	syscall1(SYS_close, ends[1]);
}

static void suspend(void)
{
	long none = 0, mask = bit(L_USR1), pest;

	reset();
	set_handler(L_USR1, handler, 0);
	set_mask(mask);
	pest = pester(L_USR1);
	sleep_ms(20);
	CHECK_EQ(count, 0);
	CHECK_EQ(syscall2(SYS_rt_sigsuspend, (long)&none, 8), INTR);
	CHECK_EQ(count, 1);
	stop_pestering(pest);
	set_handler(L_USR1, (void *)1, 0);
	CHECK_EQ(set_mask(0), mask); /* put back after the handler */
}

static void stop_and_go(void)
{
	int status = 0;
	long start = now_ns(), pid = syscall0(SYS_fork);

	if (!pid) {
		/*
		 * Goes on sleeping after it was stopped. Long, so that a busy host does not let it
		 * end before it is waited for.
		 */
		sleep_ms(1000);
		exit_now(now_ns() - start >= 1000000000 ? 5 : 6);
	}
	sleep_ms(2);
	syscall2(SYS_kill, pid, L_STOP);
	CHECK_EQ(syscall4(SYS_wait4, pid, (long)&status, ABI_WUNTRACED, 0), pid);
	CHECK_EQ(status, L_STOP << 8 | 0x7f);
	CHECK_EQ(syscall4(SYS_wait4, pid, (long)&status, ABI_WUNTRACED | ABI_WNOHANG, 0),
	    0); /* told once */
	sleep_ms(2);
	syscall2(SYS_kill, pid, L_CONT);
	CHECK_EQ(syscall4(SYS_wait4, pid, (long)&status, ABI_WCONTINUED, 0), pid);
	CHECK_EQ(status, 0xffff);
	CHECK_EQ(wait_for(pid), 5 << 8);
	/* A stopped process can be killed, and SIGCONT undoes a stop that waits. */
	pid = syscall0(SYS_fork);
	if (!pid) {
		syscall2(SYS_kill, me(), L_STOP);
		exit_now(1);
	}
	CHECK_EQ(syscall4(SYS_wait4, pid, (long)&status, ABI_WUNTRACED, 0), pid);
	syscall2(SYS_kill, pid, L_KILL);
	CHECK_EQ(wait_for(pid), L_KILL);
	set_mask(bit(L_TSTP));
	syscall2(SYS_kill, me(), L_TSTP);
	syscall2(SYS_kill, me(), L_CONT);
	set_mask(0);
}

/* The parent hears of its children, with what became of them. */
static void child_signal(void)
{
	long pid;

	reset();
	set_handler(L_CHLD, info_handler, ABI_SA_SIGINFO);
	pid = syscall0(SYS_fork);
	if (!pid)
		exit_now(7);
	while (!count)
		sleep_ms(1);
	CHECK_EQ(last_code, ABI_CLD_EXITED);
	CHECK_EQ(last_pid, pid);
	CHECK_EQ(wait_for(pid), 7 << 8);
	set_handler(L_CHLD, (void *)1, 0); /* ignored: children leave nothing behind */
	pid = syscall0(SYS_fork);
	if (!pid)
		exit_now(7);
	CHECK_EQ(syscall4(SYS_wait4, pid, 0, 0, 0), NOCHILD);
	set_handler(L_CHLD, 0, 0);
}

static void groups(void)
{
	long a = syscall0(SYS_fork), b;

	if (!a) {
		syscall2(SYS_setpgid, 0, 0);
		for (;;)
			sleep_ms(1000);
	}
	CHECK_EQ(syscall2(SYS_setpgid, a, a), 0);
	b = syscall0(SYS_fork);
	if (!b)
		for (;;)
			sleep_ms(1000);
	CHECK_EQ(syscall2(SYS_setpgid, b, a), 0);
	CHECK_EQ(syscall1(SYS_getpgid, b), a);
	CHECK_EQ(syscall2(SYS_setpgid, b, 29999), PERM);
	CHECK_EQ(syscall2(SYS_setpgid, 29999, 0), NOSRCH);
	CHECK_EQ(syscall2(SYS_setpgid, 0, -1), INVAL);
	CHECK_EQ(syscall2(SYS_kill, -a, L_TERM), 0);
	CHECK_EQ(wait_for(a), L_TERM);
	CHECK_EQ(wait_for(b), L_TERM);
	CHECK_EQ(syscall2(SYS_kill, -a, 0), NOSRCH);
}

static char alternate[16384];
static volatile unsigned long handler_sp;

static void where(int sig)
{
	(void)sig;
	handler_sp = (unsigned long)__builtin_frame_address(0);
	count++;
}

static void leave(int sig)
{
	exit_now((char *)__builtin_frame_address(0) >= alternate &&
			 (char *)__builtin_frame_address(0) < alternate + sizeof(alternate)
		     ? sig
		     : 1);
}

static int overflow(int n)
{
	volatile char room[4000];

	room[0] = n;
	return n < 1000000 ? overflow(n + 1) + room[0] : 0;
}

static void overflow_on_alternate(void)
{
	set_handler(L_SEGV, leave, ABI_SA_ONSTACK);
	overflow(0);
}

static void overflow_without(void)
{
	set_handler(L_SEGV, leave, 0);
	overflow(0);
}

static void alternate_stack(void)
{
	struct abi_stack st = {(uint64_t)alternate, 0, 0, sizeof(alternate)}, old;

	reset();
	CHECK_EQ(syscall2(SYS_sigaltstack, 0, (long)&old), 0);
	CHECK_EQ(old.ss_flags, ABI_SS_DISABLE);
	st.ss_size = 2047;
	CHECK_EQ(syscall2(SYS_sigaltstack, (long)&st, 0), NOMEM);
	st.ss_size = sizeof(alternate);
	st.ss_flags = 4;
	CHECK_EQ(syscall2(SYS_sigaltstack, (long)&st, 0), INVAL);
	st.ss_flags = 0;
	CHECK_EQ(syscall2(SYS_sigaltstack, (long)&st, 0), 0);
	set_handler(L_USR1, where, ABI_SA_ONSTACK);
	syscall2(SYS_kill, me(), L_USR1);
	CHECK_EQ(count, 1);
	CHECK(handler_sp > (unsigned long)alternate &&
	      handler_sp < (unsigned long)alternate + sizeof(alternate));
	set_handler(L_USR1, where, 0);
	syscall2(SYS_kill, me(), L_USR1);
	CHECK(handler_sp > (unsigned long)alternate + sizeof(alternate));
	CHECK_EQ(in_child(overflow_on_alternate), L_SEGV << 8);
	CHECK_EQ(in_child(overflow_without), L_SEGV);
	st.ss_flags = ABI_SS_DISABLE;
	CHECK_EQ(syscall2(SYS_sigaltstack, (long)&st, 0), 0);
}

static void alarm_clock(void)
{
	long start = now_ns(), none = 0, left;

	reset();
	set_handler(L_ALRM, handler, 0);
	set_mask(bit(L_ALRM)); /* it may ring before we wait for it */
	CHECK_EQ(syscall1(SYS_alarm, 1000), 0);
	left = syscall1(SYS_alarm, 1);
	CHECK(left > 900 && left <= 1000);
	CHECK_EQ(syscall2(SYS_rt_sigsuspend, (long)&none, 8), INTR);
	CHECK_EQ(count, 1);
	CHECK_EQ(last, L_ALRM);
	CHECK(now_ns() - start >= 1000000000);
	CHECK_EQ(syscall1(SYS_alarm, 0), 0);
	set_mask(0);
}

int main(void)
{
	delivery();
	refusals();
	flags();
	defaults();
	registers_stay();
	interrupted_calls();
	suspend();
	stop_and_go();
	child_signal();
	groups();
	alternate_stack();
	alarm_clock();
	return check_failures != 0;
}
