/*
 * What ends a wait. A child sleeps in a call; what its parent does then has to wake it. A child
 * that nothing wakes is killed by its alarm.
 */
#include "tests/calls/calls.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>

#define A(a) ((struct sockaddr *)&(a))

static int s[2], file;
static char big[400000];
static struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "name"};

/* A child that sleeps in what it runs. */
static pid_t sleeper(void (*run)(void))
{
	pid_t pid = fork();

	if (!pid) {
		alarm(10);
		run();
		_exit(0);
	}
	wait_until_asleep(pid);
	return pid;
}

/* `result` is that of the call which was to wake the child. */
static void ended(const char *what, long result, pid_t pid)
{
	int status;

	waitpid(pid, &status, 0);
	say("%s: %ld, the child ended with %#x", what, result, status);
}

/* Until there is room for nothing more. */
static void fill(int fd)
{
	while (send(fd, big, sizeof(big), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		;
	while (send(fd, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		;
}

/* ---- sockets; the child has no file of the other end ---- */

static void reads(void)
{
	char c;

	close(s[1]);
	R(read(s[0], &c, 1));
}

static void polls(void)
{
	struct pollfd p = {s[0], POLLIN | POLLRDHUP, 0};

	close(s[1]);
	R(poll(&p, 1, -1));
	say("%#x", p.revents);
}

static void sends(void)
{
	close(s[1]);
	T(send(s[0], "x", 1, MSG_NOSIGNAL) < 0);
}

static void polls_for_room(void)
{
	struct pollfd p = {s[0], POLLOUT, 0};

	close(s[1]);
	R(poll(&p, 1, -1));
	T(p.revents & POLLOUT);
}

/* An end that is closed, or shut for writing, wakes those at the other that read. */
static void test_socket_readers(void)
{
	void (*const run[])(void) = {reads, polls};
	pid_t pid;

	for (int type = SOCK_STREAM; type <= SOCK_SEQPACKET; type += SOCK_SEQPACKET - SOCK_STREAM)
		for (int i = 0; i < 2; i++) {
			socketpair(AF_UNIX, type, 0, s);
			pid = sleeper(run[i]);
			ended("closed", close(s[1]), pid);
			socketpair(AF_UNIX, type, 0, s);
			pid = sleeper(run[i]);
			ended("shut for writing", shutdown(s[1], SHUT_WR), pid);
			socketpair(AF_UNIX, type, 0, s);
			pid = sleeper(run[i]);
			ended("shut at this end", shutdown(s[0], SHUT_RD), pid);
		}
}

/* An end that is closed, shut for reading, or read empty wakes those that wait for room. */
static void test_socket_writers(void)
{
	pid_t pid;

	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	fill(s[0]);
	pid = sleeper(sends);
	ended("closed", close(s[1]), pid);
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	fill(s[0]);
	pid = sleeper(sends);
	ended("shut for reading", shutdown(s[1], SHUT_RD), pid);
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	fill(s[0]);
	pid = sleeper(sends);
	ended("shut at this end", shutdown(s[0], SHUT_WR), pid);
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	fill(s[0]);
	pid = sleeper(polls_for_room);
	while (recv(s[1], big, sizeof(big), MSG_DONTWAIT) > 0)
		;
	ended("read", 0, pid);
}

/* ---- sockets that meet; s[0] listens ---- */

static void accepts(void)
{
	_exit(accept(s[0], NULL, NULL) < 0 ? errno : 0);
}

static void polls_listener(void)
{
	struct pollfd p = {s[0], POLLIN, 0};

	R(poll(&p, 1, -1));
}

static void connects(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	close(s[0]);
	R(connect(fd, A(name), sizeof(name)));
}

static void listens(int backlog)
{
	s[0] = socket(AF_UNIX, SOCK_STREAM, 0);
	bind(s[0], A(name), sizeof(name));
	listen(s[0], backlog);
}

static int client(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	return connect(fd, A(name), sizeof(name));
}

/* Each client wakes one that accepts; a listener that is shut wakes all. */
static void test_accept(void)
{
	pid_t pid, other;

	listens(5);
	pid = sleeper(polls_listener);
	ended("polls", client(), pid);
	R(accept(s[0], NULL, NULL) >= 0);
	pid = sleeper(accepts);
	ended("accepts", client(), pid);
	pid = sleeper(accepts);
	other = sleeper(accepts);
	client();
	ended("the first", client(), pid);
	ended("the second", 0, other);
	pid = sleeper(accepts);
	ended("shut", shutdown(s[0], SHUT_RD), pid);
}

/* A client for which there is no room waits for accept(), a longer queue, or the listener's end. */
static void test_connect(void)
{
	pid_t pid;

	listens(0);
	client();
	pid = sleeper(connects);
	ended("accepted", accept(s[0], NULL, NULL) >= 0, pid);
	pid = sleeper(connects);
	ended("more room", listen(s[0], 2), pid);
	client();
	pid = sleeper(connects);
	ended("closed", close(s[0]), pid);
}

/* ---- datagrams; s[1] sends to s[0], which is named ---- */

static void sends_datagram(void)
{
	close(s[0]);
	R(sendto(s[1], "x", 1, 0, A(name), sizeof(name)));
}

static void fill_datagrams(void)
{
	while (sendto(s[1], "x", 1, MSG_DONTWAIT, A(name), sizeof(name)) > 0)
		;
}

/* A receiver that takes a datagram, or ends, wakes those that send to it. */
static void test_datagrams(void)
{
	pid_t pid;

	s[0] = socket(AF_UNIX, SOCK_DGRAM, 0);
	s[1] = socket(AF_UNIX, SOCK_DGRAM, 0);
	bind(s[0], A(name), sizeof(name));
	fill_datagrams();
	pid = sleeper(sends_datagram);
	ended("read", read(s[0], big, 1), pid);
	fill_datagrams();
	pid = sleeper(sends_datagram);
	ended("closed", close(s[0]), pid);
}

/* ---- pipes ---- */

static void writes_pipe(void)
{
	close(s[0]);
	R(write(s[1], "x", 1));
}

static void polls_pipe(void)
{
	struct pollfd p = {s[1], POLLOUT, 0};

	close(s[0]);
	R(poll(&p, 1, -1));
	say("%#x", p.revents);
}

static void full_pipe(void)
{
	pipe(s);
	T(write(s[1], big, 65536) == 65536);
}

/* The last reader that closes a full pipe wakes those that wait for room. */
static void test_pipe(void)
{
	pid_t pid;

	full_pipe();
	pid = sleeper(writes_pipe);
	ended("the writer", close(s[0]), pid);
	full_pipe();
	pid = sleeper(polls_pipe);
	ended("read", read(s[0], big, 65536), pid);
	full_pipe();
	pid = sleeper(polls_pipe);
	ended("closed", close(s[0]), pid);
}

static int source[2];

static void splices(void)
{
	close(source[1]);
	close(s[0]);
	R(splice(source[0], NULL, s[1], NULL, 65536, 0));
}

static void splices_silently(void)
{
	_exit(splice(source[0], NULL, s[1], NULL, 65536, 0) != 1);
}

static void writes_full(void)
{
	memset(big, 'b', 65536);
	close(s[0]);
	_exit(write(s[1], big, 65536) != 65536);
}

/* While splice() waits for its source, a write neither overruns its room nor waits on for it. */
static void test_splice(void)
{
	long total = 0, of_splice = 0, n;
	pid_t pid, other;

	pipe(source);
	pipe(s);
	pid = sleeper(splices);
	other = sleeper(writes_full);
	write(source[1], "aaaaaaaaaa", 10);
	close(s[1]);
	while ((n = read(s[0], big, sizeof(big))) > 0) {
		total += n;
		for (long i = 0; i < n; i++)
			of_splice += big[i] == 'a';
	}
	say("%ld bytes, %ld of splice()'s", total, of_splice);
	ended("splice()", 0, pid);
	ended("write()", 0, other);
}

static void reads_pipe(void)
{
	char c;

	close(s[1]);
	close(source[1]);
	R(read(s[0], &c, 1));
}

static void writes_page(void)
{
	close(s[0]);
	_exit(write(s[1], big, 4096) != 4096);
}

/* What splice() puts wakes a reader; the room that it kept and did not use, a writer. */
static void test_splice_room(void)
{
	pid_t pid, reader, writer;

	pipe(source);
	pipe(s);
	pid = sleeper(splices);
	writer = sleeper(writes_page);
	ended("splice()", write(source[1], "x", 1), pid);
	ended("the writer", 0, writer);
	pipe(source);
	pipe(s);
	reader = sleeper(reads_pipe);
	pid = sleeper(splices_silently);
	ended("the reader", write(source[1], "x", 1), reader);
	ended("splice()", 0, pid);
}

/* Bytes that splice() takes out of a full pipe make room for those that wait for it. */
static void test_splice_drains(void)
{
	pid_t pid;

	file = open("file", O_RDWR | O_CREAT, 0600);
	full_pipe();
	pid = sleeper(writes_pipe);
	ended("splice() to a file", splice(s[0], NULL, file, NULL, 4096, 0), pid);
	full_pipe();
	pid = sleeper(polls_pipe);
	ended("splice() to a file", splice(s[0], NULL, file, NULL, 4096, 0), pid);
	full_pipe();
	pipe(source);
	pid = sleeper(writes_pipe);
	ended("splice() to a pipe", splice(s[0], NULL, source[1], NULL, 4096, 0), pid);
}

/* The last writer that closes an empty pipe wakes its readers. */
static void test_pipe_end(void)
{
	pid_t pid;

	pipe(s);
	pid = sleeper(reads_pipe);
	ended("closed", close(s[1]), pid);
}

/* ---- FIFOs ---- */

static void opens_to_read(void)
{
	R(open("fifo", O_RDONLY) >= 0);
}

static void opens_to_write(void)
{
	R(open("fifo", O_WRONLY) >= 0);
}

/* Opening one end waits for the other, though that is closed again at once. */
static void test_fifo(void)
{
	pid_t pid;

	mkfifo("fifo", 0600);
	pid = sleeper(opens_to_read);
	say("a writer comes");
	ended("the reader", close(open("fifo", O_WRONLY)), pid);
	pid = sleeper(opens_to_write);
	say("a reader comes");
	ended("the writer", close(open("fifo", O_RDONLY | O_NONBLOCK)), pid);
	pid = sleeper(opens_to_write);
	say("one comes that does both");
	ended("the writer", close(open("fifo", O_RDWR)), pid);
}

static void polls_fifo(void)
{
	struct pollfd p = {file, POLLOUT, 0};

	R(poll(&p, 1, -1));
}

static void waits_for_fifo(void)
{
	struct epoll_event e = {.events = EPOLLOUT};
	int ep = epoll_create1(0);

	R(epoll_ctl(ep, EPOLL_CTL_ADD, file, &e));
	R(epoll_wait(ep, &e, 1, -1));
	say("%#x", e.events);
}

/* A FIFO that is open for both waits for room and for bytes on two queues. */
static void test_fifo_both(void)
{
	void (*const run[])(void) = {polls_fifo, waits_for_fifo};
	pid_t pid;

	mkfifo("fifo", 0600);
	file = open("fifo", O_RDWR);
	for (int i = 0; i < 2; i++) {
		T(write(file, big, 65536) == 65536);
		pid = sleeper(run[i]);
		ended("read", read(file, big, 65536), pid);
	}
}

/* ---- locks ---- */

static void locks(void)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	R(fcntl(open("f", O_RDWR), F_SETLKW, &l));
}

static void flocks(void)
{
	close(file); /* which it shares with its parent */
	R(flock(open("f", O_RDWR), LOCK_EX));
}

static void locks_and_ends(void)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char c;

	fcntl(file, F_SETLK, &l);
	write(s[1], "x", 1);
	read(source[0], &c, 1);
}

/* Locks that go with their file or their process wake those that wait for them. */
static void test_locks(void)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	pid_t pid, holder;
	char c;

	file = open("f", O_RDWR | O_CREAT, 0600);
	R(fcntl(file, F_SETLK, &l));
	pid = sleeper(locks);
	ended("closed", close(file), pid);
	file = open("f", O_RDWR);
	R(fcntl(file, F_SETLK, &l));
	pid = sleeper(locks);
	ended("another closed", close(open("f", O_RDONLY)), pid);
	R(flock(file, LOCK_SH));
	pid = sleeper(flocks);
	ended("flock()", close(file), pid);
	file = open("f", O_RDWR);
	pipe(s);
	pipe(source);
	holder = sleeper(locks_and_ends);
	read(s[0], &c, 1);
	pid = sleeper(locks);
	ended("the next", write(source[1], "x", 1), pid);
	ended("the holder", 0, holder);
}

/* ---- eventfd ---- */

static void adds(void)
{
	uint64_t n = 1;

	R(write(file, &n, 8));
}

static void polls_eventfd(void)
{
	struct pollfd p = {file, POLLOUT, 0};

	R(poll(&p, 1, -1));
}

/* Who reads a counter that is full wakes those that add to it. */
static void test_eventfd(void)
{
	uint64_t n = (uint64_t)-2;
	void (*const run[])(void) = {adds, polls_eventfd};
	pid_t pid;

	for (int i = 0; i < 2; i++) {
		file = eventfd(0, 0);
		R(write(file, &n, 8));
		pid = sleeper(run[i]);
		ended("read", read(file, &n, 8), pid);
		n = (uint64_t)-2;
	}
}

/* ---- epoll ---- */

static void waits(void)
{
	struct epoll_event e;

	R(epoll_wait(file, &e, 1, -1));
	say("%#x of %d", e.events, (int)e.data.u64);
}

/* A file that is added, changed or ends while somebody waits is looked at. */
static void test_epoll(void)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u64 = 1};
	pid_t pid;

	file = epoll_create1(0);
	pipe(s);
	write(s[1], "x", 1);
	pid = sleeper(waits);
	ended("added", epoll_ctl(file, EPOLL_CTL_ADD, s[0], &e), pid);
	e.events = 0;
	R(epoll_ctl(file, EPOLL_CTL_MOD, s[0], &e));
	pid = sleeper(waits);
	e = (struct epoll_event){.events = EPOLLIN, .data.u64 = 2};
	ended("changed", epoll_ctl(file, EPOLL_CTL_MOD, s[0], &e), pid);
	R(read(s[0], big, 10));
	e.events = EPOLLIN | EPOLLET;
	R(epoll_ctl(file, EPOLL_CTL_MOD, s[0], &e));
	pid = sleeper(waits);
	ended("written", write(s[1], "x", 1), pid);
}

const struct call_case wakes_cases[] = {
    {"wakes_socket_readers", test_socket_readers},
    {"wakes_socket_writers", test_socket_writers},
    {"wakes_accept", test_accept},
    {"wakes_connect", test_connect},
    {"wakes_datagrams", test_datagrams},
    {"wakes_pipe", test_pipe},
    {"wakes_splice", test_splice},
    {"wakes_splice_room", test_splice_room},
    {"wakes_splice_drains", test_splice_drains},
    {"wakes_pipe_end", test_pipe_end},
    {"wakes_fifo", test_fifo},
    {"wakes_fifo_both", test_fifo_both},
    {"wakes_locks", test_locks},
    {"wakes_eventfd", test_eventfd},
    {"wakes_epoll", test_epoll},
    {NULL, NULL},
};
