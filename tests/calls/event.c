/* poll, select, epoll, eventfd, timerfd. */
#include "tests/calls/calls.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/timerfd.h>

static void handler(int sig)
{
	(void)sig;
}

static void catch (int sig)
{
	struct sigaction sa = {.sa_handler = handler};

	sigaction(sig, &sa, NULL);
}

static void test_poll(void)
{
	int p[2], file = open("f", O_RDWR | O_CREAT, 0600);
	struct pollfd fd[4];
	char buf[65536];

	R(pipe(p));
	fd[0] = (struct pollfd){p[0], POLLIN | POLLRDNORM, 0};
	fd[1] = (struct pollfd){p[1], POLLOUT | POLLWRNORM, 0};
	fd[2] = (struct pollfd){file, POLLIN | POLLOUT | POLLPRI, 0};
	fd[3] = (struct pollfd){77, POLLIN, 0};
	R(poll(fd, 4, 0));
	for (int i = 0; i < 4; i++)
		say("%d: %#x", i, fd[i].revents);
	R(write(p[1], "x", 1));
	fd[3].fd = -1;
	R(poll(fd, 4, -1));
	for (int i = 0; i < 4; i++)
		say("%d: %#x", i, fd[i].revents);
	memset(buf, 0, sizeof(buf));
	fcntl(p[1], F_SETFL, O_NONBLOCK);
	while (write(p[1], buf, sizeof(buf)) > 0)
		;
	R(poll(fd + 1, 1, 0));
	close(p[1]);
	fd[0].revents = 0;
	R(poll(fd, 1, -1));
	say("%#x", fd[0].revents);
	R(poll(NULL, 0, 1));
	R(poll(BAD, 1, 0));
	R(poll(fd, 1 << 30, 0));
}

static long polls(int fd, int ms)
{
	struct pollfd p = {fd, POLLIN, 0};

	return poll(&p, 1, ms);
}

static long epolls(int fd, int ms)
{
	struct epoll_event e = {.events = EPOLLIN};
	int ep = epoll_create1(0);

	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
	return epoll_wait(ep, &e, 1, ms);
}

/* A child makes the call: does it fall asleep, and what does it return once the pipe has a byte? */
static void waits_for_ever(const char *what, long (*call)(int fd, int ms), int ms)
{
	int p[2], status;
	pid_t pid;

	pipe(p);
	pid = fork();
	if (!pid)
		_exit(call(p[0], ms));
	wait_until_asleep(pid);
	write(p[1], "x", 1);
	waitpid(pid, &status, 0);
	say("%s %d: %d", what, ms, WEXITSTATUS(status));
}

/* Any negative time means no end. */
static void test_poll_negative(void)
{
	static const int times[] = {-1, -2, -1000, INT32_MIN};

	for (int i = 0; i < 4; i++) {
		waits_for_ever("poll", polls, times[i]);
		waits_for_ever("epoll_wait", epolls, times[i]);
	}
}

static void test_ppoll(void)
{
	struct timespec none = {0, 0}, bad = {0, 1000000000}, minus = {-1, 0};
	struct pollfd fd = {-1, POLLIN, 0};
	sigset_t block, empty;

	R(ppoll(&fd, 1, &none, NULL));
	R(ppoll(&fd, 1, &bad, NULL));
	R(ppoll(&fd, 1, &minus, NULL));
	R(syscall(SYS_ppoll, &fd, 1, &none, &empty, 7));
	R(syscall(SYS_ppoll, &fd, 1, BAD, NULL, 8));
	R(syscall(SYS_ppoll, &fd, 1, &none, BAD, 8));
	sigemptyset(&block);
	sigemptyset(&empty);
	sigaddset(&block, SIGUSR1);
	sigprocmask(SIG_BLOCK, &block, NULL);
	catch (SIGUSR1);
	raise(SIGUSR1);
	R(ppoll(&fd, 1, NULL, &empty));
	sigprocmask(SIG_BLOCK, NULL, &empty);
	T(sigismember(&empty, SIGUSR1));
	R(ppoll(&fd, 1, &none, &empty));
}

