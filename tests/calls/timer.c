/* Timers of timer_create() at their edges: ends long past, signals ignored, settings anew. */
#include "tests/calls/calls.h"

#include <poll.h>

static sigset_t waited;

static void block(int a, int b)
{
	sigemptyset(&waited);
	sigaddset(&waited, a);
	sigaddset(&waited, b);
	sigprocmask(SIG_BLOCK, &waited, NULL);
}

static timer_t create(clockid_t clock, int sig, int value)
{
	struct sigevent ev = {
	    .sigev_notify = SIGEV_SIGNAL, .sigev_signo = sig, .sigev_value.sival_int = value};
	timer_t id = NULL;

	R(timer_create(clock, &ev, &id));
	return id;
}

/* Absolute, ten and a half intervals ago. */
static struct itimerspec long_ago(clockid_t clock)
{
	struct itimerspec set = {{1000, 0}, {0, 0}};

	clock_gettime(clock, &set.it_value);
	set.it_value.tv_sec -= 10500;
	return set;
}

static void take(void)
{
	siginfo_t info;
	int sig = sigwaitinfo(&waited, &info);

	say("%d: value %d overrun %d", sig - SIGRTMIN, info.si_value.sival_int, info.si_overrun);
}

static void wait_until_pending(int sig)
{
	sigset_t set;

	do
		sigpending(&set);
	while (!sigismember(&set, sig));
}

static void show_left(timer_t id)
{
	struct itimerspec left;

	R(timer_gettime(id, &left));
	say("interval %ld, left some %ld", (long)left.it_interval.tv_sec,
	    (long)(left.it_value.tv_sec + 50) / 100 * 100);
}

/* Ends that have passed when the timer is set are counted with the first signal. */
static void test_past(void)
{
	struct itimerspec set = long_ago(CLOCK_REALTIME), off = {{0, 0}, {0, 0}};
	timer_t id;

	block(SIGRTMIN, SIGRTMIN + 1);
	id = create(CLOCK_REALTIME, SIGRTMIN, 7);
	R(timer_settime(id, TIMER_ABSTIME, &set, NULL));
	take();
	show_left(id);
	R(timer_getoverrun(id));
	R(timer_settime(id, 0, &off, &set));
	say("%ld %ld", (long)set.it_interval.tv_sec, (long)(set.it_value.tv_sec + 50) / 100 * 100);
	R(timer_getoverrun(id));
	show_left(id);
	set = long_ago(CLOCK_REALTIME);
	set.it_interval.tv_sec = 0;
	R(timer_settime(id, TIMER_ABSTIME, &set, NULL));
	take();
	show_left(id);
	set = (struct itimerspec){{7, 0}, {500, 0}};
	R(timer_settime(id, 0, &set, NULL));
	show_left(id);
	R(timer_delete(id));
	R(timer_gettime(id, &set));
}

/* The signal of one timer counts nothing of another. */
static void test_two(void)
{
	struct itimerspec set = long_ago(CLOCK_REALTIME);
	timer_t a, b;

	block(SIGRTMIN, SIGRTMIN + 1);
	a = create(CLOCK_REALTIME, SIGRTMIN, 1);
	b = create(CLOCK_REALTIME, SIGRTMIN + 1, 2);
	T(a != b);
	R(timer_settime(b, TIMER_ABSTIME, &set, NULL));
	R(timer_settime(a, TIMER_ABSTIME, &set, NULL));
	wait_until_pending(SIGRTMIN);
	wait_until_pending(SIGRTMIN + 1);
	take();
	R(timer_getoverrun(a));
	R(timer_getoverrun(b));
	take();
	R(timer_getoverrun(b));
	show_left(a);
	show_left(b);
	R(timer_delete(a));
	show_left(b);
	R(timer_delete(a));
	R(timer_delete(b));
}

/* Without a notice the signal is SIGALRM, and its value the timer's number. */
static void test_numbers(void)
{
	struct itimerspec soon = {{0, 0}, {0, 1}};
	siginfo_t info;
	int id[3];

	alarm(0);
	block(SIGALRM, SIGRTMIN);
	for (int i = 0; i < 3; i++)
		R(syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, &id[i]));
	T(id[0] != id[1] && id[1] != id[2] && id[0] != id[2]);
	for (int i = 0; i < 3; i++) {
		R(syscall(SYS_timer_settime, id[i], 0, &soon, NULL));
		R(sigwaitinfo(&waited, &info));
		T(info.si_timerid == id[i] && info.si_value.sival_int == id[i]);
	}
	R(syscall(SYS_timer_delete, id[1]));
	R(syscall(SYS_timer_settime, id[1], 0, &soon, NULL));
	R(syscall(SYS_timer_settime, id[2], 0, &soon, NULL));
	R(sigwaitinfo(&waited, &info));
	T(info.si_timerid == id[2]);
}

