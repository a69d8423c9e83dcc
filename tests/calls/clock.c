/* Waits until a time: by which clock, and which times are none. */
#include "tests/calls/calls.h"

#include <poll.h>
#include <sys/select.h>
#include <sys/timerfd.h>

/* So many milliseconds from now, by that clock. */
static struct timespec from_now(clockid_t clock, long ms)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += ms % 1000 * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static bool has_come(clockid_t clock, struct timespec t)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec > t.tv_sec || (now.tv_sec == t.tv_sec && now.tv_nsec >= t.tv_nsec);
}

static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME};

/* A sleep until a time of a clock ends when that clock shows it, and not before. */
static void test_sleep_until(void)
{
	struct timespec past = from_now(CLOCK_REALTIME, -5000);

	R(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &past, NULL));
	for (int i = 0; i < 3; i++) {
		struct timespec end = from_now(clocks[i], 3);

		R(clock_nanosleep(clocks[i], TIMER_ABSTIME, &end, NULL));
		T(has_come(clocks[i], end));
	}
}

/* A timer's file has a clock, too. */
static void on_end(int sig)
{
	(void)sig;
}

/* A call that a signal ends, however late it begins. */
static long cut_short(long number, long a, long b, long c, long d)
{
	const struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
	int err;

	setitimer(ITIMER_REAL, &often, NULL);
	long r = syscall(number, a, b, c, d);
	err = errno;
	setitimer(ITIMER_REAL, &never, NULL);
	errno = err;
	return r;
}

/* A call that sleeps for a time tells how much is left; one that sleeps until a time does not. */
static void test_sleep_left(void)
{
	struct sigaction sa = {.sa_handler = on_end};
	struct timespec far = {500, 0}, end, left = {7, 7};

	sigaction(SIGALRM, &sa, NULL);
	R(cut_short(SYS_nanosleep, (long)&far, (long)&left, 0, 0));
	T(left.tv_sec >= 400 && left.tv_sec < 500 && left.tv_nsec < 1000000000);
	left = (struct timespec){7, 7};
	R(cut_short(SYS_clock_nanosleep, CLOCK_REALTIME, 0, (long)&far, (long)&left));
	T(left.tv_sec >= 400 && left.tv_sec < 500);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += 500;
	left = (struct timespec){7, 7};
	R(cut_short(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, (long)&end, (long)&left));
	say("%ld %ld", (long)left.tv_sec, (long)left.tv_nsec);
	R(cut_short(SYS_nanosleep, (long)&far, (long)BAD, 0, 0));
	R(cut_short(SYS_nanosleep, (long)&far, 0, 0, 0));
	R(cut_short(SYS_nanosleep, (long)BAD, 0, 0, 0));
}

/* Not each clock that can be read is one by which a call may sleep. */
static void test_sleep_by_others(void)
{
	static const int clocks[] = {CLOCK_THREAD_CPUTIME_ID, CLOCK_MONOTONIC_RAW,
	    CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE, 77, -1};
	struct timespec soon = {0, 1}, bad = {0, -1};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		say("%d", clocks[i]);
		R(syscall(SYS_clock_nanosleep, clocks[i], 0, &soon, NULL));
		R(syscall(SYS_clock_nanosleep, clocks[i], 0, &bad, NULL));
	}
}

static void test_timerfd_until(void)
{
	for (int i = 0; i < 3; i++) {
		struct itimerspec set = {{0, 0}, from_now(clocks[i], 100000)}, left;
		int fd = timerfd_create(clocks[i], TFD_NONBLOCK);
		uint64_t n = 0;

		R(timerfd_settime(fd, TFD_TIMER_ABSTIME, &set, NULL));
		R(timerfd_gettime(fd, &left));
		T(left.it_value.tv_sec > 50 && left.it_value.tv_sec <= 100);
		R(read(fd, &n, 8));
		set.it_value = from_now(clocks[i], 3);
		R(timerfd_settime(fd, TFD_TIMER_ABSTIME, &set, &left));
		T(left.it_value.tv_sec > 50 && !left.it_interval.tv_sec);
		R(poll(&(struct pollfd){fd, POLLIN, 0}, 1, -1));
		T(has_come(clocks[i], set.it_value));
		close(fd);
	}
}