static void test_select(void)
{
	struct timeval none = {0, 0}, minus = {0, -1}, some = {0, 2000};
	fd_set in, out, ex;
	int p[2];

	pipe(p);
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_ZERO(&ex);
	FD_SET(p[0], &in);
	FD_SET(p[1], &out);
	FD_SET(p[0], &ex);
	R(select(p[1] + 1, &in, &out, &ex, NULL));
	say("%d %d %d", FD_ISSET(p[0], &in), FD_ISSET(p[1], &out), FD_ISSET(p[0], &ex));
	FD_SET(p[0], &in);
	R(select(p[0] + 1, &in, NULL, NULL, &none));
	T(FD_ISSET(p[0], &in));
	FD_SET(p[0], &in);
	R(select(p[0], &in, NULL, NULL, &none));
	FD_ZERO(&in);
	FD_SET(p[0], &in);
	R(select(p[0] + 1, &in, NULL, NULL, &some));
	say("%ld %ld left", (long)some.tv_sec, (long)some.tv_usec);
	FD_SET(p[0], &in);
	write(p[1], "x", 1);
	R(select(p[0] + 1, &in, NULL, NULL, NULL));
	close(p[1]);
	FD_SET(p[0], &in);
	R(select(p[0] + 1, &in, NULL, NULL, NULL));
	FD_SET(p[1], &in);
	R(select(p[1] + 1, &in, NULL, NULL, &none));
	R(select(-1, NULL, NULL, NULL, &none));
	R(select(0, NULL, NULL, NULL, &minus));
	R(select(1, BAD, NULL, NULL, &none));
	R(syscall(SYS_select, 1, NULL, NULL, NULL, BAD));
	R(select(0, NULL, NULL, NULL, &none));
}

static void test_pselect(void)
{
	struct timespec none = {0, 0}, bad = {0, -1};
	sigset_t block, empty;

	R(pselect(0, NULL, NULL, NULL, &none, NULL));
	R(pselect(0, NULL, NULL, NULL, &bad, NULL));
	sigemptyset(&block);
	sigemptyset(&empty);
	sigaddset(&block, SIGUSR2);
	sigprocmask(SIG_BLOCK, &block, NULL);
	catch (SIGUSR2);
	raise(SIGUSR2);
	R(pselect(0, NULL, NULL, NULL, NULL, &empty));
	R(syscall(SYS_pselect6, 0, NULL, NULL, NULL, &none, BAD));
}

/* A pipe has room when a page's worth fits; its end and errors show with what else there is. */
static void test_poll_pipe(void)
{
	static char buf[65536];
	struct pollfd fd;
	int p[2];

	pipe(p);
	fd = (struct pollfd){p[1], POLLOUT, 0};
	T(write(p[1], buf, 65536) == 65536);
	R(poll(&fd, 1, 0));
	R(read(p[0], buf, 1));
	R(poll(&fd, 1, 0));
	R(read(p[0], buf, 4094));
	R(poll(&fd, 1, 0));
	R(read(p[0], buf, 1));
	R(poll(&fd, 1, 0));
	T(write(p[1], buf, 4096) == 4096);
	close(p[0]);
	R(poll(&fd, 1, 0));
	say("full, no reader: %#x", fd.revents);
	pipe(p);
	fd.fd = p[1];
	close(p[0]);
	fd.events = 0;
	R(poll(&fd, 1, 0));
	say("no reader: %#x", fd.revents);
	fd.events = POLLOUT;
	R(poll(&fd, 1, 0));
	say("no reader: %#x", fd.revents);
	pipe(p);
	fd.fd = p[0];
	fd.events = POLLIN;
	write(p[1], "x", 1);
	close(p[1]);
	R(poll(&fd, 1, 0));
	say("a byte, no writer: %#x", fd.revents);
	fd.events = 0;
	R(poll(&fd, 1, 0));
	say("unasked: %#x", fd.revents);
}

