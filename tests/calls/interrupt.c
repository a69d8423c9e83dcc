/*
 * Calls that sleep, met by a signal: which end with EINTR, which are done again, and when those
 * with a time end that go on after a stop.
 */
#include "tests/calls/calls.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>

static const struct timespec far = {1000, 0};

/* Nothing to read in what is empty, no room in what is full. */
static int empty[2], full[2], sock[2], sock_full[2], in_time[2], listener, file, ep;
static unsigned word;
static char buf[4096];

static struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "socket"};

/*
 * The child notes here how its call ended, and that its handler ran. It prints nothing, as that
 * might be another sleep.
 */
struct found {
	long result;
	int err;
	bool done;
	volatile bool handled;
};

static struct found *found;

static void fill(int fd)
{
	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (write(fd, buf, sizeof(buf)) > 0)
		;
	fcntl(fd, F_SETFL, 0);
}

static void prepare(void)
{
	struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct epoll_event e = {.events = EPOLLIN};
	struct timeval limit = {1000, 0};

	found = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pipe(empty);
	pipe(full);
	fill(full[1]);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sock);
	socketpair(AF_UNIX, SOCK_STREAM, 0, in_time);
	setsockopt(in_time[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock_full);
	fill(sock_full[0]);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	bind(listener, (struct sockaddr *)&name, sizeof(name));
	listen(listener, 1);
	mkfifo("fifo", 0600);
	file = open("file", O_RDWR | O_CREAT, 0600);
	fcntl(file, F_SETLK, &all);
	flock(file, LOCK_EX);
	ep = epoll_create1(0);
	epoll_ctl(ep, EPOLL_CTL_ADD, empty[0], &e);
}

static long reads(void)
{
	return read(empty[0], buf, 1);
}

static long writes(void)
{
	return write(full[1], buf, 1);
}

static long opens(void)
{
	return open("fifo", O_RDONLY);
}

static long splices(void)
{
	return splice(empty[0], NULL, file, NULL, 1, 0);
}

static long receives(void)
{
	return recv(sock[0], buf, 1, 0);
}

static long receives_in_time(void)
{
	return recv(in_time[0], buf, 1, 0);
}

static long sends(void)
{
	return send(sock_full[0], buf, sizeof(buf), 0);
}

static long accepts(void)
{
	return accept(listener, NULL, NULL);
}

static long reads_eventfd(void)
{
	return read(eventfd(0, 0), buf, 8);
}

static long reads_timerfd(void)
{
	return read(timerfd_create(CLOCK_MONOTONIC, 0), buf, 8);
}

static long reads_signalfd(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return read(signalfd(-1, &set, 0), buf, 128);
}

static long locks(void)
{
	struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	return fcntl(file, F_SETLKW, &all);
}

static long flocks(void)
{
	return flock(open("file", O_RDWR), LOCK_EX);
}

/* A process that ends when all others have. */
static pid_t fork_other(void)
{
	pid_t pid = fork();

	if (!pid) {
		close(empty[1]);
		read(empty[0], buf, 1);
		_exit(0);
	}
	return pid;
}

static long waits(void)
{
	return waitpid(fork_other(), NULL, 0);
}

static long waits_by_id(void)
{
	siginfo_t info;

	return waitid(P_PID, fork_other(), &info, WEXITED);
}

static long polls(void)
{
	struct pollfd p = {empty[0], POLLIN, 0};

	return poll(&p, 1, -1);
}

static long polls_in_time(void)
{
	struct pollfd p = {empty[0], POLLIN, 0};
	struct timespec limit = far;

	return ppoll(&p, 1, &limit, NULL);
}

static long selects(void)
{
	fd_set in;

	FD_ZERO(&in);
	FD_SET(empty[0], &in);
	return select(empty[0] + 1, &in, NULL, NULL, NULL);
}

static long waits_in_set(void)
{
	struct epoll_event e;

	return epoll_wait(ep, &e, 1, -1);
}

static long pauses(void)
{
	return pause();
}

