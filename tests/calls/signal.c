/* Signals: masks, actions, waiting for them, reading them, timers that send them. */
#include "tests/calls/calls.h"

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/times.h>
#include <ucontext.h>

static volatile int count, last, last_value, last_code;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)context;
	count++;
	last = sig;
	last_value = info->si_value.sival_int;
	last_code = info->si_code;
}

static void handle(int sig, int flags)
{
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags};

	sigaction(sig, &sa, NULL);
}

static void block(int a, int b)
{
	sigset_t set = set_of(a, b);

	sigprocmask(SIG_BLOCK, &set, NULL);
}

static void test_action(void)
{
	struct sigaction sa = {.sa_handler = SIG_IGN}, old;

	R(sigaction(SIGUSR1, &sa, NULL));
	R(sigaction(SIGUSR1, NULL, &old));
	T(old.sa_handler == SIG_IGN);
	R(raise(SIGUSR1));
	R(syscall(SYS_rt_sigaction, SIGKILL, &sa, NULL, 8));
	R(syscall(SYS_rt_sigaction, SIGKILL, NULL, &old, 8));
	R(syscall(SYS_rt_sigaction, 0, NULL, NULL, 8));
	R(syscall(SYS_rt_sigaction, 65, NULL, NULL, 8));
	R(syscall(SYS_rt_sigaction, SIGUSR1, BAD, NULL, 8));
	R(syscall(SYS_rt_sigaction, SIGUSR1, NULL, BAD, 8));
	R(syscall(SYS_rt_sigaction, SIGUSR1, NULL, NULL, 4));
	handle(SIGUSR1, SA_RESETHAND);
	raise(SIGUSR1);
	say("%d %d %d", count, last, last_code);
	sigaction(SIGUSR1, NULL, &old);
	T(old.sa_handler == SIG_DFL);
	sa.sa_flags = 0x7bff83f8 | SA_RESTART; /* all that have no meaning, and one that has */
	R(sigaction(SIGUSR2, &sa, NULL));
	sigaction(SIGUSR2, NULL, &old);
	say("%#x", old.sa_flags & ~0x04000000); /* which the library adds */
}

static void test_mask(void)
{
	sigset_t set = set_of(SIGUSR1, SIGKILL), old, now;

	R(sigprocmask(SIG_BLOCK, &set, NULL));
	R(sigprocmask(99, &set, &old));
	R(sigprocmask(99, NULL, &old));
	say("%d %d", sigismember(&old, SIGUSR1), sigismember(&old, SIGKILL));
	handle(SIGUSR1, 0);
	raise(SIGUSR1);
	raise(SIGUSR1);
	R(sigpending(&now));
	say("%d %d", sigismember(&now, SIGUSR1), count);
	set = set_of(SIGUSR1, 0);
	R(sigprocmask(SIG_UNBLOCK, &set, NULL));
	say("%d", count);
	R(syscall(SYS_rt_sigprocmask, SIG_BLOCK, BAD, NULL, 8));
	R(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, 4));
	R(syscall(SYS_rt_sigpending, &set, 9));
	R(syscall(SYS_rt_sigpending, BAD, 8));
	block(SIGUSR2, 0);
	raise(SIGUSR2);
	handle(SIGUSR2, 0);
	sigemptyset(&set);
	R(sigsuspend(&set));
	say("%d %d", count, last);
	R(syscall(SYS_rt_sigsuspend, &set, 4));
	R(syscall(SYS_rt_sigsuspend, BAD, 8));
}

static void test_send(void)
{
	handle(SIGUSR1, 0);
	R(kill(getpid(), SIGUSR1));
	say("%d %d", count, last_code);
	R(syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1));
	say("%d %d", count, last_code);
	R(syscall(SYS_tkill, getpid(), SIGUSR1));
	R(syscall(SYS_tgkill, getpid(), getpid(), 0));
	R(syscall(SYS_tgkill, getpid(), 1, SIGUSR1));
	R(syscall(SYS_tgkill, -1, getpid(), SIGUSR1));
	R(syscall(SYS_tgkill, getpid(), getpid(), 65));
	R(kill(getpid(), 65));
	R(kill(4000000, SIGUSR1));
	R(kill(-4000000, SIGUSR1));
	say("%d", count);
}

