/*
 * A new program in a process: what it finds of the one before it, and what it takes from others.
 * The program is this one again; main() runs exec_after() in it.
 */
#include "tests/calls/calls.h"

#include <sched.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define MXCSR_ROUND_UP 0x5f80

static sigset_t blocked(void)
{
	sigset_t now;

	sigprocmask(SIG_BLOCK, NULL, &now);
	return now;
}

static void (*action_of(int sig))(int)
{
	struct sigaction sa;

	sigaction(sig, NULL, &sa);
	return sa.sa_handler;
}

int exec_after(const char *timer)
{
	sigset_t now = blocked();
	unsigned mxcsr = 0;
	unsigned short control = 0;
	struct itimerval left;
	struct itimerspec spec;
	stack_t st;

	__asm__("stmxcsr %0; fnstcw %1" : "=m"(mxcsr), "=m"(control));
	say("%#x %#x", mxcsr, control);
	R(sigaltstack(NULL, &st));
	T(st.ss_flags == SS_DISABLE && !st.ss_size);
	T(action_of(SIGUSR1) == SIG_DFL);
	T(action_of(SIGUSR2) == SIG_IGN);
	T(sigismember(&now, SIGUSR2));
	R(syscall(SYS_timer_gettime, atoi(timer), &spec));
	R(getitimer(ITIMER_REAL, &left));
	T(left.it_value.tv_sec > 0);
	R(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
	R(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
	R(fcntl(20, F_GETFD));
	R(fcntl(21, F_GETFD));
	return 0;
}

static void on_signal(int sig)
{
	(void)sig;
}

static void again(const char *timer)
{
	execl("/proc/self/exe", "after exec", case_name, timer, NULL);
	say("no exec: %s", strerror(errno));
	_exit(1);
}

static void become_another(void)
{
	static char room[65536];
	stack_t st = {.ss_sp = room, .ss_size = sizeof(room)};
	unsigned mxcsr = MXCSR_ROUND_UP;
	unsigned short control = 0xf7f;
	sigset_t set;
	char text[20];
	int id = -1;

	sigaltstack(&st, NULL);
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	R(syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, &id));
	alarm(100);
	R(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	R(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
	dup2(1, 20);
	dup3(1, 21, O_CLOEXEC);
	snprintf(text, sizeof(text), "%d", id);
	__asm__ volatile("ldmxcsr %0; fldcw %1" ::"m"(mxcsr), "m"(control));
	again(text);
}

/* The kernel leaves a vector above the environment, of which the C library needs these entries. */
static void test_auxv(void)
{
	static const unsigned numbers[] = {
	    AT_PAGESZ, AT_CLKTCK, AT_PHENT, AT_FLAGS, AT_UID, AT_EUID, AT_GID, AT_EGID, AT_SECURE};
	const char *name = (const char *)getauxval(AT_EXECFN);
	const unsigned char *random = (const unsigned char *)getauxval(AT_RANDOM);
	unsigned sum = 0;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		say("%u: %lu", numbers[i], getauxval(numbers[i]));
	say("%s", (const char *)getauxval(AT_PLATFORM));
	T(!access(name, X_OK) && !strcmp(strrchr(name, '/') + 1, program_invocation_short_name));
	for (int i = 0; i < 16; i++)
		sum += random[i];
	T(sum > 0);
	T(getauxval(AT_PHNUM) > 2 && getauxval(AT_PHDR) % 8 == 0 && getauxval(AT_ENTRY));
	T(*(const uint32_t *)getauxval(AT_PHDR) < 0x70000000);
	T(getauxval(AT_MINSIGSTKSZ) >= 2048);
}

static void test_state(void)
{
	in_child(become_another);
}

/* A child that shares what execve() resets: its new program has a copy of its own. */
static int share_and_become(void *with)
{
	(void)with;
	again("0");
	return 1;
}

static void test_shared(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	int status = -1;
	pid_t pid;

	dup3(1, 21, O_CLOEXEC);
	signal(SIGUSR1, on_signal);
	pid = clone(share_and_become, stack + sizeof(stack),
	    CLONE_VM | CLONE_VFORK | CLONE_SIGHAND | CLONE_FILES | SIGCHLD, NULL);
	T(waitpid(pid, &status, 0) == pid);
	say("%#x", status);
	T(action_of(SIGUSR1) == on_signal);
	R(fcntl(21, F_GETFD));
}

/* What a program may no more, its children may not either. */
static void print_no_new_privs(void)
{
	R(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
}

static void test_no_new_privs(void)
{
	in_child(print_no_new_privs);
	R(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	in_child(print_no_new_privs);
}

static void write_script(int number, const char *interpreter)
{
	char name[20];
	int fd;

	snprintf(name, sizeof(name), "s%d", number);
	fd = open(name, O_CREAT | O_WRONLY, 0755);
	dprintf(fd, "#!%s\n", interpreter);
	close(fd);
}

static void run_script(int number)
{
	char name[20];
	int status = -1;
	pid_t pid = fork();

	snprintf(name, sizeof(name), "./s%d", number);
	if (!pid) {
		execl(name, name, NULL);
		say("script %d: %s", number, strerrorname_np(errno));
		_exit(1);
	}
	waitpid(pid, &status, 0);
	say("script %d: %#x", number, status);
}

/* Each script's interpreter is the one before it. */
static void test_scripts(void)
{
	char name[20];

	write_script(0, "/bin/true");
	for (int i = 1; i < 8; i++) {
		snprintf(name, sizeof(name), "./s%d", i - 1);
		write_script(i, name);
	}
	for (int i = 0; i < 8; i++)
		run_script(i);
}

/* An interpreter whose path does not end in what is read of a script is not cut short. */
static void test_long_lines(void)
{
	static const size_t lengths[] = {250, 253, 254, 255, 300};
	char path[400];

	for (int i = 0; i < 5; i++) {
		memset(path, 'x', sizeof(path));
		path[0] = '/';
		path[lengths[i]] = 0;
		unlink("s1");
		write_script(1, path);
		run_script(1);
	}
}

/* So many arguments of a byte each: what execve() of a program says. */
static void run_with(size_t count)
{
	char **argv = calloc(count + 1, sizeof(*argv)), *envp[] = {NULL};
	int status;
	pid_t pid;

	for (size_t i = 0; i < count; i++)
		argv[i] = i ? "" : "true";
	pid = fork();
	if (!pid) {
		execve("/bin/true", argv, envp);
		_exit(errno == E2BIG ? 100 : 101);
	}
	waitpid(pid, &status, 0);
	say("%zu arguments: %#x", count, status);
	free(argv);
}

/* Pointers to arguments count as the arguments do, against what is left of the stack's limit. */
static void test_arguments(void)
{
	struct rlimit limit = {512 << 10, 512 << 10};

	setrlimit(RLIMIT_STACK, &limit); /* as Trapline's */
	run_with(2);
	run_with(14000);
	run_with(15000);
	run_with(1000000);
}

/* An argument that a program still has room for, and what a script puts before it. */
static void test_script_arguments(void)
{
	struct rlimit limit = {512 << 10, 512 << 10};
	char *big = malloc(131072), *argv[] = {"true", big, NULL}, *envp[] = {NULL};
	const char *programs[] = {"/bin/true", "./script"};
	int status, fd = open("script", O_CREAT | O_WRONLY, 0755);

	dprintf(fd, "#!/bin/true %0200d\n", 0);
	close(fd);
	memset(big, 'x', 131072);
	big[130890] = 0;
	setrlimit(RLIMIT_STACK, &limit); /* as Trapline's */
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (!pid) {
			execve(programs[i], argv, envp);
			_exit(errno == E2BIG ? 100 : 101);
		}
		waitpid(pid, &status, 0);
		say("%s: %#x", programs[i], status);
	}
}

const struct call_case exec_cases[] = {
    {"exec_auxv", test_auxv},
    {"exec_state", test_state},
    {"exec_shared", test_shared},
    {"exec_no_new_privs", test_no_new_privs},
    {"exec_scripts", test_scripts},
    {"exec_long_lines", test_long_lines},
    {"exec_arguments", test_arguments},
    {"exec_script_arguments", test_script_arguments},
    {NULL, NULL},
};
