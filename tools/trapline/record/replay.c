/*
 * trapline replay: builds the machine of a trace again from what the file says of it (origin.h),
 * runs it, and compares what it records.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/trapline/record/origin.h"
#include "tools/trapline/trapline.h"
#include "tools/trapline/trace/text.h"

static const char usage[] =
    "Usage: trapline replay [OPTION]... [TRACE.DAT]\n"
    "\n"
    "Runs the machine that recorded TRACE.DAT (trace.dat) again, with the same kernel, programs, "
    "files, options and input, and\n"
    "compares what it records. A deterministic machine records the same again: replay prints "
    "\"identical\". If not, it prints the number\n"
    "of the first event that differs, and its line in both traces.\n"
    "\n"
    "  --kernel FILE      the kernel, if it has moved; it must be the same\n"
    "  -o, --output FILE  keep the new trace\n"
    "\n"
    "It refuses if the kernel, a program, another copied file or QEMU's version has changed, and "
    "if the trace was recorded in real\n"
    "time, with input that arrived during the run, or was ended from outside (--timeout, a second "
    "Ctrl-C).\n"
    "\n"
    "Exit status: 0 identical, 1 different, 2 usage, 3 trouble.\n";

enum { OPTION_KERNEL_FILE = OPTION_FIRST_FREE };

/* A side of the comparison. */
struct side {
	struct trace *t;
	struct record r;
	bool has;
	bool has_gaps;	 /* events were overwritten before the host read them, somewhere before */
	uint64_t number; /* of the record */
};

static void advance(struct side *s)
{
	while ((s->has = trace_next(s->t, &s->r)) && s->r.is_gap)
		s->has_gaps = true;
	s->number++;
}

static bool is_same_record(const struct record *x, const struct record *y)
{
	return x->cpu == y->cpu && x->time == y->time && x->size == y->size &&
	       !memcmp(x->data, y->data, x->size);
}

static void print_side(const char *which, const struct side *s)
{
	fputs(which, stdout);
	if (s->has)
		write_record(stdout, s->t, &s->r);
	else
		puts(" (no more events)");
}

/* True if the other side may have lost x's record. */
static bool may_lack(const struct side *x, const struct side *other)
{
	return other->has_gaps && x->has && (!other->has || x->r.time < other->r.time);
}

/*
 * True: all records that both have are the same. Which ones are lost depends on how soon the host
 * read the rings; *lacking: how many only one side has.
 */
static bool compare_records(struct trace *old, struct trace *new, uint64_t *lacking)
{
	struct side x = {.t = old}, y = {.t = new};

	advance(&x);
	advance(&y);
	while (x.has || y.has) {
		bool same = x.has && y.has && is_same_record(&x.r, &y.r);
		bool old_only = !same && may_lack(&x, &y), new_only = !same && may_lack(&y, &x);

		*lacking += old_only || new_only;
		if (same || old_only)
			advance(&x);
		if (same || new_only)
			advance(&y);
		if (same || old_only || new_only)
			continue;
		printf("event %llu differs\n", (unsigned long long)x.number);
		print_side("was:", &x);
		print_side("is: ", &y);
		return false;
	}
	return true;
}

static int compare(struct trace *old, const char *file)
{
	struct trace new;
	uint64_t lacking = 0;
	int status = EXIT_DAMAGED;

	if (!trace_open(&new, file))
		return EXIT_TROUBLE;
	if (old->in.size == new.in.size && !memcmp(old->in.data, new.in.data, new.in.size)) {
		puts("identical");
		status = EXIT_FINE;
	} else if (compare_records(old, &new, &lacking)) {
		if (lacking) {
			printf("identical, but for %llu events that were overwritten in one of the "
			       "two "
			       "before they were read\n",
			    (unsigned long long)lacking);
			status = EXIT_FINE;
		} else {
			puts("the events are identical; names, statistics or formats beside them "
			     "are not");
		}
	}
	trace_close(&new);
	return status;
}

/* A name for the new trace if none is wanted. */
static char *temporary(void)
{
	const char *directory = getenv("TMPDIR");
	char *name;
	int fd;

	if (asprintf(&name, "%s/trapline-XXXXXX", directory && *directory ? directory : "/tmp") < 0)
		die(EXIT_TROUBLE, "out of memory");
	fd = mkstemp(name);
	if (fd < 0) {
		say_errno(name);
		free(name);
		return NULL;
	}
	close(fd);
	return name;
}

static int run_again(struct trace *old, struct origin *o, const char *keep)
{
	char *name = keep ? xstrndup(keep, strlen(keep)) : temporary();
	int status = EXIT_TROUBLE;

	if (!name)
		return EXIT_TROUBLE;
	o->boot.out_name = name;
	if (boot_again(&o->boot, o->qemu, o->follow))
		status = compare(old, name);
	if (!keep)
		unlink(name);
	free(name);
	return status;
}

static int replay(const char *file, const char *kernel, const char *keep)
{
	struct trace t;
	struct origin o;
	int status = EXIT_TROUBLE;

	if (!trace_open(&t, file))
		return EXIT_TROUBLE;
	if (origin_open(&o, &t, kernel)) {
		if (o.cut)
			say("%s: its machine was ended from outside, by %s: where, another run "
			    "cannot "
			    "tell",
			    file, o.cut);
		else
			status = run_again(&t, &o, keep);
	}
	origin_close(&o);
	trace_close(&t);
	return status;
}

int cmd_replay(int argc, char **argv)
{
	static const struct option options[] = {
	    {"kernel", required_argument, NULL, OPTION_KERNEL_FILE},
	    {"output", required_argument, NULL, 'o'}, COMMON_OPTIONS, {0}};
	const char *kernel = NULL, *keep = NULL;
	int c, status;

	while ((c = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
		if (c == OPTION_KERNEL_FILE) {
			kernel = optarg;
		} else if (c == 'o') {
			keep = optarg;
		} else {
			status = common_option("replay", c, usage);
			if (status >= 0)
				return status;
		}
	}
	if (argc - optind > 1)
		return bad_usage("replay", "one TRACE.DAT at a time");
	return replay(optind < argc ? argv[optind] : "trace.dat", kernel, keep);
}