/* select() takes from its time what it has waited, in seconds and microseconds. */
static void test_select_left(void)
{
	struct timeval left = {500, 900000}, exact = {300, 0};
	fd_set in;
	int p[2];

	pipe(p);
	write(p[1], "x", 1);
	FD_ZERO(&in);
	FD_SET(p[0], &in);
	R(syscall(SYS_select, p[0] + 1, &in, NULL, NULL, &left));
	T(left.tv_sec > 400 && left.tv_sec <= 500 && left.tv_usec < 1000000);
	R(syscall(SYS_select, p[0] + 1, &in, NULL, NULL, &exact));
	T(exact.tv_sec > 200 && exact.tv_sec < 300 && exact.tv_usec < 1000000);
}

static bool is_below(const struct timespec *left, long sec)
{
	return left->tv_sec >= sec - 100 && left->tv_sec < sec && left->tv_nsec < 1000000000;
}

/* ppoll() and pselect() tell what is left of their time, too. */
static void test_poll_left(void)
{
	struct timespec left = {500, 0};
	struct pollfd fd;
	fd_set in;
	int p[2];

	pipe(p);
	write(p[1], "x", 1);
	fd = (struct pollfd){p[0], POLLIN, 0};
	FD_ZERO(&in);
	FD_SET(p[0], &in);
	R(syscall(SYS_ppoll, &fd, 1, &left, NULL, 8));
	T(is_below(&left, 500));
	left = (struct timespec){300, 0};
	R(syscall(SYS_pselect6, p[0] + 1, &in, NULL, NULL, &left, NULL));
	T(is_below(&left, 300));
	left = (struct timespec){0, 1000};
	R(syscall(SYS_ppoll, NULL, 0, &left, NULL, 8));
	say("%ld %ld", (long)left.tv_sec, (long)left.tv_nsec);
	left = (struct timespec){-1, 0};
	R(syscall(SYS_ppoll, &fd, 1, &left, NULL, 8));
	say("%ld %ld", (long)left.tv_sec, (long)left.tv_nsec);
}

/* Sets of more than 64 numbers; one that is not open; times. */
static void test_select_many(void)
{
	struct timeval none = {0, 0}, minus = {-1, 0}, carry = {0, 1000000};
	fd_set in, out;
	int p[2];

	pipe(p);
	dup2(p[0], 70);
	dup2(p[0], 63);
	dup2(p[0], 64);
	write(p[1], "x", 1);
	for (int n = 63; n <= 71; n++) {
		FD_ZERO(&in);
		FD_ZERO(&out);
		FD_SET(63, &in);
		FD_SET(64, &in);
		FD_SET(70, &in);
		R(select(n, &in, &out, NULL, &none));
		say("%d: %d %d %d", n, !!FD_ISSET(63, &in), !!FD_ISSET(64, &in),
		    !!FD_ISSET(70, &in));
	}
	FD_ZERO(&in);
	FD_SET(50, &in);
	R(select(51, &in, NULL, NULL, &none));
	R(select(51, NULL, &in, NULL, NULL));
	R(select(0, NULL, NULL, NULL, &minus));
	FD_SET(p[0], &in);
	FD_CLR(50, &in);
	R(select(p[0] + 1, &in, NULL, NULL, &carry));
}

static void test_eventfd(void)
{
	uint64_t n = 0;
	int fd = eventfd(3, EFD_NONBLOCK);
	struct pollfd p = {fd, POLLIN | POLLOUT, 0};

	T(fd >= 0);
	R(read(fd, &n, 7));
	R(read(fd, &n, 100));
	say("%lu", (long)n);
	R(read(fd, &n, 8));
	R(poll(&p, 1, 0));
	say("%#x", p.revents);
	n = 5;
	R(write(fd, &n, 8));
	R(poll(&p, 1, 0));
	say("%#x", p.revents);
	n = -1;
	R(write(fd, &n, 8));
	n = -2;
	R(write(fd, &n, 8));
	n = (uint64_t)-2 - 5;
	R(write(fd, &n, 8));
	R(poll(&p, 1, 0));
	say("%#x", p.revents);
	n = 1;
	R(write(fd, &n, 8));
	R(write(fd, &n, 4));
	R(read(fd, &n, 8));
	say("%lx", (long)n);
	R(lseek(fd, 0, SEEK_SET));
	close(fd);
	fd = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC);
	R(fcntl(fd, F_GETFD));
	for (int i = 0; i < 3; i++) {
		n = 9;
		R(read(fd, &n, 8));
		say("%lu", (long)n);
	}
	R(eventfd(0, 4));
	R(read(fd, BAD, 8));
}

