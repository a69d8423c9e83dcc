/*
 * trapline diff: two traces compared. See diff.h; what is compared, and how, is said in its usage.
 */
#include <fnmatch.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/diff/diff.h"
#include "tools/trapline/lib/duration.h"
#include "tools/trapline/lib/output.h"
#include "tools/trapline/lib/roomy.h"
#include "tools/trapline/trapline.h"

#define LINES_USUAL 10

enum { SAME = 0, DIFFERENT = 1, TROUBLE = 2 }; /* as of diff(1) */

static const char usage[] =
    "Usage: trapline diff [OPTION]... A.DAT B.DAT\n"
    "\n"
    "Compares two traces: the order of events on each CPU; the values and times of events in both; "
    "the number of each event and of\n"
    "each task's events; which functions were called more or less often, from where, and whose "
    "time grew (function_graph); how long\n"
    "wakeups, interrupts and system calls took; and what was lost. The first line tells what "
    "differs, the others where.\n"
    "\n"
    "  -t, --ignore-time    do not compare times and latencies\n"
    "  -v, --ignore-values  do not compare the values of fields; events and tasks are always "
    "compared by name\n"
    "  -e, --events LIST    only these: names or SYSTEM:NAME, with * and ?, separated by commas\n"
    "  -n, --lines N        show at most N events of each CPU's differences, and N lines of "
    "functions (10)\n"
    "  -q, --brief          only the first line\n"
    "  -h, --help           this text\n"
    "\n"
    "Exit status: 0 the same, 1 different, 2 trouble: usage, no such file, a damaged one "
    "(reported; the intact part was compared).\n";

void diff_found(struct diff *d, const char *fmt, ...)
{
	va_list ap;

	fputs(diff_any(d) ? "; " : " differ: ", d->summary);
	va_start(ap, fmt);
	vfprintf(d->summary, fmt, ap);
	va_end(ap);
}

bool diff_any(const struct diff *d)
{
	return ftell(d->summary) > 0;
}

const char *diff_duration(char buf[32], const struct trace *t, uint64_t n)
{
	if (t->in_ns)
		return duration_text(buf, n, "u");
	snprintf(buf, 32, "%llu", (unsigned long long)n);
	return buf;
}

/* ---- reading ---- */

static bool is_wanted(const struct diff *d, const struct event *ev)
{
	char full[256];

	if (!d->onlys)
		return true;
	if (!ev)
		return false;
	snprintf(full, sizeof(full), "%s:%s", ev->system, ev->name);
	for (size_t i = 0; i < d->onlys; i++)
		if (!fnmatch(d->only[i], strchr(d->only[i], ':') ? full : ev->name, 0))
			return true;
	return false;
}

static bool *wanted_events(const struct diff *d, const struct side *side)
{
	bool *wanted = xmalloc(side->trace.events + 1);

	for (size_t i = 0; i < side->trace.events; i++)
		wanted[i] = is_wanted(d, &side->trace.event[i]);
	wanted[side->trace.events] = !d->onlys;
	return wanted;
}

/* Names are as long as the files say. */
static uint32_t new_token(struct diff *d, const struct side *side, const struct record *r)
{
	char *text;
	int n = r->event ? asprintf(&text, "%s:%s", r->event->system, r->event->name)
			 : asprintf(&text, "unknown event %u", r->id);

	if (n < 0)
		die(TROUBLE, "out of memory");
	uint32_t event = words_add(&d->events, text, n);
	free(text);
	n = asprintf(&text, "%s by %s", d->events.word[event], trace_comm(&side->trace, r->pid));
	if (n < 0)
		die(TROUBLE, "out of memory");
	uint32_t token = words_add(&d->tokens, text, n);
	free(text);
	d->event_of = xrealloc(d->event_of, d->tokens.count * sizeof(*d->event_of));
	d->event_of[token] = event;
	return token;
}

static void add_record(struct diff *d, struct side *side, const struct record *r)
{
	struct lane *cpu = &side->cpu[r->cpu];
	uint64_t *token = map_at(&side->token, (uint64_t)r->id << 32 | (uint32_t)r->pid);

	if (!*token)
		*token = new_token(d, side, r) + 1ul;
	cpu->record = roomy_more(cpu->record, cpu->count, sizeof(*cpu->record));
	cpu->token = roomy_more(cpu->token, cpu->count, sizeof(*cpu->token));
	cpu->record[cpu->count] = *r;
	cpu->token[cpu->count++] = *token - 1;
}

static bool load(struct diff *d, struct side *side, const char *name)
{
	struct record r;

	side->name = name;
	if (!trace_open(&side->trace, name))
		return false;
	side->cpu = xmalloc(side->trace.cpus * sizeof(*side->cpu));
	model_begin(&side->model, &side->trace);
	bool *wanted = wanted_events(d, side);
	while (trace_next(&side->trace, &r)) {
		progress("reading", side->trace.pages_done, side->trace.pages_all + 1);
		if (!r.is_gap && !wanted[model_event(&side->model, &r)])
			continue;
		model_record(&side->model, &r);
		if (!r.is_gap)
			add_record(d, side, &r);
	}
	model_end(&side->model);
	progress("reading", 1, 1);
	free(wanted);
	return true;
}