/* Ends long past are counted at the first look. */
static void test_timerfd_past(void)
{
	struct itimerspec set = {{1000, 0}, from_now(CLOCK_REALTIME, -2500000)}, left;
	int fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);
	struct pollfd p = {fd, POLLIN, 0};
	uint64_t n = 0;

	R(timerfd_settime(fd, TFD_TIMER_ABSTIME, &set, NULL));
	R(poll(&p, 1, -1));
	R(read(fd, &n, 8));
	say("%lu", (long)n);
	R(timerfd_gettime(fd, &left));
	T(left.it_value.tv_sec > 450 && left.it_value.tv_sec <= 500);
	say("%ld", (long)left.it_interval.tv_sec);
	R(poll(&p, 1, 0));
	set.it_interval.tv_sec = 0;
	R(timerfd_settime(fd, TFD_TIMER_ABSTIME, &set, NULL));
	R(poll(&p, 1, -1));
	R(timerfd_gettime(fd, &left));
	say("%ld %ld", (long)left.it_value.tv_sec, (long)left.it_value.tv_nsec);
	R(read(fd, &n, 8));
	say("%lu", (long)n);
	R(read(fd, &n, 8));
}

/* timerfd_settime() forgets an end that the program has not read. */
static void test_timerfd_anew(void)
{
	struct itimerspec soon = {{0, 0}, {0, 1}}, far = {{7, 0}, {100, 0}}, off = {{0, 0}, {0, 0}},
			  was;
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	struct pollfd p = {fd, POLLIN, 0};
	uint64_t n;

	R(timerfd_settime(fd, 0, &soon, NULL));
	R(poll(&p, 1, -1));
	R(timerfd_settime(fd, 0, &far, &was));
	say("%ld %ld", (long)was.it_value.tv_sec, (long)was.it_value.tv_nsec);
	R(poll(&p, 1, 0));
	R(read(fd, &n, 8));
	R(timerfd_settime(fd, 0, &soon, &was));
	T(was.it_interval.tv_sec == 7 && was.it_value.tv_sec > 50);
	R(poll(&p, 1, -1));
	R(timerfd_gettime(fd, &was));
	say("%ld %ld", (long)was.it_value.tv_sec, (long)was.it_value.tv_nsec);
	R(timerfd_settime(fd, 0, &off, NULL));
	R(read(fd, &n, 8));
}

/* A thread's clock is for its own process; that of a process, for all. */
static void test_others(void)
{
	struct timespec ts;
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	wait_until_asleep(pid);
	for (int kind = 0; kind < 4; kind++) {
		R(syscall(SYS_clock_gettime, (~pid << 3) | kind, &ts));
		R(syscall(SYS_clock_gettime, (~pid << 3) | 4 | kind, &ts));
		R(syscall(SYS_clock_getres, (~pid << 3) | 4 | kind, &ts));
		R(syscall(SYS_clock_gettime, (~gettid() << 3) | 4 | kind, &ts));
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static long select_raw(long sec, long usec)
{
	struct timeval limit = {sec, usec};

	return syscall(SYS_select, 0, NULL, NULL, NULL, &limit);
}

static long pselect_raw(long sec, long nsec)
{
	struct timespec limit = {sec, nsec};

	return syscall(SYS_pselect6, 0, NULL, NULL, NULL, &limit, NULL);
}

static long ppoll_raw(long sec, long nsec)
{
	struct timespec limit = {sec, nsec};

	return syscall(SYS_ppoll, NULL, 0, &limit, NULL, 8);
}

static long sleep_raw(long sec, long nsec)
{
	struct timespec time = {sec, nsec};

	return syscall(SYS_nanosleep, &time, NULL);
}

/* Numbers that are no time are refused: nanoseconds beyond a second, but microseconds are not. */
static void test_numbers(void)
{
	static const struct {
		const char *what;
		long (*call)(long sec, long part);
	} calls[] = {{"select", select_raw}, {"pselect", pselect_raw}, {"ppoll", ppoll_raw},
	    {"nanosleep", sleep_raw}};

	for (int i = 0; i < 4; i++) {
		say("%s", calls[i].what);
		R(calls[i].call(0, 0));
		R(calls[i].call(0, -1));
		R(calls[i].call(-1, 0));
		R(calls[i].call(-1, 5));
		R(calls[i].call(0, 1));
		R(calls[i].call(INT64_MIN, 0));
		if (i)
			R(calls[i].call(0, 1000000000));
	}
	R(select_raw(0, 1000001) == 0);
}

const struct call_case clock_cases[] = {
    {"clock_sleep_until", test_sleep_until},
    {"clock_sleep_left", test_sleep_left},
    {"clock_sleep_by_others", test_sleep_by_others},
    {"clock_timerfd_until", test_timerfd_until},
    {"clock_timerfd_past", test_timerfd_past},
    {"clock_timerfd_anew", test_timerfd_anew},
    {"clock_numbers", test_numbers},
    {"clock_others", test_others},
    {NULL, NULL},
};
