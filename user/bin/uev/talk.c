/*
 * The two processes of uev: one holds the files from the first call on, the other asks and prints.
 * They talk through files in /tmp and a signal: the request (who asks, then the words), the answer
 * (exit status, then the text).
 */
#include "user/bin/uev/uev.h"
#include "user/libc/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PID_FILE    "/tmp/.uev.pid"
#define LOCK_FILE   "/tmp/.uev.lock"
#define REQUEST	    "/tmp/.uev.request"
#define ANSWER	    "/tmp/.uev.answer"
#define REPLY_CHECK 5 /* seconds between two looks whether the other is still there */

static volatile sig_atomic_t called;

static void on_call(int sig)
{
	called |= sig == SIGUSR1;
}

/* Bytes, NUL-terminated; -1. */
static long read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY);
	long n, used = 0;

	if (fd < 0)
		return -1;
	while ((n = read(fd, buf + used, size - 1 - used)) > 0)
		used += n;
	close(fd);
	buf[used] = '\0';
	return used;
}

static void write_file(
    const char *path, const char *head, size_t head_len, const char *text, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	bool bad = fd < 0;

	bad = bad || write(fd, head, head_len) != (ssize_t)head_len;
	bad = bad || (n && write(fd, text, n) != (ssize_t)n);
	if (bad) {
		fprintf(stderr, "uev: %s: %s\n", path, errno_text(errno));
		exit(NO_REQUEST);
	}
	close(fd);
}

static void serve_one(void)
{
	static char text[TEXT_MAX];
	char *words[WORDS_MAX + 1], status;
	const char *said;
	size_t len;
	long size = read_file(REQUEST, text, sizeof(text));
	int n = 0, client = atoi(text);

	if (size < 0)
		return;
	for (char *p = text + strlen(text) + 1; p < text + size && n < WORDS_MAX;
	     p += strlen(p) + 1)
		words[n++] = p;
	words[n] = NULL;
	status = answer(n, words, &said, &len);
	write_file(ANSWER, &status, 1, said, len);
	kill(client, SIGUSR1);
}

static void serve(int client)
{
	int null = open("/dev/null", O_RDWR);
	char text[16];
	sigset_t none;

	setsid();
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	write_file(PID_FILE, text, snprintf(text, sizeof(text), "%d", (int)getpid()), NULL, 0);
	kill(client, SIGUSR1);
	sigemptyset(&none);
	for (;;) {
		while (!called)
			sigsuspend(&none);
		called = 0;
		serve_one();
	}
}

/* Until SIGUSR1 comes; false: the other is gone. */
static bool wait_for(int pid)
{
	sigset_t others;

	sigfillset(&others);
	sigdelset(&others, SIGUSR1);
	sigdelset(&others, SIGALRM);
	while (!called) {
		alarm(REPLY_CHECK);
		sigsuspend(&others);
		if (!called && kill(pid, 0))
			return false;
	}
	alarm(0);
	called = 0;
	return true;
}

static int server(void)
{
	char text[16];
	int pid = read_file(PID_FILE, text, sizeof(text)) > 0 ? atoi(text) : 0, self = getpid();

	if (pid > 0 && !kill(pid, 0))
		return pid;
	pid = fork();
	if (pid == 0)
		serve(self); /* does not return */
	return pid > 0 && wait_for(pid) ? pid : -1;
}

static int ask_server(int n, char **words)
{
	static char text[TEXT_MAX];
	size_t len = 0;
	char self[16];
	int pid = server();

	for (int i = 0; i < n && len + strlen(words[i]) < sizeof(text) - 1; i++)
		len += strlen(strcpy(text + len, words[i])) + 1;
	write_file(REQUEST, self, snprintf(self, sizeof(self), "%d", (int)getpid()) + 1, text, len);
	if (pid < 0 || kill(pid, SIGUSR1) || !wait_for(pid)) {
		fprintf(stderr, "uev: the process that holds the files is gone\n");
		return NO_REQUEST;
	}
	long size = read_file(ANSWER, text, sizeof(text));
	if (size < 1)
		return NO_REQUEST;
	fwrite(text + 1, 1, size - 1, stdout);
	return text[0];
}

static void end_turn(void)
{
	unlink(LOCK_FILE);
}

/*
 * One at a time: the file that says who is there while somebody asks. One who was killed meanwhile
 * has left it.
 */
static void take_turn(void)
{
	const struct timespec pause = {0, 1000000};
	char text[16];
	int fd;

	while ((fd = open(LOCK_FILE, O_WRONLY | O_CREAT | O_EXCL, 0600)) < 0) {
		if (read_file(LOCK_FILE, text, sizeof(text)) > 0 && kill(atoi(text), 0))
			unlink(LOCK_FILE);
		nanosleep(&pause, NULL);
	}
	close(fd);
	write_file(LOCK_FILE, text, snprintf(text, sizeof(text), "%d", (int)getpid()), NULL, 0);
	atexit(end_turn);
}

/*
 * All signals are blocked: those by which the two tell each other come when they wait for them, and
 * who is ended leaves the turn taken.
 */
int ask(int n, char **words)
{
	struct sigaction act = {.sa_handler = on_call};
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	sigaction(SIGUSR1, &act, NULL);
	sigaction(SIGALRM, &act, NULL);
	take_turn();
	return ask_server(n, words);
}
