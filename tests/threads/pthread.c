/*
 * pthread [PART]: the promises of POSIX threads, which the C library keeps with clone and futex.
 * Prints the same on every run and on every Linux; without a word it plays all parts that end
 * normally.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 8
#define ROUNDS	500
#ifndef TOUCHES
#define TOUCHES 50 /* mappings made and removed by each thread of storms() */
#endif

static void must(int ok, const char *what)
{
	if (!ok) {
		printf("failed: %s\n", what);
		exit(1);
	}
}

static pthread_t start(void *(*fn)(void *), void *arg)
{
	pthread_t t;

	must(!pthread_create(&t, NULL, fn, arg), "pthread_create");
	return t;
}

static long result(pthread_t t)
{
	void *value;

	must(!pthread_join(t, &value), "pthread_join");
	return (long)value;
}

/* ---- sums ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int counter, turn;
static __thread int own = 7;

static void *count(void *n)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		counter++;
		pthread_mutex_unlock(&lock);
		own++;
	}
	return (void *)(own + (long)n);
}

static void sums(void)
{
	pthread_t t[THREADS];
	long sum = 0;

	for (long i = 0; i < THREADS; i++)
		t[i] = start(count, (void *)i);
	for (int i = 0; i < THREADS; i++)
		sum += result(t[i]);
	printf("sums: %d %ld, own %d\n", counter, sum, own);
}

/* ---- taking turns ---- */

static void *take_turns(void *me)
{
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&lock);
		while (turn % 3 != (long)me)
			pthread_cond_wait(&changed, &lock);
		turn++;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void turns(void)
{
	pthread_t t[3];

	for (long i = 0; i < 3; i++)
		t[i] = start(take_turns, (void *)i);
	for (int i = 0; i < 3; i++)
		result(t[i]);
	printf("turns: %d\n", turn);
}

/* ---- timeouts on both clocks ---- */

static struct timespec in_ms(clockid_t clock, long ms)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	ts.tv_nsec += ms * 1000000;
	ts.tv_sec += ts.tv_nsec / 1000000000;
	ts.tv_nsec %= 1000000000;
	return ts;
}

static void timeouts(void)
{
	pthread_condattr_t attr;
	pthread_cond_t monotonic;
	struct timespec ts = in_ms(CLOCK_REALTIME, 5);
	sem_t sem;
	int a, b, c;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&monotonic, &attr);
	pthread_mutex_lock(&lock);
	a = pthread_cond_timedwait(&changed, &lock, &ts);
	ts = in_ms(CLOCK_MONOTONIC, 5);
	b = pthread_cond_timedwait(&monotonic, &lock, &ts);
	pthread_mutex_unlock(&lock);
	sem_init(&sem, 0, 0);
	ts = in_ms(CLOCK_REALTIME, 5);
	c = sem_timedwait(&sem, &ts) ? errno : 0;
	printf("timeouts: %d %d %d\n", a == ETIMEDOUT, b == ETIMEDOUT, c == ETIMEDOUT);
}

/* ---- kinds of locks ---- */

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static int shared_value, serials;

static void *read_and_write(void *n)
{
	long seen = 0;

	for (int i = 0; i < 100; i++) {
		if (n) {
			pthread_rwlock_rdlock(&rw);
			seen |= shared_value % 2;
		} else {
			pthread_rwlock_wrlock(&rw);
			shared_value++;
			sched_yield();
			shared_value++;
		}
		pthread_rwlock_unlock(&rw);
	}
	if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
		__atomic_fetch_add(&serials, 1, __ATOMIC_SEQ_CST);
	return (void *)seen;
}

static void *die_with(void *mutex)
{
	pthread_mutex_lock(mutex);
	return NULL;
}

static void *lock_with(void *mutex)
{
	int r = 0;

	for (int i = 0; i < 100 && !r; i++) {
		r = pthread_mutex_lock(mutex);
		sched_yield();
		if (!r)
			r = pthread_mutex_unlock(mutex);
	}
	return (void *)(long)r;
}