static void child_writes(void)
{
	uint64_t n = 7;

	usleep(1000);
	write(3, &n, 8);
}

static void test_eventfd_waits(void)
{
	uint64_t n = 0;
	int fd = dup2(eventfd(0, 0), 3);
	pid_t pid = fork();

	if (!pid) {
		child_writes();
		_exit(0);
	}
	R(read(fd, &n, 8));
	say("%lu", (long)n);
	waitpid(pid, NULL, 0);
}

static void test_timerfd(void)
{
	struct itimerspec set = {{0, 1000000}, {0, 1000000}}, old;
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	struct pollfd p = {fd, POLLIN, 0};
	struct timespec now;
	uint64_t n = 0;

	T(fd >= 0);
	R(timerfd_settime(fd, 0, &set, &old));
	say("%ld %ld", (long)old.it_value.tv_nsec, (long)old.it_interval.tv_nsec);
	R(read(fd, &n, 8));
	T(n >= 1);
	usleep(5000);
	R(poll(&p, 1, 0));
	R(read(fd, &n, 8));
	T(n >= 3);
	R(timerfd_gettime(fd, &old));
	T(old.it_interval.tv_nsec == 1000000);
	T(old.it_value.tv_nsec > 0 && old.it_value.tv_nsec <= 1000000);
	set = (struct itimerspec){{0, 0}, {0, 0}};
	R(timerfd_settime(fd, 0, &set, NULL));
	fcntl(fd, F_SETFL, O_NONBLOCK);
	R(read(fd, &n, 8));
	R(read(fd, &n, 4));
	set.it_value.tv_nsec = 1;
	R(timerfd_settime(fd, TFD_TIMER_ABSTIME, &set, NULL));
	R(poll(&p, 1, -1));
	R(read(fd, &n, 8));
	say("%lu", (long)n);
	R(read(fd, &n, 8));
	R(timerfd_gettime(fd, &old));
	say("%ld %ld", (long)old.it_value.tv_sec, (long)old.it_value.tv_nsec);
	clock_gettime(CLOCK_MONOTONIC, &now);
	set.it_value = (struct timespec){now.tv_sec + 100, 0};
	R(timerfd_settime(fd, TFD_TIMER_ABSTIME, &set, NULL));
	R(timerfd_gettime(fd, &old));
	T(old.it_value.tv_sec > 90 && old.it_value.tv_sec <= 100);
	set.it_value.tv_nsec = 1000000000;
	R(timerfd_settime(fd, 0, &set, NULL));
	set.it_value.tv_nsec = 0;
	R(timerfd_settime(fd, 8, &set, NULL));
	R(timerfd_settime(0, 0, &set, NULL));
	R(timerfd_settime(99, 0, &set, NULL));
	R(timerfd_settime(fd, 0, BAD, NULL));
	R(timerfd_create(77, 0));
	R(timerfd_create(CLOCK_REALTIME, 1));
	R(write(fd, &n, 8));
}

static void show(const char *what, int n, const struct epoll_event *e)
{
	say("%s: %d", what, n);
	for (int i = 0; i < n; i++)
		say("  %#x of %d", e[i].events, (int)e[i].data.u64);
}

static void add(int ep, int fd, unsigned events)
{
	struct epoll_event e = {.events = events, .data.u64 = fd};

	R(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e));
}

static void test_epoll_level(void)
{
	struct epoll_event e[4];
	int ep = epoll_create1(0), p[2];
	char c;

	pipe(p);
	add(ep, p[0], EPOLLIN);
	show("nothing", epoll_wait(ep, e, 4, 0), e);
	write(p[1], "ab", 2);
	show("two bytes", epoll_wait(ep, e, 4, -1), e);
	read(p[0], &c, 1);
	show("one byte", epoll_wait(ep, e, 4, -1), e);
	read(p[0], &c, 1);
	show("none", epoll_wait(ep, e, 4, 0), e);
	add(ep, p[1], EPOLLOUT);
	show("room", epoll_wait(ep, e, 4, -1), e);
	write(p[1], "c", 1);
	show("at most one", epoll_wait(ep, e, 1, -1), e);
	show("the other", epoll_wait(ep, e, 1, -1), e);
	close(p[1]);
	show("hung up", epoll_wait(ep, e, 4, -1), e);
	close(p[0]);
	show("closed", epoll_wait(ep, e, 4, 0), e);
}