/* Real-time signals wait in their order, others once; the lower number comes first. */
static void test_queue(void)
{
	union sigval v;
	sigset_t none;

	handle(SIGRTMIN, 0);
	handle(SIGRTMIN + 1, 0);
	handle(SIGUSR1, 0);
	block(SIGRTMIN, SIGRTMIN + 1);
	block(SIGUSR1, 0);
	for (int i = 0; i < 5; i++) {
		v.sival_int = 10 + i;
		R(sigqueue(getpid(), SIGRTMIN + i % 2, v));
		sigqueue(getpid(), SIGUSR1, v);
	}
	sigemptyset(&none);
	for (int i = 0; i < 6; i++) {
		siginfo_t info;
		sigset_t set = set_of(SIGRTMIN, SIGRTMIN + 1);
		struct timespec now = {0, 0};

		sigaddset(&set, SIGUSR1);
		int sig = sigtimedwait(&set, &info, &now);
		say("%d: %d of %d code %d", i, info.si_value.sival_int,
		    sig == SIGUSR1 ? 0 : sig - SIGRTMIN, info.si_code);
	}
	siginfo_t info = {.si_code = SI_QUEUE};
	R(syscall(SYS_rt_sigqueueinfo, getpid(), 0, &info));
	R(syscall(SYS_rt_sigqueueinfo, getpid(), 65, &info));
	R(syscall(SYS_rt_sigqueueinfo, 4000000, SIGUSR1, &info));
	R(syscall(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, BAD));
	R(syscall(SYS_rt_tgsigqueueinfo, getpid(), getpid(), SIGRTMIN, &info));
	R(syscall(SYS_rt_tgsigqueueinfo, getpid(), 1, SIGRTMIN, &info));
	R(syscall(SYS_rt_tgsigqueueinfo, 0, getpid(), SIGRTMIN, &info));
	info.si_code = SI_TKILL;
	R(syscall(SYS_rt_sigqueueinfo, getppid(), SIGUSR1, &info));
}

/* A signal that was taken, or is ignored from now on, makes room for others. */
static void test_queue_rounds(void)
{
	struct timespec now = {0, 0};
	sigset_t set = set_of(SIGRTMIN, 0);
	siginfo_t info;
	union sigval v;
	int refused = 0, taken = 0, in_order = 0;

	block(SIGRTMIN, 0);
	for (int round = 0; round < 6; round++) {
		for (int i = 0; i < 700; i++) {
			v.sival_int = i;
			refused += sigqueue(getpid(), SIGRTMIN, v) < 0;
		}
		if (round % 2) {
			signal(SIGRTMIN, SIG_IGN);
			signal(SIGRTMIN, SIG_DFL);
		}
		for (int i = 0; sigtimedwait(&set, &info, &now) > 0; i++) {
			in_order += info.si_value.sival_int == i;
			taken++;
		}
	}
	say("%d refused, %d taken, %d in order", refused, taken, in_order);
}

static void test_timedwait(void)
{
	struct timespec none = {0, 0}, some = {0, 2000000}, bad = {0, -1};
	sigset_t set = set_of(SIGUSR1, SIGCHLD), empty;
	siginfo_t info;
	pid_t pid;

	block(SIGUSR1, SIGCHLD);
	R(sigtimedwait(&set, &info, &none));
	R(sigtimedwait(&set, &info, &some));
	R(sigtimedwait(&set, &info, &bad));
	raise(SIGUSR1);
	R(sigtimedwait(&set, NULL, NULL));
	pid = fork();
	if (!pid)
		_exit(7);
	R(sigwaitinfo(&set, &info)); /* one that is ignored by default comes, too */
	say("%d %d %d", info.si_code, info.si_status, info.si_pid == pid);
	waitpid(pid, NULL, 0);
	handle(SIGUSR2, SA_RESTART);
	pid = fork();
	if (!pid) {
		wait_until_asleep(getppid());
		kill(getppid(), SIGUSR2);
		_exit(0);
	}
	set = set_of(SIGUSR1, 0);
	R(sigwaitinfo(&set, &info));
	say("%d", count);
	waitpid(pid, NULL, 0);
	sigprocmask(SIG_BLOCK, NULL, &empty);
	say("%d %d", sigismember(&empty, SIGUSR1), sigismember(&empty, SIGUSR2));
	R(syscall(SYS_rt_sigtimedwait, &set, &info, &none, 4));
	R(syscall(SYS_rt_sigtimedwait, BAD, &info, &none, 8));
	R(syscall(SYS_rt_sigtimedwait, &set, &info, BAD, 8));
	raise(SIGUSR1);
	R(syscall(SYS_rt_sigtimedwait, &set, BAD, &none, 8));
}

