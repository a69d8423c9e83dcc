/* State that a child inherits, its end, and the end of its threads. */
#include "tests/calls/calls.h"

#include <asm/prctl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define MXCSR_ROUND_UP 0x5f80

static void *exit_group_8(void *after)
{
	wait_until_zombie(getpid());
	syscall(after ? SYS_exit_group : SYS_exit, 8);
	return NULL;
}

static int ready_end;

static void *report_and_end(void *arg)
{
	(void)arg;
	wait_until_zombie(getpid());
	write(ready_end, "x", 1);
	syscall(SYS_exit, 4);
	return NULL;
}

/* A process whose first thread ends at once with 3: its status. */
static int status_with(void *(*other)(void *), void *arg)
{
	int status;
	pthread_t t;
	pid_t pid = fork();

	if (!pid) {
		pthread_create(&t, NULL, other, arg);
		syscall(SYS_exit, 3);
	}
	T(waitpid(pid, &status, 0) == pid);
	return status;
}

/* The process ends with its last thread; the status is that thread's, or exit_group()'s. */
static void test_status(void)
{
	int p[2];
	char c;

	say("%#x", status_with(exit_group_8, NULL));
	say("%#x", status_with(exit_group_8, p));
	pipe2(p, O_NONBLOCK);
	ready_end = p[1];
	say("%#x", status_with(report_and_end, NULL));
	R(read(p[0], &c, 1));
}

static volatile sig_atomic_t heard, heard_code, heard_status;

static void hear(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	heard_code = info->si_code;
	heard_status = info->si_status;
	heard++;
}

static void hear_of(int status)
{
	pid_t pid;

	heard = 0;
	pid = fork();
	if (!pid) {
		if (status < 0)
			raise(-status);
		_exit(status);
	}
	while (!heard)
		usleep(500);
	say("%d %d", heard_code, heard_status);
	T(waitpid(pid, NULL, 0) == pid);
}

/* The signal of a child's end says how it ended. */
static void test_signal_of_end(void)
{
	struct sigaction sa = {.sa_sigaction = hear, .sa_flags = SA_SIGINFO};

	sigaction(SIGCHLD, &sa, NULL);
	hear_of(0);
	hear_of(200);
	hear_of(-SIGKILL);
	hear_of(-SIGTERM);
}

