/*
 * Who still has a file. The reader of a pipe is at its end only when nobody has the writer any
 * more: so a call that fails, and keeps the file it was given, shows.
 */
#include "tests/calls/calls.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>

#define A(a) ((struct sockaddr *)&(a))

static int p[2]; /* the pipe: p[1] is what calls are given */

static void pipe_new(void)
{
	close(p[0]);
	pipe2(p, O_NONBLOCK);
}

/* Closes the writer and says whether somebody else has it. */
static void pipe_end(const char *call)
{
	char c;

	close(p[1]);
	if (read(p[0], &c, 1))
		say("%s keeps it", call);
}

/* The call's result; then nobody has the writer any more. */
#define CALL(call)                                                                                 \
	do {                                                                                       \
		pipe_new();                                                                        \
		errno = 0;                                                                         \
		say_result(#call, (long)(call));                                                   \
		pipe_end(#call);                                                                   \
	} while (0)

/* Asks whether the writer and another file can be read. */
static int selects(int other)
{
	struct timeval none = {0, 0};
	fd_set in;

	FD_ZERO(&in);
	FD_SET(p[1], &in);
	FD_SET(other, &in);
	return select(other + 1, &in, NULL, NULL, &none);
}

/* Calls that a pipe's writer is no file for, and others that want just a look. */
static void test_calls(void)
{
	struct epoll_event e = {.events = EPOLLIN};
	struct flock l = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	struct itimerspec its = {0};
	struct timespec bad[2] = {{0, -1}, {0, -1}};
	struct iovec v = {&its, 8};
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "name"};
	struct pollfd polled = {0};
	struct stat st;
	struct statfs fs;
	off_t at = -1;
	sigset_t set;
	int file = open("f", O_RDWR | O_CREAT, 0600), other[2], ep = epoll_create1(0);
	char buf[100];

	write(file, "content", 7);
	lseek(file, 0, SEEK_SET);
	pipe(other);
	sigemptyset(&set);
	CALL(read(p[1], buf, 10));
	CALL(readv(p[1], &v, 1));
	CALL(pread(p[1], buf, 10, 0));
	CALL(pwrite(p[1], buf, 10, 0));
	CALL(write(p[1], BAD, 10));
	CALL(writev(p[1], BAD, 1));
	CALL(write(p[1], buf, 0));
	CALL(lseek(p[1], 0, SEEK_SET));
	CALL(fsync(p[1]));
	CALL(ftruncate(p[1], 0));
	CALL(fallocate(p[1], 0, 0, 1));
	CALL(ioctl(p[1], FIONREAD, BAD));
	CALL(ioctl(p[1], 0x1234, BAD));
	CALL(ioctl(p[1], FIONBIO, BAD));
	CALL(fstat(p[1], &st));
	CALL(fstat(p[1], BAD));
	CALL(fstatfs(p[1], &fs));
	CALL(fstatfs(p[1], BAD));
	CALL(fchdir(p[1]));
	CALL(syscall(SYS_getdents64, p[1], buf, 100));
	CALL(openat(p[1], "x", O_RDONLY));
	CALL(mkdirat(p[1], "x", 0700));
	CALL(unlinkat(p[1], "x", 0));
	CALL(symlinkat("x", p[1], "x"));
	CALL(linkat(p[1], "x", AT_FDCWD, "y", 0));
	CALL(linkat(AT_FDCWD, "f", p[1], "y", 0));
	CALL(renameat(p[1], "x", AT_FDCWD, "y"));
	CALL(renameat(AT_FDCWD, "f", p[1], "y"));
	CALL(readlinkat(p[1], "x", buf, 10));
	CALL(faccessat(p[1], "x", F_OK, 0));
	CALL(fchmodat(p[1], "x", 0600, 0));
	CALL(fstatat(p[1], "x", &st, 0));
	CALL(fstatat(p[1], "", &st, AT_EMPTY_PATH));
	CALL(utimensat(p[1], "x", NULL, 0));
	CALL(futimens(p[1], bad));
	CALL(flock(p[1], 77));
	CALL(fcntl(p[1], F_GETFD));
	CALL(fcntl(p[1], F_SETFD, 1));
	CALL(fcntl(p[1], F_SETFL, O_NONBLOCK));
	CALL(fcntl(p[1], 7777, 0));
	CALL(fcntl(p[1], F_DUPFD, 1 << 30));
	CALL(fcntl(p[1], F_SETLK, &l));
	CALL(fcntl(p[1], F_SETLK, BAD));
	CALL(dup2(p[1], p[1]) == p[1]);
	CALL(dup2(p[1], -1));
	CALL(dup3(p[1], p[1], 0));
	CALL(dup3(p[1], 100, 1));
	CALL(mmap(NULL, 4096, PROT_READ, MAP_SHARED, p[1], 0) == MAP_FAILED);
	CALL(mmap(NULL, 4096, PROT_READ, MAP_SHARED, p[1], 1) == MAP_FAILED);
	CALL(close_range(p[1], p[1] - 1, 0));
	CALL(syscall(SYS_close_range, p[1], p[1], 4));
	CALL(splice(p[1], NULL, other[1], NULL, 10, 0));
	CALL(splice(file, BAD, p[1], NULL, 10, 0));
	CALL(splice(file, NULL, p[1], BAD, 10, 0));
	CALL(splice(file, &at, p[1], NULL, 10, 0));
	CALL(splice(99, NULL, p[1], NULL, 10, 0));
	CALL(splice(p[1], NULL, 99, NULL, 10, 0));
	CALL(splice(other[1], NULL, p[1], NULL, 10, 0));
	CALL(splice(file, NULL, p[1], NULL, 10, 1 << 20));
	CALL(sendfile(99, p[1], NULL, 10));
	CALL(sendfile(p[1], 99, NULL, 10));
	CALL(sendfile(p[1], file, BAD, 10));
	CALL(sendfile(file, p[1], NULL, 10));
	CALL(copy_file_range(p[1], NULL, file, NULL, 10, 0));
	CALL(copy_file_range(file, NULL, p[1], NULL, 10, 0));
	CALL(copy_file_range(p[1], NULL, 99, NULL, 10, 0));
	CALL(epoll_ctl(p[1], EPOLL_CTL_ADD, file, &e));
	CALL(epoll_ctl(99, EPOLL_CTL_ADD, p[1], &e));
	CALL(epoll_ctl(ep, EPOLL_CTL_MOD, p[1], &e));
	CALL(epoll_ctl(ep, EPOLL_CTL_ADD, p[1], BAD));
	CALL(epoll_ctl(ep, EPOLL_CTL_ADD, p[1], &e));
	CALL(epoll_ctl(ep, 77, p[1], &e));
	CALL(epoll_wait(p[1], &e, 1, 0));
	CALL(epoll_wait(p[1], &e, 0, 0));
	CALL(timerfd_settime(p[1], 0, &its, NULL));
	CALL(timerfd_gettime(p[1], &its));
	CALL(signalfd(p[1], &set, 0));
	CALL(poll((polled.fd = p[1], &polled), 1, 0));
	CALL(selects(60));
	CALL(selects(p[1]));
	CALL(socket(AF_UNIX, SOCK_STREAM, p[1] + 100));
	CALL(bind(p[1], A(a), sizeof(a)));
	CALL(connect(p[1], A(a), sizeof(a)));
	CALL(listen(p[1], 1));
	CALL(accept(p[1], NULL, NULL));
	CALL(getsockname(p[1], NULL, NULL));
	CALL(setsockopt(p[1], SOL_SOCKET, SO_SNDBUF, buf, 4));
	CALL(getsockopt(p[1], SOL_SOCKET, SO_SNDBUF, buf, BAD));
	CALL(send(p[1], "x", 1, 0));
	CALL(recv(p[1], buf, 1, 0));
	CALL(shutdown(p[1], 0));
}

/* ---- files in messages ---- */

/* What a message is sent with, beside p[1] and another file; what is 0 is as usual. */
struct parts {
	struct sockaddr_un *name;
	void *data;
	size_t len;
	int other, type;
	size_t control_len;
};

#define PARTS(...) ((struct parts){__VA_ARGS__})

static const struct parts plain;

static long send_pipe(int to, struct parts x, int flags)
{
	struct {
		struct cmsghdr head;
		int fd[2];
		struct cmsghdr next;
	} control = {{CMSG_LEN(8), SOL_SOCKET, SCM_RIGHTS}, {p[1], x.other},
	    {CMSG_LEN(0), SOL_SOCKET, x.type}};
	struct iovec v = {x.data ? x.data : "x", x.len ? x.len : 1};
	struct msghdr m = {.msg_name = x.name,
	    .msg_namelen = sizeof(*x.name),
	    .msg_iov = &v,
	    .msg_iovlen = 1,
	    .msg_control = &control,
	    .msg_controllen = x.control_len ? x.control_len : CMSG_SPACE(8)};

	return sendmsg(to, &m, flags | MSG_NOSIGNAL);
}

/* A message that is not sent keeps no file. */
static void test_unsent(void)
{
	static char big[1 << 20];
	struct sockaddr_un none = {.sun_family = AF_UNIX, .sun_path = "none"},
			   stream = {.sun_family = AF_UNIX, .sun_path = "stream"};
	int s[2], d[2], closed[2], full[2], l = socket(AF_UNIX, SOCK_STREAM, 0);

	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	socketpair(AF_UNIX, SOCK_DGRAM, 0, d);
	socketpair(AF_UNIX, SOCK_STREAM, 0, closed);
	socketpair(AF_UNIX, SOCK_STREAM, 0, full);
	close(closed[1]);
	while (send(full[0], big, sizeof(big), MSG_DONTWAIT) > 0)
		;
	while (send(full[0], big, 1, MSG_DONTWAIT) > 0)
		;
	bind(l, A(stream), sizeof(stream));
	CALL(send_pipe(s[0], PARTS(.data = BAD), 0));
	CALL(send_pipe(d[0], PARTS(.data = BAD), 0));
	CALL(send_pipe(s[0], PARTS(.other = 99), 0));
	CALL(send_pipe(s[0], PARTS(.other = -1), 0));
	CALL(send_pipe(s[0], PARTS(.type = 77, .control_len = CMSG_SPACE(8) + CMSG_LEN(0)), 0));
	CALL(send_pipe(s[0], PARTS(.data = BAD, .len = -1), 0));
	CALL(send_pipe(d[0], PARTS(.data = big, .len = sizeof(big)), 0));
	CALL(send_pipe(d[0], PARTS(.name = &none), 0));
	CALL(send_pipe(d[0], PARTS(.name = &stream), 0));
	CALL(send_pipe(s[0], PARTS(.name = &none), 0));
	CALL(send_pipe(l, plain, 0));
	CALL(send_pipe(closed[0], plain, 0));
	CALL(send_pipe(full[0], plain, MSG_DONTWAIT));
	shutdown(s[1], SHUT_RD);
	CALL(send_pipe(s[0], plain, 0));
	shutdown(d[0], SHUT_WR);
	CALL(send_pipe(d[0], plain, 0));
	CALL(send_pipe(p[1], plain, 0));
	CALL(send_pipe(99, plain, 0));
}

/* Receives into `room` bytes of control messages, and closes what comes. */
static long receive(int from, size_t room, void *name, int flags)
{
	char control[CMSG_SPACE(8)] = {0}, text[10];
	struct iovec v = {text, sizeof(text)};
	struct msghdr m = {.msg_iov = &v,
	    .msg_iovlen = 1,
	    .msg_name = name,
	    .msg_namelen = sizeof(struct sockaddr_un),
	    .msg_control = control,
	    .msg_controllen = room};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	long n = recvmsg(from, &m, flags | MSG_DONTWAIT);

	for (unsigned i = 0; n >= 0 && c && m.msg_controllen && i < (c->cmsg_len - CMSG_LEN(0)) / 4;
	     i++)
		close(((int *)CMSG_DATA(c))[i]);
	say("flags %#x", n >= 0 ? m.msg_flags : 0);
	return n;
}

/* A message that was sent, and whose file nobody takes, keeps it no longer than itself. */
static void test_sent(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "name"};
	char buf[10];
	int s[2], l, c;

	for (int type = SOCK_STREAM; type <= SOCK_SEQPACKET; type++) {
		if (type == SOCK_RAW || type == SOCK_RDM)
			continue;
		socketpair(AF_UNIX, type, 0, s);
		CALL(send_pipe(s[0], plain, 0) + read(s[1], buf, 10));
		CALL(send_pipe(s[0], plain, 0) + recv(s[1], buf, 10, 0));
		CALL(send_pipe(s[0], plain, 0) + receive(s[1], 0, NULL, 0));
		CALL(send_pipe(s[0], plain, 0) + receive(s[1], CMSG_LEN(4) - 1, NULL, 0));
		CALL(send_pipe(s[0], plain, 0) + receive(s[1], CMSG_LEN(4), NULL, 0));
		CALL(send_pipe(s[0], plain, 0) + receive(s[1], CMSG_SPACE(8), NULL, 0));
		CALL(send_pipe(s[0], plain, 0) + close(s[0]) + close(s[1]));
		socketpair(AF_UNIX, type, 0, s);
		CALL(send_pipe(s[0], plain, 0) + send_pipe(s[0], plain, 0) + close(s[1]));
		close(s[0]);
	}
	/* to one that was never accepted */
	l = socket(AF_UNIX, SOCK_STREAM, 0);
	bind(l, A(name), sizeof(name));
	listen(l, 5);
	c = socket(AF_UNIX, SOCK_STREAM, 0);
	connect(c, A(name), sizeof(name));
	CALL(send_pipe(c, plain, 0) + close(l));
	CALL(send_pipe(c, plain, 0));
}