static void test_signalfd(void)
{
	sigset_t set = set_of(SIGUSR1, SIGRTMIN), other = set_of(SIGUSR2, SIGKILL);
	struct signalfd_siginfo si[3];
	union sigval v = {.sival_int = 5};
	struct pollfd p;
	int fd;

	block(SIGUSR1, SIGUSR2);
	block(SIGRTMIN, 0);
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	R(fcntl(fd, F_GETFD));
	p = (struct pollfd){fd, POLLIN | POLLOUT, 0};
	R(read(fd, si, sizeof(si)));
	R(poll(&p, 1, 0));
	raise(SIGUSR1);
	raise(SIGUSR2);
	sigqueue(getpid(), SIGRTMIN, v);
	v.sival_int = 6;
	sigqueue(getpid(), SIGRTMIN, v);
	R(poll(&p, 1, 0));
	say("%#x", p.revents);
	R(read(fd, si, sizeof(si[0]) - 1));
	R(read(fd, si, sizeof(si)));
	for (int i = 0; i < 3; i++)
		say("%d code %d value %d from %d", si[i].ssi_signo == SIGUSR1, si[i].ssi_code,
		    si[i].ssi_int, si[i].ssi_pid == (unsigned)getpid());
	R(signalfd(fd, &other, 0) == fd);
	R(read(fd, si, sizeof(si)));
	say("%d", si[0].ssi_signo);
	R(signalfd(1, &set, 0));
	R(signalfd(99, &set, 0));
	R(signalfd(-1, &set, 1));
	R(syscall(SYS_signalfd4, -1, &set, 4, 0));
	R(syscall(SYS_signalfd4, -1, BAD, 8, 0));
	raise(SIGUSR2);
	R(read(fd, BAD, sizeof(si)));
	R(write(fd, si, sizeof(si)));
	R(lseek(fd, 0, SEEK_SET));
}

static void test_signalfd_waits(void)
{
	sigset_t set = set_of(SIGUSR1, SIGCHLD);
	struct signalfd_siginfo si;
	struct epoll_event e = {.events = EPOLLIN};
	int fd, ep = epoll_create1(0);
	pid_t pid;

	block(SIGUSR1, SIGCHLD);
	fd = signalfd(-1, &set, 0);
	R(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e));
	pid = fork();
	if (!pid) {
		usleep(2000);
		_exit(3);
	}
	R(epoll_wait(ep, &e, 1, -1));
	R(read(fd, &si, sizeof(si)));
	say("%d %d %d %d", si.ssi_signo, si.ssi_code, si.ssi_status, si.ssi_pid == (unsigned)pid);
	waitpid(pid, NULL, 0);
	pid = fork();
	if (!pid) {
		usleep(2000);
		kill(getppid(), SIGUSR1);
		_exit(0);
	}
	R(read(fd, &si, sizeof(si)));
	say("%d %d", si.ssi_signo, si.ssi_code);
	waitpid(pid, NULL, 0);
}

static void test_itimer(void)
{
	struct itimerval v = {{0, 1000}, {0, 1000}}, old = {{9, 9}, {9, 9}};
	sigset_t set = set_of(SIGALRM, 0);
	siginfo_t info;

	alarm(0);
	block(SIGALRM, 0);
	R(setitimer(ITIMER_REAL, &v, &old));
	say("%ld %ld", (long)old.it_value.tv_sec, (long)old.it_value.tv_usec);
	for (int i = 0; i < 3; i++) {
		R(sigwaitinfo(&set, &info));
		say("code %d", info.si_code);
	}
	R(getitimer(ITIMER_REAL, &old));
	say("%ld", (long)old.it_interval.tv_usec);
	T(old.it_value.tv_usec <= 1000);
	R(setitimer(ITIMER_REAL, NULL, NULL));
	R(getitimer(ITIMER_REAL, &old));
	say("%ld %ld", (long)old.it_value.tv_usec, (long)old.it_interval.tv_usec);
	R(alarm(100));
	R(getitimer(ITIMER_REAL, &old));
	T(old.it_value.tv_sec >= 98);
	R(alarm(0) >= 99);
	R(alarm(0));
	v.it_value.tv_usec = 1000000;
	R(setitimer(ITIMER_REAL, &v, NULL));
	v.it_value = (struct timeval){-1, 0};
	R(setitimer(ITIMER_REAL, &v, NULL));
	v.it_value = (struct timeval){0, 0};
	R(setitimer(7, &v, NULL));
	R(getitimer(7, &v));
	R(setitimer(ITIMER_REAL, BAD, NULL));
	R(setitimer(ITIMER_REAL, &v, BAD));
	R(getitimer(ITIMER_REAL, BAD));
}

/* Linux counts in ticks, and some may be too early: so half of what the timers want is enough. */
static int has_run_10_ms(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return used.ru_utime.tv_usec + used.ru_stime.tv_usec >= 10000 || used.ru_utime.tv_sec;
}

/*
 * Time on a CPU: it does not pass in a sleep. A computer that has much to do may stop the machine
 * when the program runs; then it has run for that time.
 */
