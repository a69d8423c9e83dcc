/*
 * trapline live: events of a running machine as they happen, out of its memory, which is a file.
 * The machine does nothing for it, and nothing differently.
 */
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/trapline/trace/live.h"
#include "tools/trapline/convert/convert.h"

#define LOOK_NS	   10000000 /* between two looks */
#define PAGES_MOST 2048	    /* of a CPU in one look */

static const char usage[] =
    "Usage: trapline live [-w] [-i INSTANCE] [-s SECONDS] [-p PID] MEMORY\n"
    "\n"
    "Follows the events of a running machine whose memory is the file MEMORY, without stopping it, "
    "until Ctrl-C or until the\n"
    "machine has gone (qemu -object memory-backend-file,id=ram,size=256M,mem-path=MEMORY,share=on "
    "-machine memory-backend=ram).\n"
    "\n"
    "  -w, --wait               wait until the machine has come so far that it has rings\n"
    "  -i, --instance INSTANCE  of an instance, not of the global buffer\n"
    "  -s, --seconds SECONDS    no longer than that; 0: what there is now\n"
    "  -p, --pid PID            until the process PID (QEMU) has ended\n"
    "\n"
    "At the end it says how many it has seen, and how many were overwritten before it could.\n"
    "Exit status: 0 fine, 1 what is in the memory does not fit together, 2 usage, 3 trouble.\n";

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	(void)sig;
	stopped = 1;
}

/* Formats of events that came, and were removed since. */
static void keep_formats(struct live *l, const struct trace *old)
{
	bool any = false;

	for (size_t i = 0; i < old->events; i++) {
		const struct event *e = &old->event[i];

		if (!l->came[e->id] || l->trace.by_id[e->id])
			continue;
		trace_add_format(&l->trace, e->system, e->text, strlen(e->text));
		any = true;
	}
	if (any)
		trace_index(&l->trace);
}

void live_describe(struct live *l)
{
	struct trace old = l->trace;

	guest_describe(&l->guest, &l->trace, old.file);
	l->trace.page_size = old.page_size;
	keep_formats(l, &old);
	l->trace.damaged |= old.damaged;
	trace_close(&old);
}

bool live_open(struct live *l, const char *file, const char *instance)
{
	struct memory memory;

	if (memory_open(&memory, file))
		return live_open_in(l, file, &memory, instance);
	say_errno(file);
	return false;
}

bool live_open_in(
    struct live *l, const char *file, const struct memory *memory, const char *instance)
{
	*l = (struct live){.seen = 0};
	if (!guest_open(&l->guest, file, memory, instance))
		return false;
	l->pages = xmalloc(l->guest.cpus * sizeof(*l->pages));
	l->came = xmalloc(65536 * sizeof(*l->came));
	guest_describe(&l->guest, &l->trace, file);
	return true;
}

void live_close(struct live *l)
{
	for (unsigned cpu = 0; cpu < l->guest.cpus; cpu++)
		bytes_free(&l->pages[cpu]);
	free(l->pages);
	free(l->came);
	trace_close(&l->trace);
	guest_close(&l->guest);
}

/* Records of one CPU, up to the next gap, which begins the next look. */
static bool look_at_cpu(struct live *l, unsigned cpu)
{
	struct cpu *c = &l->trace.cpu[cpu];
	struct bytes *pages = &l->pages[cpu];
	static uint8_t page[PAGE_MOST];
	const uint32_t size = l->trace.page_size;
	uint64_t lost;
	bool unknown;

	pages->size = 0;
	while (pages->size < (size_t)PAGES_MOST * PAGE_BYTES &&
	       guest_next(&l->guest, cpu, page, size, &lost, &unknown)) {
		if (lost || unknown)
			page_lost(page, lost, unknown);
		l->lost += lost;
		l->lost_unknown |= unknown;
		bytes_put(pages, page, size);
	}
	*c = (struct cpu){.pages = pages->data, .bytes = pages->size};
	return pages->size;
}

/* Notes the events that it brought. Are all of them known? */
static bool knows_all(struct live *l)
{
	bool all = true;

	for (unsigned cpu = 0; cpu < l->guest.cpus; cpu++)
		for (size_t at = 0; at < l->pages[cpu].size; at += l->trace.page_size) {
			struct page_walk w;
			uint16_t id;

			page_begin(&w, RECORDS_OWN, l->pages[cpu].data + at, l->trace.page_size);
			while (page_next(&w)) {
				if (w.length < sizeof(id))
					continue;
				memcpy(&id, w.record, sizeof(id));
				l->came[id] = true;
				all &= !!l->trace.by_id[id];
			}
		}
	return all;
}

bool live_look(struct live *l)
{
	bool any = false;

	l->trace.page_size = guest_page_size(&l->guest);
	for (unsigned cpu = 0; cpu < l->guest.cpus; cpu++)
		any |= look_at_cpu(l, cpu);
	if (any)
		guest_names(&l->guest, &l->trace);
	if (any && !knows_all(l)) {
		live_describe(l);
		for (unsigned cpu = 0; cpu < l->guest.cpus; cpu++)
			l->trace.cpu[cpu] =
			    (struct cpu){.pages = l->pages[cpu].data, .bytes = l->pages[cpu].size};
	}
	l->seen = 0;
	for (unsigned cpu = 0; cpu < l->guest.cpus; cpu++)
		l->seen += l->guest.cpu[cpu].seen;
	return any;
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
				return bad_usage("live", "'%s' are no seconds", optarg);
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
