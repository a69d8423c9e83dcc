/*
 * trapline explain: where the time of a span went, or why one trace took longer than another. See
 * explain.h. The usage says what it prints, and when it refuses.
 */
#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/explain/print.h"
#include "tools/trapline/lib/duration.h"
#include "tools/trapline/lib/xml.h"
#include "tools/trapline/lib/output.h"
#include "tools/trapline/trapline.h"

static const char usage[] =
    "Usage: trapline explain [OPTION]... TRACE.DAT\n"
    "       trapline explain [OPTION]... A.DAT B.DAT\n"
    "\n"
    "Shows where the time of one task went, in a trace or a span of it: how long it ran, was "
    "interrupted, was runnable without a CPU,\n"
    "slept, or waited for another task. If it waits for a task that wakes it, explain shows what "
    "that task did meanwhile, and so on.\n"
    "The parts add up to the span. With two traces: which parts made B longer than A.\n"
    "\n"
    "  -s, --span A..B    from one time to another, as `trace` shows them; A.. and ..B work, too\n"
    "  -t, --task TASK    a name or a PID; by default the task between whose first and last run "
    "most of the span lies\n"
    "  -j, --json         all parts, in nanoseconds\n"
    "  -h, --help         this text\n"
    "\n"
    "It needs sched:sched_switch and sched:sched_waking; raw_syscalls or syscalls name system "
    "calls, irq and irq_vectors interrupts:\n"
    "trapline record -e sched -e raw_syscalls -e irq -e irq_vectors -- PROGRAM\n"
    "\n"
    "Exit status: 0 fine; 1 refused, with the reason: events of the span are lost, or not in the "
    "trace, or the file is damaged;\n"
    "2 usage; 3 trouble.\n";

struct options {
	bool json, has_from, has_to;
	uint64_t from, to;
	const char *task;
};

/* ---- one trace ---- */

const char *explain_time(char buf[32], const struct trace *t, uint64_t time)
{
	if (t->in_ns)
		snprintf(buf, 32, "%llu.%09llu", (unsigned long long)(time / 1000000000),
		    (unsigned long long)(time % 1000000000));
	else
		snprintf(buf, 32, "%llu", (unsigned long long)time);
	return buf;
}

const char *explain_exact(char buf[32], const struct trace *t, uint64_t n)
{
	if (t->in_ns)
		snprintf(buf, 32, "%llu.%06llu ms", (unsigned long long)(n / 1000000),
		    (unsigned long long)(n % 1000000));
	else
		snprintf(buf, 32, "%llu", (unsigned long long)n);
	return buf;
}

const char *explain_short(char buf[32], const struct trace *t, uint64_t n)
{
	return t->in_ns ? duration_text(buf, n, "u") : explain_exact(buf, t, n);
}

/* The longest part of the trace in which nothing was lost. */
static void say_whole_part(const struct explained *s)
{
	const struct timeline *l = &s->timeline;
	uint64_t from = l->first, best_from = 0, best_to = 0;
	char begin[32], end[32];

	for (size_t i = 0; i <= l->gaps; i++) {
		uint64_t to = i < l->gaps ? l->gap[i].begin : l->last;
		if (to > from && to - from > best_to - best_from) {
			best_from = from;
			best_to = to;
		}
		if (i < l->gaps && l->gap[i].end > from)
			from = l->gap[i].end;
	}
	if (best_to)
		say("nothing is lost in --span %s..%s", explain_time(begin, &s->trace, best_from),
		    explain_time(end, &s->trace, best_to));
}

static bool is_lost(const struct explained *s, uint64_t from, uint64_t to)
{
	char begin[32], end[32];

	for (size_t i = 0; i < s->timeline.gaps; i++) {
		const struct gap_seen *g = &s->timeline.gap[i];
		if (g->end <= from || g->begin >= to)
			continue;
		say("%s: refused: of the span %s%llu events of CPU %u are lost, from %s to %s",
		    s->trace.file, g->unknown ? "more than " : "", (unsigned long long)g->lost,
		    g->cpu, explain_time(begin, &s->trace, g->begin),
		    explain_time(end, &s->trace, g->end));
		say_whole_part(s);
		return true;
	}
	return false;
}

/* The first event that `explain` needs and the trace lacks; NULL: it lacks none. */
static const char *lacking(const struct timeline *l)
{
	return !l->switches ? "sched:sched_switch" : !l->wakings ? "sched:sched_waking" : NULL;
}

static bool is_task(const struct trace *t, const struct timeline_task *task, const char *wanted)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", task->pid);
	return !strcmp(pid, wanted) || !strcmp(trace_comm(t, task->pid), wanted);
}

/* Returns the task's pid; 0, after a message: there is no such task. */
static int32_t find_task(
    const struct explained *s, const struct options *o, uint64_t from, uint64_t to)
{
	int32_t pid = 0;

	if (!o->task)
		pid = explain_main_task(&s->timeline, from, to);
	for (size_t i = 0; o->task && !pid && i < s->timeline.tasks; i++)
		if (is_task(&s->trace, &s->timeline.task[i], o->task))
			pid = s->timeline.task[i].pid;
	if (!pid)
		say("%s: refused: no task %s%sin the trace", s->trace.file, o->task ? o->task : "",
		    o->task ? " is " : "runs ");
	return pid;
}