/* ---- descriptors ---- */

/* A call that makes files, and fails to give their numbers, leaves none open. */
static void test_made(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "name"};
	int l = socket(AF_UNIX, SOCK_STREAM, 0), c = socket(AF_UNIX, SOCK_STREAM, 0), next = dup(0);
	socklen_t len = -1, some = 10;
	char buf[10];

	close(next);
	R(pipe(BAD));
	R(pipe2(BAD, O_CLOEXEC));
	R(socketpair(AF_UNIX, SOCK_STREAM, 0, BAD));
	R(socketpair(AF_UNIX, SOCK_DGRAM, 0, BAD));
	R(eventfd(0, 0x100));
	R(epoll_create1(0x100));
	R(timerfd_create(CLOCK_MONOTONIC, 0x100));
	R(memfd_create(BAD, 0));
	R(open("none", O_RDONLY));
	R(open(".", O_RDWR));
	T((c = dup(0)) == next);
	bind(l, A(name), sizeof(name));
	listen(l, 5);
	fcntl(c, F_SETFL, O_NONBLOCK);
	close(c);
	/* the peer of a connection whose accept() fails late is closed */
	for (int i = 0; i < 3; i++) {
		c = socket(AF_UNIX, SOCK_STREAM, 0);
		connect(c, A(name), sizeof(name));
		R(accept(l, i ? A(name) : BAD, i == 1 ? BAD : i ? &len : &some));
		R(recv(c, buf, 10, MSG_DONTWAIT));
		close(c);
	}
	T((c = dup(0)) == next);
}

