/* system() and popen(): commands for /bin/sh. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* In the child. */
static void become_shell(const char *command)
{
	char *argv[] = {"sh", "-c", (char *)command, NULL};

	execve("/bin/sh", argv, environ);
	_exit(127);
}

static pid_t wait_for(pid_t pid, int *status)
{
	pid_t r;

	do {
		r = waitpid(pid, status, 0);
	} while (r < 0 && errno == EINTR);
	return r;
}

/* As POSIX has it: the caller sleeps through SIGINT and SIGQUIT, and no handler takes the child. */
int system(const char *command)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, on_int, on_quit;
	sigset_t child, old;
	int status = -1;
	pid_t pid;

	if (!command)
		return access("/bin/sh", X_OK) == 0;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigaction(SIGINT, &ignore, &on_int);
	sigaction(SIGQUIT, &ignore, &on_quit);
	sigprocmask(SIG_BLOCK, &child, &old);
	pid = fork();
	if (pid == 0) {
		sigaction(SIGINT, &on_int, NULL);
		sigaction(SIGQUIT, &on_quit, NULL);
		sigprocmask(SIG_SETMASK, &old, NULL);
		become_shell(command);
	}
	if (pid > 0 && wait_for(pid, &status) < 0)
		status = -1;
	sigprocmask(SIG_SETMASK, &old, NULL);
	sigaction(SIGQUIT, &on_quit, NULL);
	sigaction(SIGINT, &on_int, NULL);
	return status;
}

/* ---- streams to and from commands ---- */

static struct command {
	struct command *next;
	FILE *stream;
	pid_t pid;
} * commands;

/* In the child. What other commands' streams hold stays the caller's. */
static void become_command(const char *command, const int end[2], int own)
{
	for (struct command *c = commands; c; c = c->next)
		close(fileno(c->stream));
	close(end[1 - own]);
	if (end[own] != own) {
		dup2(end[own], own);
		close(end[own]);
	}
	become_shell(command);
}

FILE *popen(const char *command, const char *mode)
{
	bool reads = mode[0] == 'r';
	struct command *c;
	int end[2];

	if ((mode[0] != 'r' && mode[0] != 'w') || mode[1]) {
		errno = EINVAL;
		return NULL;
	}
	c = malloc(sizeof(*c));
	if (!c || pipe(end)) {
		free(c);
		return NULL;
	}
	c->pid = fork();
	if (c->pid == 0)
		become_command(command, end, reads);
	close(end[reads]);
	c->stream = c->pid > 0 ? fdopen(end[!reads], mode) : NULL;
	if (!c->stream) {
		close(end[!reads]);
		free(c);
		return NULL;
	}
	c->next = commands;
	commands = c;
	return c->stream;
}

int pclose(FILE *stream)
{
	struct command **at = &commands, *c;
	int status;

	while (*at && (*at)->stream != stream)
		at = &(*at)->next;
	c = *at;
	if (!c) {
		errno = ECHILD;
		return -1;
	}
	*at = c->next;
	fclose(stream);
	if (wait_for(c->pid, &status) < 0)
		status = -1;
	free(c);
	return status;
}