static void read_timeline(struct explained *s)
{
	struct record r;

	timeline_begin(&s->timeline, &s->trace);
	while (trace_next(&s->trace, &r)) {
		progress("reading", s->trace.pages_done, s->trace.pages_all + 1);
		timeline_record(&s->timeline, &r);
	}
	progress("reading", 1, 1);
	timeline_end(&s->timeline);
}

/* Returns EXIT_FINE, or, after a message, the exit status. */
static int explain_side(struct explained *s, const char *name, const struct options *o)
{
	const struct timeline *l = &s->timeline;
	uint64_t from, to;
	char first[32], last[32];
	int32_t pid;

	if (!trace_open(&s->trace, name))
		return EXIT_TROUBLE;
	read_timeline(s);
	from = o->has_from ? o->from : l->first;
	to = o->has_to ? o->to : l->last;
	if (s->trace.damaged) {
		say("%s: refused: the file is damaged", name);
		return EXIT_DAMAGED;
	}
	if (lacking(l)) {
		say("%s: refused: %s is not in the trace; record -e sched -e raw_syscalls -e irq "
		    "-e irq_vectors",
		    name, lacking(l));
		return EXIT_DAMAGED;
	}
	if (from < l->first || to > l->last || from >= to) {
		say("%s: the span is no part of the trace, which goes from %s to %s", name,
		    explain_time(first, &s->trace, l->first),
		    explain_time(last, &s->trace, l->last));
		return EXIT_USAGE;
	}
	if (is_lost(s, from, to) || !(pid = find_task(s, o, from, to)))
		return EXIT_DAMAGED;
	explain_span(&s->explanation, l, pid, from, to);
	return EXIT_FINE;
}

static void free_side(struct explained *s)
{
	explain_free(&s->explanation);
	if (s->timeline.trace)
		timeline_free(&s->timeline);
	if (s->trace.file)
		trace_close(&s->trace);
}

/* ---- as text ---- */

static double share(uint64_t part, uint64_t all)
{
	return 100.0 * part / all;
}

void explain_part(const struct explanation *e, const struct part *p, bool names, FILE *out)
{
	explain_text(e, p, names, out);
	explain_waiter(e, p, names, out);
}

static void put_line(const struct explained *s, uint64_t time, uint64_t count, const char *what)
{
	const struct explanation *e = &s->explanation;
	char text[32];

	printf(
	    "%18s %6.1f %% ", explain_exact(text, &s->trace, time), share(time, e->to - e->from));
	if (count)
		printf("%6llu  ", (unsigned long long)count);
	else
		printf("%6s  ", "");
	fputs(what, stdout);
}

static void put_kinds(const struct explained *s)
{
	static const struct {
		enum part_kind first, last;
		const char *name;
	} kinds[] = {{PART_RUNS, PART_RUNS, "running"}, {PART_IRQ, PART_IRQ, "in interrupts"},
	    {PART_READY, PART_WAKES, "runnable without a CPU"},
	    {PART_SLEEPS, PART_SLEEPS, "asleep until an interrupt"},
	    {PART_WAITS, PART_UNSEEN, "ended, or waiting for an unknown reason"}};
	const struct explanation *e = &s->explanation;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		uint64_t time = 0, count = 0;
		for (size_t i = 0; i < e->parts; i++) {
			bool is =
			    e->part[i].kind >= kinds[k].first && e->part[i].kind <= kinds[k].last;
			time += is ? e->part[i].time : 0;
			count += is ? e->part[i].count : 0;
		}
		if (!time)
			continue;
		put_line(s, time, count, kinds[k].name);
		puts("");
	}
}

static void put_heading(const struct explained *s)
{
	const struct explanation *e = &s->explanation;
	char all[32], from[32], to[32], most[32];

	printf("%s: of %s of %s-%d, from %s to %s, ", s->trace.file,
	    explain_short(all, &s->trace, e->to - e->from), trace_comm(&s->trace, e->pid), e->pid,
	    explain_time(from, &s->trace, e->from), explain_time(to, &s->trace, e->to));
	printf("%s (%.0f %%): ", explain_short(most, &s->trace, e->part[0].time),
	    share(e->part[0].time, e->to - e->from));
	explain_part(e, &e->part[0], false, stdout);
	puts("");
}

static void put_text(const struct explained *s)
{
	const struct explanation *e = &s->explanation;
	uint64_t rest = 0, pieces = 0;

	put_heading(s);
	puts("");
	put_kinds(s);
	puts("");
	for (size_t i = 0; i < e->parts; i++) {
		if (i >= PARTS_MOST) {
			rest += e->part[i].time;
			pieces += e->part[i].count;
			continue;
		}
		put_line(s, e->part[i].time, e->part[i].count, "");
		explain_part(e, &e->part[i], false, stdout);
		puts("");
	}
	if (rest) {
		put_line(s, rest, pieces, "");
		printf("%zu smaller parts\n", e->parts - PARTS_MOST);
	}
	put_line(s, e->to - e->from, 0, "the span\n");
	if (!s->timeline.syscalls)
		puts("System calls are not in the trace: record -e raw_syscalls.");
}

