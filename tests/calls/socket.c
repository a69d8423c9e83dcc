/* Sockets of AF_UNIX. */
#include "tests/calls/calls.h"

#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

static char big[400000];

static struct sockaddr_un path_of(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	strcpy(a.sun_path, path);
	return a;
}

#define A(a) ((struct sockaddr *)&(a))

static int bound(int type, const char *path)
{
	struct sockaddr_un a = path_of(path);
	int fd = socket(AF_UNIX, type, 0);

	R(bind(fd, A(a), sizeof(a)));
	return fd;
}

static void show_poll(const char *what, int fd)
{
	struct pollfd p = {fd, POLLIN | POLLOUT | POLLRDHUP | POLLPRI, 0};

	poll(&p, 1, 0);
	say("%s: %#x", what, p.revents);
}

static void test_make(void)
{
	int fd[2];

	R(socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
	R(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, PF_UNIX) >= 0);
	R(socket(AF_UNIX, SOCK_STREAM, 7));
	R(socket(AF_UNIX, SOCK_STREAM | 0x100, 0));
	R(socket(AF_UNIX, 6, 0));
	R(socket(AF_UNIX, 14, 0));
	R(socket(1000, SOCK_STREAM, 0));
	R(socket(-1, SOCK_STREAM, 0));
	R(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd));
	R(fcntl(fd[1], F_GETFD));
	R(fcntl(fd[1], F_GETFL));
	R(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd));
	R(fcntl(fd[0], F_GETFL) == (O_RDWR | O_NONBLOCK));
	R(socketpair(AF_UNIX, SOCK_STREAM, 0, BAD));
	struct stat st;
	R(fstat(fd[0], &st));
	say("%o %ld", st.st_mode, (long)st.st_nlink);
	R(lseek(fd[0], 0, SEEK_SET));
	R(pread(fd[0], &st, 1, 0));
	R(ftruncate(fd[0], 1));
	R(open("/proc/self/fd/3", O_RDWR));
	int p[2];
	pipe(p);
	R(send(p[1], "x", 1, 0));
	R(listen(99, 1));
	R(shutdown(p[0], 0));
	R(shutdown(99, 7));
}

static void test_stream(void)
{
	char buf[100] = "";
	int s[2], n, on = 1;

	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	show_poll("new", s[0]);
	R(write(s[0], "one", 3));
	R(send(s[0], "two", 3, 0));
	R(ioctl(s[1], FIONREAD, &n));
	say("%d", n);
	show_poll("with bytes", s[1]);
	R(recv(s[1], buf, 4, MSG_PEEK));
	R(read(s[1], buf, 4));
	R(recv(s[1], buf + 4, 96, MSG_DONTWAIT));
	say("%s", buf);
	R(recv(s[1], buf, 10, MSG_DONTWAIT));
	R(recv(s[1], buf, 0, MSG_DONTWAIT));
	R(read(s[1], buf, 0));
	R(write(s[0], "", 0));
	R(ioctl(s[1], FIONBIO, &on));
	R(read(s[1], buf, 10));
	R(fcntl(s[0], F_SETFL, O_NONBLOCK));
	memset(big, 'x', sizeof(big));
	long total = 0, got = 0, part;
	while ((part = write(s[0], big, sizeof(big))) > 0)
		total += part;
	T(errno == EAGAIN && total > 100000);
	show_poll("full", s[0]);
	while ((part = read(s[1], big, sizeof(big))) > 0)
		got += part;
	T(got == total);
	show_poll("empty again", s[0]);
	R(shutdown(s[0], SHUT_WR));
	show_poll("half closed", s[1]);
	R(read(s[1], buf, 10));
	R(write(s[1], "back", 4));
	R(read(s[0], buf, 10));
	signal(SIGPIPE, SIG_IGN);
	R(write(s[0], "x", 1));
	R(shutdown(s[0], 3));
	R(write(s[1], "left", 4));
	close(s[0]);
	show_poll("closed", s[1]);
	R(read(s[1], buf, 10));
	R(write(s[1], "x", 1));
	R(send(s[1], "x", 1, MSG_NOSIGNAL));
	signal(SIGPIPE, SIG_DFL);
	R(send(s[1], "x", 1, MSG_NOSIGNAL));
}

static int broken[2];

static void write_broken(void)
{
	write(broken[1], "x", 1);
}