/* With no number free, calls that make files fail and keep none; with one, those that make two. */
static void test_limit(void)
{
	struct rlimit limit = {1024, 1024};
	sigset_t set;
	int s[2], all = 0, fd, last = 0, two[2];

	setrlimit(RLIMIT_NOFILE, &limit);
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	pipe_new();
	R(send_pipe(s[0], plain, 0));
	while ((fd = dup(0)) >= 0) {
		all++;
		last = fd;
	}
	say("%d", last);
	sigemptyset(&set);
	R(dup(p[1]));
	R(fcntl(p[1], F_DUPFD, 0));
	R(fcntl(p[1], F_DUPFD_CLOEXEC, 1023));
	R(fcntl(p[1], F_DUPFD, 1024));
	R(dup2(p[1], 1024));
	R(receive(s[1], CMSG_SPACE(8), NULL, 0));
	R(open("/proc/self/fd/1", O_RDWR));
	R(open(".", O_RDONLY));
	R(socket(AF_UNIX, SOCK_STREAM, 0));
	R(pipe(two));
	R(eventfd(0, 0));
	R(epoll_create1(0));
	R(timerfd_create(CLOCK_MONOTONIC, 0));
	R(signalfd(-1, &set, 0));
	R(memfd_create("name", 0));
	close(last);
	for (int i = 0; i < 3; i++) {
		R(pipe(two));
		R(socketpair(AF_UNIX, SOCK_STREAM, 0, two));
	}
	R(dup(0));
	R(dup(0));
	pipe_end("one");
}

const struct call_case refs_cases[] = {
    {"refs_calls", test_calls},
    {"refs_unsent", test_unsent},
    {"refs_sent", test_sent},
    {"refs_made", test_made},
    {"refs_limit", test_limit},
    {NULL, NULL},
};