/* ---- as JSON ---- */

static const char *const kind_names[] = {[PART_RUNS] = "running",
    [PART_IRQ] = "interrupted",
    [PART_READY] = "runnable",
    [PART_WAKES] = "waking",
    [PART_SLEEPS] = "sleeping",
    [PART_WAITS] = "waiting",
    [PART_STUCK] = "stuck",
    [PART_GONE] = "ended",
    [PART_UNSEEN] = "unseen"};

static void put_string(const char *name, const char *text)
{
	printf("\"%s\":\"", name);
	json_put(stdout, text, strlen(text));
	putchar('"');
}

static void put_json_task(const struct explained *s, const char *name, int32_t pid)
{
	printf(",\"%s\":{\"pid\":%d,", name, pid);
	put_string("comm", trace_comm(&s->trace, pid));
	putchar('}');
}

static void put_json_word(const struct explained *s, const char *name, uint32_t word)
{
	if (word == NO_WORD)
		return;
	putchar(',');
	put_string(name, s->timeline.pairing.words.word[word]);
}

static void put_json_part(const struct explained *s, const struct part *p)
{
	printf("{\"time\":%llu,\"count\":%llu,\"longest\":%llu,\"at\":%llu,\"state\":\"%s\"",
	    (unsigned long long)p->time, (unsigned long long)p->count,
	    (unsigned long long)p->longest, (unsigned long long)p->at, kind_names[p->kind]);
	put_json_task(s, "task", p->pid);
	put_json_word(s, "call", p->call);
	put_json_word(s, "irq", p->irq);
	if (p->other)
		put_json_task(s, "other", p->other);
	if (p->waiter)
		put_json_task(s, "waiter", p->waiter);
	put_json_word(s, "waiter_call", p->wait);
	putchar('}');
}

static void put_json(const struct explained *s)
{
	const struct explanation *e = &s->explanation;

	putchar('{');
	put_string("file", s->trace.file);
	printf(",\"from\":%llu,\"to\":%llu,\"span\":%llu", (unsigned long long)e->from,
	    (unsigned long long)e->to, (unsigned long long)(e->to - e->from));
	put_json_task(s, "task", e->pid);
	fputs(",\"parts\":[", stdout);
	for (size_t i = 0; i < e->parts; i++) {
		fputs(i ? ",\n" : "\n", stdout);
		put_json_part(s, &e->part[i]);
	}
	fputs("]}", stdout);
}

/* ---- the command ---- */

static int explain(char **names, int count, const struct options *o)
{
	struct explained side[2] = {{.trace = {.file = NULL}}, {.trace = {.file = NULL}}};
	int status = EXIT_FINE;

	for (int i = 0; i < count && status == EXIT_FINE; i++)
		status = explain_side(&side[i], names[i], o);
	if (status == EXIT_FINE && o->json) {
		for (int i = 0; i < count; i++) {
			fputs(i ? ",\n" : count > 1 ? "[" : "", stdout);
			put_json(&side[i]);
		}
		puts(count > 1 ? "]" : "");
	} else if (status == EXIT_FINE && count > 1) {
		explain_difference(&side[0], &side[1]);
	} else if (status == EXIT_FINE) {
		put_text(&side[0]);
	}
	free_side(&side[0]);
	free_side(&side[1]);
	return status;
}

/* A..B, A.. or ..B */
static bool parse_span(struct options *o, char *text)
{
	char *dots = strstr(text, "..");

	if (!dots || (dots == text && !dots[2]))
		return false;
	*dots = '\0';
	o->has_from = *text;
	o->has_to = dots[2];
	return (!o->has_from || parse_seconds(text, &o->from)) &&
	       (!o->has_to || parse_seconds(dots + 2, &o->to));
}

/* -1: done; else the exit status to end with. */
static int take_option(struct options *o, int c)
{
	switch (c) {
	case 's':
		return parse_span(o, optarg) ? -1 : bad_usage("explain", "--span: not A..B");
	case 't':
		o->task = optarg;
		return -1;
	case 'j':
		o->json = true;
		return -1;
	default:
		return common_option("explain", c, usage);
	}
}

int cmd_explain(int argc, char **argv)
{
	static const struct option options[] = {{"span", required_argument, NULL, 's'},
	    {"task", required_argument, NULL, 't'}, {"json", no_argument, NULL, 'j'},
	    COMMON_OPTIONS, {0}};
	struct options o = {.json = false};
	int c, status = -1;

	while (status < 0 && (c = getopt_long(argc, argv, "s:t:jh", options, NULL)) != -1)
		status = take_option(&o, c);
	if (status >= 0)
		return status;
	if (argc - optind < 1 || argc - optind > 2)
		return bad_usage("explain", "which trace, or which two?");
	if (argc - optind == 2 && (o.has_from || o.has_to))
		return bad_usage("explain", "a span is of one trace");
	return explain(argv + optind, argc - optind, &o);
}