static void test_itimer_cpu(void)
{
	struct itimerval v = {{0, 0}, {0, 20000}};
	struct timespec a;

	handle(SIGPROF, 0);
	handle(SIGVTALRM, 0);
	R(setitimer(ITIMER_PROF, &v, NULL));
	R(setitimer(ITIMER_VIRTUAL, &v, NULL));
	usleep(50000);
	T(!count || has_run_10_ms());
	while (count < 2)
		clock_gettime(CLOCK_MONOTONIC, &a);
	T(has_run_10_ms());
	R(getitimer(ITIMER_PROF, &v));
	say("%ld %ld", (long)v.it_value.tv_sec, (long)v.it_value.tv_usec);
}

static void test_timer(void)
{
	struct sigevent ev = {
	    .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 42};
	struct itimerspec set = {{0, 1000000}, {0, 1000000}}, old;
	sigset_t wait = set_of(SIGRTMIN, SIGALRM);
	siginfo_t info;
	timer_t id;
	int other;

	alarm(0);
	block(SIGRTMIN, SIGALRM);
	R(timer_create(CLOCK_MONOTONIC, &ev, &id));
	R(timer_gettime(id, &old));
	say("%ld %ld", (long)old.it_value.tv_nsec, (long)old.it_interval.tv_nsec);
	R(timer_settime(id, 0, &set, &old));
	R(sigwaitinfo(&wait, &info) - SIGRTMIN);
	say("code %d value %d", info.si_code, info.si_value.sival_int);
	usleep(6000);
	R(sigwaitinfo(&wait, &info) - SIGRTMIN);
	usleep(6000);
	R(sigwaitinfo(&wait, &info) - SIGRTMIN);
	T(info.si_overrun >= 3);
	T(timer_getoverrun(id) == info.si_overrun);
	R(timer_gettime(id, &old));
	T(old.it_interval.tv_nsec == 1000000 && old.it_value.tv_nsec <= 1000000);
	set = (struct itimerspec){{0, 0}, {0, 0}};
	R(timer_settime(id, 0, &set, NULL));
	R(timer_gettime(id, &old));
	say("%ld %ld", (long)old.it_value.tv_nsec, (long)old.it_interval.tv_nsec);
	set.it_value.tv_nsec = 1;
	sigtimedwait(&wait, &info, &(struct timespec){0, 0});
	R(timer_settime(id, TIMER_ABSTIME, &set, NULL));
	R(sigwaitinfo(&wait, &info) - SIGRTMIN);
	say("overrun %d", info.si_overrun);
	R(timer_delete(id));
	R(timer_delete(id));
	R(syscall(SYS_timer_create, CLOCK_REALTIME, NULL, &other));
	set.it_value.tv_nsec = 1000000;
	R(syscall(SYS_timer_settime, other, 0, &set, NULL));
	R(sigwaitinfo(&wait, &info));
	say("code %d own number %d", info.si_code, info.si_value.sival_int == info.si_timerid);
}

static void test_timer_refusals(void)
{
	struct sigevent ev = {.sigev_notify = SIGEV_NONE};
	struct itimerspec set = {{0, 0}, {100, 0}}, bad = {{0, 0}, {0, 1000000000}}, now;
	timer_t id;
	int raw;

	R(timer_create(CLOCK_MONOTONIC, &ev, &id));
	R(timer_settime(id, 0, &set, NULL));
	R(timer_gettime(id, &now));
	T(now.it_value.tv_sec >= 98);
	set.it_value.tv_sec = 0;
	set.it_value.tv_nsec = 1000;
	R(timer_settime(id, 0, &set, NULL));
	usleep(1000);
	R(timer_gettime(id, &now));
	say("%ld", (long)now.it_value.tv_nsec);
	R(timer_settime(id, 0, &bad, NULL));
	R(timer_getoverrun(id));
	R(syscall(SYS_timer_create, 77, NULL, &raw));
	R(syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, BAD));
	R(syscall(SYS_timer_create, CLOCK_MONOTONIC, BAD, &raw));
	ev.sigev_notify = 77;
	R(syscall(SYS_timer_create, CLOCK_MONOTONIC, &ev, &raw));
	ev.sigev_notify = SIGEV_SIGNAL;
	ev.sigev_signo = 65;
	R(syscall(SYS_timer_create, CLOCK_MONOTONIC, &ev, &raw));
	ev.sigev_signo = 0;
	R(syscall(SYS_timer_create, CLOCK_MONOTONIC, &ev, &raw));
	ev.sigev_signo = SIGUSR1;
	ev.sigev_notify = SIGEV_THREAD_ID;
	ev._sigev_un._tid = 1;
	R(syscall(SYS_timer_create, CLOCK_MONOTONIC, &ev, &raw));
	R(syscall(SYS_timer_settime, 9999, 0, &set, NULL));
	R(syscall(SYS_timer_settime, -1, 0, &set, NULL));
	R(syscall(SYS_timer_gettime, 9999, &now));
	R(syscall(SYS_timer_gettime, -1, &now));
	R(syscall(SYS_timer_getoverrun, -1));
	R(syscall(SYS_timer_delete, -1));
	R(syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, &raw));
	R(syscall(SYS_timer_settime, raw, 0, BAD, NULL));
	R(syscall(SYS_timer_settime, raw, 0, NULL, NULL));
	R(syscall(SYS_timer_gettime, raw, BAD));
}