static void kinds_of_mutex(const char *name, int type, int robust, int protocol)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t m;
	pthread_t t[4];
	long bad = 0;
	int again;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutexattr_setrobust(&attr, robust);
	must(!pthread_mutexattr_setprotocol(&attr, protocol), "setprotocol");
	must(!pthread_mutex_init(&m, &attr), "pthread_mutex_init");
	for (int i = 0; i < 4; i++)
		t[i] = start(lock_with, &m);
	for (int i = 0; i < 4; i++)
		bad |= result(t[i]);
	pthread_mutex_lock(&m);
	again = pthread_mutex_trylock(&m);
	if (!again)
		pthread_mutex_unlock(&m);
	pthread_mutex_unlock(&m);
	printf("%s: %ld, again %d", name, bad, again);
	if (robust == PTHREAD_MUTEX_ROBUST) {
		result(start(die_with, &m));
		printf(", after a death %d", pthread_mutex_lock(&m) == EOWNERDEAD);
		pthread_mutex_consistent(&m);
		pthread_mutex_unlock(&m);
		printf(" %d", pthread_mutex_trylock(&m));
		pthread_mutex_unlock(&m);
	}
	printf("\n");
}

static void locks(void)
{
	pthread_t t[4];
	long odd = 0;

	pthread_barrier_init(&barrier, NULL, 4);
	for (long i = 0; i < 4; i++)
		t[i] = start(read_and_write, (void *)i);
	for (int i = 0; i < 4; i++)
		odd |= result(t[i]);
	printf("locks: %d %ld %d\n", shared_value, odd, serials);
	kinds_of_mutex("normal", PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
	kinds_of_mutex(
	    "recursive", PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
	kinds_of_mutex(
	    "checking", PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
	kinds_of_mutex("robust", PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
	kinds_of_mutex("pi", PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
	kinds_of_mutex(
	    "robust pi", PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_INHERIT);
}

/* ---- between processes ---- */

struct meeting {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int value;
};

static void processes(void)
{
	struct meeting *m =
	    mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t ma;
	pthread_condattr_t ca;
	int status;
	pid_t pid;

	pthread_mutexattr_init(&ma);
	pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED);
	pthread_condattr_init(&ca);
	pthread_condattr_setpshared(&ca, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&m->lock, &ma);
	pthread_cond_init(&m->changed, &ca);
	fflush(stdout);
	pid = fork();
	for (int i = 0; i < 50; i++) {
		pthread_mutex_lock(&m->lock);
		while (m->value % 2 != !pid)
			pthread_cond_wait(&m->changed, &m->lock);
		m->value++;
		pthread_cond_signal(&m->changed);
		pthread_mutex_unlock(&m->lock);
	}
	if (!pid)
		_exit(0);
	waitpid(pid, &status, 0);
	printf("processes: %d %d\n", m->value, status);
}

/* ---- signals ---- */

static volatile sig_atomic_t got_signal;
static pthread_t who_got;
static sem_t ready;

static void on_signal(int sig)
{
	got_signal += sig;
	who_got = pthread_self();
}

static void *wait_for_signal(void *mask)
{
	sigset_t all;

	sigfillset(&all);
	sigdelset(&all, SIGUSR1);
	sem_post(&ready);
	if (mask)
		sigsuspend(&all);
	else
		while (!got_signal)
			sched_yield();
	return NULL;
}

static void *handle_on_own_stack(void *unused)
{
	stack_t st = {.ss_sp = malloc(65536), .ss_size = 65536}, old;

	(void)unused;
	sigaltstack(&st, &old);
	raise(SIGUSR2);
	return (void *)(long)(old.ss_flags == SS_DISABLE);
}

static void signals(void)
{
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	sigset_t usr1, old;
	pthread_t t;
	int a, b, c, d;

	sigaction(SIGUSR1, &act, NULL);
	sigaction(SIGUSR2, &act, NULL);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sem_init(&ready, 0, 0);
	/* to one thread, which waits, then which runs */
	pthread_sigmask(SIG_BLOCK, &usr1, &old);
	t = start(wait_for_signal, &ready);
	sem_wait(&ready);
	pthread_kill(t, SIGUSR1);
	result(t);
	a = got_signal == SIGUSR1 && pthread_equal(who_got, t);
	/* to the process: the one that does not block it */
	got_signal = 0;
	t = start(wait_for_signal, &ready);
	sem_wait(&ready);
	kill(getpid(), SIGUSR1);
	result(t);
	b = got_signal == SIGUSR1 && pthread_equal(who_got, t);
	/* nobody yet */
	got_signal = 0;
	kill(getpid(), SIGUSR1);
	c = got_signal;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	d = got_signal == SIGUSR1 && pthread_equal(who_got, pthread_self());
	printf("signals: %d %d %d %d, stacks %ld\n", a, b, c, d,
	    result(start(handle_on_own_stack, NULL)));
}

/* ---- the end of threads and processes ---- */

static void *sleep_long(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

static void *end_with(void *status)
{
	if ((long)status < 0)
		abort();
	exit((long)status);
}

static void *become_echo(void *unused)
{
	(void)unused;
	execl("/proc/self/exe", "pthread", "echo", NULL);
	return NULL;
}

static void *end_late(void *unused)
{
	struct timespec ts = {0, 5000000};

	(void)unused;
	nanosleep(&ts, NULL);
	_exit(9);
}

static void *fork_here(void *unused)
{
	int status = -1;
	pid_t pid;

	(void)unused;
	pid = fork();
	if (!pid)
		_exit(getpid() == (pid_t)syscall(SYS_gettid) ? 33 : 1);
	waitpid(pid, &status, 0);
	return (void *)(long)WEXITSTATUS(status);
}

/* Runs one part in a child: its wait status. */
static int in_child(void (*part)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		part();
		exit(77);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void end_from_thread(void)
{
	start(sleep_long, NULL);
	start(end_with, (void *)5);
	sleep_long(NULL);
}

static void end_by_abort(void)
{
	start(sleep_long, NULL);
	start(end_with, (void *)-1);
	sleep_long(NULL);
}

static void end_main_first(void)
{
	start(end_late, NULL);
	pthread_exit(NULL);
}

static void exec_from_thread(void)
{
	start(sleep_long, NULL);
	start(become_echo, NULL);
	sleep_long(NULL);
}

static void be_killed(void)
{
	for (int i = 0; i < 3; i++)
		start(sleep_long, NULL);
	kill(getpid(), SIGTERM);
	sleep_long(NULL);
}

static void stop_and_go(void)
{
	int status, stopped;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		start(sleep_long, NULL);
		sleep_long(NULL);
	}
	kill(pid, SIGSTOP);
	stopped = waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status);
	kill(pid, SIGCONT);
	stopped += 2 * (waitpid(pid, &status, WCONTINUED) == pid && WIFCONTINUED(status));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	printf("stop and go: %d, then %d\n", stopped, status);
}

static void ends(void)
{
	void *canceled;
	pthread_t t;

	printf("ends: exit %d,", in_child(end_from_thread));
	printf(" abort %d,", in_child(end_by_abort) & 0x7f);
	printf(" term %d\n", in_child(be_killed));
	printf("main first: %d\n", in_child(end_main_first));
	printf("exec: %d\n", in_child(exec_from_thread));
	stop_and_go();
	t = start(sleep_long, NULL);
	pthread_cancel(t);
	pthread_join(t, &canceled);
	printf("canceled: %d, fork in a thread: %ld\n", canceled == PTHREAD_CANCELED,
	    result(start(fork_here, NULL)));
}

/* ---- storms ---- */

static void *touch(void *unused)
{
	long sum = 0;

	(void)unused;
	for (int i = 0; i < TOUCHES; i++) {
		char *p = mmap(
		    NULL, 16 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		for (int page = 0; page < 16; page++)
			p[page * 4096] = page;
		mprotect(p, 8 * 4096, PROT_READ);
		for (int page = 0; page < 16; page++)
			sum += p[page * 4096];
		munmap(p, 16 * 4096);
	}
	return (void *)sum;
}

static void *nothing(void *unused)
{
	return unused;
}

static void storms(void)
{
	pthread_t t[THREADS];
	long sum = 0;

	for (int i = 0; i < THREADS; i++)
		t[i] = start(touch, NULL);
	for (int i = 0; i < THREADS; i++)
		sum += result(t[i]);
	for (int i = 0; i < 200; i++)
		result(start(nothing, NULL));
	printf("storms: %ld\n", sum);
}

static const struct {
	const char *name;
	void (*fn)(void);
} parts[] = {{"sums", sums}, {"turns", turns}, {"timeouts", timeouts}, {"locks", locks},
    {"processes", processes}, {"signals", signals}, {"ends", ends}, {"storms", storms}};

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "echo")) {
		printf("echo: %d\n", getpid() == (pid_t)syscall(SYS_gettid));
		return 6;
	}
	for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (argc < 2 || !strcmp(argv[1], parts[i].name))
			parts[i].fn();
	fflush(stdout);
	return 42;
}
