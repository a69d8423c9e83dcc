/* system(), popen() and scripts: commands that a program gives to /bin/sh. */
#include "tests/programs/check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static volatile int children, interrupts;

static void on_child(int sig)
{
	(void)sig;
	children++;
}

static void on_interrupt(int sig)
{
	(void)sig;
	interrupts++;
}

/* Another child that has ended is the caller's to wait for. */
static void systems(void)
{
	int other, status;

	CHECK(system(NULL) != 0);
	CHECK_EQ(system("true"), 0);
	CHECK_EQ(WEXITSTATUS(system("exit 37")), 37);
	CHECK_EQ(WEXITSTATUS(system("no_such_command 2>/dev/null")), 127);
	status = system("kill -9 $$");
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	status = system("kill -USR1 $$"); /* its number is another in this C library */
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
	status = system("kill -BUS $$");
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	other = fork();
	if (other == 0)
		_exit(5);
	CHECK_EQ(system("echo one | { read x; [ $x = one ]; }"), 0);
	CHECK_EQ(waitpid(other, &status, 0), other);
	CHECK_EQ(WEXITSTATUS(status), 5);
}

/* The caller does not feel what is meant for the command, nor misses its own signals afterwards. */
static void signals_around_system(void)
{
	signal(SIGCHLD, on_child);
	signal(SIGINT, on_interrupt);
	CHECK_EQ(system("kill -INT $PPID; exit 3") >> 8, 3);
	CHECK_EQ(interrupts, 0);
	raise(SIGINT);
	CHECK_EQ(interrupts, 1);
	signal(SIGINT, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	CHECK_EQ(children, 1);
}

static void reading(void)
{
	FILE *f = popen("seq 3; exit 4", "r");
	char line[32];
	int sum = 0;

	CHECK(f != NULL);
	while (fgets(line, sizeof(line), f))
		sum += atoi(line);
	CHECK_EQ(sum, 6);
	CHECK_EQ(WEXITSTATUS(pclose(f)), 4);
}

static void writing(void)
{
	FILE *a = popen("sort > /tmp/commands.a", "w"), *b = popen("cat > /tmp/commands.b", "w");
	char line[32] = "";

	CHECK(a != NULL && b != NULL);
	fputs("two\nthree\none\n", a);
	fputs("other\n", b);
	/* The second command does not hold the first one's pipe: it ends with this. */
	CHECK_EQ(pclose(a), 0);
	CHECK_EQ(pclose(b), 0);
	a = popen("tail -n 1 /tmp/commands.a", "r");
	CHECK(fgets(line, sizeof(line), a) != NULL && strcmp(line, "two\n") == 0);
	CHECK_EQ(pclose(a), 0);
	CHECK_EQ(system("rm /tmp/commands.a /tmp/commands.b"), 0);
	CHECK(popen("true", "rw") == NULL && errno == EINVAL);
	CHECK_ERR(pclose(stdin), ECHILD);
}

static int run_file(const char *text, int mode)
{
	char *argv[] = {"name", "a b", NULL};
	FILE *f = fopen("/tmp/script", "w");
	int status = -1;

	fputs(text, f);
	fclose(f);
	CHECK_EQ(chmod("/tmp/script", mode), 0);
	if (fork() == 0) {
		execve("/tmp/script", argv, environ);
		_exit(errno == ENOEXEC ? 98 : errno == EACCES ? 97 : 99);
	}
	wait(&status);
	return WEXITSTATUS(status);
}

/* The script's path replaces argv[0]; the interpreter's one argument stays one. */
static void scripts(void)
{
	CHECK_EQ(
	    run_file("#!/bin/sh\n[ $0 = /tmp/script ] && [ \"$1\" = 'a b' ] && exit 12\n", 0755),
	    12);
	CHECK_EQ(run_file("#! /bin/sh -e\nfalse\nexit 12\n", 0755), 1);
	CHECK_EQ(run_file("#!/bin/awk -f\nBEGIN { exit 13 }\n", 0755), 13);
	CHECK_EQ(run_file("exit 12\n", 0755), 98);
	CHECK_EQ(run_file("#!/no/such\n", 0755), 99);
	CHECK_EQ(run_file("#!/bin/sh\n", 0644), 97);
	CHECK_EQ(unlink("/tmp/script"), 0);
}

int main(void)
{
	systems();
	signals_around_system();
	reading();
	writing();
	scripts();
	return check_failures != 0;
}
