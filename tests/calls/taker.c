/* Which thread takes a signal of its process: one that waits for it, or does not block it. */
#include "tests/calls/calls.h"

#include <pthread.h>

static volatile int taken_by;
static int taken[2], ready[2];

/* With a byte for each that waits. */
static void note_thread(int sig)
{
	(void)sig;
	taken_by = gettid();
	write(taken[1], "xxx", 3);
}

/* The handler ends this, whichever thread runs it. */
static void *wait_for_signal(void *tid)
{
	char c;

	*(volatile int *)tid = gettid();
	read(taken[0], &c, 1);
	return NULL;
}

/* A signal of the process goes to a thread that does not block it. */
static void test_chosen_thread(void)
{
	pthread_t t[3];
	int tid[3] = {0}, status;
	sigset_t set = set_of(SIGUSR1, 0);
	pid_t pid;

	pipe(taken);
	signal(SIGUSR1, note_thread);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pthread_create(&t[0], NULL, wait_for_signal, &tid[0]);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	pthread_create(&t[1], NULL, wait_for_signal, &tid[1]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pthread_create(&t[2], NULL, wait_for_signal, &tid[2]);
	for (int i = 0; i < 3; i++) {
		while (!((volatile int *)tid)[i])
			usleep(500);
		wait_until_asleep(tid[i]);
	}
	pid = fork();
	if (!pid)
		_exit(kill(getppid(), SIGUSR1));
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	T(taken_by == tid[1]);
	waitpid(pid, &status, 0);
	say("%#x", status);
}

static bool pends(int sig)
{
	sigset_t set;

	sigpending(&set);
	return sigismember(&set, sig);
}

static void *let_through(void *arg)
{
	sigset_t set = set_of(SIGUSR1, 0);

	T(pends(SIGUSR1) && !pends(SIGUSR2));
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	T(taken_by == gettid());
	T(!pends(SIGUSR1));
	return arg;
}

/* A signal that all threads block waits for any of them; one sent to a thread waits for that. */
static void test_blocked_by_all(void)
{
	sigset_t set = set_of(SIGUSR1, SIGUSR2);
	pthread_t t;

	pipe(taken);
	signal(SIGUSR1, note_thread);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGUSR1);
	pthread_kill(pthread_self(), SIGUSR2);
	T(pends(SIGUSR1) && pends(SIGUSR2));
	pthread_create(&t, NULL, let_through, NULL);
	pthread_join(t, NULL);
	T(!pends(SIGUSR1) && pends(SIGUSR2));
}

struct taker {
	sigset_t set;
	volatile int tid;
	int sig;
};

static void *take_signal(void *arg)
{
	struct taker *t = arg;
	char c;

	t->tid = gettid();
	t->sig = sigwaitinfo(&t->set, NULL);
	write(ready[1], "x", 1);
	read(taken[0], &c, 1); /* its end would make others look */
	return NULL;
}

/* Takers of two signals and of the second alone, in the order that `both` says. */
static void send_to_takers(int both)
{
	struct taker takers[2];
	pthread_t t[2];
	char c;

	for (int i = 0; i < 2; i++) {
		takers[i] = (struct taker){.set = set_of(SIGUSR2, i == both ? SIGUSR1 : 0)};
		pthread_create(&t[i], NULL, take_signal, &takers[i]);
		while (!takers[i].tid)
			usleep(500);
		wait_until_asleep(takers[i].tid);
	}
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGUSR2);
	for (int i = 0; i < 2; i++)
		read(ready[0], &c, 1);
	write(taken[1], "xx", 2);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	T(takers[both].sig == SIGUSR1 && takers[!both].sig == SIGUSR2);
	T(!pends(SIGUSR1) && !pends(SIGUSR2));
}

/* Of two that wait for signals each gets one: what the first does not take is the other's. */
static void test_two_takers(void)
{
	sigset_t set = set_of(SIGUSR1, SIGUSR2);
	struct sched_param most = {1};
	cpu_set_t cpu;

	pipe(ready);
	pipe(taken);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* The takers shall not run before both signals are there. */
	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &most);
	send_to_takers(0);
	send_to_takers(1);
}

static void end_by_thread(int sig)
{
	(void)sig;
	_exit(gettid() == getpid() ? 1 : 9);
}

static void *outlive_leader(void *arg)
{
	wait_until_zombie(getpid());
	write(ready[1], "x", 1);
	for (;;)
		pause();
	return arg;
}

/* When the first thread of a process has ended, the others get its signals. */
static void test_leader_gone(void)
{
	static const int sent[] = {SIGUSR1, SIGTERM, SIGKILL};
	int status;
	pthread_t t;
	char c;

	pipe(ready);
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (!pid) {
			signal(SIGUSR1, end_by_thread);
			pthread_create(&t, NULL, outlive_leader, NULL);
			syscall(SYS_exit, 3);
		}
		read(ready[0], &c, 1);
		R(kill(pid, sent[i]));
		T(waitpid(pid, &status, 0) == pid);
		say("%#x", status);
	}
}

static void *sleep_with(void *arg)
{
	*(volatile int *)arg = gettid();
	for (;;)
		pause();
	return arg;
}

/* Of a process whose first thread has ended, and whose second blocks a signal. */
static void leave_two_threads(volatile int tid[2])
{
	sigset_t set = set_of(SIGUSR1, 0);
	pthread_t t;

	signal(SIGUSR1, end_by_thread);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pthread_create(&t, NULL, sleep_with, (void *)&tid[0]);
	while (!tid[0])
		usleep(500);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	pthread_create(&t, NULL, sleep_with, (void *)&tid[1]);
	syscall(SYS_exit, 3);
}

/* A signal wakes the one thread that sleeps and takes it, not one that has ended. */
static void test_leader_gone_blocked(void)
{
	volatile int *tid =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid = fork();

	if (!pid)
		leave_two_threads(tid);
	wait_until_zombie(pid);
	while (!tid[1])
		usleep(500);
	wait_until_asleep(tid[0]);
	wait_until_asleep(tid[1]);
	R(kill(pid, SIGUSR1));
	T(waitpid(pid, &status, 0) == pid);
	say("%#x", status);
}

const struct call_case taker_cases[] = {
    {"signal_chosen_thread", test_chosen_thread},
    {"signal_blocked_by_all", test_blocked_by_all},
    {"signal_two_takers", test_two_takers},
    {"signal_leader_gone", test_leader_gone},
    {"signal_leader_gone_blocked", test_leader_gone_blocked},
    {NULL, NULL},
};
