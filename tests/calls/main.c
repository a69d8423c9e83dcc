/*
 * calls [PREFIX]...: runs the cases whose names begin so, each in a process and an empty directory
 * of its own, which ends it after 20 seconds. See calls.h; tests/drive/calls-test compares.
 */
#include "tests/calls/calls.h"

#include <stdarg.h>

char *volatile bad_pointer = (char *)8;
const char *case_name;

void say(const char *fmt, ...)
{
	va_list ap;

	printf("%s: ", case_name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}

long say_result(const char *call, long result)
{
	int err = errno;

	if (result == -1 && err)
		say("%s = %s", call, strerrorname_np(err) ? strerrorname_np(err) : "?");
	else
		say("%s = %ld", call, result);
	errno = err;
	return result;
}

void in_child(void (*run)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		run();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		say("the child got signal %d", WTERMSIG(status));
	else
		say("the child ended with %d", WEXITSTATUS(status));
}

static bool is_in_state(pid_t pid, char letter)
{
	char path[32], line[512], *state;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, line, sizeof(line) - 1);
	close(fd);
	line[n > 0 ? n : 0] = '\0';
	state = strrchr(line, ')');
	return state && state[2] == letter;
}

sigset_t set_of(int a, int b)
{
	sigset_t set;

	sigemptyset(&set);
	if (a)
		sigaddset(&set, a);
	if (b)
		sigaddset(&set, b);
	return set;
}

void wait_until_asleep(pid_t pid)
{
	while (!is_in_state(pid, 'S') && !is_in_state(pid, 'Z'))
		usleep(1000);
}

void wait_until_zombie(pid_t pid)
{
	while (!is_in_state(pid, 'Z'))
		usleep(1000);
}

pid_t stopped_child(int in, int status)
{
	siginfo_t info;
	pid_t pid = fork();
	char c;

	if (!pid) {
		raise(SIGSTOP);
		read(in, &c, 1);
		_exit(status);
	}
	waitid(P_PID, pid, &info, WSTOPPED | WNOWAIT);
	return pid;
}

static void run_case(const struct call_case *c)
{
	char dir[] = "/tmp/calls-XXXXXX";
	int status;
	pid_t pid;

	case_name = c->name;
	if (!mkdtemp(dir)) {
		say("no directory: %s", strerror(errno));
		return;
	}
	pid = fork();
	if (!pid) {
		if (chdir(dir))
			_exit(99);
		umask(022);
		alarm(20);
		c->run();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (status)
		say("ended with %#x", status);
	pid = fork();
	if (!pid) {
		execl("/bin/rm", "rm", "-r", dir, NULL);
		_exit(1);
	}
	waitpid(pid, &status, 0);
}

static bool wanted(const char *case_name, char **prefixes)
{
	for (char **p = prefixes; *p; p++)
		if (!strncmp(case_name, *p, strlen(*p)))
			return true;
	return !*prefixes;
}

int main(int argc, char **argv)
{
	static const struct call_case *const lists[] = {basic_cases, child_cases, clock_cases,
	    control_cases, event_cases, exec_cases, fifo_cases, file_cases, forced_cases,
	    interrupt_cases, job_cases, lock_cases, mapping_cases, memory_cases, path_cases,
	    process_cases, proc_cases, refs_cases, signal_cases, socket_cases, splice_cases,
	    taker_cases, thread_cases, timer_cases, trap_cases, wakes_cases};

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 3 && !strcmp(argv[0], "after exec")) {
		case_name = argv[1];
		return exec_after(argv[2]);
	}
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (const struct call_case *c = lists[i]; c->name; c++)
			if (wanted(c->name, argv + 1))
				run_case(c);
	return 0;
}