static void test_epoll_edge(void)
{
	struct epoll_event e[4];
	int ep = epoll_create1(EPOLL_CLOEXEC), p[2];
	char c;

	pipe(p);
	write(p[1], "a", 1);
	add(ep, p[0], EPOLLIN | EPOLLET);
	show("there from the start", epoll_wait(ep, e, 4, 0), e);
	show("again", epoll_wait(ep, e, 4, 0), e);
	write(p[1], "b", 1);
	show("more", epoll_wait(ep, e, 4, 0), e);
	read(p[0], &c, 1);
	show("read", epoll_wait(ep, e, 4, 0), e);
	e[0] = (struct epoll_event){.events = EPOLLIN | EPOLLET, .data.u64 = 77};
	R(epoll_ctl(ep, EPOLL_CTL_MOD, p[0], e));
	show("changed", epoll_wait(ep, e, 4, 0), e);
	e[0] = (struct epoll_event){.events = EPOLLIN | EPOLLONESHOT, .data.u64 = 78};
	R(epoll_ctl(ep, EPOLL_CTL_MOD, p[0], e));
	show("once", epoll_wait(ep, e, 4, 0), e);
	write(p[1], "c", 1);
	show("not twice", epoll_wait(ep, e, 4, 0), e);
	e[0] = (struct epoll_event){.events = EPOLLIN | EPOLLONESHOT, .data.u64 = 79};
	R(epoll_ctl(ep, EPOLL_CTL_MOD, p[0], e));
	show("armed", epoll_wait(ep, e, 4, 0), e);
}

/*
 * epoll_wait() does not report what happens to a one-shot file after its event, not even that the
 * other end is closed. It does when the file is armed again.
 */
static void test_epoll_once(void)
{
	struct epoll_event e[4] = {{.events = EPOLLIN | EPOLLONESHOT}};
	int ep = epoll_create1(0), p[2];
	char c;

	pipe(p);
	write(p[1], "a", 1);
	add(ep, p[0], EPOLLIN | EPOLLONESHOT);
	show("once", epoll_wait(ep, e, 4, 0), e);
	read(p[0], &c, 1);
	close(p[1]);
	show("hung up", epoll_wait(ep, e, 4, 0), e);
	e[0] = (struct epoll_event){.events = EPOLLONESHOT, .data.u64 = 5};
	R(epoll_ctl(ep, EPOLL_CTL_MOD, p[0], e));
	show("armed", epoll_wait(ep, e, 4, 0), e);
	show("not twice", epoll_wait(ep, e, 4, 0), e);
}

static void test_epoll_nested(void)
{
	struct epoll_event e[4];
	int ep[7], p[2];
	pid_t pid;

	pipe(p);
	for (int i = 0; i < 7; i++)
		ep[i] = epoll_create1(0);
	add(ep[0], p[0], EPOLLIN);
	add(ep[1], ep[0], EPOLLIN);
	show("nothing", epoll_wait(ep[1], e, 4, 0), e);
	pid = fork();
	if (!pid) {
		usleep(1000);
		write(p[1], "x", 1);
		_exit(0);
	}
	show("inside", epoll_wait(ep[1], e, 4, -1), e);
	waitpid(pid, NULL, 0);
	add(ep[0], ep[0], EPOLLIN);
	add(ep[0], ep[1], EPOLLIN);
	close(p[0]);
	close(p[1]);
	for (int i = 1; i < 6; i++)
		add(ep[i + 1], ep[i], EPOLLIN);
}