/* To a thread, by time on a CPU. */
static void test_timer_thread(void)
{
	struct sigevent ev = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
	struct itimerspec set = {{0, 0}, {0, 5000000}};
	struct timespec a;
	timer_t id;

	handle(SIGUSR1, 0);
	ev._sigev_un._tid = gettid();
	R(timer_create(CLOCK_THREAD_CPUTIME_ID, &ev, &id));
	R(timer_settime(id, 0, &set, NULL));
	while (!count)
		clock_gettime(CLOCK_MONOTONIC, &a);
	say("%d %d", last == SIGUSR1, last_code);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	T(a.tv_sec || a.tv_nsec >= 5000000);
}

/* A child has none of its parent's; another program keeps those of setitimer(). */
static void test_timer_fork(void)
{
	struct itimerval v;
	timer_t id;
	pid_t pid;

	timer_create(CLOCK_MONOTONIC, NULL, &id);
	alarm(100);
	pid = fork();
	if (!pid) {
		R(getitimer(ITIMER_REAL, &v));
		say("%ld", (long)v.it_value.tv_sec);
		R(timer_delete(id));
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	R(timer_delete(id));
}

static char other_stack[65536];
static volatile int depth, most_depth;
static volatile uintptr_t frames[20];

static void nest(int sig)
{
	char here;

	frames[depth++] = (uintptr_t)&here;
	if (depth < most_depth)
		raise(sig);
}

/* `most` handlers, each in the one before it, on a stack of so many bytes. */
static void nest_on(size_t size, int most)
{
	stack_t st = {.ss_sp = other_stack + sizeof(other_stack) - size, .ss_size = size};
	struct sigaction sa = {.sa_handler = nest, .sa_flags = SA_ONSTACK | SA_NODEFER};

	R(sigaltstack(&st, NULL));
	R(sigaction(SIGUSR1, &sa, NULL));
	most_depth = most;
	raise(SIGUSR1);
	say("%d", depth);
}

/* The frame of the second has no room, although there is memory below that stack. */
static void nest_too_deep(void)
{
	nest_on(16384, 20);
}

/* The stack pointer of a stack on which nothing is yet is its end. */
static long flags_at(char *sp)
{
	stack_t now = {.ss_flags = -1};
	long ret;

	__asm__ volatile("mov %%rsp, %%rbx\n"
			 "mov %4, %%rsp\n"
			 "syscall\n"
			 "mov %%rbx, %%rsp\n"
			 : "=a"(ret)
			 : "0"((long)SYS_sigaltstack), "D"(NULL), "S"(&now), "r"(sp)
			 : "rbx", "rcx", "r11", "memory");
	return ret ? ret : now.ss_flags;
}

static void test_altstack(void)
{
	nest_on(60000, 2);
	T(frames[0] > (uintptr_t)other_stack && frames[1] < frames[0]);
	say("%ld %ld %ld", flags_at(other_stack + sizeof(other_stack) + 16),
	    flags_at(other_stack + sizeof(other_stack)),
	    flags_at(other_stack + sizeof(other_stack) - 60000));
	depth = 0;
	in_child(nest_too_deep);
}

static void end_7(int sig)
{
	(void)sig;
	_exit(7);
}

/* A handler without a way back is not run at all. */
static void no_way_back(void)
{
	struct {
		void *handler;
		unsigned long flags;
		void *restorer;
		unsigned long mask;
	} sa = {.handler = (void *)end_7};

	R(syscall(SYS_rt_sigaction, SIGUSR1, &sa, NULL, 8));
	raise(SIGUSR1);
}

static void test_no_restorer(void)
{
	in_child(no_way_back);
}

static void test_waitid(void)
{
	siginfo_t info = {0};
	struct rusage ru;
	int status, p[2];
	pid_t pid;

	pipe(p);
	pid = stopped_child(p[0], 5);
	R(waitid(P_PID, pid, &info, WSTOPPED | WNOWAIT));
	say("%d %d %d %d", info.si_signo, info.si_code, info.si_status, info.si_pid == pid);
	R(waitid(P_ALL, 0, &info, WSTOPPED));
	memset(&info, 0xff, sizeof(info));
	R(waitid(P_PID, pid, &info, WSTOPPED | WEXITED | WCONTINUED | WNOHANG));
	say("%d %d", info.si_signo, info.si_pid);
	kill(pid, SIGCONT);
	R(waitid(P_PGID, getpgrp(), &info, WCONTINUED));
	say("%d %d", info.si_code, info.si_status);
	write(p[1], "", 1);
	R(waitid(P_PID, pid, &info, WEXITED | WNOWAIT));
	say("%d %d", info.si_code, info.si_status);
	R(waitid(P_PID, pid, &info, WSTOPPED)); /* it cannot stop any more */
	R(syscall(SYS_waitid, P_PGID, 0, &info, WEXITED, &ru));
	say("%d %d", info.si_code, info.si_status);
	R(waitid(P_ALL, 0, &info, WEXITED));
	R(waitid(P_ALL, 0, &info, 0));
	R(waitid(P_ALL, 0, &info, 0x100 | WEXITED));
	R(waitid(P_PID, 0, &info, WEXITED));
	R(waitid(P_PID, -1, &info, WEXITED));
	R(waitid(P_PGID, -1, &info, WEXITED));
	R(waitid(77, 0, &info, WEXITED));
	R(waitid(P_PIDFD, 99, &info, WEXITED));
	pid = fork();
	if (!pid)
		raise(SIGTERM);
	R(waitid(P_ALL, 0, NULL, WEXITED | WNOWAIT));
	R(waitid(P_ALL, 0, BAD, WEXITED | WNOWAIT));
	R(wait4(pid, BAD, 0, NULL));
	R(wait4(pid, &status, 0, NULL));
}

static volatile stack_t stack_of_child;

/* A child of vfork() runs on its parent's stack, and has its alternate one as well. */
static void test_vfork_stack(void)
{
	static char room[65536];
	stack_t its = {.ss_sp = room, .ss_size = sizeof(room)}, found;
	int status = -1;
	pid_t pid;

	R(sigaltstack(&its, NULL));
	pid = vfork();
	if (!pid) {
		sigaltstack(NULL, &found);
		stack_of_child = found;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	T(stack_of_child.ss_sp == room && stack_of_child.ss_size == sizeof(room));
	say("%d, %#x", stack_of_child.ss_flags, status);
	R(sigaltstack(NULL, &found));
	T(found.ss_sp == room);
}

static void hear_nothing(int in, int tell)
{
	struct epoll_event e = {.events = EPOLLIN};
	struct timespec soon = {0, 1000000};
	sigset_t set = set_of(SIGUSR1, 0);
	int ep = epoll_create1(0);

	epoll_ctl(ep, EPOLL_CTL_ADD, in, &e);
	sigprocmask(SIG_BLOCK, &set, NULL);
	R(sigtimedwait(&set, NULL, &soon));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	signal(SIGUSR1, SIG_IGN);
	write(tell, "x", 1);
	R(epoll_wait(ep, &e, 1, -1));
}

/* A signal that is ignored ends no call, though it was waited for before. */
static void test_ignored_later(void)
{
	int ends[2], told[2], status;
	pid_t pid;
	char c;

	pipe(ends);
	pipe(told);
	pid = fork();
	if (!pid) {
		hear_nothing(ends[0], told[1]);
		_exit(0);
	}
	read(told[0], &c, 1);
	wait_until_asleep(pid);
	kill(pid, SIGUSR1);
	usleep(1000); /* in which it could wake */
	write(ends[1], "x", 1);
	waitpid(pid, &status, 0);
	say("%#x", status);
}

static void burn(long ns)
{
	struct timespec a;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	while (a.tv_nsec < ns);
}

static void burn_and_end(void)
{
	burn(40000000);
}

static void test_rusage(void)
{
	struct rusage ru;
	struct tms t;
	long first = times(&t);

	say("%ld %ld", (long)t.tms_cutime, (long)t.tms_cstime);
	in_child(burn_and_end);
	T(times(&t) >= first + 3);
	T(t.tms_cutime + t.tms_cstime >= 3);
	R(getrusage(RUSAGE_CHILDREN, &ru));
	T(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec >= 39000);
	R(getrusage(RUSAGE_SELF, &ru));
	T(ru.ru_maxrss > 0 && ru.ru_nvcsw > 0);
	R(getrusage(RUSAGE_THREAD, &ru));
	R(getrusage(RUSAGE_SELF, BAD));
	R(syscall(SYS_times, BAD));
}

/* The processor's own signals come first, then the lower numbers. */
static void test_synchronous(void)
{
	static const int sent[] = {SIGUSR2, SIGHUP, SIGSEGV, SIGUSR1, SIGBUS};
	struct timespec now = {0, 0};
	siginfo_t info;
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (size_t i = 0; i < sizeof(sent) / sizeof(sent[0]); i++)
		raise(sent[i]);
	for (size_t i = 0; i < sizeof(sent) / sizeof(sent[0]) + 1; i++)
		R(sigtimedwait(&set, &info, &now));
}

/* What is ignored from now on waits no longer, neither for the thread nor for the process. */
static void test_thrown_away(void)
{
	union sigval v = {0};
	sigset_t set;

	block(SIGUSR1, SIGRTMIN);
	block(SIGCHLD, 0);
	syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1);
	kill(getpid(), SIGUSR1);
	for (int i = 0; i < 3; i++)
		sigqueue(getpid(), SIGRTMIN, v);
	raise(SIGCHLD);
	kill(getpid(), SIGCHLD);
	signal(SIGUSR1, SIG_IGN);
	signal(SIGRTMIN, SIG_IGN);
	signal(SIGCHLD, SIG_DFL); /* which ignores it */
	R(sigpending(&set));
	say("%d %d %d", sigismember(&set, SIGUSR1), sigismember(&set, SIGRTMIN),
	    sigismember(&set, SIGCHLD));
	raise(SIGUSR1); /* a blocked one waits even so */
	R(sigpending(&set));
	say("%d", sigismember(&set, SIGUSR1));
	signal(SIGUSR1, SIG_DFL);
	R(sigpending(&set));
	say("%d", sigismember(&set, SIGUSR1));
}

/* Not even who waits for all signals can take SIGKILL. */
static void test_waits_for_kill(void)
{
	siginfo_t info;
	sigset_t set;
	int status;
	pid_t pid = fork();

	if (!pid) {
		sigfillset(&set);
		syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, 8);
		_exit(syscall(SYS_rt_sigtimedwait, &set, &info, NULL, 8));
	}
	wait_until_asleep(pid);
	R(kill(pid, SIGKILL));
	T(waitpid(pid, &status, 0) == pid);
	say("%#x", status);
}

