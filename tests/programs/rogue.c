/*
 * rogue SEED: does to its terminal and session what no program should, in any order, leaves
 * children behind that go on with it for some seconds, and kills the shell that started it.
 */
#include "tests/programs/random.h"
#include "user/libc/syscall.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* asm-generic/ioctls.h */
enum {
	TCSETS = 0x5402,
	TCXONC = 0x540a,
	TIOCSCTTY = 0x540e,
	TIOCSPGRP = 0x5410,
	TIOCSWINSZ = 0x5414,
	TIOCNOTTY = 0x5422,
};
enum { DEEDS = 15, SECONDS = 2 };

static const char terminal[] = "/dev/console";

/* A child that signals of the terminal do not reach; it has an end all the same. */
static bool in_child(void)
{
	if (fork())
		return false;
	for (int sig = 1; sig < NSIG; sig++)
		if (sig != SIGALRM)
			signal(sig, SIG_IGN);
	alarm(SECONDS);
	return true;
}

/* So that the children of one run leave some of the CPU to the next. */
static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

static void change_modes(void)
{
	unsigned char mode[36];

	for (unsigned i = 0; i < sizeof(mode); i++)
		mode[i] = any(256);
	ioctl(0, TCSETS, mode);
}

static void clear_modes(void)
{
	static const unsigned char none[36];

	ioctl(0, TCSETS, none);
}

static void hold_output(void)
{
	ioctl(0, TCXONC, 0);
}

static void resize(void)
{
	unsigned short size[4] = {any(65536), any(65536), any(65536), any(65536)};

	ioctl(0, TIOCSWINSZ, size);
}

static void take_foreground(void)
{
	int group;

	if (!in_child())
		return;
	syscall2(SYS_setpgid, 0, 0);
	group = getpid();
	ioctl(0, TIOCSPGRP, &group);
	_exit(0);
}

static void steal_terminal(void)
{
	if (!in_child())
		return;
	setsid();
	ioctl(0, TIOCSCTTY, 1);
	for (;; nap())
		change_modes();
}

/* Takes the terminal in the moment in which nobody has it. */
static void lie_in_wait(void)
{
	if (!in_child())
		return;
	setsid();
	for (;; nap()) {
		int fd = open(terminal, O_RDWR);

		ioctl(fd, TIOCSCTTY, 0);
		close(fd);
	}
}

static void give_up_terminal(void)
{
	ioctl(0, TIOCNOTTY, 0);
}

static void read_on(void)
{
	char c;

	if (in_child())
		for (;; nap())
			read(0, &c, 1);
}

static void write_on(void)
{
	if (in_child())
		for (;; nap())
			write(1, "\033[2J\016\033c", 7);
}

static void stop_shell(void)
{
	kill(getppid(), SIGSTOP);
}

static void stop_group(void)
{
	signal(SIGTSTP, SIG_IGN);
	kill(0, SIGTSTP);
}

static void close_files(void)
{
	close(any(3));
}

static void do_any_deed(void)
{
	static void (*const deeds[])(void) = {
	    change_modes,
	    clear_modes,
	    hold_output,
	    resize,
	    take_foreground,
	    steal_terminal,
	    lie_in_wait,
	    give_up_terminal,
	    read_on,
	    write_on,
	    stop_shell,
	    stop_group,
	    close_files,
	};

	deeds[any(sizeof(deeds) / sizeof(*deeds))]();
}

int main(int argc, char **argv)
{
	random_begin(argc > 1 ? strtoul(argv[1], NULL, 0) : 1, 0);
	signal(SIGTTOU, SIG_IGN);
	signal(SIGTTIN, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	for (int i = 0; i < DEEDS; i++)
		do_any_deed();
	kill(getppid(), SIGKILL);
	return 0;
}