static void test_ends(void)
{
	char buf[10];
	int s[2];

	socketpair(AF_UNIX, SOCK_STREAM, 0, broken);
	close(broken[0]);
	in_child(write_broken);
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	write(s[0], "unread", 6);
	write(s[1], "there", 5);
	close(s[1]); /* with bytes that nobody read */
	show_poll("reset", s[0]);
	R(read(s[0], buf, 10));
	R(read(s[0], buf, 10));
	R(read(s[0], buf, 10));
	/* An error stays for the next call if recv() returns bytes, but not with MSG_WAITALL. */
	for (int flags = 0; flags <= MSG_WAITALL; flags += MSG_WAITALL) {
		socketpair(AF_UNIX, SOCK_STREAM, 0, s);
		write(s[0], "unread", 6);
		write(s[1], "there", 5);
		close(s[1]);
		R(recv(s[0], buf, 10, flags));
		R(recv(s[0], buf, 10, flags));
		R(recv(s[0], buf, 10, flags));
	}
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	R(recv(s[0], BAD, 10, MSG_DONTWAIT));
	write(s[1], "x", 1);
	R(recv(s[0], BAD, 10, MSG_DONTWAIT));
	R(send(s[0], BAD, 10, 0));
}

static void test_packets(void)
{
	struct iovec v[2];
	char buf[100] = "";
	struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};
	int s[2];

	R(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s));
	R(write(s[0], "first packet", 12));
	R(write(s[0], "second", 6));
	R(send(s[0], "", 0, 0));
	R(send(s[0], "last", 4, MSG_EOR));
	v[0] = (struct iovec){buf, 2};
	v[1] = (struct iovec){buf + 10, 3};
	R(recvmsg(s[1], &m, 0));
	say("%.2s %.3s flags %#x", buf, buf + 10, m.msg_flags);
	R(recv(s[1], buf, 100, MSG_PEEK));
	R(recv(s[1], buf, 3, MSG_TRUNC));
	R(recv(s[1], buf, 100, 0));
	R(read(s[1], buf, 100));
	R(recv(s[1], buf, 100, MSG_DONTWAIT));
	R(send(s[0], big, sizeof(big), 0));
	close(s[0]);
	R(read(s[1], buf, 100));
	R(send(s[1], "x", 1, MSG_NOSIGNAL));
}

static void test_datagrams(void)
{
	struct sockaddr_un a = path_of("one"), from;
	socklen_t len = sizeof(from);
	char buf[100] = "";
	int one = bound(SOCK_DGRAM, "one"), two = bound(SOCK_DGRAM, "two"), s[2];

	R(sendto(two, "hello", 5, 0, A(a), sizeof(a)));
	R(recvfrom(one, buf, 3, MSG_TRUNC, A(from), &len));
	say("%s from %s, %d", buf, from.sun_path, (int)len);
	R(send(two, "x", 1, 0));
	R(connect(two, A(a), sizeof(a)));
	R(send(two, "x", 1, 0));
	R(recv(one, buf, 10, 0));
	a = path_of("two");
	R(connect(one, A(a), sizeof(a)));
	R(send(one, "y", 1, 0));
	int three = socket(AF_UNIX, SOCK_DGRAM, 0);
	R(sendto(three, "x", 1, 0, A(a), sizeof(a)));
	R(connect(three, A(a), sizeof(a)));
	a.sun_family = AF_UNSPEC;
	R(connect(two, A(a), sizeof(a.sun_family)));
	R(send(two, "x", 1, 0));
	R(listen(two, 1));
	R(accept(two, NULL, NULL));
	R(socketpair(AF_UNIX, SOCK_DGRAM, 0, s));
	R(write(s[0], "pair", 4));
	R(recvfrom(s[1], buf, 100, 0, A(from), &len));
	say("%d", (int)len);
	R(recv(s[1], buf, 100, MSG_DONTWAIT));
	close(s[1]);
	R(write(s[0], "pair", 4));
	a = path_of("none");
	R(sendto(one, "x", 1, 0, A(a), sizeof(a)));
}