/* A process sends another one no signal with a code that says the kernel sent it. */
static void test_codes(void)
{
	static const int codes[] = {SI_USER, 1, SI_KERNEL, SI_TKILL, SI_QUEUE, SI_TIMER, -60};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		siginfo_t info = {.si_code = codes[i]};

		say("%d", codes[i]);
		R(syscall(SYS_rt_sigqueueinfo, getppid(), 0, &info));
		R(syscall(SYS_rt_tgsigqueueinfo, getppid(), getppid(), 0, &info));
		R(syscall(SYS_rt_sigqueueinfo, getpid(), 0, &info));
		R(syscall(SYS_rt_tgsigqueueinfo, getpid(), getpid(), 0, &info));
	}
}

/* No mask holds SIGKILL and SIGSTOP. */
static void test_unblockable(void)
{
	struct {
		void *handler;
		unsigned long flags;
		void *restorer;
		unsigned long mask;
	} sa = {.handler = (void *)end_7, .mask = -1UL}, old;
	unsigned long all = -1UL, now;

	R(syscall(SYS_rt_sigaction, SIGUSR1, &sa, NULL, 8));
	R(syscall(SYS_rt_sigaction, SIGUSR1, NULL, &old, 8));
	say("%#lx", ~old.mask);
	R(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, 8));
	R(syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &now, 8));
	say("%#lx", ~now);
	all = 1UL << (SIGUSR1 - 1);
	R(syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &all, &now, 8));
	say("%#lx", ~now);
}