static long suspends(void)
{
	sigset_t none;

	sigemptyset(&none);
	return sigsuspend(&none);
}

static long takes(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigwaitinfo(&set, NULL);
}

static long sleeps(void)
{
	return syscall(SYS_nanosleep, &far, NULL);
}

static long sleeps_until(void)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 1000;
	return syscall(SYS_clock_nanosleep, CLOCK_REALTIME, TIMER_ABSTIME, &end, NULL);
}

static long waits_for_word(void)
{
	return syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL);
}

static long waits_for_word_in_time(void)
{
	return syscall(SYS_futex, &word, FUTEX_WAIT, 0, &far);
}

static const struct row {
	const char *what;
	long (*call)(void);
} rows[] = {{"read", reads}, {"write", writes}, {"open", opens}, {"splice", splices},
    {"recv", receives}, {"recv with a time", receives_in_time}, {"send", sends},
    {"accept", accepts}, {"eventfd", reads_eventfd}, {"timerfd", reads_timerfd},
    {"signalfd", reads_signalfd}, {"F_SETLKW", locks}, {"flock", flocks}, {"waitpid", waits},
    {"waitid", waits_by_id}, {"poll", polls}, {"ppoll", polls_in_time}, {"select", selects},
    {"epoll_wait", waits_in_set}, {"pause", pauses}, {"sigsuspend", suspends},
    {"sigwaitinfo", takes}, {"nanosleep", sleeps}, {"clock_nanosleep", sleeps_until},
    {"futex", waits_for_word}, {"futex with a time", waits_for_word_in_time}};

static void handler(int sig)
{
	(void)sig;
	found->handled = true;
}

/* A child in the call. */
static pid_t begin(const struct row *row, int flags)
{
	struct sigaction sa = {.sa_handler = handler, .sa_flags = flags};
	pid_t pid;

	found->done = found->handled = false;
	pid = fork();
	if (!pid) {
		sigaction(SIGUSR1, &sa, NULL);
		errno = 0;
		found->result = row->call();
		found->err = errno;
		found->done = true;
		_exit(0);
	}
	wait_until_asleep(pid);
	return pid;
}

static void show(const struct row *row)
{
	if (found->done)
		say("%s: %ld %s", row->what, found->result, strerrorname_np(found->err));
	else
		say("%s: goes on", row->what);
}

/* The child, if it sleeps again, has gone on with its call. */
static void end(const struct row *row, pid_t pid)
{
	wait_until_asleep(pid);
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
	show(row);
}

static void meet(int flags)
{
	prepare();
	for (const struct row *row = rows; row < rows + sizeof(rows) / sizeof(rows[0]); row++) {
		pid_t pid = begin(row, flags);

		kill(pid, SIGUSR1);
		while (!found->handled)
			usleep(500);
		end(row, pid);
	}
}

/* A handler ends each call. */
static void test_handler(void)
{
	meet(0);
}

/* A handler with SA_RESTART lets calls go on that wait for no time. */
static void test_restart(void)
{
	meet(SA_RESTART);
}

static void stop(pid_t pid)
{
	int status;

	kill(pid, SIGSTOP);
	waitpid(pid, &status, WUNTRACED);
}

/* A stop, after which most go on. */
static void test_stop(void)
{
	prepare();
	for (const struct row *row = rows; row < rows + sizeof(rows) / sizeof(rows[0]); row++) {
		pid_t pid = begin(row, 0);

		stop(pid);
		kill(pid, SIGCONT);
		end(row, pid);
	}
}

/* ---- times ---- */

static long polls_shortly(void)
{
	struct pollfd p = {empty[0], POLLIN, 0};

	return poll(&p, 1, 30);
}

static long sleeps_shortly(void)
{
	static const struct timespec time = {0, 30000000};

	return syscall(SYS_nanosleep, &time, NULL);
}

static long waits_for_word_shortly(void)
{
	static const struct timespec time = {0, 30000000};

	return syscall(SYS_futex, &word, FUTEX_WAIT, 0, &time);
}

