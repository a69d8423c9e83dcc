/*
 * trapline live: events of a running machine as they happen, out of its memory, which is a file.
 * The machine does nothing for it, and nothing differently.
 */
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <time.h>

#include "tools/trapline/trace/live.h"
#include "tools/trapline/trace/text.h"
#include "tools/trapline/lib/util.h"
#include "tools/trapline/trapline.h"

#define LOOK_NS 10000000 /* between two looks */

static const char usage[] =
    "Usage: trapline live [-w] [-i INSTANCE] [-s SECONDS] [-p PID] MEMORY\n"
    "\n"
    "Follows the events of a running machine whose memory is the file MEMORY, without stopping it, "
    "until Ctrl-C or until the machine\n"
    "has ended (qemu -object memory-backend-file,id=ram,size=256M,mem-path=MEMORY,share=on "
    "-machine memory-backend=ram).\n"
    "\n"
    "  -w, --wait               wait until the machine has set up its rings\n"
    "  -i, --instance INSTANCE  the rings of an instance, not the global ones\n"
    "  -s, --seconds SECONDS    stop after that time; 0: print only the events that are there now\n"
    "  -p, --pid PID            stop when the process PID (QEMU) has ended\n"
    "\n"
    "At the end it prints how many events it has seen, and how many were overwritten before it "
    "could read them.\n"
    "Exit status: 0 fine, 1 the memory is inconsistent, 2 usage, 3 trouble.\n";

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	(void)sig;
	stopped = 1;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

struct until {
	uint64_t end; /* now_ns() */
	int pid;      /* 0: none */
};

static bool is_over(const struct until *u)
{
	return stopped || now_ns() >= u->end || (u->pid && kill(u->pid, 0));
}

static void wait_a_look(void)
{
	nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
}

static void follow(struct live *l, const struct until *u)
{
	bool last = false;

	while (!last && !ferror(stdout)) {
		last = is_over(u);
		while (live_look(l))
			write_records(&l->trace, stdout);
		fflush(stdout);
		if (!last)
			wait_a_look();
	}
}

int cmd_live(int argc, char **argv)
{
	static const struct option options[] = {{"wait", no_argument, NULL, 'w'},
	    {"instance", required_argument, NULL, 'i'}, {"seconds", required_argument, NULL, 's'},
	    {"pid", required_argument, NULL, 'p'}, COMMON_OPTIONS, {0}};
	const char *instance = "";
	struct until until = {.end = ~0ULL};
	bool wait = false;
	uint64_t number;
	struct live l;
	int c, status;

	while ((c = getopt_long(argc, argv, "wi:s:p:h", options, NULL)) != -1) {
		switch (c) {
		case 'w':
			wait = true;
			break;
		case 'i':
			instance = optarg;
			break;
		case 's':
			if (!parse_seconds(optarg, &number))
				return bad_usage("live", "'%s' is not a number of seconds", optarg);
			until.end = now_ns() + number;
			break;
		case 'p':
			if (!parse_number(optarg, INT_MAX, &number) || !number)
				return bad_usage("live", "'%s' is no process", optarg);
			until.pid = number;
			break;
		default:
			status = common_option("live", c, usage);
			if (status >= 0)
				return status;
		}
	}
	if (argc - optind != 1)
		return bad_usage(
		    "live", optind < argc ? "one MEMORY at a time" : "of which MEMORY?");
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	while (wait && !is_over(&until) && !guest_is_in(argv[optind]))
		wait_a_look();
	if (!live_open(&l, argv[optind], instance))
		return EXIT_TROUBLE;
	follow(&l, &until);
	say("%llu events seen, %llu overwritten before%s", (unsigned long long)l.seen,
	    (unsigned long long)l.lost,
	    l.lost_unknown ? ", and some taken by a reader in the machine" : "");
	status = l.trace.damaged || l.guest.memory.missing ? EXIT_DAMAGED : EXIT_FINE;
	if (ferror(stdout)) {
		say("the standard output cannot be written");
		status = EXIT_TROUBLE;
	}
	live_close(&l);
	return status;
}