/* A set in a set is ready for as long as its file is, however often one asks. */
static void test_epoll_asked(void)
{
	struct epoll_event e[4];
	int outer = epoll_create1(0), inner = epoll_create1(0), p[2], q[2];
	struct pollfd asks = {inner, POLLIN, 0};
	char c;

	pipe(p);
	pipe(q);
	add(inner, p[0], EPOLLIN);
	add(inner, q[0], EPOLLIN | EPOLLET);
	add(outer, inner, EPOLLIN);
	write(p[1], "x", 1);
	for (int i = 0; i < 3; i++) {
		R(poll(&asks, 1, 0));
		show("outer", epoll_wait(outer, e, 4, 0), e);
	}
	show("inner", epoll_wait(inner, e, 4, 0), e);
	R(poll(&asks, 1, 0));
	read(p[0], &c, 1);
	R(poll(&asks, 1, 0));
	show("outer", epoll_wait(outer, e, 4, 0), e);
	write(q[1], "x", 1);
	R(poll(&asks, 1, 0));
	R(poll(&asks, 1, 0));
	show("inner", epoll_wait(inner, e, 4, 0), e);
	R(poll(&asks, 1, 0));
	close(q[1]);
	R(poll(&asks, 1, 0));
	show("inner", epoll_wait(inner, e, 4, 0), e);
}

/* A number that another file has now is another item; the first one stays while a copy is open. */
static void test_epoll_numbers(void)
{
	struct epoll_event e[4];
	int ep = epoll_create1(0), p[2], q[2], copy;

	pipe(p);
	pipe(q);
	copy = dup(p[0]);
	add(ep, p[0], EPOLLIN);
	R(dup2(q[0], p[0]) == p[0]);
	R(epoll_ctl(ep, EPOLL_CTL_DEL, p[0], e));
	add(ep, p[0], EPOLLIN | EPOLLET);
	write(p[1], "x", 1);
	write(q[1], "x", 1);
	show("both", epoll_wait(ep, e, 4, 0), e);
	R(epoll_ctl(ep, EPOLL_CTL_DEL, p[0], e));
	show("the first", epoll_wait(ep, e, 4, 0), e);
	close(copy);
	show("none", epoll_wait(ep, e, 4, 0), e);
}

/* EPOLLEXCLUSIVE is for files that are added and are no sets. Errors come unasked. */
static void test_epoll_flags(void)
{
	struct epoll_event e[4] = {{.events = EPOLLIN | EPOLLEXCLUSIVE}};
	int ep = epoll_create1(0), other = epoll_create1(0), p[2];

	pipe(p);
	R(epoll_ctl(ep, EPOLL_CTL_ADD, other, e));
	R(epoll_ctl(ep, EPOLL_CTL_MOD, p[0], e));
	R(epoll_ctl(ep, EPOLL_CTL_ADD, p[0], e));
	R(epoll_ctl(ep, EPOLL_CTL_MOD, p[0], e));
	R(epoll_ctl(ep, EPOLL_CTL_DEL, p[0], e));
	add(ep, p[1], 0);
	add(ep, p[0], 0);
	show("nothing", epoll_wait(ep, e, 4, 0), e);
	close(p[0]);
	show("no reader", epoll_wait(ep, e, 4, 0), e);
	R(epoll_wait(ep, e, 1, -1));
	e[0].events = EPOLLONESHOT;
	R(epoll_ctl(ep, EPOLL_CTL_MOD, p[1], e));
	show("once", epoll_wait(ep, e, 4, 0), e);
	show("not twice", epoll_wait(ep, e, 4, 0), e);
}

/* Sets in sets, the outer ones first: how many of them may lie in each other, and no ring. */
static void test_epoll_depth(void)
{
	int ep[8];

	for (int i = 0; i < 8; i++)
		ep[i] = epoll_create1(0);
	for (int i = 0; i < 7; i++)
		R(epoll_ctl(ep[i], EPOLL_CTL_ADD, ep[i + 1], &(struct epoll_event){0}));
	R(epoll_ctl(ep[3], EPOLL_CTL_ADD, ep[0], &(struct epoll_event){0}));
	for (int i = 0; i < 8; i++)
		close(ep[i]);
}