static void test_names(void)
{
	struct sockaddr_un a = path_of("name"), other;
	struct stat st;
	socklen_t len = sizeof(other);
	int fd = bound(SOCK_STREAM, "name"), again = socket(AF_UNIX, SOCK_STREAM, 0);

	R(stat("name", &st));
	say("%o", st.st_mode);
	R(open("name", O_RDWR));
	R(bind(again, A(a), sizeof(a)));
	R(bind(fd, A(a), sizeof(a)));
	R(getsockname(fd, A(other), &len));
	say("%s %d", other.sun_path, (int)len);
	len = 4;
	memset(&other, 'z', sizeof(other));
	R(getsockname(fd, A(other), &len));
	say("%.3s %d", other.sun_path, (int)len);
	len = sizeof(other);
	R(getsockname(again, A(other), &len));
	say("%d", (int)len);
	R(getpeername(fd, A(other), &len));
	R(connect(again, A(a), sizeof(a))); /* nobody listens */
	R(unlink("name"));
	R(connect(again, A(a), sizeof(a)));
	a = path_of("none/name");
	R(bind(again, A(a), sizeof(a)));
	close(open("file", O_CREAT | O_WRONLY, 0600));
	a = path_of("file");
	R(connect(again, A(a), sizeof(a)));
	R(connect(again, A(a), 1));
	R(connect(again, A(a), 200));
	R(connect(again, BAD, sizeof(a)));
	a.sun_family = AF_INET;
	R(bind(again, A(a), sizeof(a)));
	len = -1;
	R(getsockname(fd, A(other), &len));
	R(getsockname(fd, A(other), BAD));
	len = sizeof(other);
	R(getsockname(fd, BAD, &len));
	memset(&a, 'l', sizeof(a));
	a.sun_family = AF_UNIX;
	R(bind(again, A(a), sizeof(a)));
	R(getsockname(again, A(other), &len));
	say("%d", (int)len);
	/* A name in no directory: all its bytes count. */
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	memset(&a, 0, sizeof(a));
	a.sun_family = AF_UNIX;
	snprintf(a.sun_path + 1, 50, "trapline calls %d", getpid());
	R(bind(fd, A(a), offsetof(struct sockaddr_un, sun_path) + 10));
	len = sizeof(other);
	R(getsockname(fd, A(other), &len));
	say("%d", (int)len);
	again = socket(AF_UNIX, SOCK_STREAM, 0);
	R(bind(again, A(a), offsetof(struct sockaddr_un, sun_path) + 10));
	R(bind(again, A(a), offsetof(struct sockaddr_un, sun_path) + 11));
	R(mknod("made", S_IFSOCK | 0600, 0));
}