static void unload(struct side *side)
{
	for (unsigned cpu = 0; cpu < side->trace.cpus; cpu++) {
		roomy_free(side->cpu[cpu].record);
		roomy_free(side->cpu[cpu].token);
	}
	free(side->cpu);
	map_clear(&side->token);
	model_free(&side->model);
	trace_close(&side->trace);
}

/* ---- the whole ---- */

static void describe(struct diff *d, const struct side *side, char letter)
{
	const struct model *s = &side->model;
	uint64_t lost = 0;
	bool any_unknown = false, unknown;
	char took[32];

	for (unsigned cpu = 0; cpu < side->trace.cpus; cpu++) {
		lost += model_lost(s, cpu, &unknown);
		any_unknown |= unknown;
	}
	fprintf(d->body, "  %c  %s: %llu events on %u CPUs in %s, %llu lost%s, clock %s\n", letter,
	    side->name, (unsigned long long)s->records, side->trace.cpus,
	    diff_duration(took, &side->trace, s->last - s->first), (unsigned long long)lost,
	    any_unknown ? " and more" : "", side->trace.clock);
}

static void compare(struct diff *d)
{
	const struct trace *a = &d->side[0].trace, *b = &d->side[1].trace;

	describe(d, &d->side[0], 'A');
	describe(d, &d->side[1], 'B');
	if (a->cpus != b->cpus)
		diff_found(d, "%u CPUs, %u", a->cpus, b->cpus);
	if (strcmp(a->clock, b->clock) && !d->ignore_time)
		diff_found(d, "the clock");
	diff_order(d);
	diff_counts(d);
	diff_calls(d);
	if (!d->ignore_time)
		diff_latencies(d);
	diff_lost(d);
}

static void first_line(const struct diff *d, const char *found, bool damaged)
{
	const struct side *a = &d->side[0], *b = &d->side[1];

	printf("%s and %s", a->name, b->name);
	if (diff_any(d))
		fputs(found, stdout);
	else
		printf(" are the same%s: %llu events on %u CPUs",
		    d->ignore_time || d->ignore_values || d->onlys ? " in what is compared" : "",
		    (unsigned long long)a->model.records, a->trace.cpus);
	if (damaged)
		fputs(" (damaged: as far as they are whole)", stdout);
	puts("");
}

static int run(struct diff *d, char **names)
{
	char *body, *summary;
	size_t body_size, summary_size;

	if (!load(d, &d->side[0], names[0]))
		return TROUBLE;
	if (!load(d, &d->side[1], names[1])) {
		unload(&d->side[0]);
		return TROUBLE;
	}
	d->body = open_memstream(&body, &body_size);
	d->summary = open_memstream(&summary, &summary_size);
	if (!d->body || !d->summary)
		die(TROUBLE, "out of memory");
	compare(d);
	fflush(d->summary);
	bool any = diff_any(d), damaged = d->side[0].trace.damaged || d->side[1].trace.damaged;
	first_line(d, summary, damaged);
	fclose(d->body);
	fclose(d->summary);
	if (!d->brief)
		fputs(body, stdout);
	free(body);
	free(summary);
	unload(&d->side[0]);
	unload(&d->side[1]);
	if (fflush(stdout)) {
		say_errno("standard output");
		return TROUBLE;
	}
	return damaged ? TROUBLE : any ? DIFFERENT : SAME;
}

static void add_patterns(struct diff *d, char *list)
{
	for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
		d->only = xrealloc(d->only, (d->onlys + 1) * sizeof(*d->only));
		d->only[d->onlys++] = word;
	}
}

/* -1: done; else the exit status to end with. */
static int take_option(struct diff *d, int c)
{
	uint64_t n;

	switch (c) {
	case 't':
		d->ignore_time = true;
		return -1;
	case 'v':
		d->ignore_values = true;
		return -1;
	case 'q':
		d->brief = true;
		return -1;
	case 'e':
		add_patterns(d, optarg);
		return d->onlys ? -1 : bad_usage("diff", "--events: which ones?");
	case 'n':
		if (!parse_number(optarg, UINT32_MAX, &n))
			return bad_usage("diff", "--lines: '%s' is no number of them", optarg);
		d->lines = n;
		return -1;
	default:
		return common_option("diff", c, usage);
	}
}

static void free_diff(struct diff *d)
{
	words_free(&d->events);
	words_free(&d->tokens);
	free(d->event_of);
	free(d->only);
}

int cmd_diff(int argc, char **argv)
{
	static const struct option options[] = {{"ignore-time", no_argument, NULL, 't'},
	    {"ignore-values", no_argument, NULL, 'v'}, {"events", required_argument, NULL, 'e'},
	    {"lines", required_argument, NULL, 'n'}, {"brief", no_argument, NULL, 'q'},
	    COMMON_OPTIONS, {0}};
	struct diff d = {.lines = LINES_USUAL};
	int c, status = -1;

	while (status < 0 && (c = getopt_long(argc, argv, "tve:n:qh", options, NULL)) != -1)
		status = take_option(&d, c);
	if (status < 0 && argc - optind != 2)
		status = bad_usage("diff", "which two traces?");
	if (status < 0)
		status = run(&d, argv + optind);
	free_diff(&d);
	return status;
}
