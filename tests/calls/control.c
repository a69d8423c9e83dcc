/* Control messages of sockets: what is well-formed, and what several of them in one call mean. */
#include "tests/calls/calls.h"

#include <sys/socket.h>

static int s[2];

/* Puts a message with n descriptors, all of them 0, at `at`; returns where the next goes. */
static size_t put_files(char *control, size_t at, int n)
{
	struct cmsghdr c = {CMSG_LEN(sizeof(int) * n), SOL_SOCKET, SCM_RIGHTS};

	memset(control + at, 0, CMSG_SPACE(sizeof(int) * n));
	memcpy(control + at, &c, sizeof(c));
	return at + CMSG_SPACE(sizeof(int) * n);
}

static long send_control(void *control, size_t len)
{
	struct iovec v = {"x", 1};
	struct msghdr m = {
	    .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = len};

	return sendmsg(s[0], &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Takes what was sent, and closes the files that came. */
static void receive(void)
{
	char control[CMSG_SPACE(sizeof(int) * 300)] = {0}, c;
	struct iovec v = {&c, 1};
	struct msghdr m = {.msg_iov = &v,
	    .msg_iovlen = 1,
	    .msg_control = control,
	    .msg_controllen = sizeof(control)};
	struct cmsghdr *head = (struct cmsghdr *)control;
	long n = recvmsg(s[1], &m, MSG_DONTWAIT), files;

	if (n < 0) {
		say("nothing came");
		return;
	}
	files = m.msg_controllen ? (head->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
	for (long i = 0; i < files; i++)
		close(((int *)CMSG_DATA(head))[i]);
	say("%ld bytes, %ld files, control %zu, flags %#x", n, files, m.msg_controllen,
	    m.msg_flags);
}

/* The files of several messages come as those of one, as many as one may bring. */
static void test_several(void)
{
	static char control[4096];
	size_t at;

	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	at = put_files(control, put_files(control, 0, 1), 2);
	R(send_control(control, at));
	receive();
	at = put_files(control, put_files(control, 0, 0), 1);
	R(send_control(control, at));
	receive();
	at = put_files(control, put_files(control, 0, 200), 53);
	R(send_control(control, at));
	receive();
	at = put_files(control, put_files(control, 0, 200), 54);
	R(send_control(control, at));
	receive();
}

/* A length below its header, or beyond what is left, is refused; a part of a header is not. */
static void test_lengths(void)
{
	static char control[4096];
	const struct {
		size_t first, second, rest; /* lengths of two messages; bytes beside the first's */
	} rows[] = {{20, 20, 20}, {20, 20, 24}, {20, 21, 20}, {20, 24, 24}, {20, 28, 24},
	    {20, 44, 24}, {20, 45, 24}, {20, 1 << 20, 24}, {20, 15, 24}, {20, 0, 24}, {20, -1, 24},
	    {20, -8, 24}, {20, 20, 15}, {20, 20, 0}, {23, 16, 16}, {15, 20, 24}, {45, 20, 24}};

	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put_files(control, put_files(control, 0, 1), 2);
		memcpy(control, &rows[i].first, sizeof(size_t));
		memcpy(control + 24, &rows[i].second, sizeof(size_t));
		say("%zu, %zd and %zu bytes", rows[i].first, rows[i].second, rows[i].rest);
		R(send_control(control, 24 + rows[i].rest));
		receive();
	}
}

/* Messages of other layers are passed over, those of an unknown type are not. */
static void test_others(void)
{
	static char control[4096];
	struct cmsghdr *first = (struct cmsghdr *)control;
	size_t at = put_files(control, put_files(control, 0, 1), 1);

	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	first->cmsg_level = 77;
	R(send_control(control, at));
	receive();
	first->cmsg_level = SOL_SOCKET;
	first->cmsg_type = 77;
	R(send_control(control, at));
	receive();
	R(send_control(BAD, at));
	R(send_control(control, 0));
	receive();
}

const struct call_case control_cases[] = {
    {"control_several", test_several},
    {"control_lengths", test_lengths},
    {"control_others", test_others},
    {NULL, NULL},
};
