/*
 * chrt [-bfiorR] PRIORITY COMMAND [ARG]...: runs a program with a scheduling policy; -p: shows or
 * changes that of a task; -m: which priorities each policy has. Texts as those of util-linux.
 */
#include "user/command.h"
#include "user/libc/syscall.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RESET_ON_FORK 0x40000000

static const struct policy {
	char letter;
	int number;
	const char *name;
} policies[] = {
    {'o', 0, "SCHED_OTHER"},
    {'f', 1, "SCHED_FIFO"},
    {'r', 2, "SCHED_RR"},
    {'b', 3, "SCHED_BATCH"},
    {'i', 5, "SCHED_IDLE"},
    {'\0', 6, "SCHED_DEADLINE"},
};
#define POLICIES (sizeof(policies) / sizeof(policies[0]))

static const struct policy *find(int letter, long number)
{
	for (const struct policy *p = policies; p < policies + POLICIES; p++)
		if (letter ? p->letter == letter : p->number == number)
			return p;
	return NULL;
}

static int show_limits(void)
{
	for (const struct policy *p = policies; p < policies + POLICIES; p++)
		printf("%s min/max priority\t: %ld/%ld\n", p->name,
		    syscall1(SYS_sched_get_priority_min, p->number),
		    syscall1(SYS_sched_get_priority_max, p->number));
	return 0;
}

static int show(uint64_t pid)
{
	int priority = 0;
	long how = syscall_result(syscall1(SYS_sched_getscheduler, pid));

	if (how < 0 || syscall_result(syscall2(SYS_sched_getparam, pid, (long)&priority)) < 0)
		return command_fail("failed to get pid %llu's policy: %s", (unsigned long long)pid,
		    errno_text(errno));
	const struct policy *p = find(0, how & ~RESET_ON_FORK);
	printf("pid %llu's current scheduling policy: %s%s\n", (unsigned long long)pid,
	    p ? p->name : "unknown", how & RESET_ON_FORK ? "|SCHED_RESET_ON_FORK" : "");
	printf("pid %llu's current scheduling priority: %d\n", (unsigned long long)pid, priority);
	return 0;
}

static int set(uint64_t pid, int how, uint64_t priority)
{
	int param = priority > INT32_MAX ? -1 : (int)priority;

	if (syscall_result(syscall3(SYS_sched_setscheduler, pid, how, (long)&param)) < 0)
		return command_fail("failed to set pid %llu's policy: %s", (unsigned long long)pid,
		    errno_text(errno));
	return 0;
}

static int of_task(int argc, char **argv, int how)
{
	uint64_t pid, priority;

	if (argc < 1 || argc > 2)
		return command_usage();
	if (!command_number(argv[argc - 1], 10, &pid))
		return 1;
	if (argc == 1)
		return show(pid);
	return command_number(argv[0], 10, &priority) ? set(pid, how, priority) : 1;
}

/* A name without a slash is looked for in each directory of PATH. */
static int run(char **argv)
{
	const char *path = getenv("PATH");
	char file[256];
	int n;

	if (!path)
		path = "/bin";
	do {
		n = strchr(argv[0], '/') ? 0 : (int)strcspn(path, ":");
		if (snprintf(file, sizeof(file), "%.*s%s%s", n, path, n ? "/" : "", argv[0]) <
		    (int)sizeof(file))
			execve(file, argv, environ);
		path += n + (path[n] == ':');
	} while (n && *path);
	command_fail_errno(argv[0]);
	return 127;
}

int main(int argc, char **argv)
{
	const struct policy *policy = find('r', 0);
	int c, reset = 0;
	bool task = false;
	uint64_t priority;

	command_begin(argv[0], "[-p | -m] [-bfiorR] PRIORITY COMMAND [ARG]...");
	while ((c = command_option(argc, argv, "bfiorRpm")) > 0) {
		if (c == 'm')
			return show_limits();
		if (c == 'p')
			task = true;
		else if (c == 'R')
			reset = RESET_ON_FORK;
		else
			policy = find(c, 0);
	}
	if (!c)
		return 1;
	if (task)
		return of_task(argc - optind, argv + optind, policy->number | reset);
	if (argc - optind < 2)
		return command_usage();
	if (!command_number(argv[optind], 10, &priority) ||
	    set(0, policy->number | reset, priority))
		return 1;
	return run(argv + optind + 1);
}
