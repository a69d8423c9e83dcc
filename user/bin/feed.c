/*
 * feed CONSOLE PIDFILE: receives data and signals that the host sends to a machine through its
 * console (tools/trapline/machine/feed.h). Data goes to the standard output, which ends where the
 * host's input ends; a signal goes to the process group whose number is in PIDFILE.
 *
 * It asks the host for each part of the data by a line `more` on descriptor 3, and gets signals at
 * any time.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define TO_HOST	  3
#define PART_MOST 4096
#define ORDER	  0xffff
#define POLL_NS	  1000000

/* The system call's, without the speeds of newer ones. */
struct kernel_termios {
	uint32_t iflag, oflag, cflag, lflag;
	uint8_t line, cc[19];
};
#define GET_TERMIOS 0x5401
#define SET_TERMIOS 0x5402

static uint8_t part[PART_MOST];

static int get(int console, void *to, size_t n)
{
	for (size_t got = 0; got < n;) {
		ssize_t r = read(console, (char *)to + got, n - got);

		if (r <= 0 && errno != EINTR)
			return -1;
		got += r > 0 ? r : 0;
	}
	return 0;
}

static int put(const uint8_t *from, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t r = write(STDOUT_FILENO, from + done, n - done);

		if (r < 0 && errno != EINTR)
			return -1;
		done += r > 0 ? r : 0;
	}
	return 0;
}

/* Bytes go through as they come. */
static int make_raw(int console)
{
	struct kernel_termios t;

	if (ioctl(console, GET_TERMIOS, &t))
		return -1;
	t.iflag = 0;
	t.lflag = 0;
	return ioctl(console, SET_TERMIOS, &t);
}

/* Returns the pid of the program, which leads its process group; 0: it has not written it yet. */
static int read_group(const char *pid_file)
{
	char text[16] = "";
	int fd = open(pid_file, O_RDONLY), got;

	if (fd < 0)
		return 0;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	return got > 0 && atoi(text) > 1 ? atoi(text) : 0;
}

static void send_signal(const char *pid_file, int sig)
{
	int group;

	while (!(group = read_group(pid_file)))
		nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
	kill(-group, sig);
}

static int ask(void)
{
	static const char more[] = "more\n";

	return write(TO_HOST, more, sizeof(more) - 1) == sizeof(more) - 1 ? 0 : -1;
}

/* The program may be done with its input, or the input at its end: signals still come. */
static int take_data(int console, size_t n, int *open_end)
{
	if (n > sizeof(part) || get(console, part, n))
		return -1;
	if (*open_end && (!n || put(part, n))) {
		*open_end = 0;
		close(STDOUT_FILENO);
	}
	return *open_end ? ask() : 0;
}

static int serve(int console, const char *pid_file)
{
	uint8_t head[2], sig;
	int open_end = 1;

	if (ask())
		return -1;
	while (!get(console, head, sizeof(head))) {
		size_t n = head[0] | head[1] << 8;

		if (n == ORDER ? get(console, &sig, 1) : take_data(console, n, &open_end))
			return -1;
		if (n == ORDER)
			send_signal(pid_file, sig);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int console;

	/*
	 * The program that is fed has the terminal. In a session of its own feed may read the
	 * console all the same; in the background of that one it would be stopped.
	 */
	setsid();
	console = argc == 3 ? open(argv[1], O_RDONLY | O_NOCTTY) : -1;
	if (console < 0 || make_raw(console)) {
		fprintf(stderr, "usage: feed CONSOLE PIDFILE\n");
		return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	return serve(console, argv[2]) ? 1 : 0;
}