static void test_connections(void)
{
	struct sockaddr_un a = path_of("server"), peer;
	socklen_t len = sizeof(peer);
	struct ucred cred;
	int l = socket(AF_UNIX, SOCK_STREAM, 0), c[3], s;
	char buf[20] = "";

	R(listen(l, 5));
	bind(l, A(a), sizeof(a));
	R(accept(l, NULL, NULL));
	R(listen(l, 1));
	show_poll("listening", l);
	fcntl(l, F_SETFL, O_NONBLOCK);
	R(accept(l, NULL, NULL));
	for (int i = 0; i < 3; i++) {
		c[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		R(connect(c[i], A(a), sizeof(a)));
	}
	R(connect(c[0], A(a), sizeof(a)));
	R(write(c[0], "early", 5));
	show_poll("waiting", l);
	R((s = accept4(l, A(peer), &len, SOCK_CLOEXEC)) >= 0);
	say("peer's name: %d", (int)len);
	R(fcntl(s, F_GETFD));
	R(read(s, buf, 20));
	say("%s", buf);
	len = sizeof(peer);
	R(getpeername(c[0], A(peer), &len));
	say("%s %d", peer.sun_path, (int)len);
	R(getsockname(s, A(peer), &len));
	say("%s", peer.sun_path);
	len = sizeof(cred);
	R(getsockopt(c[0], SOL_SOCKET, SO_PEERCRED, &cred, &len));
	T(cred.pid == getpid() && len == sizeof(cred));
	R(connect(c[2], A(a), sizeof(a)));
	R(accept4(l, NULL, NULL, 0x100));
	R(accept(c[0], NULL, NULL));
	R(connect(l, A(a), sizeof(a)));
	close(l); /* two wait and are never accepted */
	show_poll("never accepted", c[1]);
	R(read(c[1], buf, 20));
	R(read(c[1], buf, 20));
	R(send(c[1], "x", 1, MSG_NOSIGNAL));
	R(write(c[0], "late", 4));
	R(read(s, buf, 20));
	s = socket(AF_UNIX, SOCK_STREAM, 0);
	show_poll("alone", s);
	R(read(s, buf, 1));
	R(send(s, "x", 1, MSG_NOSIGNAL));
	R(shutdown(s, SHUT_RD));
	R(shutdown(s, 7));
	R(connect(s, A(a), sizeof(a)));
	R(sendto(c[0], "x", 1, MSG_NOSIGNAL, A(a), sizeof(a)));
}

/* Somebody waits for each of these. */
static void test_waits(void)
{
	struct sockaddr_un a = path_of("server");
	struct epoll_event e = {.events = EPOLLIN | EPOLLET};
	int l = bound(SOCK_STREAM, "server"), ep = epoll_create1(0), s;
	char buf[20] = "";
	long sum = 0, n;

	listen(l, 1);
	pid_t pid = fork();
	if (!pid) {
		s = socket(AF_UNIX, SOCK_STREAM, 0);
		usleep(2000);
		connect(s, A(a), sizeof(a));
		usleep(2000);
		write(s, big, sizeof(big));
		recv(s, buf, 10, MSG_WAITALL);
		write(s, buf, 10);
		_exit(0);
	}
	R((s = accept(l, NULL, NULL)) >= 0);
	R(epoll_ctl(ep, EPOLL_CTL_ADD, s, &e));
	R(epoll_wait(ep, &e, 1, -1));
	say("%#x", e.events);
	while (sum < (long)sizeof(big) && (n = read(s, big, 30000)) > 0)
		sum += n;
	say("%ld", sum);
	write(s, "01234", 5);
	usleep(1000);
	write(s, "56789", 5);
	R(recv(s, buf, 20, 0));
	say("%s", buf);
	R(read(s, buf, 1));
	waitpid(pid, NULL, 0);
	struct timeval tv = {0, 2000};
	socklen_t len = sizeof(tv);
	int p[2];
	socketpair(AF_UNIX, SOCK_STREAM, 0, p);
	R(setsockopt(p[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	R(read(p[0], buf, 1));
	R(getsockopt(p[0], SOL_SOCKET, SO_SNDTIMEO, &tv, &len));
	say("%ld", (long)tv.tv_usec);
}

/* Sends with files: the result of sendmsg(). */
static long send_files(int to, const char *text, const int *fd, int n)
{
	char control[CMSG_SPACE(sizeof(int) * 300)] = {0};
	struct iovec v = {(char *)text, strlen(text)};
	struct msghdr m = {.msg_iov = &v,
	    .msg_iovlen = 1,
	    .msg_control = control,
	    .msg_controllen = CMSG_SPACE(sizeof(int) * n)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int) * n);
	memcpy(CMSG_DATA(c), fd, sizeof(int) * n);
	return sendmsg(to, &m, MSG_NOSIGNAL);
}

static int got[300];

/* Receives into room for so many files; says what came. */
static int receive_files(int from, int room)
{
	char control[CMSG_SPACE(sizeof(int) * 300)] = {0}, text[100] = "";
	struct iovec v = {text, sizeof(text) - 1};
	struct msghdr m = {.msg_iov = &v,
	    .msg_iovlen = 1,
	    .msg_control = control,
	    .msg_controllen = room ? CMSG_LEN(sizeof(int) * room) : 0};
	long n = recvmsg(from, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int files = 0;

	if (n < 0) {
		say("recvmsg: %s", strerrorname_np(errno));
		return 0;
	}
	if (m.msg_controllen && c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		files = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(got, CMSG_DATA(c), files * sizeof(int));
	}
	say("%ld bytes '%s', %d files, control %ld, flags %#x", n, text, files,
	    (long)m.msg_controllen, m.msg_flags);
	return files;
}

static void test_files(void)
{
	int s[2], p[2], file = open("f", O_RDWR | O_CREAT, 0600), many[300];
	char c = 0;

	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	pipe(p);
	R(send_files(s[0], "a pipe", p, 2));
	write(s[0], " and more", 9);
	close(p[0]);
	write(p[1], "x", 1);
	receive_files(s[1], 10);
	R(read(got[0], &c, 1));
	say("%c", c);
	R(fcntl(got[0], F_GETFD));
	receive_files(s[1], 10);
	write(file, "content", 7);
	R(send_files(s[0], "a file", &file, 1));
	R(send_files(s[0], "again", &file, 1));
	close(file);
	receive_files(s[1], 10);
	R(lseek(got[0], 0, SEEK_CUR));
	receive_files(s[1], 0);
	many[0] = 1;
	many[1] = 99;
	R(send_files(s[0], "bad", many, 2));
	for (int i = 0; i < 300; i++)
		many[i] = 1;
	R(send_files(s[0], "too many", many, 254));
	R(send_files(s[0], "many", many, 253));
	T(receive_files(s[1], 5) == 5);
	R(send_files(s[0], "read() drops them", many, 3));
	char buf[100];
	R(read(s[1], buf, 100));
	/* Left where nobody reads it any more. */
	pipe(p);
	R(send_files(s[0], "dropped", &p[1], 1));
	close(p[1]);
	close(s[1]);
	R(read(p[0], &c, 1));
}

/* A read goes on from plain bytes into those that bring files, and ends after them. */
static void test_files_between(void)
{
	const int file = 0;
	int s[2];
	char buf[100];

	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	for (int i = 0; i < 4; i++) {
		write(s[0], "plain", 5);
		R(send_files(s[0], "files", &file, 1));
		write(s[0], " after", 6);
	}
	R(read(s[1], buf, 100));
	R(recv(s[1], buf, 100, MSG_PEEK));
	R(recv(s[1], buf, 100, 0));
	receive_files(s[1], 2);
	R(recv(s[1], buf, 100, MSG_WAITALL));
	receive_files(s[1], 2);
}

/* Files for which there is no memory: the bytes come, and no descriptor stays open. */
static void test_files_nowhere(void)
{
	const int files[2] = {0, 0};
	int s[2], next;
	char text[10],
	    *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec v = {text, sizeof(text)};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	const struct {
		char *control;
		size_t room;
	} places[] = {{BAD, CMSG_LEN(sizeof(int))},
	    {page + 4096 - CMSG_LEN(0), CMSG_LEN(sizeof(int))},
	    {page + 4096 - CMSG_LEN(4), CMSG_LEN(8)}};

	munmap(page + 4096, 4096);
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	close(next = dup(0));
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		R(send_files(s[0], "files", files, 2));
		m.msg_control = places[i].control;
		m.msg_controllen = places[i].room;
		R(recvmsg(s[1], &m, MSG_DONTWAIT));
		say("control %ld, flags %#x", (long)m.msg_controllen, m.msg_flags);
		T(fcntl(next, F_GETFD) < 0);
		T(fcntl(next + 1, F_GETFD) < 0);
	}
}

/* Sockets in sockets: each is as good as before when it comes out. */
static void test_files_sockets(void)
{
	int a[2], b[2], c[2];
	char buf[10] = "";

	socketpair(AF_UNIX, SOCK_STREAM, 0, a);
	socketpair(AF_UNIX, SOCK_SEQPACKET, 0, b);
	socketpair(AF_UNIX, SOCK_DGRAM, 0, c);
	R(send_files(a[0], "b", &b[1], 1));
	close(b[1]);
	write(b[0], "inside", 6);
	receive_files(a[1], 1);
	R(read(got[0], buf, 10));
	say("%s", buf);
	R(send_files(c[0], "a", &a[0], 1));
	close(a[0]);
	receive_files(c[1], 1);
	R(write(got[0], "back", 4));
	R(read(a[1], buf, 10));
}

/* Once the reader of a full stream is gone, a writer need not wait to hear of it. */
static void test_full_end(void)
{
	static const int types[] = {SOCK_STREAM, SOCK_SEQPACKET};
	char buf[1000] = "";

	for (int i = 0; i < 2; i++) {
		struct pollfd p = {.events = POLLIN | POLLOUT};
		int s[2];

		socketpair(AF_UNIX, types[i] | SOCK_NONBLOCK, 0, s);
		while (write(s[0], buf, sizeof(buf)) > 0)
			;
		p.fd = s[0];
		R(poll(&p, 1, 0));
		close(s[1]);
		R(poll(&p, 1, 0));
		say("%#x", p.revents & (POLLOUT | POLLHUP));
	}
}

/* Calls that are refused change nothing: neither the socket nor what a path names. */
static void test_refusals(void)
{
	struct sockaddr_un a = path_of("one"), b = path_of("two"), packets = path_of("packets"),
			   plain = path_of("datagrams");
	int one = bound(SOCK_STREAM, "one"), c = socket(AF_UNIX, SOCK_STREAM, 0), s[2], n = 1,
	    packet = bound(SOCK_SEQPACKET, "packets"), gram = bound(SOCK_DGRAM, "datagrams");
	socklen_t len = sizeof(n);
	char abstract[20];

	R(bind(one, A(b), sizeof(b)));
	R(access("two", F_OK));
	snprintf(abstract, sizeof(abstract), "%c%cn%d", AF_UNIX, 0, getpid() % 10000);
	abstract[1] = abstract[2] = 0;
	R(bind(one, (struct sockaddr *)abstract, 10));
	R(listen(one, 5));
	R(listen(packet, 5));
	R(connect(c, A(packets), sizeof(packets)));
	R(connect(c, A(plain), sizeof(plain)));
	R(connect(gram, A(a), sizeof(a)));
	R(connect(c, A(a), sizeof(a)));
	R(connect(c, A(a), sizeof(a)));
	R(connect(c, A(packets), sizeof(packets)));
	R(listen(c, 1));
	R(bind(c, A(b), sizeof(b)));
	R(connect(one, A(a), sizeof(a)));
	R(connect(packet, A(packets), sizeof(packets)));
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	R(connect(s[0], A(a), sizeof(a)));
	R(setsockopt(s[0], 77, SO_PASSCRED, &n, sizeof(n)));
	R(getsockopt(s[0], SOL_SOCKET, SO_PASSCRED, &n, &len));
	say("%d", n);
	R(getsockopt(s[0], 77, SO_TYPE, &n, &len));
	/* a listener that is shut refuses */
	R(shutdown(packet, SHUT_RD));
	c = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	R(connect(c, A(packets), sizeof(packets)));
	R(accept(packet, NULL, NULL));
	/* to send datagrams to one that reads no more is another error than to one that ended */
	socketpair(AF_UNIX, SOCK_DGRAM, 0, s);
	R(shutdown(s[1], SHUT_RD));
	R(send(s[0], "x", 1, MSG_NOSIGNAL));
	close(s[1]);
	R(send(s[0], "x", 1, MSG_NOSIGNAL));
}

/* A packet may be as long as the room for sending, but for 32 bytes; FIONREAD is what is left. */
static void test_lengths(void)
{
	static const int types[] = {SOCK_DGRAM, SOCK_SEQPACKET};
	int s[2], n = 5000;

	for (int i = 0; i < 2; i++) {
		socketpair(AF_UNIX, types[i], 0, s);
		R(setsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &n, sizeof(n)));
		R(send(s[0], big, 10000 - 31, MSG_DONTWAIT));
		R(send(s[0], big, 10000 - 32, MSG_DONTWAIT));
		R(recv(s[1], big, sizeof(big), MSG_DONTWAIT));
		R(send(s[0], "123456", 6, 0));
		R(send(s[0], "123", 3, 0));
		R(ioctl(s[1], FIONREAD, &n));
		say("%d", n);
		R(recv(s[1], big, 2, 0));
		R(ioctl(s[1], FIONREAD, &n));
		say("%d", n);
		n = 5000;
	}
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	write(s[0], "123456", 6);
	write(s[0], "123", 3);
	R(read(s[1], big, 4));
	R(ioctl(s[1], FIONREAD, &n));
	say("%d", n);
	R(read(s[1], big, 3));
	R(ioctl(s[1], FIONREAD, &n));
	say("%d", n);
}

/* A socket that was in a message, and came out or was lost with it, can be sent to as before. */
static void test_files_landed(void)
{
	int a[2], b[2], c[2];

	for (int i = 0; i < 6; i++) {
		socketpair(AF_UNIX, SOCK_STREAM, 0, a);
		socketpair(AF_UNIX, SOCK_STREAM, 0, b);
		socketpair(AF_UNIX, SOCK_STREAM, 0, c);
		R(send_files(a[0], "b", b, 1));
		R(send_files(a[0], "c", c, 2));
		if (i & 1)
			receive_files(a[1], 2);
		if (i & 2)
			receive_files(a[1], 2);
		close(a[1]);
		R(send_files(b[1], "c", c, 2));
		receive_files(b[0], 2);
		R(send_files(c[1], "b", b, 2));
		receive_files(c[0], 2);
		close(a[0]);
	}
	/* there and back, more often than sockets may lie in each other */
	for (int i = 0; i < 10; i++) {
		R(send_files(b[1], "c", c, 1));
		receive_files(b[0], 1);
		R(send_files(c[1], "b", b, 1));
		receive_files(c[0], 1);
	}
}

static void test_messages(void)
{
	struct iovec v[3] = {{(char *)"one ", 4}, {(char *)"two ", 4}, {(char *)"three", 5}};
	struct msghdr m = {.msg_iov = v, .msg_iovlen = 3};
	char buf[100] = "";
	int s[2];

	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	R(sendmsg(s[0], &m, 0));
	R(read(s[1], buf, 100));
	say("%s", buf);
	m.msg_iovlen = 2000;
	R(sendmsg(s[0], &m, 0));
	m.msg_iovlen = 3;
	v[1].iov_base = BAD;
	R(sendmsg(s[0], &m, 0));
	R(sendmsg(s[0], BAD, 0));
	R(recvmsg(s[0], BAD, MSG_DONTWAIT));
	v[1].iov_base = NULL;
	v[1].iov_len = 0;
	R(sendmsg(s[0], &m, 0));
	v[0] = (struct iovec){buf, 3};
	v[1] = (struct iovec){buf + 50, 3};
	v[2] = (struct iovec){buf + 80, 20};
	R(recvmsg(s[1], &m, 0));
	say("%.3s %.3s %.3s %#x %d", buf, buf + 50, buf + 80, m.msg_flags, m.msg_namelen);
	m.msg_control = BAD;
	m.msg_controllen = 20;
	R(sendmsg(s[0], &m, 0));
	m.msg_controllen = 16;
	char control[100] = {3};
	m.msg_control = control;
	R(sendmsg(s[0], &m, 0));
	R(writev(s[0], v, 2));
	R(readv(s[1], v, 3) > 0);
}

static void test_options(void)
{
	int s[2], n, l = bound(SOCK_SEQPACKET, "s");
	socklen_t len = sizeof(n);
	struct timeval tv = {0, 1000000};
	static const int options[] = {
	    SO_TYPE, SO_ERROR, SO_DOMAIN, SO_PROTOCOL, SO_ACCEPTCONN, SO_SNDBUF};

	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	listen(l, 1);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		R(getsockopt(s[0], SOL_SOCKET, options[i], &n, &len));
		say("%d: %d", options[i], n);
		R(getsockopt(l, SOL_SOCKET, options[i], &n, &len));
		say("%d: %d", options[i], n);
	}
	n = 10000;
	R(setsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &n, sizeof(n)));
	R(getsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &n, &len));
	say("%d", n);
	n = 1;
	R(setsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &n, sizeof(n)));
	R(getsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &n, &len));
	say("%d", n);
	R(setsockopt(s[0], SOL_SOCKET, SO_REUSEADDR, &n, sizeof(n)));
	R(setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	R(setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &tv, 8));
	R(setsockopt(s[0], SOL_SOCKET, 999, &n, sizeof(n)));
	R(setsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &n, 3));
	R(setsockopt(s[0], SOL_SOCKET, SO_SNDBUF, BAD, 4));
	R(getsockopt(s[0], SOL_SOCKET, 999, &n, &len));
	R(getsockopt(s[0], SOL_SOCKET, SO_TYPE, BAD, &len));
	R(getsockopt(s[0], SOL_SOCKET, SO_TYPE, &n, BAD));
	len = -1;
	R(getsockopt(s[0], SOL_SOCKET, SO_TYPE, &n, &len));
	len = 2;
	n = 0;
	R(getsockopt(s[0], SOL_SOCKET, SO_TYPE, &n, &len));
	say("%d %d", n, (int)len);
	R(getsockopt(0, SOL_SOCKET, SO_TYPE, &n, &len));
}

