/*
 * trapline report: the lines of a trace.dat file, as `trace` has them in the machine: all, of some
 * CPUs, the first or the last.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/strace/strace.h"
#include "tools/trapline/lib/output.h"
#include "tools/trapline/trapline.h"
#include "tools/trapline/trace/text.h"

static const char usage[] =
    "Usage: trapline report [-n N | --tail N] [--cpu LIST] [TRACE.DAT]\n"
    "       trapline report --strace [TRACE.DAT]\n"
    "\n"
    "Prints a line for each record of a trace.dat file (trace.dat): task, CPU, flags, time, event, "
    "each field with its name; and a\n"
    "line where events were lost. (trapline convert --to text has the ledger, too.)\n"
    "\n"
    "  -n, --lines N  at most the first N lines\n"
    "  --tail N       the last N lines\n"
    "  --cpu LIST     only these CPUs: 0, 0,2 or 1-3\n"
    "  --strace       system calls as strace -f prints them; complete for a trace of `trapline "
    "record --strace`\n"
    "  --progress     report progress, also if the standard error is no terminal\n"
    "\n"
    "TRACE.DAT - is the standard input.\n"
    "Exit status: 0 fine, 1 the trace is damaged (reported; the intact part was printed), 2 usage, "
    "3 trouble.\n";

enum { OPTION_TAIL = OPTION_FIRST_FREE, OPTION_CPU, OPTION_STRACE };

#define LINES_MOST 100000000ULL

struct report {
	uint64_t first, last; /* how many; UINT64_MAX: all; last 0: not the last */
	bool cpu[CPUS_MOST];
	bool some_cpus, strace;
	/* The last ones so far: a ring of texts. */
	char **line;
	uint64_t count;
};

/* "0,2-4" */
static bool parse_cpus(struct report *r, const char *list)
{
	for (r->some_cpus = true; *list; list++) {
		char *end;
		if (*list < '0' || *list > '9')
			return false;
		unsigned long from = strtoul(list, &end, 10), to = from;
		if (*end == '-' && end[1] >= '0' && end[1] <= '9')
			to = strtoul(end + 1, &end, 10);
		if (from > to || to >= CPUS_MOST || (*end && (*end != ',' || !end[1])))
			return false;
		for (; from <= to; from++)
			r->cpu[from] = true;
		list = end;
		if (!*list)
			return true;
	}
	return false;
}

static void keep_line(struct report *r, const struct trace *t, const struct record *record)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		die(EXIT_TROUBLE, "out of memory");
	write_line(f, t, record);
	fclose(f);
	if (r->count >= r->last)
		free(r->line[r->count % r->last]);
	else
		r->line = xrealloc(r->line, (r->count + 1) * sizeof(*r->line));
	r->line[r->count % r->last] = text;
}

static void put_last(struct report *r)
{
	uint64_t kept = r->count < r->last ? r->count : r->last;

	for (uint64_t i = r->count - kept; i < r->count; i++) {
		char **line = &r->line[i % r->last];
		fputs(*line, stdout);
		free(*line);
	}
	free(r->line);
}

static void report(struct report *r, struct trace *t)
{
	struct record record;

	while (r->count < r->first && !ferror(stdout) && trace_next(t, &record)) {
		trace_progress(t);
		if (r->some_cpus && !r->cpu[record.cpu])
			continue;
		if (r->last)
			keep_line(r, t, &record);
		else
			write_line(stdout, t, &record);
		r->count++;
	}
	if (r->last)
		put_last(r);
	progress("converting", 1, 1);
}

static int take_option(struct report *r, int c)
{
	uint64_t n;

	switch (c) {
	case 'n':
	case OPTION_TAIL:
		if (!parse_number(optarg, LINES_MOST, &n) || !n)
			return bad_usage("report", "'%s' is no number of lines", optarg);
		*(c == 'n' ? &r->first : &r->last) = n;
		return -1;
	case OPTION_CPU:
		if (!parse_cpus(r, optarg))
			return bad_usage(
			    "report", "'%s' is no list of CPUs: 0, 0,2 or 1-3", optarg);
		return -1;
	case OPTION_STRACE:
		r->strace = true;
		return -1;
	default:
		return common_option("report", c, usage);
	}
}

static int report_file(struct report *r, const char *name)
{
	struct trace t;
	int status;

	if (!trace_open(&t, name))
		return EXIT_TROUBLE;
	if (r->strace)
		strace_write(&t, stdout, false);
	else
		report(r, &t);
	status = t.damaged ? EXIT_DAMAGED : EXIT_FINE;
	trace_close(&t);
	if (fflush(stdout) || ferror(stdout)) {
		say_errno("standard output");
		status = EXIT_TROUBLE;
	}
	return status;
}

int cmd_report(int argc, char **argv)
{
	static const struct option options[] = {{"lines", required_argument, NULL, 'n'},
	    {"tail", required_argument, NULL, OPTION_TAIL},
	    {"cpu", required_argument, NULL, OPTION_CPU},
	    {"strace", no_argument, NULL, OPTION_STRACE}, COMMON_OPTIONS, {0}};
	static struct report r = {.first = UINT64_MAX};
	int c, status = -1;

	while (status < 0 && (c = getopt_long(argc, argv, "n:h", options, NULL)) != -1)
		status = take_option(&r, c);
	if (status >= 0)
		return status;
	if (r.last && r.first != UINT64_MAX)
		return bad_usage("report", "-n or --tail, not both");
	if (r.strace && (r.last || r.first != UINT64_MAX || r.some_cpus))
		return bad_usage("report", "--strace shows all lines");
	if (argc - optind > 1)
		return bad_usage("report", "one TRACE.DAT at a time");
	return report_file(&r, optind < argc ? argv[optind] : "trace.dat");
}