static void test_epoll_refusals(void)
{
	struct epoll_event e = {.events = EPOLLIN};
	int ep = epoll_create1(0), file = open("f", O_RDWR | O_CREAT, 0600), p[2], two;

	pipe(p);
	R(epoll_create(0));
	R(epoll_create1(1));
	R(epoll_ctl(ep, EPOLL_CTL_ADD, file, &e));
	R(epoll_ctl(ep, EPOLL_CTL_ADD, 99, &e));
	R(epoll_ctl(99, EPOLL_CTL_ADD, p[0], &e));
	R(epoll_ctl(p[0], EPOLL_CTL_ADD, p[1], &e));
	R(epoll_ctl(ep, EPOLL_CTL_MOD, p[0], &e));
	R(epoll_ctl(ep, EPOLL_CTL_DEL, p[0], &e));
	R(epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &e));
	R(epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &e));
	two = dup(p[0]);
	R(epoll_ctl(ep, EPOLL_CTL_ADD, two, &e));
	R(epoll_ctl(ep, 4, p[0], &e));
	R(epoll_ctl(ep, EPOLL_CTL_ADD, p[1], BAD));
	R(epoll_ctl(ep, EPOLL_CTL_DEL, p[0], NULL));
	write(p[1], "x", 1);
	R(epoll_wait(ep, &e, 0, 0));
	R(epoll_wait(ep, &e, -1, 0));
	R(epoll_wait(99, &e, 1, 0));
	R(epoll_wait(p[0], &e, 1, 0));
	R(epoll_wait(ep, BAD, 1, 0));
	R(epoll_wait(ep, &e, 1, 0));
	R(read(ep, &e, 8));
}

/* Events of which only some can be told: the others are told by the next call. */
static void test_epoll_untold(void)
{
	int ep = epoll_create1(0), p[2], q[2];
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct epoll_event e[4], *last = (void *)(page + 4096 - sizeof(*last));

	munmap(page + 4096, 4096);
	pipe(p);
	pipe(q);
	add(ep, p[1], EPOLLOUT | EPOLLET);
	add(ep, q[1], EPOLLOUT);
	R(epoll_wait(ep, (void *)(page + 4096), 4, 0));
	R(epoll_wait(ep, last, 4, 0));
	show("the first", 1, last);
	show("then", epoll_wait(ep, e, 4, 0), e);
}

static void test_epoll_pwait(void)
{
	struct epoll_event e;
	struct timespec some = {0, 1000};
	int ep = epoll_create1(0);
	sigset_t block, empty;

	sigemptyset(&block);
	sigemptyset(&empty);
	sigaddset(&block, SIGUSR1);
	sigprocmask(SIG_BLOCK, &block, NULL);
	catch (SIGUSR1);
	R(epoll_pwait(ep, &e, 1, 1, NULL));
	raise(SIGUSR1);
	R(epoll_pwait(ep, &e, 1, -1, &empty));
	sigprocmask(SIG_BLOCK, NULL, &empty);
	T(sigismember(&empty, SIGUSR1));
	R(syscall(SYS_epoll_pwait2, ep, &e, 1, &some, NULL, 8));
}

/* There is room in a counter up to its last number but one, where only 0 can be added. */
static void test_eventfd_most(void)
{
	static const uint64_t added[] = {(uint64_t)-3, 0, 1, 0, 1};
	int fd = eventfd(0, EFD_NONBLOCK);
	struct pollfd p = {fd, POLLIN | POLLOUT, 0};
	uint64_t n;

	for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++) {
		R(write(fd, &added[i], 8));
		R(poll(&p, 1, 0));
		say("%#x", p.revents);
	}
	R(read(fd, &n, 8));
	say("%lx", (long)n);
}

static long polls_masked(const sigset_t *mask, int fd, const struct timespec *limit)
{
	struct pollfd p = {fd, POLLIN, 0};

	return ppoll(&p, 1, limit, mask);
}

static long selects_masked(const sigset_t *mask, int fd, const struct timespec *limit)
{
	fd_set in;

	FD_ZERO(&in);
	FD_SET(fd, &in);
	return pselect(fd + 1, &in, NULL, NULL, limit, mask);
}