/*
 * However often a call is stopped, the time that it was given does not begin again. Not select():
 * its time is what it was called with, from which the kernel takes the time that it has waited.
 */
static void test_short_times(void)
{
	static const struct row calls[] = {{"poll", polls_shortly}, {"nanosleep", sleeps_shortly},
	    {"futex", waits_for_word_shortly}};
	int status, stops;

	prepare();
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		pid_t pid = begin(&calls[i], 0);

		for (stops = 0; stops < 200 && waitpid(pid, &status, WNOHANG) == 0; stops++) {
			kill(pid, SIGSTOP);
			usleep(5000);
			kill(pid, SIGCONT);
			wait_until_asleep(pid);
		}
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		show(&calls[i]);
	}
}

static long sleeps_until_soon(void)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += 30000000;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
}

/* Milliseconds for which the call waits. */
static long duration(long (*call)(void))
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	call();
	clock_gettime(CLOCK_MONOTONIC, &to);
	return (to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000;
}

static long sleeps_twice(void)
{
	sleeps_shortly();
	return duration(sleeps_shortly) >= 30;
}

static long sleeps_until_and_for(void)
{
	sleeps_until_soon();
	return duration(sleeps_shortly) >= 30;
}

static long polls_twice(void)
{
	polls_shortly();
	return duration(polls_shortly) >= 30;
}

static long waits_for_word_twice(void)
{
	waits_for_word_shortly();
	return duration(waits_for_word_shortly) >= 30;
}

/* A wait that was stopped changes nothing about the next: that takes its whole time. */
static void test_next(void)
{
	static const struct row calls[] = {{"two sleeps", sleeps_twice},
	    {"a sleep until a time, and one for a time", sleeps_until_and_for},
	    {"two polls", polls_twice}, {"two waits for a word", waits_for_word_twice}};

	prepare();
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		pid_t pid = begin(&calls[i], 0);

		stop(pid);
		kill(pid, SIGCONT);
		waitpid(pid, NULL, 0);
		show(&calls[i]);
	}
}

/* ---- a long wait, and a short one after it ---- */

static const struct timespec spans[] = {{1000, 0}, {0, 1000000}};

static long sleeps_long_and_short(void)
{
	syscall(SYS_nanosleep, &spans[0], NULL);
	return syscall(SYS_nanosleep, &spans[1], NULL);
}

static long polls_long_and_short(void)
{
	struct pollfd p = {empty[0], POLLIN, 0};

	poll(&p, 1, 1000000);
	return poll(&p, 1, 1);
}

static long waits_for_word_long_and_short(void)
{
	syscall(SYS_futex, &word, FUTEX_WAIT, 0, &spans[0]);
	return syscall(SYS_futex, &word, FUTEX_WAIT, 0, &spans[1]);
}

static long waits_for_word_and_sleeps(void)
{
	syscall(SYS_futex, &word, FUTEX_WAIT, 0, &spans[0]);
	return syscall(SYS_nanosleep, &spans[1], NULL);
}

/* Once a handler has ended a wait, the next one has its own end, not the first one's. */
static void test_next_after_handler(void)
{
	static const struct row calls[] = {{"two sleeps", sleeps_long_and_short},
	    {"two polls", polls_long_and_short},
	    {"two waits for a word", waits_for_word_long_and_short},
	    {"a wait for a word, and a sleep", waits_for_word_and_sleeps}};

	prepare();
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		pid_t pid = begin(&calls[i], 0);

		kill(pid, SIGUSR1);
		waitpid(pid, NULL, 0);
		show(&calls[i]);
	}
}

const struct call_case interrupt_cases[] = {
    {"interrupt_handler", test_handler},
    {"interrupt_restart", test_restart},
    {"interrupt_stop", test_stop},
    {"interrupt_short_times", test_short_times},
    {"interrupt_next", test_next},
    {"interrupt_next_after_handler", test_next_after_handler},
    {NULL, NULL},
};