/* A timer goes on while its signal is ignored. */
static void test_ignored(void)
{
	struct itimerspec set = {{0, 1000000}, {0, 1000000}};
	siginfo_t info;
	timer_t id;

	block(SIGRTMIN, SIGUSR1);
	id = create(CLOCK_MONOTONIC, SIGUSR1, 3);
	signal(SIGUSR1, SIG_IGN);
	R(timer_settime(id, 0, &set, NULL));
	usleep(5000);
	signal(SIGUSR1, SIG_DFL);
	R(sigwaitinfo(&waited, &info));
	say("%d", info.si_value.sival_int);
	wait_until_pending(SIGUSR1);
	signal(SIGUSR1, SIG_IGN); /* the one that waits is gone */
	usleep(3000);
	signal(SIGUSR1, SIG_DFL);
	R(sigwaitinfo(&waited, &info));
	say("%d", info.si_value.sival_int);
}

/* Set anew after its signal was thrown away, a timer sends the next. */
static void test_anew(void)
{
	struct itimerspec soon = {{0, 0}, {0, 1}}, off = {{0, 0}, {0, 0}};
	siginfo_t info;
	timer_t id;

	block(SIGRTMIN, SIGUSR1);
	id = create(CLOCK_MONOTONIC, SIGUSR1, 4);
	R(timer_settime(id, 0, &soon, NULL));
	wait_until_pending(SIGUSR1);
	R(timer_settime(id, 0, &off, NULL));
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR1, SIG_DFL);
	R(timer_settime(id, 0, &soon, NULL));
	R(sigwaitinfo(&waited, &info));
	say("%d", info.si_value.sival_int);
}

/* alarm() gives the time that was left to the nearest second. */
static void test_alarm_left(void)
{
	static const struct itimerval left[] = {
	    {.it_value = {100, 400000}}, {.it_value = {100, 999000}}};

	signal(SIGALRM, SIG_IGN);
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
		setitimer(ITIMER_REAL, &left[i], NULL);
		R(alarm(0));
	}
	R(alarm(0));
}

/* A timer that cannot be reported is none: it takes no place from others. */
static void test_refused(void)
{
	int id, refused = 0;

	for (int i = 0; i < 1100; i++)
		refused += syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, BAD) && errno == EFAULT;
	say("%d", refused);
	R(syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, &id));
}

static long set_raw(int which, long sec, long usec, long every_sec, long every_usec)
{
	struct itimerval v = {{every_sec, every_usec}, {sec, usec}};

	return syscall(SYS_setitimer, which, &v, NULL);
}

/* Settings that are no times, of the first end or of those after it, change nothing. */
static void test_no_times(void)
{
	struct itimerval now;

	R(set_raw(ITIMER_REAL, 100, 999999, 50, 999999));
	R(set_raw(ITIMER_REAL, 1, 1000000, 0, 0));
	R(set_raw(ITIMER_REAL, 1, -1, 0, 0));
	R(set_raw(ITIMER_REAL, 1, 18446744073709552, 0, 0)); /* some nanoseconds, in 64 bits */
	R(set_raw(ITIMER_REAL, -1, 0, 0, 0));
	R(set_raw(ITIMER_REAL, 1, 0, 0, 1000000));
	R(set_raw(ITIMER_REAL, 1, 0, 0, -1));
	R(set_raw(ITIMER_REAL, 1, 0, -1, 0));
	R(set_raw(3, 1, 0, 0, 0));
	R(set_raw(-1, 1, 0, 0, 0));
	R(getitimer(ITIMER_REAL, &now));
	T(now.it_value.tv_sec > 90);
	say("%ld.%ld", (long)now.it_interval.tv_sec, (long)now.it_interval.tv_usec);
}

/* A signal that waits is that of the setting before: it ends nothing of the new one. */
static void test_set_while_pending(void)
{
	struct itimerspec soon = {{0, 0}, {0, 1000000}}, far = {{0, 0}, {1000, 0}};
	struct timespec at_once = {0, 0};
	timer_t id;

	block(SIGRTMIN, SIGRTMIN + 1);
	id = create(CLOCK_MONOTONIC, SIGRTMIN, 7);
	for (int i = 0; i < 2; i++) {
		R(timer_settime(id, 0, &soon, NULL));
		wait_until_pending(SIGRTMIN);
		R(timer_settime(id, 0, &far, NULL));
		sigtimedwait(&waited, NULL, &at_once); /* newer Linux has dropped it */
		show_left(id);
	}
	R(timer_settime(id, 0, &soon, NULL));
	take();
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* An end that lies beyond what a clock can count is never, and not at once. */
static void test_never(void)
{
	static const struct timespec ends[] = {
	    {INT64_MAX, 999999999}, {INT64_MAX / 1000000000, 999999999}, {INT64_MAX, 0}};
	/* again and again: the first may come before the wait */
	static const struct itimerval each = {{0, 2000}, {0, 2000}}, never;
	struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &each, NULL);
	for (int i = 0; i < 3; i++) {
		R(nanosleep(&ends[i], NULL));
		R(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ends[i], NULL));
		R(ppoll(NULL, 0, &ends[i], NULL));
	}
	setitimer(ITIMER_REAL, &never, NULL);
}

const struct call_case timer_cases[] = {
    {"timer_past", test_past},
    {"timer_two", test_two},
    {"timer_numbers", test_numbers},
    {"timer_ignored", test_ignored},
    {"timer_anew", test_anew},
    {"timer_set_while_pending", test_set_while_pending},
    {"timer_alarm_left", test_alarm_left},
    {"timer_refused", test_refused},
    {"timer_no_times", test_no_times},
    {"timer_never", test_never},
    {NULL, NULL},
};