static long waits_masked(const sigset_t *mask, int fd, const struct timespec *limit)
{
	struct epoll_event e = {.events = EPOLLIN};
	int ep = epoll_create1(0);

	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
	long r = epoll_pwait(ep, &e, 1, limit->tv_sec * 1000 + limit->tv_nsec / 1000000, mask);
	close(ep);
	return r;
}

/* A signal that waits for this mask ends the call before a time that has passed does. */
static void test_mask_without_wait(void)
{
	static const struct timespec none = {0, 0};
	sigset_t own, other;
	int p[2];

	catch (SIGUSR1);
	pipe(p);
	sigemptyset(&own);
	sigemptyset(&other);
	sigaddset(&own, SIGUSR1);
	sigprocmask(SIG_SETMASK, &own, NULL);
	R(polls_masked(&other, p[0], &none));
	raise(SIGUSR1);
	R(polls_masked(&other, p[0], &none));
	R(polls_masked(&other, p[0], &none));
	raise(SIGUSR1);
	R(selects_masked(&other, p[0], &none));
	R(selects_masked(&other, p[0], &none));
	raise(SIGUSR1);
	write(p[1], "x", 1);
	R(polls_masked(&other, p[0], &none));
	R(selects_masked(&other, p[0], &none));
	sigprocmask(SIG_SETMASK, &other, NULL);
	R(polls_masked(NULL, p[0], &none));
}

static void show_mask(void)
{
	sigset_t now;

	sigprocmask(SIG_BLOCK, NULL, &now);
	say("blocked: %d %d", sigismember(&now, SIGUSR1), sigismember(&now, SIGUSR2));
}

/* A mask for a wait holds no longer than the wait, however that ends. */
static void test_masks(void)
{
	static const struct timespec limit = {0, 1000000}, far = {10, 0};
	static long (*const calls[])(const sigset_t *, int, const struct timespec *) = {
	    polls_masked, selects_masked, waits_masked};
	sigset_t own, other;
	int p[2];

	catch (SIGUSR1);
	sigemptyset(&own);
	sigaddset(&own, SIGUSR1);
	sigemptyset(&other);
	sigaddset(&other, SIGUSR2);
	for (int i = 0; i < 3; i++) {
		pipe(p);
		sigprocmask(SIG_SETMASK, &own, NULL);
		R(calls[i](&other, p[0], &limit));
		show_mask();
		raise(SIGUSR1);
		R(calls[i](&other, p[0], &far));
		show_mask();
		write(p[1], "x", 1);
		R(calls[i](&other, p[0], &far));
		show_mask();
	}
	R(syscall(SYS_ppoll, BAD, 1, &limit, &other, 8));
	show_mask();
	R(syscall(SYS_pselect6, 1, BAD, NULL, NULL, &limit, (uintptr_t[]){(uintptr_t)&other, 8}));
	show_mask();
}

const struct call_case event_cases[] = {
    {"poll", test_poll},
    {"poll_negative", test_poll_negative},
    {"ppoll", test_ppoll},
    {"select", test_select},
    {"pselect", test_pselect},
    {"poll_pipe", test_poll_pipe},
    {"poll_left", test_poll_left},
    {"select_many", test_select_many},
    {"select_left", test_select_left},
    {"eventfd", test_eventfd},
    {"eventfd_waits", test_eventfd_waits},
    {"timerfd", test_timerfd},
    {"epoll_level", test_epoll_level},
    {"epoll_edge", test_epoll_edge},
    {"epoll_nested", test_epoll_nested},
    {"epoll_asked", test_epoll_asked},
    {"epoll_numbers", test_epoll_numbers},
    {"epoll_once", test_epoll_once},
    {"epoll_flags", test_epoll_flags},
    {"epoll_depth", test_epoll_depth},
    {"epoll_refusals", test_epoll_refusals},
    {"epoll_untold", test_epoll_untold},
    {"epoll_pwait", test_epoll_pwait},
    {"eventfd_most", test_eventfd_most},
    {"poll_masks", test_masks},
    {"poll_mask_without_wait", test_mask_without_wait},
    {NULL, NULL},
};
