/*
 * eh_load [-n EVENTS] [-s BYTES] [-p PROCESSES] [-w]: writes EventHeader events as fast as it can,
 * from several processes, each with three fields: its number, a time and a text of so many bytes.
 * -w: waits until somebody listens. Says how many, and how long it took.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "user/eventheader.h"

#define TEXT_MAX 4096

static struct eh_provider provider = EH_PROVIDER("Trapline_Load", "");
static struct eh_tracepoint load = EH_TRACEPOINT(&provider, EVENTHEADER_VERBOSE, 0x1);

static struct {
	unsigned long events, bytes, processes;
	bool wait;
} how = {100000, 16, 1, false};

static int usage(void)
{
	fprintf(stderr,
	    "usage: eh_load [-n EVENTS] [-s BYTES (0..%u)] [-p PROCESSES (1..64)] [-w]\n",
	    TEXT_MAX);
	return 2;
}

static bool take_number(const char *text, unsigned long *out)
{
	char *end;

	errno = 0;
	*out = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

static bool take_options(int argc, char **argv)
{
	for (int c; (c = getopt(argc, argv, "n:s:p:w")) != -1;)
		switch (c) {
		case 'n':
			if (!take_number(optarg, &how.events))
				return false;
			break;
		case 's':
			if (!take_number(optarg, &how.bytes) || how.bytes > TEXT_MAX)
				return false;
			break;
		case 'p':
			if (!take_number(optarg, &how.processes) || !how.processes ||
			    how.processes > 64)
				return false;
			break;
		case 'w':
			how.wait = true;
			break;
		default:
			return false;
		}
	return optind == argc;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* The first error ends it. */
static int write_events(void)
{
	static char text[TEXT_MAX];
	int err = 0;

	memset(text, 'x', sizeof(text));
	for (unsigned long i = 0; i < how.events && !err; i++)
		err = EH_WRITE(&load, "Load", EHF_U64("number", i), EHF_S64("time", now_ns()),
		    EHF_TEXT("text", text, how.bytes));
	if (err)
		fprintf(stderr, "eh_load: %s\n", strerror(err));
	return err != 0;
}

/* Each process has the tracepoint's word in memory of its own, and the file with all of them. */
static int run(void)
{
	int status, bad;

	for (unsigned long i = 1; i < how.processes; i++) {
		pid_t pid = fork();
		if (pid < 0) {
			perror("eh_load: fork");
			return 1;
		}
		if (!pid)
			_exit(write_events());
	}
	bad = write_events();
	while (wait(&status) > 0)
		bad |= status != 0;
	return bad;
}

int main(int argc, char **argv)
{
	if (!take_options(argc, argv))
		return usage();
	int err = eh_register(&load);
	if (err) {
		fprintf(stderr, "eh_load: cannot register: %s\n", strerror(err));
		return 1;
	}
	while (how.wait && !eh_enabled(&load))
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	bool listened = eh_enabled(&load);
	int64_t start = now_ns();
	if (run())
		return 1;
	int64_t ns = now_ns() - start;
	unsigned long all = how.events * how.processes;
	printf("%lu events%s in %lld ms, %lld ns each\n", all,
	    listened ? "" : " that nobody listens to", (long long)ns / 1000000,
	    (long long)(all ? ns / (int64_t)all : 0));
	eh_unregister(&load);
	return 0;
}