static unsigned long mask_in_handler;

static void note_mask(int sig)
{
	(void)sig;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &mask_in_handler, 8);
}

/* A handler that ends sigsuspend() runs under its mask; after it the old one is back. */
static void test_suspend(void)
{
	struct sigaction sa = {.sa_handler = note_mask};
	unsigned long own, for_wait = 1UL << (SIGHUP - 1), now;

	own = 1UL << (SIGUSR1 - 1) | 1UL << (SIGINT - 1);
	sigaction(SIGUSR1, &sa, NULL);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &own, NULL, 8);
	raise(SIGUSR1);
	R(syscall(SYS_rt_sigsuspend, &for_wait, 8));
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &now, 8);
	say("in the handler %#lx, after it %#lx", mask_in_handler, now);
}

static volatile int reader;

static void *reads_signal(void *arg)
{
	static struct signalfd_siginfo si;
	int *fd = arg;

	reader = gettid();
	return read(*fd, &si, sizeof(si)) == sizeof(si) ? &si : NULL;
}

/* A reader that waits takes signals of the set that its file is given meanwhile. */
static void test_signalfd_other_set(void)
{
	sigset_t set = set_of(SIGUSR1, 0), other = set_of(SIGUSR2, 0);
	int fd = signalfd(-1, &set, 0);
	struct signalfd_siginfo *si;
	pthread_t t;

	block(SIGUSR1, SIGUSR2);
	kill(getpid(), SIGUSR2);
	pthread_create(&t, NULL, reads_signal, &fd);
	while (!reader)
		usleep(500);
	wait_until_asleep(reader);
	R(signalfd(fd, &other, 0) == fd);
	pthread_join(t, (void **)&si);
	say("%d", si ? si->ssi_signo : 0);
}