/* One whose end has another signal is waited for, even if SIGCHLD is ignored. */
static void test_other_signal(void)
{
	int status;
	pid_t pid;

	signal(SIGCHLD, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	pid = syscall(SYS_clone, SIGUSR2, 0, 0, 0, 0);
	if (!pid)
		_exit(6);
	R(waitpid(pid, &status, __WALL) == pid);
	say("%#x", status);
	pid = fork();
	if (!pid)
		_exit(6);
	R(waitpid(pid, &status, __WALL));
}

/* An orphan sends its new parent SIGCHLD, even if its first parent chose another signal. */
static void test_orphan_signal(void)
{
	int status, n = 0;

	R(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
	if (!fork()) {
		int me = getpid();

		if (!syscall(SYS_clone, 0, 0, 0, 0, 0)) {
			while (getppid() == me)
				usleep(500);
			_exit(6);
		}
		_exit(5);
	}
	for (; wait(&status) > 0; n++)
		say("%#x", status);
	say("%d", n);
}

static unsigned mxcsr_now(void)
{
	unsigned mxcsr = 0;

	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	return mxcsr;
}

static long with_in_register(void)
{
	long value = 0;

	__asm__ volatile("movq %%xmm7, %0" : "=r"(value));
	return value;
}

static cpu_set_t parents_cpus;

static void show_inherited(void)
{
	unsigned long fs = 0;
	cpu_set_t cpus;
	sigset_t set;

	syscall(SYS_arch_prctl, ARCH_GET_FS, &fs);
	T(fs);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	T(CPU_EQUAL(&cpus, &parents_cpus));
	R(prctl(PR_GET_DUMPABLE));
	sigprocmask(SIG_BLOCK, NULL, &set);
	say("%d %d", sigismember(&set, SIGUSR1), sigismember(&set, SIGUSR2));
	sigpending(&set);
	say("%d", sigismember(&set, SIGUSR1));
	R(getpriority(PRIO_PROCESS, 0));
	say("%#x", mxcsr_now());
	R(umask(0));
}

static void test_inherited(void)
{
	unsigned mxcsr = MXCSR_ROUND_UP;
	long value = 0x1234567890, pid;
	sigset_t set;
	int status;

	sched_getaffinity(0, sizeof(parents_cpus), &parents_cpus);
	for (int cpu = CPU_SETSIZE - 1; CPU_COUNT(&parents_cpus) > 1; cpu--)
		CPU_CLR(cpu, &parents_cpus);
	R(sched_setaffinity(0, sizeof(parents_cpus), &parents_cpus));
	R(prctl(PR_SET_DUMPABLE, 0));
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR1);
	R(setpriority(PRIO_PROCESS, 0, 3));
	umask(031);
	__asm__ volatile("ldmxcsr %0" ::"m"(mxcsr));
	in_child(show_inherited);
	__asm__ volatile("movq %1, %%xmm7\n"
			 "syscall\n"
			 : "=a"(pid)
			 : "r"(value), "0"((long)SYS_fork)
			 : "rcx", "r11", "xmm7", "memory");
	if (!pid)
		_exit(with_in_register() == value ? 5 : 6);
	waitpid(pid, &status, 0);
	say("%#x", status);
}

/* Handlers go if the call asks for it, and what is ignored stays so. */
static void test_clear_handlers(void)
{
	struct clone_args args = {.flags = CLONE_CLEAR_SIGHAND, .exit_signal = SIGCHLD};
	struct sigaction sa;
	int status;
	pid_t pid;

	signal(SIGUSR1, _exit);
	signal(SIGUSR2, SIG_IGN);
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (!pid) {
		sigaction(SIGUSR1, NULL, &sa);
		T(sa.sa_handler == SIG_DFL);
		sigaction(SIGUSR2, NULL, &sa);
		T(sa.sa_handler == SIG_IGN);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	sigaction(SIGUSR1, NULL, &sa);
	T(sa.sa_handler == _exit);
	args.flags |= CLONE_VM | CLONE_SIGHAND; /* they would be its maker's, too */
	R(syscall(SYS_clone3, &args, sizeof(args)));
}

/* With CLONE_PARENT a child is its maker's sibling. */
static void test_sibling(void)
{
	int status, me = getpid(), n = 0;
	pid_t maker = fork();

	if (!maker) {
		long pid = syscall(SYS_clone, CLONE_PARENT | SIGUSR2, 0, 0, 0, 0);

		if (!pid)
			_exit(getppid() == me ? 5 : 6);
		R(waitpid(-1, &status, __WALL));
		_exit(7);
	}
	T(waitpid(maker, &status, 0) == maker);
	say("%#x", status);
	for (; wait(&status) > 0; n++) /* its signal is its maker's, SIGCHLD */
		say("%#x", status);
	say("%d", n);
}

static int become_true(void *arg)
{
	(void)arg;
	execl("/bin/true", "true", NULL);
	return 1;
}

/* The word that a child clears is let be where no other has the memory. */
static void test_clear_word(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	volatile int *words =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	long pid;

	words[0] = words[1] = 77;
	pid = syscall(SYS_clone, CLONE_CHILD_CLEARTID | SIGCHLD, 0, 0, words, 0);
	if (!pid)
		_exit(0);
	waitpid(pid, &status, 0);
	say("%d", words[0]);
	/* execve() clears it, too */
	pid = clone(become_true, stack + sizeof(stack),
	    CLONE_VM | CLONE_VFORK | CLONE_CHILD_CLEARTID | SIGCHLD, NULL, NULL, NULL, words + 1);
	say("%d", words[1]);
	waitpid(pid, &status, 0);
	say("%#x", status);
}

static void on_usr1(int sig)
{
	(void)sig;
}

/* A handler ends waiting for a child, unless its action says to go on. */
static void wait_interrupted(int flags)
{
	struct sigaction sa = {.sa_handler = on_usr1, .sa_flags = flags};
	int status, parent = getpid(), p[2];
	char c;
	pid_t pid;

	sigaction(SIGUSR1, &sa, NULL);
	pipe(p);
	pid = fork();
	if (!pid) {
		wait_until_asleep(parent);
		kill(parent, SIGUSR1);
		if (!flags) {
			close(p[1]);
			read(p[0], &c, 1);
		}
		_exit(2);
	}
	R(waitpid(pid, &status, 0) == pid);
	close(p[1]);
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		;
	say("%#x", status);
}

static void test_wait_interrupted(void)
{
	wait_interrupted(0);
	wait_interrupted(SA_RESTART);
}

static void *burn(void *arg)
{
	struct timespec now;

	(void)arg;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while (!now.tv_sec && now.tv_nsec < 40000000);
	return NULL;
}

static bool has_used(int who)
{
	struct rusage ru;

	getrusage(who, &ru);
	return ru.ru_utime.tv_usec + ru.ru_stime.tv_usec >= 35000 || ru.ru_utime.tv_sec ||
	       ru.ru_stime.tv_sec;
}

static void burn_in_thread(void)
{
	struct timespec own, all;
	pthread_t t;

	pthread_create(&t, NULL, burn, NULL);
	pthread_join(t, NULL);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
	T((all.tv_sec - own.tv_sec) * 1000000000 + all.tv_nsec - own.tv_nsec >= 40000000);
	T(has_used(RUSAGE_SELF));
}

/* The time of a thread that has ended is its process's, and its parent's once that has waited. */
static void test_thread_time(void)
{
	in_child(burn_in_thread);
	T(has_used(RUSAGE_CHILDREN));
}

const struct call_case child_cases[] = {
    {"child_status", test_status},
    {"child_signal_of_end", test_signal_of_end},
    {"child_other_signal", test_other_signal},
    {"child_orphan_signal", test_orphan_signal},
    {"child_inherits", test_inherited},
    {"child_clear_handlers", test_clear_handlers},
    {"child_sibling", test_sibling},
    {"child_clear_word", test_clear_word},
    {"child_wait_interrupted", test_wait_interrupted},
    {"child_thread_time", test_thread_time},
    {NULL, NULL},
};