static void test_splice(void)
{
	int s[2], p[2], file = open("f", O_RDWR | O_CREAT, 0600);
	char buf[100] = "";

	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	pipe(p);
	write(file, "a file's content", 16);
	off_t at = 2;
	R(sendfile(s[0], file, &at, 100));
	R(read(s[1], buf, 100));
	say("%s", buf);
	write(s[0], "through a pipe", 14);
	R(splice(s[1], NULL, p[1], NULL, 100, 0));
	R(splice(p[0], NULL, s[1], NULL, 100, 0));
	R(read(s[0], buf, 100));
	say("%.14s", buf);
}

/* ---- who sent it ---- */

/* Sends with the words of a sender about itself, in n bytes. */
static long send_cred(int to, int pid, unsigned uid, size_t n)
{
	struct ucred cred = {pid, uid, 0};
	char control[64] = {0};
	struct iovec v = {"said", 4};
	struct msghdr m = {.msg_iov = &v,
	    .msg_iovlen = 1,
	    .msg_control = control,
	    .msg_controllen = CMSG_SPACE(n)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_CREDENTIALS;
	c->cmsg_len = CMSG_LEN(n);
	memcpy(CMSG_DATA(c), &cred, sizeof(cred));
	return sendmsg(to, &m, MSG_NOSIGNAL);
}

static int child_pid; /* of a sender that has ended */

static const char *sender(const struct ucred *cred)
{
	if (!cred->pid)
		return cred->uid == 65534 && cred->gid == 65534 ? "nobody" : "no process";
	if (cred->uid != getuid() || cred->gid != getgid())
		return "somebody else";
	return cred->pid == getpid() ? "this process" : cred->pid == child_pid ? "its child" : "?";
}

/* Receives into `room` bytes of control messages; says what came. */
static void receive_cred(int from, size_t room, int flags)
{
	char control[128] = {0}, text[100] = "";
	struct iovec v = {text, 20};
	struct msghdr m = {.msg_iov = &v,
	    .msg_iovlen = 1,
	    .msg_control = room ? control : NULL,
	    .msg_controllen = room};
	long n = recvmsg(from, &m, MSG_DONTWAIT | flags);

	if (n < 0) {
		say("recvmsg: %s", strerrorname_np(errno));
		return;
	}
	say("%ld bytes '%s', control %ld, flags %#x", n, text, (long)m.msg_controllen, m.msg_flags);
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		say("type %d, %ld bytes", c->cmsg_type, (long)c->cmsg_len);
		if (c->cmsg_type == SCM_CREDENTIALS && c->cmsg_len == CMSG_LEN(12))
			say("%s", sender((struct ucred *)CMSG_DATA(c)));
	}
}

