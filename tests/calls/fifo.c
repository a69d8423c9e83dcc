/* FIFOs: what is in one lives as long as an end is open. */
#include "tests/calls/calls.h"

#include <poll.h>

static void show_poll(const char *what, int fd)
{
	struct pollfd p = {fd, POLLIN | POLLOUT, 0};

	poll(&p, 1, 0);
	say("%s: %#x", what, p.revents);
}

/* Ends that are opened without waiting. */
static void test_ends(void)
{
	char buf[10];
	int r, w, again;

	R(mkfifo("fifo", 0600));
	R(open("fifo", O_WRONLY | O_NONBLOCK));
	R(open("fifo", O_WRONLY | O_NONBLOCK));
	R((r = open("fifo", O_RDONLY | O_NONBLOCK)) >= 0);
	show_poll("nobody has written", r);
	R(read(r, buf, 10));
	R((w = open("fifo", O_WRONLY | O_NONBLOCK)) >= 0);
	show_poll("a writer", r);
	R(read(r, buf, 10));
	R(write(w, "text", 4));
	show_poll("text", r);
	show_poll("room", w);
	close(w);
	show_poll("text, no writer", r);
	again = open("fifo", O_RDONLY | O_NONBLOCK);
	R(read(again, buf, 2));
	R(read(r, buf, 10));
	show_poll("the end", r);
	show_poll("of a reader that has seen no writer", again);
	R(read(r, buf, 10));
	w = open("fifo", O_WRONLY);
	show_poll("a new writer", r);
	show_poll("for the other", again);
	close(w);
	show_poll("gone", r);
	show_poll("for the other", again);
	close(again);
	close(r);
	R(open("fifo", O_WRONLY | O_NONBLOCK));
}

/* The last end that closes takes what is unread along, and all that was counted. */
static void test_last(void)
{
	static char big[70000];
	char buf[10];
	int fd, r;

	mkfifo("fifo", 0600);
	for (int i = 0; i < 5; i++) {
		R((fd = open("fifo", O_RDWR | O_NONBLOCK)) >= 0);
		R(read(fd, buf, 10));
		R(write(fd, "unread", 6));
		T(write(fd, big, sizeof(big)) > 60000);
		R(write(fd, "x", 1));
		close(fd);
		R(open("fifo", O_WRONLY | O_NONBLOCK));
		r = open("fifo", O_RDONLY | O_NONBLOCK);
		R(read(r, buf, 10));
		show_poll("empty", r);
		close(r);
	}
	/* a name more and a name less change nothing */
	fd = open("fifo", O_RDWR | O_NONBLOCK);
	R(link("fifo", "name"));
	R(unlink("fifo"));
	R(write(fd, "text", 4));
	r = open("name", O_RDONLY | O_NONBLOCK);
	R(read(r, buf, 10));
	R(unlink("name"));
	R(write(fd, "more", 4));
	R(read(r, buf, 10));
	R(lseek(r, 0, SEEK_SET));
	R(ftruncate(fd, 0));
	R(open("name", O_RDONLY | O_NONBLOCK));
}

/* A write of up to a page goes whole or not at all; longer ones as far as there is room. */
static void test_whole(void)
{
	static char buf[65536];
	int p[2];

	pipe2(p, O_NONBLOCK);
	R(write(p[1], buf, 65536 - 4096));
	R(write(p[1], buf, 4095));
	R(write(p[1], buf, 2));
	R(write(p[1], buf, 1));
	R(write(p[1], buf, 1));
	R(read(p[0], buf, 4096));
	R(write(p[1], buf, 4096));
	R(read(p[0], buf, 4096));
	R(write(p[1], buf, 5000));
	R(write(p[1], buf, 5000));
	R(read(p[0], buf, 65536));
	R(read(p[0], buf, 65536));
}

static void on_signal(int sig)
{
	(void)sig;
}

/* Whoever is interrupted while it waits for the other end has opened none itself. */
static void test_interrupted(void)
{
	static const int ways[][2] = {{O_RDONLY, O_WRONLY}, {O_WRONLY, O_RDONLY}};
	struct sigaction sa = {.sa_handler = on_signal};
	char buf[10];
	int fd, status;

	mkfifo("fifo", 0600);
	sigaction(SIGUSR1, &sa, NULL);
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (!pid) {
			R(open("fifo", ways[i][0]));
			pause();
		}
		wait_until_asleep(pid);
		kill(pid, SIGUSR1);
		wait_until_asleep(pid);
		fd = open("fifo", ways[i][1] | O_NONBLOCK);
		say("%d", fd < 0 ? -errno : ways[i][1]);
		R(read(fd, buf, 10));
		close(fd);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
}

const struct call_case fifo_cases[] = {
    {"fifo_ends", test_ends},
    {"fifo_last", test_last},
    {"fifo_whole", test_whole},
    {"fifo_interrupted", test_interrupted},
    {NULL, NULL},
};
