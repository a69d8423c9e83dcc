/*
 * graphed ROLE: a task all of whose calls tests/kernel/trace/graph_lives.c traces: it becomes
 * another program, ends, dies in a call that waits, or handles a signal that came into one.
 */
#include "tests/programs/thread.h"

/* Three times, then it ends. */
static int role_exec(int argc)
{
	static const char *args[] = {"graphed", "exec", "again", "again", "again", NULL};

	if (argc == 5)
		return 0;
	args[argc + 1] = NULL;
	return syscall3(SYS_execve, (long)"/test/graphed", (long)args, 0) != 0;
}

/* A call that is refused returns. */
static int role_refused(int argc)
{
	(void)argc;
	return syscall3(SYS_execve, (long)"/test/nosuch", 0, 0) != NOENT;
}

static int role_exit(int argc)
{
	(void)argc;
	syscall1(SYS_exit, 0);
	return 1;
}

static void wait_in_read(int fd)
{
	char c;

	syscall3(SYS_read, fd, (long)&c, 1);
}

/* The pipe's end is kept open, so that only a signal ends the wait. */
static long child_in_read(int pipe[2])
{
	long pid;

	CHECK_EQ(syscall2(SYS_pipe2, (long)pipe, 0), 0);
	pid = syscall0(SYS_fork);
	if (!pid) {
		wait_in_read(pipe[0]);
		syscall1(SYS_exit_group, 1);
	}
	return pid;
}

static void let_it_wait(void)
{
	struct abi_timespec t = {0, 20000000};

	syscall2(SYS_nanosleep, (long)&t, 0);
}

static int role_killed(int argc)
{
	int pipe[2];
	long pid = child_in_read(pipe);

	(void)argc;
	let_it_wait();
	CHECK_EQ(syscall2(SYS_kill, pid, L_KILL), 0);
	CHECK_EQ(wait_for(pid), L_KILL);
	return check_failures != 0;
}

static void thread_in_read(void *fd)
{
	wait_in_read((long)fd);
}

/* One thread ends the process while another waits in a call. */
static int role_group(int argc)
{
	static struct thread t;
	int pipe[2];

	(void)argc;
	CHECK_EQ(syscall2(SYS_pipe2, (long)pipe, 0), 0);
	thread_begin(&t, thread_in_read, (void *)(long)pipe[0]);
	let_it_wait();
	syscall1(SYS_exit_group, check_failures != 0);
	return 1;
}

static int role_fault(int argc)
{
	static volatile int *volatile nowhere = (int *)8;
	long pid = syscall0(SYS_fork);

	(void)argc;
	if (!pid)
		*nowhere = 1;
	CHECK_EQ(wait_for(pid) & 0x7f, L_SEGV);
	return check_failures != 0;
}

static volatile int handled;

static void handler(int sig)
{
	handled += sig == L_ALRM;
}

/* A signal comes into a call that waits: its handler runs, the call is interrupted. */
static int role_handler(int argc)
{
	struct abi_itimerval in = {{0, 0}, {0, 20000}};
	int pipe[2];
	char c;

	(void)argc;
	CHECK_EQ(syscall2(SYS_pipe2, (long)pipe, 0), 0);
	CHECK_EQ(set_handler(L_ALRM, handler, 0), 0);
	CHECK_EQ(syscall3(SYS_setitimer, 0, (long)&in, 0), 0);
	CHECK_EQ(syscall3(SYS_read, pipe[0], (long)&c, 1), INTR);
	CHECK_EQ(handled, 1);
	return check_failures != 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*fn)(int argc);
	} roles[] = {{"exec", role_exec}, {"refused", role_refused}, {"exit", role_exit},
	    {"killed", role_killed}, {"group", role_group}, {"fault", role_fault},
	    {"handler", role_handler}};

	for (unsigned i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (argc > 1 && !strcmp(argv[1], roles[i].name))
			return roles[i].fn(argc);
	return 2;
}