static void pass_cred(int s)
{
	int on = 1;

	R(setsockopt(s, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)));
}

static void send_by_child(int to)
{
	fflush(stdout);
	child_pid = fork();
	if (!child_pid) {
		write(to, "child", 5);
		_exit(0);
	}
	waitpid(child_pid, NULL, 0);
}

static void test_credentials(void)
{
	int s[2], on = 99, file = open("f", O_RDWR | O_CREAT, 0600), l, c;
	socklen_t len = sizeof(on);
	struct sockaddr_un a = path_of("asks");

	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	R(getsockopt(s[1], SOL_SOCKET, SO_PASSCRED, &on, &len));
	write(s[0], "early", 5);
	pass_cred(s[1]);
	getsockopt(s[1], SOL_SOCKET, SO_PASSCRED, &on, &len);
	say("%d", on);
	write(s[0], "one", 3);
	write(s[0], "two", 3);
	send_by_child(s[0]);
	receive_cred(s[1], 100, MSG_PEEK);
	for (int i = 0; i < 4; i++)
		receive_cred(s[1], 100, 0);
	static const size_t rooms[] = {0, 8, 16, 20, 28, 30};
	for (unsigned i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
		write(s[0], "x", 1);
		receive_cred(s[1], rooms[i], 0);
	}
	write(s[0], "mine", 4);
	send_by_child(s[0]);
	receive_cred(s[1], 100, MSG_WAITALL);
	receive_cred(s[1], 100, 0);
	/* as the sender says */
	R(send_cred(s[0], getpid(), getuid(), 12));
	R(send_cred(s[0], getpid(), getuid(), 11));
	R(send_cred(s[0], getpid(), getuid(), 16));
	R(send_cred(s[0], getpid(), -1, 12));
	receive_cred(s[1], 100, 0);
	R(send_files(s[0], "files", &file, 1));
	receive_cred(s[1], 100, 0);
	R(send_files(s[0], "files", &file, 1));
	receive_cred(s[1], 40, 0);
	close(s[0]);
	receive_cred(s[1], 100, 0);
	/* packets; the sender asks */
	for (int type = 0; type < 2; type++) {
		socketpair(AF_UNIX, type ? SOCK_DGRAM : SOCK_SEQPACKET, 0, s);
		write(s[0], "a", 1);
		pass_cred(s[1]);
		receive_cred(s[1], 100, 0);
		write(s[1], "b", 1);
		receive_cred(s[0], 100, 0);
		pass_cred(s[0]);
		write(s[1], "c", 1);
		receive_cred(s[0], 100, 0);
		close(s[0]);
		receive_cred(s[1], 100, 0);
	}
	/* a listener hands it on; before accept() it is not known who will ask */
	l = socket(AF_UNIX, SOCK_STREAM, 0);
	bind(l, A(a), sizeof(a));
	listen(l, 5);
	pass_cred(l);
	c = socket(AF_UNIX, SOCK_STREAM, 0);
	connect(c, A(a), sizeof(a));
	write(c, "before", 6);
	s[0] = accept(l, NULL, NULL);
	receive_cred(s[0], 100, 0);
	write(c, "after", 5);
	receive_cred(s[0], 100, 0);
}

const struct call_case socket_cases[] = {
    {"socket", test_make},
    {"socket_stream", test_stream},
    {"socket_ends", test_ends},
    {"socket_packets", test_packets},
    {"socket_datagrams", test_datagrams},
    {"socket_names", test_names},
    {"socket_connections", test_connections},
    {"socket_waits", test_waits},
    {"socket_files", test_files},
    {"socket_files_between", test_files_between},
    {"socket_files_nowhere", test_files_nowhere},
    {"socket_files_sockets", test_files_sockets},
    {"socket_files_landed", test_files_landed},
    {"socket_full_end", test_full_end},
    {"socket_refusals", test_refusals},
    {"socket_lengths", test_lengths},
    {"socket_credentials", test_credentials},
    {"socket_messages", test_messages},
    {"socket_options", test_options},
    {"socket_splice", test_splice},
    {NULL, NULL},
};