#define CARRY 1UL
#define IOPL  0x3000UL
#define NT    0x4000UL

static void change_flags(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= CARRY | IOPL | NT;
}

/* Of the flags in a frame a program gets those that it may change itself. */
static void test_flags_of_frame(void)
{
	struct sigaction sa = {.sa_sigaction = change_flags, .sa_flags = SA_SIGINFO};
	long ret, flags;

	sigaction(SIGUSR1, &sa, NULL);
	__asm__ volatile("clc\n"
			 "syscall\n"
			 "pushfq\n"
			 "pop %1\n"
			 : "=a"(ret), "=r"(flags)
			 : "a"(SYS_kill), "D"((long)getpid()), "S"((long)SIGUSR1)
			 : "rcx", "r11", "memory", "cc");
	R(ret);
	say("%#lx", flags & (CARRY | IOPL | NT));
}

#define RESTART 512 /* a number that only kernels use: the call is done again */

static void change_result(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = -RESTART;
	kill(getpid(), SIGUSR2);
}

/* No call is done again for what a handler wrote to its frame. */
static void test_result_of_frame(void)
{
	struct sigaction sa = {.sa_sigaction = change_result, .sa_flags = SA_SIGINFO};

	sigaddset(&sa.sa_mask, SIGUSR2);
	sigaction(SIGUSR1, &sa, NULL);
	sa.sa_sigaction = on_signal;
	sa.sa_flags |= SA_RESTART;
	sigaction(SIGUSR2, &sa, NULL);
	say("%ld", syscall(SYS_kill, getpid(), SIGUSR1) < 0 ? -(long)errno : 0L);
	say("%d", last);
}

static int stopped_pipe[2];

/* Its mask is empty in ppoll() alone. */
static void polls_and_stops(void)
{
	struct pollfd p = {stopped_pipe[0], POLLIN, 0};
	sigset_t mask, none;

	sigemptyset(&none);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	R(ppoll(&p, 1, NULL, &none));
	sigaddset(&mask, SIGUSR2);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	raise(SIGSTOP);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	T(sigismember(&mask, SIGUSR1));
	T(sigismember(&mask, SIGUSR2));
}

static void stop_and_continue(pid_t pid, bool stop)
{
	int status = 0;

	if (stop)
		kill(pid, SIGSTOP);
	waitpid(pid, &status, WUNTRACED);
	T(WIFSTOPPED(status));
	kill(pid, SIGCONT);
}

/* Whoever is stopped in ppoll() and goes on has its own mask after it, also when stopped again. */
static void test_mask_after_stop(void)
{
	int status = 0;
	pid_t pid;

	pipe(stopped_pipe);
	pid = fork();
	if (!pid) {
		polls_and_stops();
		_exit(0);
	}
	wait_until_asleep(pid);
	stop_and_continue(pid, true);
	if (write(stopped_pipe[1], "x", 1) == 1)
		stop_and_continue(pid, false);
	waitpid(pid, &status, 0);
	say("%#x", status);
}

const struct call_case signal_cases[] = {
    {"sigaction", test_action},
    {"sigprocmask", test_mask},
    {"kill", test_send},
    {"sigqueue", test_queue},
    {"sigqueue_rounds", test_queue_rounds},
    {"sigtimedwait", test_timedwait},
    {"signalfd", test_signalfd},
    {"signalfd_waits", test_signalfd_waits},
    {"itimer", test_itimer},
    {"itimer_cpu", test_itimer_cpu},
    {"timer", test_timer},
    {"timer_refusals", test_timer_refusals},
    {"timer_thread", test_timer_thread},
    {"timer_fork", test_timer_fork},
    {"waitid", test_waitid},
    {"signal_stack", test_altstack},
    {"signal_stack_of_vfork", test_vfork_stack},
    {"signal_ignored_later", test_ignored_later},
    {"signal_no_restorer", test_no_restorer},
    {"rusage", test_rusage},
    {"signal_synchronous", test_synchronous},
    {"signal_thrown_away", test_thrown_away},
    {"signal_waits_for_kill", test_waits_for_kill},
    {"signal_codes", test_codes},
    {"signal_unblockable", test_unblockable},
    {"sigsuspend", test_suspend},
    {"signalfd_other_set", test_signalfd_other_set},
    {"signal_flags", test_flags_of_frame},
    {"signal_result_of_frame", test_result_of_frame},
    {"signal_mask_after_stop", test_mask_after_stop},
    {NULL, NULL},
};
